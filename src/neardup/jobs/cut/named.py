"""Spans from a table of an alignment, search or cut."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.errors import InvalidInputError, option_name
from neardup.files.documents import as_text
from neardup.jobs.cut.plan import CutSpans, spell_sides
from neardup.options.choices import Side
from neardup.outputs.summary_file import resolve_tables
from neardup.reading.catalogue import Catalogue
from neardup.tables import Bools, Floats, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class NamedKeepers:
    """Kept copies in a table, null if it lacks them."""

    def __init__(self, ids: pa.Array, are_own: pa.Array) -> None:
        self._ids, self._are_own = ids, are_own

    def ids(self, spans: CutSpans, first: int) -> pa.Array:
        """Return ids from the table."""
        return self._ids.slice(first, len(spans))

    def places(self, spans: CutSpans, first: int) -> pa.Array:
        """Return whether the input has documents with these ids."""
        return spell_sides(self._are_own.slice(first, len(spans)))


_SIDES: tuple[Side, ...] = ("query", "doc")
_FORMS = {
    "passages": ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end"),
    "removed": ("id", "start", "end", "kept_id", "kept_start", "kept_end"),
    "spans": ("id", "start", "end"),
}


class _Side(NamedTuple):
    """Spans of one side, with document -1 outside the input."""

    ids: pa.Array
    documents: Int64s
    starts: Int64s
    stops: Int64s

    def mixed(self, other: _Side, rows: Bools) -> _Side:
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = pc.if_else(pa.array(rows), other.ids, self.ids)
        return _Side(ids, *(np.where(rows, b, a) for a, b in zip(self[1:], other[1:], strict=True)))


class _Pairs(NamedTuple):
    cut: _Side
    kept: _Side
    similarities: Floats

    def turned(self, rows: Bools) -> _Pairs:
        cut, kept = self.cut.mixed(self.kept, rows), self.kept.mixed(self.cut, rows)
        return _Pairs(cut, kept, self.similarities)


def read_named_spans(named_in: Any) -> pa.Table:
    """Read a table of spans: a path, result or table."""
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
        pairs = _Pairs(pairs.kept, pairs.cut, pairs.similarities)
    if side is None and form == "passages":
        pairs = pairs.turned(_is_before(pairs, ranks))
        rows = _choose(pairs, ranks)
    else:
        _check_ids(pairs.cut)
        rows = np.arange(len(table))
    spans = CutSpans(*pairs.cut[1:], *pairs.kept[1:], pairs.similarities).take(rows)
    places = spans.order()
    chosen = rows[places]
    is_own = pa.array((side is None) & (pairs.kept.documents[chosen] >= 0))
    return spans.take(places), NamedKeepers(pairs.kept.ids.take(pa.array(chosen)), is_own)


def _as_pairs(own: Catalogue, table: pa.Table) -> tuple[_Pairs, str]:
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
    n = len(table)
    ids = [
        pa.nulls(n, pa.large_string()) if name is None else as_text(table[name].combine_chunks())
        for name in (first[0], second[0])
    ]
    cut, kept = (
        _Side(
            own_ids,
            documents,
            *(
                np.zeros(n, np.int64)
                if name is None
                else _cast(table, name, "int64", "whole numbers").to_numpy()
                for name in names[1:]
            ),
        )
        for own_ids, documents, names in zip(
            ids, _documents(own, ids), (first, second), strict=True
        )
    )
    similarities = np.full(n, np.nan)
    if "similarity" in names:
        similarities = _cast(table, "similarity", "float64", "numbers").to_numpy()
    return _Pairs(cut, kept, similarities), form


def _cast(table: pa.Table, name: str, kind: str, wanted: str) -> pa.ChunkedArray:
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
    """Return the side that is the input, None if both."""
    is_doc, is_query = (bool((side.documents >= 0).all()) for side in pairs[:2])
    if is_doc and is_query:
        return None
    if is_doc or is_query:
        return "doc" if is_doc else "query"
    is_mostly_doc = (pairs.cut.documents >= 0).sum() >= len(pairs.similarities) / 2
    _check_ids(pairs.cut if is_mostly_doc else pairs.kept)
    return None


def _check_ids(side: _Side) -> None:
    missing = np.flatnonzero(side.documents < 0)
    if len(missing):
        message = (
            f"the table names documents that the input does not have, such as "
            f"{side.ids[int(missing[0])].as_py()!r}; give the same input and "
            f"{option_name('id_column')} as when it was made"
        )
        raise InvalidInputError(message)


def _check_places(own: Catalogue, pairs: _Pairs) -> None:
    assert own.lengths is not None
    for ids, documents, starts, stops in pairs[:2]:
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
    own, kept = ranks[pairs.cut.documents], ranks[pairs.kept.documents]
    is_before: Bools = (own < kept) | ((own == kept) & (pairs.cut.starts < pairs.kept.starts))
    return is_before


def _choose(pairs: _Pairs, ranks: Int64s) -> Int64s:
    cut, kept = pairs.cut, pairs.kept
    order = np.lexsort((kept.starts, cut.starts, -pairs.similarities, ranks[cut.documents]))
    gone: dict[int, list[tuple[int, int]]] = defaultdict(list)
    stays: dict[int, list[tuple[int, int]]] = defaultdict(list)
    chosen = []
    for row in order.tolist():
        document, other = int(cut.documents[row]), int(kept.documents[row])
        own = int(cut.starts[row]), int(cut.stops[row])
        place = int(kept.starts[row]), int(kept.stops[row])
        is_free = not _meets(place, gone[other]) and not _meets(own, stays[document])
        if is_free and not (document == other and _meets(own, [place])):
            chosen.append(row)
            gone[document].append(own)
            stays[other].append(place)
    return np.array(chosen, np.int64)


def _meets(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < stop and start < span[1] for start, stop in others)
