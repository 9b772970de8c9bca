"""Windows of long queries looked up in an index, those of many queries together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from neardup.passages.chains import window_starts
from neardup.passages.index import OpenIndex
from neardup.passages.lookup import Behind, Found, find_passages
from neardup.passages.query import Queries, gather_queries
from neardup.passages.search import SearchPlan
from neardup.runtime.progress import report_part
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Floats, Int64s, TokenLists

# Windows looked up together, or those of one query; what is found for them is in memory together.
_WINDOWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True)
class WindowPlan:
    """Which windows of queries are looked up: of ``length`` tokens, one every ``step``.

    Windows found in more than ``max_documents`` documents are left out.
    """

    search: SearchPlan
    length: int
    step: int
    max_documents: int | None = None


@dataclass(frozen=True)
class Later:
    """Which documents of an index each query may find, where queries are themselves in an index.

    Query k finds passages of document ``firsts[k]`` and those behind it. Where ``are_own[k]``, that
    document is the query itself, and what is found of it stands behind what it is like.
    """

    firsts: Int64s
    are_own: Bools


@dataclass
class WindowCounts:
    """What happened on the way: windows looked up, those left out as too frequent, their hits."""

    windows: int = 0
    frequent_windows: int = 0
    hits: int = 0


@dataclass(frozen=True)
class WindowHits:
    """What the windows of one query are like; arrays have a row for each passage found.

    Tokens ``query_starts`` to ``query_stops`` (exclusive) of the query, and ``starts`` to ``stops``
    of one of the ``documents``, which are counted through all segments.
    """

    query_starts: Int64s
    query_stops: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats

    def take(self, rows: Bools) -> WindowHits:
        """Return the rows of a mask."""
        return WindowHits(*(getattr(self, field.name)[rows] for field in fields(self)))


class WindowFinder:
    """Looks up the windows of queries in an index."""

    def __init__(self, index: OpenIndex, plan: WindowPlan, runner: Runner) -> None:
        self.counts = WindowCounts()
        self._index, self._plan, self._runner = index, plan, runner

    def find(
        self, queries: TokenLists, later: Later | None, report: Callable[[float], None]
    ) -> Iterator[WindowHits]:
        """Yield what the windows of each query are like, ascending, query by query.

        ``report`` is called with the share of the tokens that are done.
        """
        length, step = self._plan.length, self._plan.step
        offsets = queries.offsets
        sizes = np.diff(offsets)
        n_windows = np.maximum(-(-(sizes - length) // step), 0) + (sizes > 0)
        groups = (np.cumsum(n_windows) - n_windows) // _WINDOWS_AT_A_TIME
        bounds = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(queries)).tolist()
        n_tokens = max(len(queries.values), 1)
        for first, stop in pairwise(bounds):
            part = report_part(report, offsets[first] / n_tokens, offsets[stop] / n_tokens)
            group = TokenLists(
                queries.values[offsets[first] : offsets[stop]],
                offsets[first : stop + 1] - offsets[first],
            )
            yield from self._find_group(group, _part_of(later, first, stop), part)

    def _find_group(
        self, queries: TokenLists, later: Later | None, report: Callable[[float], None]
    ) -> Iterator[WindowHits]:
        """Find what the windows of some queries are like, all at a time."""
        length, offsets = self._plan.length, queries.offsets
        of_queries = [window_starts(int(n), length, self._plan.step) for n in np.diff(offsets)]
        n_windows = np.array([len(starts) for starts in of_queries], np.int64)
        numbers = np.repeat(np.arange(len(queries)), n_windows)
        starts = np.concatenate(of_queries)
        sizes = np.diff(offsets)[numbers]
        stops = np.minimum(starts + length, sizes)
        behind = None
        if later is not None:
            # So many shingles behind a window share tokens with it.
            overlap = self._index.scheme.shingles.ngram - 1
            own = np.minimum(starts + length + overlap, sizes)
            behind = Behind(later.firsts[numbers], np.where(later.are_own[numbers], own, 0))
        firsts = offsets[numbers]
        scheme, frequencies = self._index.scheme, self._index.frequencies
        windows = gather_queries(
            queries.values, firsts + starts, firsts + stops, scheme, frequencies
        )
        found = self._find_windows(windows, behind, report)
        self.counts.windows += len(windows)
        self.counts.hits += len(found)
        rows = np.searchsorted(numbers[found.queries], np.arange(len(queries) + 1))
        for row, end in pairwise(rows.tolist()):
            of_one = found.queries[row:end]
            yield WindowHits(
                starts[of_one],
                stops[of_one],
                found.documents[row:end],
                found.starts[row:end],
                found.stops[row:end],
                found.similarities[row:end],
            )

    def _find_windows(
        self, windows: Queries, behind: Behind | None, report: Callable[[float], None]
    ) -> Found:
        """Find what windows are like, without those that too many documents have."""
        search, max_documents = self._plan.search, self._plan.max_documents
        if max_documents is None:
            return find_passages(self._index, windows, search, self._runner, report, behind)
        # How many documents have a window is counted over all of them.
        found = find_passages(self._index, windows, search, self._runner, report)
        frequent = self._frequent(found, max_documents)
        if behind is None:
            return found.take(~np.isin(found.queries, frequent))
        documents = behind.documents.copy()
        documents[frequent] = self._index.first_documents[-1]
        behind = Behind(documents, behind.tokens)
        return find_passages(self._index, windows, search, self._runner, report, behind)

    def _frequent(self, found: Found, max_documents: int) -> Int64s:
        """Return the windows that more documents have, and count them."""
        pairs = np.unique(np.stack([found.queries, found.documents]), axis=1)
        windows, n_documents = np.unique(pairs[0], return_counts=True)
        frequent: Int64s = windows[n_documents > max_documents]
        self.counts.frequent_windows += len(frequent)
        return frequent


def _part_of(later: Later | None, first: int, stop: int) -> Later | None:
    """Return what is said of some queries."""
    if later is None:
        return None
    return Later(later.firsts[first:stop], later.are_own[first:stop])
