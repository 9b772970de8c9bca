"""The report of a table of passages, with the texts of the documents it was made from.

What two documents share, and items that were looked for in a corpus, are the same table, and
different pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.id_table import digest_ids
from neardup.files.ids import as_text
from neardup.outputs.table_rows import TableRows
from neardup.reading.first_pass import ContentTable
from neardup.reports.page import Report
from neardup.reports.passages import leakage
from neardup.reports.passages.model import About, Documents, Passages, RowTexts, Spans
from neardup.reports.passages.page import passage_report
from neardup.reports.passages.reading import MOST_PAIRS
from neardup.stages.tables import Collection, check_found, find_documents
from neardup.tables import Digests, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner

COLUMNS = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
"""What a table of passages has, and may have ``similarity``, ``query_text`` and ``doc_text``."""

_TEXTS = ("query_text", "doc_text")

# Where no summary says what a table is: an item begins where its text does, and is no book.
_FEW, _SHORT = 40, 3000

_NO_TEXTS = (
    "The table has places, but no texts. Name the documents it was made from, and they are here: "
    "neardup report TABLE INPUT... --against OTHER... -o PAGE.html"
)


def report_of_passages(
    rows: TableRows,
    runner: Runner,
    inputs: Collection | None = None,
    against: Collection | None = None,
    *,
    summary: Mapping[str, Any] | None = None,
) -> Report:
    """Make the page of an alignment, or of a search for items in a corpus.

    Where no summary says which it was, it is a search if the table looks so and the other
    collection is given, or ``inputs`` have no other documents. Without ``inputs`` the page has what
    the table has.
    """
    about = summary or {}
    is_search = "queries" in about
    if not about and against is not None:
        is_search = looks_like_search(rows)

    def gather(*, is_search: bool) -> tuple[Passages, tuple[int, ...]]:
        # Items are looked for in something else, whatever their ids are.
        wanted = leakage.wanted_texts if is_search else _most_shared
        is_one = False if is_search else None
        return gather_passages(rows, runner, inputs, against, is_one=is_one, wanted=wanted)

    with runner.stage("report"):
        try:
            passages, counts = gather(is_search=is_search)
        except InvalidInputError:
            # Items may be given without the corpus that they were looked for in.
            if is_search or against is not None or about or not looks_like_search(rows):
                raise
            is_search = True
            passages, counts = gather(is_search=True)
        has_texts = bool(passages.have_texts.any())
        make = leakage.leakage_report if is_search else passage_report
        return make(passages, About(about, counts, "" if has_texts else _NO_TEXTS))


def looks_like_search(rows: TableRows) -> bool:
    """Return whether each query of a table is one short passage, as items are that are looked for.

    So are short documents that share their beginnings, if none is on both sides.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(rows) or not set(COLUMNS) <= set(rows.schema.names):
        return False
    # Of an alignment nearly always some passage tells it at once.
    for batch in rows.batches("query_start"):
        if (_numbers(batch, "query_start") > _FEW).any():
            return False
    places = pa.concat_tables(rows.batches("query_id", "query_start", "query_end"))
    different = places.group_by(places.column_names).aggregate([])
    queries = pc.unique(as_text(places["query_id"]))
    del places
    if len(different) > len(queries):
        return False
    for batch in rows.batches("doc_id"):
        if pc.any(pc.is_in(as_text(batch["doc_id"]), value_set=queries)).as_py():
            return False
    lengths = _numbers(different, "query_end") - _numbers(different, "query_start")
    return bool(np.median(lengths) <= _SHORT)


class _Ids:
    """Numbers ids in the order in which they are first met."""

    def __init__(self) -> None:
        import pyarrow as pa

        self._table = ContentTable()
        self._different = [pa.array([], pa.large_string())]

    def number(self, ids: pa.Array) -> Int64s:
        """Return the numbers of some more ids."""
        import pyarrow as pa

        values = np.stack(digest_ids(ids), axis=1)
        found = self._table.number(Digests(values, np.ones(len(ids), np.bool_)))
        self._different.append(ids.filter(pa.array(found.is_first)))
        return found.numbers

    def different(self) -> pa.Array:
        """Return the different ids by their numbers."""
        import pyarrow as pa

        return pa.concat_arrays(self._different)


def gather_passages(
    rows: TableRows,
    runner: Runner,
    inputs: Collection | None,
    against: Collection | None,
    *,
    wanted: Callable[[Passages], Sequence[int]],
    is_one: bool | None = None,
) -> tuple[Passages, tuple[int, ...]]:
    """Take a table of passages, and find its documents; returns how many there are of each side.

    Texts are read of those that are ``wanted``, in the order of how much they are. Where ``is_one``
    is None, both sides are of ``inputs`` if there is no ``against``, and without ``inputs`` if some
    ids are on both sides. Memory: 56 bytes a passage, some 90 and its id a document.
    """
    import pyarrow as pa

    columns = set(rows.schema.names)
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        message = (
            f"the table has no column {missing[0]!r}; a table of passages, as align and search "
            f"write it, has {', '.join(COLUMNS)}"
        )
        raise InvalidInputError(message)
    is_known = is_one is not None or inputs is not None or not len(rows)
    if is_one is None:
        is_one = against is None
    queries, similarities = _Ids(), [np.empty(0)]
    sides: list[list[Int64s]] = []
    # Of two collections an id may be two documents.
    docs = queries if is_one or not is_known else _Ids()
    for side, ids in (("query", queries), ("doc", docs)):
        columns_of_side = [np.empty((3, 0), np.int64)]
        more = ["similarity"] if side == "query" and "similarity" in columns else []
        for batch in rows.batches(f"{side}_id", f"{side}_start", f"{side}_end", *more):
            bounds = [_numbers(batch, f"{side}_{end}") for end in ("start", "end")]
            numbers = ids.number(as_text(batch[f"{side}_id"].combine_chunks()))
            columns_of_side.append(np.stack([numbers, *bounds]))
            similarities += [batch[name].cast("float64").to_numpy() for name in more]
        sides.append(list(np.concatenate(columns_of_side, axis=1)))
        del columns_of_side
        if side == "query":
            different = [queries.different()]
    first = len(different[0])
    if docs is queries:
        together = docs.different()
        if not is_known:
            is_one = bool((sides[1][0] < first).any())
        different = [together] if is_one else [together[:first], together[first:]]
    else:
        sides[1][0] += first
        different.append(docs.different())
    if len(similarities) == 1:
        similarities.append(np.full(len(rows), np.nan))
    # A table may have the passages themselves, as whole as they are there.
    passage_texts: Sequence[tuple[str, str]] = ()
    if {"query_text", "doc_text"} <= columns:
        texts_of_rows = pa.concat_tables(
            [rows.schema.empty_table().select(_TEXTS), *rows.batches(*_TEXTS)]
        )
        passage_texts = RowTexts(*(texts_of_rows[name].cast("large_string") for name in _TEXTS))
    (own, starts, stops), (other, doc_starts, doc_stops) = sides
    spans = Spans(own, starts, stops, other, doc_starts, doc_stops, np.concatenate(similarities))
    del sides, similarities, own, starts, stops, other, doc_starts, doc_stops
    names = pa.concat_arrays(different)
    lengths = np.zeros(len(names), np.int64)
    np.maximum.at(lengths, spans.queries, spans.query_stops)
    np.maximum.at(lengths, spans.docs, spans.doc_stops)
    nowhere, nothing = np.full(len(names), -1), np.zeros(len(names), np.int64)
    documents = Documents(names, nowhere, (), lengths, nothing, {})
    passages = Passages(documents, spans, is_one, passage_texts)
    if inputs is None:
        return passages, ()
    chosen = wanted(passages)
    collections = [(inputs, different[0], 0, "INPUT")]
    if not is_one and against is not None:
        collections.append((against, different[1], first, "--against"))
    counts, places, files = [], np.zeros(len(names), np.int64), np.full(len(names), -1)
    file_names: list[str] = []
    texts: dict[int, str] = {}
    for collection, side, start, where in collections:
        stop = start + len(side)
        mine = [each - start for each in chosen if start <= each < stop]
        found = find_documents(collection, side, runner, mine)
        check_found(found, side, where)
        counts.append(sum(found.counts.values()))
        # Data in memory has no files; a name may be one of both collections.
        in_memory = {source.name for source in collection.sources if source.origin is None}
        numbers = np.empty(len(found.file_names), np.int64)
        for k, name in enumerate(found.file_names):
            if name not in file_names:
                file_names.append(name)
            numbers[k] = -1 if name in in_memory else file_names.index(name)
        files[start:stop] = numbers[found.files]
        lengths[start:stop] = found.lengths
        places[start:stop] = found.places
        texts.update((start + place, text) for place, text in found.texts.items())
        _check_places(passages, start, len(side), where)
    documents = Documents(names, files, file_names, lengths, places, texts)
    return _in_order(replace(passages, documents=documents)), tuple(counts)


def _numbers(table: pa.Table, name: str) -> Int64s:
    import pyarrow as pa

    try:
        column = table[name].cast("int64")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = None
    if column is None or column.null_count:
        message = f"column {name!r} holds other things than whole numbers, such as nulls or text"
        raise InvalidInputError(message)
    numbers: Int64s = column.to_numpy()
    return numbers


def _most_shared(passages: Passages) -> list[int]:
    """Return the documents whose texts the page shows, by what they share."""
    queries, docs, _ = passages.pair_numbers
    best = passages.ranking[: 4 * MOST_PAIRS]
    ends = np.stack([queries[best], docs[best]], axis=1).reshape(-1)
    return list(dict.fromkeys(ends.tolist()))


def _check_places(passages: Passages, start: int, n: int, where: str) -> None:
    """Raise InvalidInputError for the first passage that lies outside of its document."""
    documents, spans = passages.documents, passages.spans
    for own, starts, stops in (
        (spans.queries, spans.query_starts, spans.query_stops),
        (spans.docs, spans.doc_starts, spans.doc_stops),
    ):
        is_here = (own >= start) & (own < start + n)
        wrong = is_here & ((starts < 0) | (starts > stops) | (stops > documents.lengths[own]))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            document = documents[int(own[row])]
            message = (
                f"the table names characters {starts[row]:,} to {stops[row]:,} of document "
                f"{document.id!r} of {where}, which has {document.length:,}; the text has changed "
                "since, or is read with other options than then"
            )
            raise InvalidInputError(message)


def _in_order(passages: Passages) -> Passages:
    """Put the documents of each side in the order in which they were read."""
    n = len(passages.documents)
    first_doc = n if passages.is_one else int(passages.spans.docs.min(initial=n))
    order = np.lexsort((passages.documents.places, np.arange(n) >= first_doc))
    numbers: Int64s = np.empty(n, np.int64)
    numbers[order] = np.arange(n)
    spans = passages.spans
    return replace(
        passages,
        documents=passages.documents.take(order),
        spans=replace(spans, queries=numbers[spans.queries], docs=numbers[spans.docs]),
    )
