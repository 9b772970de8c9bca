"""Many texts looked up, some at a time; rows are answered page by page, as cursors lead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.index.index import OpenIndex
from neardup.jobs.index.index import AnyIndex
from neardup.jobs.index.passages import PassageIndex
from neardup.service.lanes import Share
from neardup.service.messages import Alignment, DocumentRow, NamedText, PassageRow, Search
from neardup.service.problems import busy
from neardup.tables import Bools, Int64s

# Of a batch so many rows are looked for at a time, as far as that can be foreseen; as dictionaries
# they take some times as much room as in a table.
_ROWS_AT_ONCE = 250_000
_TIMES_AS_ROWS = 4
# Of the summaries of parts of a batch these are added up.
_ADDED = (
    *("queries", "found_queries", "empty_queries", "short_queries", "skipped_rows"),
    "incomplete_queries",
    *("matches", "passages", "seconds"),
)
# Of these the least.
_LEAST = ("least_similarity", "predicted_recall")


class Rows(NamedTuple):
    """The first rows that were found, in about so many bytes, how many there are, a summary.

    ``cursor`` leads on behind the last one; None if these are all.
    """

    first: list[Any]
    n_bytes: int
    n_found: int
    summary: Mapping[str, Any]
    cursor: str | None


def look_up_some(
    index: AnyIndex[Any, Any],
    texts: Sequence[str | NamedText],
    look_up: Callable[[list[dict[str, Any]]], tuple[pa.Table, Mapping[str, Any]]],
    make_row: Callable[..., DocumentRow | PassageRow],
    asked: Search | Alignment,
    share: Share | None = None,
    at_once: int | None = None,
) -> Rows:
    """Look texts up, so many at a time as bring a certain number of rows, or ``at_once``.

    All pairs of a thousand texts with their copies might be more than the memory holds. What is
    returned takes its share of memory while it is made. With a cursor it is about what is behind
    it: the rest of one text, and all texts after that.
    """
    ids = [number if isinstance(text, str) else text.id for number, text in enumerate(texts)]
    contents = [text if isinstance(text, str) else text.text for text in texts]
    rows: list[Any] = []
    # Which text each row is of.
    numbers: list[int] = []
    n_bytes, n_found, summary = 0, 0, dict[str, Any]()
    # A cursor goes with all of it.
    by = "\0".join([type(asked).__name__, *contents]).encode()
    place = None if asked.cursor is None else _Place.of(index, asked, len(texts), by)
    start, n_texts = 0 if place is None else place.text, at_once or 1
    while True:
        queries = [
            {"id": number, "text": text}
            for number, text in enumerate(contents[start : start + n_texts], start)
        ]
        table, counts = look_up(queries)
        if place is not None and start == place.text:
            table = place.rest_of(table, index)
        wanted = table.slice(0, asked.limit - len(rows))
        n_more = wanted.nbytes * _TIMES_AS_ROWS
        if share is not None:
            share.grow(n_more)
        for row in wanted.to_pylist():
            numbers.append(int(row["query_id"]))
            rows.append(make_row(**row | {"query_id": ids[numbers[-1]]}))
        for key, value in counts.items():
            if key in summary and key in _ADDED:
                value += summary[key]
            elif key in summary and key in _LEAST and not (n_found and len(table)):
                # What found nothing has no least.
                value = summary[key] if n_found else value
            elif key in summary and key in _LEAST:
                value = min(value, summary[key])
            summary[key] = value
        n_bytes, n_found = n_bytes + n_more, n_found + len(table)
        start += n_texts
        if start >= len(texts):
            cursor = None
            if n_found > len(rows):
                cursor = _cursor_behind(index, rows, numbers, place, by)
            return Rows(rows, n_bytes, n_found, summary, cursor)
        most_texts = _ROWS_AT_ONCE * n_texts // max(len(table), 1)
        n_texts = max(min(4 * n_texts, most_texts), 1)


class _Place(NamedTuple):
    """Where a page ended: its last text, and what of its rows came last.

    Documents come by similarity, passages by their places in the text; then either come by the
    number of the document, which was that before ``first``. ``passed`` is the similarity; or the
    places of a passage in text and document, and how many that begin there were passed.
    """

    text: int
    passed: Sequence[float]
    first: int

    @classmethod
    def of(
        cls, index: AnyIndex[Any, Any], asked: Search | Alignment, n_texts: int, by: bytes
    ) -> _Place:
        assert asked.cursor is not None
        with index._shared() as view:  # noqa: SLF001 - what its own methods see
            n_ranks = 2 if _has_documents(index) else 4
            (text, *passed), first = view.behind(asked.cursor, n_ranks, asked=by)
        if not isinstance(text, int) or not 0 <= text < n_texts:
            message = f"cursor leads to text {text}, and there are {n_texts}; send the same again"
            raise InvalidParameterError(message, "cursor")
        return cls(text, passed, first)

    def is_at(self, text: int, document: int, row: PassageRow) -> bool:
        """Return whether a passage begins where the last one does."""
        places = text, document + 1, row.query_start, row.doc_start
        return places == (self.text, self.first, *self.passed[:2])

    def rest_of(self, table: pa.Table, index: AnyIndex[Any, Any]) -> pa.Table:
        """Return what comes behind it of the rows of its text and of those after it."""
        stay: Bools = table["query_id"].cast(pa.int64()).to_numpy() > self.text
        with index._shared() as view:  # noqa: SLF001
            documents = _documents_of(view, table["doc_id"])
        if _has_documents(index):
            (least,), similarities = self.passed, table["similarity"].to_numpy()
            is_tie = (similarities == least) & (documents >= self.first)
            return table.filter(pa.array(stay | (similarities < least) | is_tie))
        own_start, doc_start, n_passed = self.passed
        starts, doc_starts = table["query_start"].to_numpy(), table["doc_start"].to_numpy()
        is_last = ~stay & (starts == own_start) & (documents == self.first - 1)
        stay |= (starts > own_start) | ((starts == own_start) & (documents >= self.first))
        stay |= is_last & (doc_starts > doc_start)
        stay[np.flatnonzero(is_last & (doc_starts == doc_start))[int(n_passed) :]] = True
        return table.filter(pa.array(stay))


def _has_documents(index: AnyIndex[Any, Any]) -> bool:
    return not isinstance(index, PassageIndex)


def _documents_of(view: OpenIndex[Any, Any], ids: pa.ChunkedArray) -> Int64s:
    return view.documents_of_ids(ids.cast(pa.large_string()).combine_chunks())


def _cursor_behind(
    index: AnyIndex[Any, Any],
    rows: list[Any],
    numbers: list[int],
    before: _Place | None,
    by: bytes,
) -> str:
    """Return what leads behind the last row; rows of documents that have gone meanwhile go."""
    with index._shared() as view:  # noqa: SLF001
        while rows:
            last, text = rows[-1], numbers[-1]
            document = int(_documents_of(view, pa.chunked_array([[str(last.doc_id)]]))[0])
            if document < 0:
                del rows[-1], numbers[-1]
                continue
            if isinstance(last, DocumentRow):
                return view.cursor_at(document, text, last.similarity, asked=by)
            begin = (text, last.query_start, last.doc_id, last.doc_start)
            n_passed = sum(
                begin == (number, row.query_start, row.doc_id, row.doc_start)
                for number, row in zip(numbers, rows, strict=True)
            )
            if before is not None and before.is_at(text, document, last):
                n_passed += int(before.passed[-1])
            rank = text, last.query_start, last.doc_start, n_passed
            return view.cursor_at(document, *rank, asked=by)
    message = "what was found has been removed meanwhile; ask again"
    raise busy(message)
