"""Many queries looked up in all segments of an index, on several cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.passages.index import OpenIndex
from neardup.passages.query import Query
from neardup.passages.search import SearchPlan
from neardup.passages.windows_table import Rectangles
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Floats, Int64s

# Queries that a thread takes at a time.
_CHUNK = 32


@dataclass(frozen=True)
class Found:
    """Passages of documents, each similar to a query; arrays have a row for each.

    ``queries`` are numbers of queries; ``documents`` of documents, counted through all segments,
    with the passages' tokens ``starts`` to ``stops`` (exclusive), counted in the document.
    """

    queries: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats

    def __len__(self) -> int:
        return len(self.queries)

    def select(self, rows: Bools) -> Found:
        """Return the rows of a mask."""
        return Found(
            self.queries[rows],
            self.documents[rows],
            self.starts[rows],
            self.stops[rows],
            self.similarities[rows],
        )


@dataclass(frozen=True)
class Behind:
    """Where the passages of each query may begin: behind something that is there itself.

    Query number k finds passages of ``documents[k]`` from token ``tokens[k]`` on, and of the
    documents behind that one; all are counted through all segments.
    """

    documents: Int64s
    tokens: Int64s


def find_passages(
    index: OpenIndex,
    queries: Sequence[Query],
    plan: SearchPlan,
    runner: Runner,
    report: Callable[[float], None],
    behind: Behind | None = None,
) -> Found:
    """Find the passages that are similar to each query, in the order of the queries.

    Passages of one query are in the order of documents, and of places in them. ``report`` is called
    with the share of the queries that are done. With ``behind`` those that begin before a place of
    the index are left out.
    """

    def find(chunk: Sequence[Query]) -> list[Found]:
        parts = (part for query in chunk for part in _find_one(index, query, plan, behind))
        return [part for part in parts if len(part)]

    chunks = [queries[i : i + _CHUNK] for i in range(0, len(queries), _CHUNK)]
    found: list[Found] = []
    for done, parts in enumerate(runner.map(find, chunks), 1):
        found.extend(parts)
        report(done / len(chunks))
    return _join(found)


def find_windows(index: OpenIndex, queries: Sequence[Query], plan: SearchPlan) -> Rectangles:
    """Find all sub-texts with enough common min-hashes, without a look at their texts."""
    parts = [
        (query.number, number, searcher.windows(query, plan))
        for query in queries
        for number, searcher in enumerate(index.searchers)
    ]
    sizes = np.array([len(corners) for _, _, corners in parts], np.int64)
    numbers = np.array([part[:2] for part in parts], np.int64).reshape(-1, 2)
    corners = [np.empty((0, 5), np.int64), *(corners for _, _, corners in parts)]
    return Rectangles(
        np.repeat(numbers[:, 0], sizes),
        np.repeat(numbers[:, 1], sizes),
        np.concatenate(corners),
    )


def _find_one(
    index: OpenIndex, query: Query, plan: SearchPlan, behind: Behind | None
) -> Iterator[Found]:
    """Find the passages of each segment that are similar to a query."""
    for number, searcher in enumerate(index.searchers):
        offsets = searcher.segment.offsets
        first = 0
        if behind is not None:
            document = int(behind.documents[query.number] - index.first_documents[number])
            if document >= len(offsets) - 1:
                continue
            if document >= 0:
                first = int(offsets[document] + behind.tokens[query.number])
        hits = searcher.search(query, plan, first)
        documents = np.searchsorted(offsets, hits.starts, side="right") - 1
        keep = index.are_kept(number, documents)
        documents = documents[keep]
        firsts = offsets[documents]
        yield Found(
            np.full(len(documents), query.number, np.int64),
            documents + index.first_documents[number],
            hits.starts[keep] - firsts,
            hits.stops[keep] - firsts,
            hits.shared[keep] / hits.either[keep],
        )


def _join(parts: Sequence[Found]) -> Found:
    if not parts:
        nothing = np.empty(0, np.int64)
        return Found(nothing, nothing, nothing, nothing, np.empty(0, np.float64))
    return Found(
        np.concatenate([part.queries for part in parts]),
        np.concatenate([part.documents for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.stops for part in parts]),
        np.concatenate([part.similarities for part in parts]),
    )
