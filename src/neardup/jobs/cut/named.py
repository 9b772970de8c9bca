"""Spans from a table: the result of an alignment, a search or an earlier cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, option_name
from neardup.files.ids import as_text
from neardup.jobs.cut.plan import CutSpans
from neardup.options.choices import Side
from neardup.outputs.summary_file import resolve_tables
from neardup.reading.catalogue import Catalogue
from neardup.stages.selection import KeeperIds
from neardup.tables import Bools, Floats, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class Keepers(ABC):
    """Source of the kept copies of a run of spans, starting with number ``first``."""

    @abstractmethod
    def ids(self, spans: CutSpans, first: int) -> pa.Array:
        """Return the ids of the kept copies' documents."""

    @abstractmethod
    def places(self, spans: CutSpans, first: int) -> pa.Array:
        """Return the collection of each kept copy: ``input`` or ``against``."""


class ReadKeepers(Keepers):
    """Documents of two collections, the other one numbered first."""

    def __init__(self, own: Catalogue, other: Catalogue, keepers: Int64s) -> None:
        self._n_other, self._ids = len(other), KeeperIds(own, other, keepers)

    def ids(self, spans: CutSpans, first: int) -> pa.Array:
        """Return ids, with the prefix ``against/`` on shared ids of the other collection."""
        return self._ids.take(spans.kept_documents)

    def places(self, spans: CutSpans, first: int) -> pa.Array:
        """Return the collections of the documents."""
        import pyarrow as pa

        return _places(pa.array(spans.kept_documents >= self._n_other))


class NamedKeepers(Keepers):
    """Documents named in a table; null if the table lacks them."""

    def __init__(self, ids: pa.Array, are_own: pa.Array) -> None:
        self._ids, self._are_own = ids, are_own

    def ids(self, spans: CutSpans, first: int) -> pa.Array:
        """Return ids from the table."""
        return self._ids.slice(first, len(spans))

    def places(self, spans: CutSpans, first: int) -> pa.Array:
        """Return whether the input has documents with these ids."""
        return _places(self._are_own.slice(first, len(spans)))


def _places(are_own: pa.Array) -> pa.Array:
    """Spell out whether documents are in the input; null if unknown."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(are_own, "input", "against").cast(pa.string())


_SIDES: tuple[Side, ...] = ("query", "doc")
_FORMS = {
    "passages": ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end"),
    "removed": ("id", "start", "end", "kept_id", "kept_start", "kept_end"),
    "spans": ("id", "start", "end"),
}


@dataclass(frozen=True)
class _Pairs:
    """Rows of a table: a removable span and its kept copy, with documents by number.

    Numbers are -1 for documents that the input does not have.
    """

    ids: pa.Array
    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_ids: pa.Array
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats

    def turned(self, rows: Bools) -> _Pairs:
        import pyarrow as pa
        import pyarrow.compute as pc

        mask = pa.array(rows)
        return _Pairs(
            pc.if_else(mask, self.kept_ids, self.ids),
            np.where(rows, self.kept_documents, self.documents),
            np.where(rows, self.kept_starts, self.starts),
            np.where(rows, self.kept_stops, self.stops),
            pc.if_else(mask, self.ids, self.kept_ids),
            np.where(rows, self.documents, self.kept_documents),
            np.where(rows, self.starts, self.kept_starts),
            np.where(rows, self.stops, self.kept_stops),
            self.similarities,
        )


def read_named_spans(named_in: Any) -> pa.Table:
    """Read a table of spans: a path, the result of an alignment or a cut, or any Arrow table."""
    import pyarrow as pa

    blocks = [block.to_table() for source in resolve_tables(named_in) for block in source.blocks()]
    return pa.concat_tables(blocks, promote_options="permissive") if blocks else pa.table({})


def cut_named(
    own: Catalogue, table: pa.Table, side: Side | None, ranks: Int64s
) -> tuple[CutSpans, NamedKeepers]:
    """Choose the spans of a table that are cut.

    Of two input documents, the later one in keep order loses its passage, unless the other one
    loses its own. With a ``side``, all passages of that side are cut.
    """
    import pyarrow as pa

    if not table.num_columns:
        # A file without rows; their types are unknown.
        return CutSpans.of_none(), NamedKeepers(pa.nulls(0, pa.large_string()), pa.nulls(0, "bool"))
    pairs, form = _as_pairs(own, table)
    if form != "passages" and side is not None:
        message = (
            "the table has no sides query and doc, between which side (--side) chooses; leave it "
            f"out, and what is in its columns {', '.join(_FORMS[form][:3])} goes"
        )
        raise InvalidInputError(message)
    _check_places(own, pairs)
    if form == "passages":
        side = side or _side_of(pairs)
    if side == "query":
        pairs = pairs.turned(np.ones(len(pairs.documents), np.bool_))
    if side is None and form == "passages":
        pairs = pairs.turned(_is_before(pairs, ranks))
        rows = _choose(pairs, ranks)
    else:
        _check_ids(pairs.ids, pairs.documents)
        rows = np.arange(len(pairs.documents))
    spans = CutSpans(
        pairs.documents,
        pairs.starts,
        pairs.stops,
        pairs.kept_documents,
        pairs.kept_starts,
        pairs.kept_stops,
        pairs.similarities,
    ).take(rows)
    places = spans.order()
    chosen = rows[places]
    is_own = pa.array((side is None) & (pairs.kept_documents[chosen] >= 0))
    return spans.take(places), NamedKeepers(pairs.kept_ids.take(pa.array(chosen)), is_own)


def _as_pairs(own: Catalogue, table: pa.Table) -> tuple[_Pairs, str]:
    """Convert the columns of a table; removed and kept documents become sides."""
    import pyarrow as pa

    names = set(table.column_names)
    form = next((form for form, columns in _FORMS.items() if names.issuperset(columns)), None)
    if form is None:
        message = (
            f"there are no columns {', '.join(_FORMS['passages'])}, as align and search write "
            f"them, and no id, start, end; columns are {', '.join(table.column_names) or 'none'}"
        )
        raise InvalidInputError(message)
    columns = _FORMS[form]
    first: tuple[str | None, ...] = columns[:3]
    second: tuple[str | None, ...] = columns[3:] or (None, None, None)
    if form == "passages":
        # As if documents of that side were cut.
        first, second = second, first

    def numbers(name: str | None) -> Int64s:
        if name is None:
            return np.zeros(len(table), np.int64)
        return _whole_numbers(table, name)

    def ids(name: str | None) -> pa.Array:
        if name is None:
            return pa.nulls(len(table), pa.large_string())
        return as_text(table[name].combine_chunks())

    similarities = np.full(len(table), np.nan)
    if "similarity" in names:
        similarities = _cast(table, "similarity", "float64", "numbers").to_numpy()
    of_ids = {name: ids(name) for name in (first[0], second[0])}
    places = _documents(own, list(of_ids.values()))
    return (
        _Pairs(
            of_ids[first[0]],
            places[0],
            numbers(first[1]),
            numbers(first[2]),
            of_ids[second[0]],
            places[-1],
            numbers(second[1]),
            numbers(second[2]),
            similarities,
        ),
        form,
    )


def _whole_numbers(table: pa.Table, name: str) -> Int64s:
    numbers: Int64s = _cast(table, name, "int64", "whole numbers").to_numpy()
    return numbers


def _cast(table: pa.Table, name: str, kind: str, wanted: str) -> pa.ChunkedArray:
    """Return a column as numbers; in CSV files all columns are text."""
    import pyarrow as pa

    try:
        column = table[name].cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = None
    if column is None or (kind == "int64" and column.null_count):
        message = f"column {name!r} holds other things than {wanted}, such as nulls or text"
        raise InvalidInputError(message)
    return column


def _documents(own: Catalogue, columns: list[pa.Array]) -> list[Int64s]:
    import pyarrow.compute as pc

    found = [np.full(len(ids), -1, np.int64) for ids in columns]
    for first, ids in own.id_slices():
        known = as_text(ids)
        for places, wanted in zip(found, columns, strict=True):
            here = pc.index_in(wanted, value_set=known, skip_nulls=True)
            is_here = here.is_valid().to_numpy(zero_copy_only=False)
            places[is_here] = first + here.drop_null().to_numpy().astype(np.int64)
    return found


def _side_of(pairs: _Pairs) -> Side | None:
    """Return the side of a table that the input is; None if it is both."""
    n = len(pairs.documents)
    is_doc, is_query = (pairs.documents >= 0).all(), (pairs.kept_documents >= 0).all()
    if is_doc and is_query:
        return None
    if is_doc or is_query:
        return "doc" if is_doc else "query"
    lacking = pairs.ids if (pairs.documents >= 0).sum() >= n / 2 else pairs.kept_ids
    places = pairs.documents if lacking is pairs.ids else pairs.kept_documents
    _check_ids(lacking, places)
    return None


def _check_ids(ids: pa.Array, documents: Int64s) -> None:
    missing = np.flatnonzero(documents < 0)
    if len(missing):
        message = (
            f"the table names documents that the input does not have, such as "
            f"{ids[int(missing[0])].as_py()!r}; give the same input and {option_name('id_column')} "
            "as when it was made"
        )
        raise InvalidInputError(message)


def _check_places(own: Catalogue, pairs: _Pairs) -> None:
    assert own.lengths is not None
    for ids, documents, starts, stops in (
        (pairs.ids, pairs.documents, pairs.starts, pairs.stops),
        (pairs.kept_ids, pairs.kept_documents, pairs.kept_starts, pairs.kept_stops),
    ):
        known = documents >= 0
        lengths = np.where(known, own.lengths[np.maximum(documents, 0)], stops)
        wrong = np.flatnonzero(known & ((starts < 0) | (starts > stops) | (stops > lengths)))
        if len(wrong):
            row = int(wrong[0])
            message = (
                f"the table names characters {starts[row]:,} to {stops[row]:,} of document "
                f"{ids[row].as_py()!r}, which has {lengths[row]:,}; the text has changed since, or "
                f"is another one of the same id ({option_name('side')} says which passages are "
                "those of INPUT)"
            )
            raise InvalidInputError(message)


def _is_before(pairs: _Pairs, ranks: Int64s) -> Bools:
    own, kept = ranks[pairs.documents], ranks[pairs.kept_documents]
    is_before: Bools = (own < kept) | ((own == kept) & (pairs.starts < pairs.kept_starts))
    return is_before


def _choose(pairs: _Pairs, ranks: Int64s) -> Int64s:
    """Return the rows whose passage is cut, document by document."""
    order = np.lexsort(
        (pairs.kept_starts, pairs.starts, -pairs.similarities, ranks[pairs.documents])
    )
    gone: dict[int, list[tuple[int, int]]] = defaultdict(list)
    kept: dict[int, list[tuple[int, int]]] = defaultdict(list)
    chosen = []
    for row in order.tolist():
        document, other = int(pairs.documents[row]), int(pairs.kept_documents[row])
        own = int(pairs.starts[row]), int(pairs.stops[row])
        place = int(pairs.kept_starts[row]), int(pairs.kept_stops[row])
        stays = not _meets(place, gone[other])
        is_free = not _meets(own, kept[document])
        if stays and is_free and not (document == other and _meets(own, [place])):
            chosen.append(row)
            gone[document].append(own)
            kept[other].append(place)
    return np.array(chosen, np.int64)


def _meets(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < stop and start < span[1] for start, stop in others)
