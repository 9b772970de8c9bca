"""The report of a table of passages, with the texts of the documents it was made from.

What two documents share, and items that were looked for in a corpus, are the same table, and
different pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, option_name
from neardup.files.ids import as_text, digest_ids
from neardup.outputs.table_rows import TableRows
from neardup.passages.document_pairs import HiddenText
from neardup.reading.first_pass import ContentTable
from neardup.reports.page import Report
from neardup.reports.passages import leakage
from neardup.reports.passages.model import About, Documents, Passages, Spans, StoredSpans
from neardup.reports.passages.page import passage_report
from neardup.runs.totals import Totals
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.stages.tables import Collection, check_found, find_documents
from neardup.tables import Digests, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner

COLUMNS = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
"""What a table of passages has.

It may have ``similarity``, texts, and places as people cite them.
"""

_TEXTS, _CITED = ("query_text", "doc_text"), ("query_place", "doc_place")

# Where no summary says what a table is: an item begins where its text does, and is no book.
_FEW, _SHORT = 40, 3000

# Documents of so many pairs have their texts read, for examples and the list of passages.
_MOST_PAIRS = 200

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
    hidden: HiddenText | None = None,
    workspace: Workspace = IN_MEMORY,
) -> Report:
    """Make the page of an alignment, or of a search for items in a corpus.

    Where no summary says which it was, it is a search if the table looks so and the other
    collection is given, or ``inputs`` have no other documents. Without ``inputs`` the page has what
    the table has. ``hidden`` is the text that the alignment has ignored; None if only the table is
    left, which does not record it.
    """
    about = summary or {}
    is_search = "queries" in about
    if not about and against is not None:
        is_search = looks_like_search(rows, workspace)

    def gather(*, is_search: bool) -> tuple[Passages, tuple[int, ...]]:
        # Items are looked for in something else, whatever their ids are.
        wanted = leakage.wanted_texts if is_search else _most_shared
        is_one = False if is_search else None
        passages, counts = gather_passages(
            rows, runner, inputs, against, is_one=is_one, wanted=wanted, workspace=workspace
        )
        return passages if hidden is None else replace(passages, hidden=hidden), counts

    with runner.stage("report"):
        try:
            passages, counts = gather(is_search=is_search)
        except InvalidInputError:
            # Items may be given without the corpus that they were looked for in.
            if is_search or against is not None or about or not looks_like_search(rows, workspace):
                raise
            is_search = True
            passages, counts = gather(is_search=True)
        has_texts = any(passages.have_texts(spans).any() for spans in passages.batches())
        make = leakage.leakage_report if is_search else passage_report
        return make(passages, About(about, counts, "" if has_texts else _NO_TEXTS))


# Of the first places of a query and its last ones those that are furthest apart.
_ENDS: Mapping[str, np.ufunc] = {
    "first": np.minimum,
    "last": np.maximum,
    "first_end": np.minimum,
    "last_end": np.maximum,
    "is_query": np.maximum,
    "is_doc": np.maximum,
}


def looks_like_search(rows: TableRows, workspace: Workspace = IN_MEMORY) -> bool:
    """Return whether each query of a table is one short passage, as items are that are looked for.

    So are short documents that share their beginnings, if none is on both sides.
    """
    if not len(rows) or not set(COLUMNS) <= set(rows.schema.names):
        return False
    # Of an alignment nearly always some passage tells it at once.
    for batch in rows.batches("query_start"):
        if (_numbers(batch, "query_start") > _FEW).any():
            return False
    # Whether items are longer than that is all that their median has to say.
    n_lengths: Int64s = np.zeros(2 * _SHORT + 2, np.int64)
    with Totals("items-like", workspace, 2, _ENDS, n_rows=2 * len(rows)) as places:
        for batch in rows.batches("query_id", "doc_id", "query_start", "query_end"):
            ones = np.ones(len(batch), np.int64)
            starts, ends = (_numbers(batch, f"query_{end}") for end in ("start", "end"))
            ids = [as_text(batch[f"{side}_id"].combine_chunks()) for side in ("query", "doc")]
            of_query = {"first": starts, "last": starts, "first_end": ends, "last_end": ends}
            places.add(digest_ids(ids[0]), **of_query, is_query=ones, is_doc=0 * ones)
            nowhere = dict.fromkeys(of_query, 0 * ones)
            places.add(digest_ids(ids[1]), **nowhere, is_query=0 * ones, is_doc=ones)
    for _, found in places.read():
        is_query = found["is_query"] == 1
        if (is_query & (found["is_doc"] == 1)).any():
            return False
        starts, ends = found["first"][is_query], found["first_end"][is_query]
        if (starts != found["last"][is_query]).any() or (ends != found["last_end"][is_query]).any():
            return False
        lengths = np.clip(ends - starts, 0, 2 * _SHORT + 1)
        n_lengths += np.bincount(lengths, minlength=len(n_lengths))
    n, up_to = int(n_lengths.sum()), np.cumsum(n_lengths)
    middles = np.searchsorted(up_to, [(n - 1) // 2, n // 2], side="right")
    return bool(middles.mean() <= _SHORT)


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


def _number(
    rows: TableRows, workspace: Workspace, *, is_one: bool, is_known: bool
) -> tuple[StoredSpans, list[pa.Array], Int64s, bool]:
    """Give numbers to the documents of all passages, and keep these.

    Returns the ids of both sides, or those of one collection, where the last passage of each
    document ends, and whether there is one collection, which is found out if it is not known.
    """
    columns = set(rows.schema.names)
    queries = _Ids()
    # Those that are in the first column come first.
    for batch in rows.batches("query_id"):
        queries.number(as_text(batch["query_id"].combine_chunks()))
    different = [queries.different()]
    first = len(different[0])
    # Of two collections an id may be two documents.
    docs = queries if is_one or not is_known else _Ids()
    n_before = 0 if docs is queries else first
    least_doc, lengths_of = first, _Lengths()

    def number() -> Iterator[Spans]:
        nonlocal least_doc
        start = 0
        more = [name for name in ("similarity",) if name in columns]
        for batch in rows.batches(*COLUMNS, *more):
            bounds = {name: _numbers(batch, name) for name in COLUMNS if name[-3:] != "_id"}
            own = queries.number(as_text(batch["query_id"].combine_chunks()))
            other = docs.number(as_text(batch["doc_id"].combine_chunks())) + n_before
            least_doc = min(least_doc, int(other.min(initial=first)))
            similarities = np.full(len(batch), np.nan)
            for name in more:
                similarities = batch[name].cast("float64").to_numpy()
            q_starts, q_stops = bounds["query_start"], bounds["query_end"]
            d_starts, d_stops = bounds["doc_start"], bounds["doc_end"]
            lengths_of.add(own, q_stops)
            lengths_of.add(other, d_stops)
            numbers = start + np.arange(len(batch))
            yield Spans(own, q_starts, q_stops, other, d_starts, d_stops, similarities, numbers)
            start += len(batch)

    stored = StoredSpans.store(number(), workspace)
    if docs is queries:
        together = docs.different()
        if not is_known:
            is_one = least_doc < first
        different = [together] if is_one else [together[:first], together[first:]]
    else:
        different.append(docs.different())
    return stored, different, lengths_of.of(sum(map(len, different))), is_one


def gather_passages(
    rows: TableRows,
    runner: Runner,
    inputs: Collection | None,
    against: Collection | None,
    *,
    wanted: Callable[[Passages], Sequence[int]],
    is_one: bool | None = None,
    workspace: Workspace = IN_MEMORY,
) -> tuple[Passages, tuple[int, ...]]:
    """Take a table of passages, and find its documents; returns how many there are of each side.

    Texts are read of those that are ``wanted``, in the order of how much they are. Where ``is_one``
    is None, both sides are of ``inputs`` if there is no ``against``, and without ``inputs`` if some
    ids are on both sides. Memory: some 90 bytes and its id a document; passages are kept in the
    workspace.
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
    stored, different, lengths, is_one = _number(rows, workspace, is_one=is_one, is_known=is_known)
    first = len(different[0])

    def texts_of_row(row: int) -> tuple[str, str]:
        found = rows.take(np.array([row]), *_TEXTS)
        of_query, of_doc = (found[name][0].as_py() or "" for name in _TEXTS)
        return of_query, of_doc

    def places_of_rows(numbers: Int64s) -> list[tuple[str, str]]:
        found = rows.take(numbers, *_CITED)
        sides = [[place or "" for place in found[name].to_pylist()] for name in _CITED]
        return list(zip(*sides, strict=True))

    # A table may have the passages themselves, as whole as they are there.
    has_texts = len(rows) > 0 and {"query_text", "doc_text"} <= columns
    names = pa.concat_arrays(different)
    nowhere, nothing = np.full(len(names), -1), np.zeros(len(names), np.int64)
    documents = Documents(names, nowhere, (), lengths, nothing, {})
    passages = Passages(
        documents,
        stored,
        is_one,
        texts_of_row if has_texts else None,
        places_of_rows if set(_CITED) <= columns else None,
    )
    if inputs is None:
        return passages, ()
    chosen = wanted(passages)
    collections = [(inputs, different[0], 0, "INPUT")]
    if not is_one and against is not None:
        collections.append((against, different[1], first, option_name("against")))
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


class _Lengths:
    """Where the last passage of each document ends."""

    def __init__(self) -> None:
        self._stops = np.zeros(0, np.int64)

    def add(self, documents: Int64s, stops: Int64s) -> None:
        """Add some passages."""
        n = int(documents.max(initial=-1)) + 1
        if n > len(self._stops):
            self._stops = np.append(self._stops, np.zeros(n, np.int64))
        np.maximum.at(self._stops, documents, stops)

    def of(self, n: int) -> Int64s:
        """Return those of all documents, of which there are ``n``."""
        stops = self._stops[:n]
        return np.append(stops, np.zeros(n - len(stops), np.int64))


def _most_shared(passages: Passages) -> list[int]:
    """Return the documents whose texts the page shows, by what they share."""
    best = passages.best(_MOST_PAIRS)
    ends = np.stack([best.queries, best.docs], axis=1).reshape(-1)
    return list(dict.fromkeys(ends.tolist()))


def _check_places(passages: Passages, start: int, n: int, where: str) -> None:
    """Raise InvalidInputError for the first passage that lies outside of its document."""
    documents = passages.documents
    for side in ("query", "doc"):
        for spans in passages.batches():
            own = spans.queries if side == "query" else spans.docs
            starts, stops = (getattr(spans, f"{side}_{end}") for end in ("starts", "stops"))
            is_here = (own >= start) & (own < start + n)
            wrong = is_here & ((starts < 0) | (starts > stops) | (stops > documents.lengths[own]))
            if not wrong.any():
                continue
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
    least = (int(spans.docs.min(initial=n)) for spans in passages.batches())
    first_doc = n if passages.is_one else min(least, default=n)
    order = np.lexsort((passages.documents.places, np.arange(n) >= first_doc))
    numbers: Int64s = np.empty(n, np.int64)
    numbers[order] = np.arange(n)
    return replace(passages, documents=passages.documents.take(order), numbers=numbers)
