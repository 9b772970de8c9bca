"""Many queries looked up in all segments of an index, on several cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.passages.batches import Batch, Hits
from neardup.passages.index import OpenIndex
from neardup.passages.query import Queries, Query
from neardup.passages.search import SearchPlan
from neardup.passages.windows_table import Rectangles
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Floats, Int64s

# Queries that a thread takes at a time.
_CHUNK = 128


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

    def take(self, rows: Bools | Int64s) -> Found:
        """Return the rows of a mask, or of some places."""
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
    queries: Queries,
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
    entries = [searcher.entries(queries) for searcher in index.searchers]

    def find(first: int) -> Found:
        keys, have_weight = queries.hash(first, min(first + _CHUNK, len(queries)))
        parts = []
        for number, searcher in enumerate(index.searchers):
            first_tokens = _first_tokens(index, number, behind, first, len(keys))
            batch = Batch(queries, first, keys, have_weight, first_tokens)
            hits = searcher.search(batch, entries[number], plan)
            parts.append(_found(index, number, hits))
        found = _join(parts)
        return found.take(np.argsort(found.queries, kind="stable")) if len(parts) > 1 else found

    chunks = range(0, len(queries), _CHUNK)
    parts = []
    for done, found in enumerate(runner.map(find, chunks), 1):
        parts.append(found)
        report(done / len(chunks))
    return _join(parts)


def _first_tokens(
    index: OpenIndex, number: int, behind: Behind | None, first: int, n_queries: int
) -> Int64s:
    """Return the least token of a segment at which passages of some queries may begin."""
    first_tokens: Int64s = np.zeros(n_queries, np.int64)
    if behind is not None:
        offsets = index.searchers[number].segment.offsets
        chosen = slice(first, first + n_queries)
        documents = behind.documents[chosen] - index.first_documents[number]
        is_here = (documents >= 0) & (documents < len(offsets) - 1)
        first_tokens[is_here] = offsets[documents[is_here]] + behind.tokens[chosen][is_here]
        first_tokens[documents >= len(offsets) - 1] = offsets[-1]
    return first_tokens


def _found(index: OpenIndex, number: int, hits: Hits) -> Found:
    """Return the passages of a segment by documents, without those that are removed."""
    offsets = index.searchers[number].segment.offsets
    documents = np.searchsorted(offsets, hits.starts, side="right") - 1
    keep = index.are_kept(number, documents)
    documents = documents[keep]
    firsts = offsets[documents]
    return Found(
        hits.queries[keep],
        documents + index.first_documents[number],
        hits.starts[keep] - firsts,
        hits.stops[keep] - firsts,
        hits.shared[keep] / hits.either[keep],
    )


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
