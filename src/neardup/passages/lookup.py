"""Many queries looked up in all segments of an index, on several cores."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.passages.index import OpenIndex
from neardup.passages.query import Query
from neardup.passages.search import SearchPlan, SegmentSearcher
from neardup.passages.windows_table import Rectangles
from neardup.runtime.threads import map_ordered
from neardup.tables import Floats, Int64s

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


class Lookup:
    """An open index ready for queries of several threads.

    Memory: what a ``SegmentSearcher`` takes, for each segment and worker.
    """

    def __init__(self, index: OpenIndex, workers: int) -> None:
        self._index = index
        self._workers = workers
        self._idle: queue.SimpleQueue[list[SegmentSearcher]] = queue.SimpleQueue()
        for _ in range(workers):
            self._idle.put(
                [SegmentSearcher(s, index.scheme, index.frequencies) for s in index.segments]
            )
        sizes = [len(segment.ids) for segment in index.segments]
        self._first_documents = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def find(self, queries: Sequence[Query], plan: SearchPlan) -> Found:
        """Find the passages that are similar to each query, in the order of the queries.

        Passages of one query are in the order of documents, and of places in them.
        """
        chunks = [queries[i : i + _CHUNK] for i in range(0, len(queries), _CHUNK)]
        parts = list(map_ordered(lambda chunk: self._find(chunk, plan), chunks, self._workers))
        return _join([found for part in parts for found in part])

    def windows(self, queries: Sequence[Query], plan: SearchPlan) -> Rectangles:
        """Find all sub-texts with enough common min-hashes, without a look at their texts."""
        searchers = self._idle.get()
        try:
            parts = [
                (query.number, number, searcher.windows(query, plan))
                for query in queries
                for number, searcher in enumerate(searchers)
            ]
        finally:
            self._idle.put(searchers)
        sizes = np.array([len(corners) for _, _, corners in parts], np.int64)
        numbers = np.array([part[:2] for part in parts], np.int64).reshape(-1, 2)
        corners = [np.empty((0, 4), np.int64), *(corners for _, _, corners in parts)]
        return Rectangles(
            np.repeat(numbers[:, 0], sizes),
            np.repeat(numbers[:, 1], sizes),
            np.concatenate(corners),
        )

    def _find(self, queries: Sequence[Query], plan: SearchPlan) -> list[Found]:
        searchers = self._idle.get()
        try:
            return [
                found
                for query in queries
                for found in self._find_one(query, plan, searchers)
                if len(found)
            ]
        finally:
            self._idle.put(searchers)

    def _find_one(
        self, query: Query, plan: SearchPlan, searchers: Sequence[SegmentSearcher]
    ) -> Iterator[Found]:
        for number, searcher in enumerate(searchers):
            hits = searcher.search(query, plan)
            offsets = searcher.segment.offsets
            documents = np.searchsorted(offsets, hits.starts, side="right") - 1
            removed = self._index.removed[number]
            keep = ~np.isin(documents, removed) if len(removed) else slice(None)
            documents = documents[keep]
            firsts = offsets[documents]
            yield Found(
                np.full(len(documents), query.number, np.int64),
                documents + self._first_documents[number],
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
