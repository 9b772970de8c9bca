"""Passages of a segment that are similar to a query: candidates by min-hashes, then the truth."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from neardup.kernels import candidates, passages, regions, sweep
from neardup.kernels.types import Int
from neardup.options.choices import Report
from neardup.passages.query import Query
from neardup.passages.recall import choose_hits
from neardup.passages.room import fill_array
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment import PassageSegment
from neardup.passages.weights import inverse_frequencies
from neardup.tables import Floats, Int32s, Int64s, Uint32s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Lists are read from the shortest on, until those left can no longer matter by so many min-hashes.
# With fewer, too many places look like candidates; with more, longer lists are read.
_LEAST_OF_SHORT = 10
# Lists with so many windows together are read in any case.
_CHEAP_ROWS = 1 << 12

_FIRST_ROOM = 1 << 10
_PASSAGE_ROOM = 64


@dataclass(frozen=True)
class SearchPlan:
    """What a passage must fulfil.

    ``threshold`` is the least similarity; passages with ``hits`` common min-hashes are compared
    exactly; ``report`` tells which of the verified ones are told.
    """

    threshold: Fraction
    hits: int
    min_tokens: int
    report: Report = "best"


@dataclass(frozen=True)
class Hits:
    """Passages of one segment found for one query; all arrays have a row for each.

    ``starts`` and ``stops`` (exclusive) are tokens, counted through the segment; ``shared`` over
    ``either`` is the similarity.
    """

    starts: Int64s
    stops: Int64s
    shared: Int64s
    either: Int64s

    def __len__(self) -> int:
        return len(self.starts)


def make_search_plan(
    scheme: PassageScheme,
    threshold: Fraction,
    recall: Fraction | None,
    report: Report,
    hits: int | None = None,
) -> SearchPlan:
    """Choose how many min-hashes to ask for: ``hits``, or as many as the recall allows.

    Raises
    ------
    InvalidParameterError
        If there are no so many, or the recall is out of reach.
    """
    hits = choose_hits(scheme.num_perm, threshold, recall, hits)
    return SearchPlan(threshold, hits, scheme.least_shingles, report)


class SegmentSearcher:
    """Looks for queries in one segment, for any number of threads.

    What takes a look at the whole segment is made once and kept: the inverse document frequencies
    of its vocabulary, if tokens have any, and scratch memory for each thread that searches while
    others do. Memory 8 bytes for each entry of the vocabulary with weights, and 4 a thread.
    """

    def __init__(
        self,
        segment: PassageSegment,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.segment = segment
        self._scheme = scheme
        self._frequencies = frequencies
        # So many shingles behind one share tokens with it.
        self._overlap = scheme.shingles.ngram - 1
        self._idle: deque[Int32s] = deque()

    def search(self, query: Query, plan: SearchPlan, first: int = 0) -> Hits:
        """Find the passages of all documents that are similar to a query.

        Those that begin before token ``first`` of the segment are not looked at.
        """
        lists = self._find_lists(query)
        ranges = self._candidate_ranges(lists, plan.hits, plan.min_tokens)
        ranges = ranges[ranges[:, 1] >= first]
        ranges[:, 0] = np.maximum(ranges[:, 0], first)
        if not len(ranges):
            return _NOTHING
        with self._knowing(query) as known:
            found = [
                self._verify(query, plan, known, rectangles)
                for rectangles in self._regions(lists, ranges, plan.hits)
            ]
        if not found:
            return _NOTHING
        return Hits(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def windows(self, query: Query, plan: SearchPlan) -> Int64s:
        """Find all sub-texts with enough common min-hashes, as rectangles (n, 5).

        Each is first and last start, first and last end (the last token, inclusive), counted
        through the segment, and the number of common min-hashes. They are not compared exactly.
        """
        lists = self._find_lists(query)
        ranges = self._candidate_ranges(lists, plan.hits, 1)
        found = list(self._regions(lists, ranges, plan.hits, is_counted=True))
        return _join_neighbours(np.concatenate(found)) if found else np.empty((0, 5), np.int64)

    def _find_lists(self, query: Query) -> Int64s:
        index = self.segment.windows
        lists: Int64s = np.empty((len(query.keys), 2), np.int64)
        candidates.find_lists(query.keys, index.keys, index.key_starts, index.list_starts, lists)
        return lists[np.argsort(lists[:, 1] - lists[:, 0], kind="stable")]

    def _candidate_ranges(self, lists: Int64s, hits: int, min_tokens: int) -> Int64s:
        """Find where passages of ``min_tokens`` or more may start that share enough.

        First by the shorter lists alone: a passage in ``hits`` of all lists is in at least ``hits``
        less those not read. There the windows of all lists are looked at.
        """
        rows = np.cumsum(lists[:, 1] - lists[:, 0])
        n_left_out = hits - min(hits, _LEAST_OF_SHORT)
        n_read = max(len(lists) - n_left_out, int(np.searchsorted(rows, _CHEAP_ROWS, side="right")))
        least = hits - (len(lists) - n_read)
        ranges = self._covered_ranges(lists[:n_read], least, min_tokens)
        n = candidates.sift_ranges(lists, hits, min_tokens, *self._columns(), ranges)
        return ranges[:n]

    def _columns(self) -> tuple[Uint32s, npt.NDArray[np.uint16], Int64s, Uint32s]:
        """Give the arrays of the windows, as kernels take them."""
        index = self.segment.windows
        return index.starts, index.spans, index.wide_rows, index.wide_spans

    def _covered_ranges(self, lists: Int64s, least: int, min_tokens: int) -> Int64s:
        """Find the ranges of starts that windows of ``least`` of some lists allow."""
        n_rows = int((lists[:, 1] - lists[:, 0]).sum())
        firsts: Uint32s = np.empty(n_rows, np.uint32)
        lasts: Uint32s = np.empty(n_rows, np.uint32)
        n = candidates.list_starts(lists, min_tokens, *self._columns(), firsts, lasts)
        firsts, lasts = firsts[:n], lasts[:n]
        firsts.sort()
        lasts.sort()
        ranges: Int64s = np.empty((n, 2), np.int64)
        return ranges[: candidates.covered_ranges(firsts, lasts, least, ranges)]

    def _regions(
        self, lists: Int64s, ranges: Int64s, hits: int, *, is_counted: bool = False
    ) -> Iterator[Int64s]:
        """Give the sub-texts with enough common min-hashes, those that may overlap together."""
        columns = self._columns()
        rows = lists[:, 0].copy()
        corners: Int64s = np.empty((4, _FIRST_ROOM), np.int64)
        region: list[Int64s] = []
        end = -1
        for first, last in ranges.tolist():
            # The room of one range is that of the next, so that it seldom grows.
            corners, n = fill_array(
                partial(_windows_in_range, lists, rows, first, last, columns), corners, axis=1
            )
            rectangles = _sweep(corners[:, :n], hits, is_counted=is_counted)
            if not len(rectangles):
                continue
            if region and not self._may_meet(end, first):
                yield np.concatenate(region)
                region = []
            region.append(rectangles)
            end = max(end, int(rectangles[:, 3].max()))
        if region:
            yield np.concatenate(region)

    def _may_meet(self, end: int, start: int) -> bool:
        """Return whether a passage that starts there may have tokens of one that ends there."""
        if start <= end or start > end + self._overlap:
            return start <= end
        offsets = self.segment.offsets
        is_next = np.searchsorted(offsets, start, "right") > np.searchsorted(offsets, end, "right")
        return not is_next

    @contextmanager
    def _knowing(self, query: Query) -> Iterator[Int32s]:
        """Note which entries of the vocabulary the query has, in scratch memory for one thread."""
        try:
            known = self._idle.pop()
        except IndexError:
            known = _make_scratch(len(self.segment.vocabulary))
        vocabulary = self.segment.vocabulary
        places = np.searchsorted(vocabulary, query.hashes)
        places[places == len(vocabulary)] = 0
        numbers = np.flatnonzero(vocabulary[places] == query.hashes)
        known[places[numbers]] = numbers
        try:
            yield known
        finally:
            known[places[numbers]] = -1
            self._idle.append(known)

    @cached_property
    def _inverses(self) -> Floats | None:
        """The inverse document frequencies of the vocabulary; None where all are 1."""
        if self._frequencies is None:
            return None
        return inverse_frequencies(self.segment.vocabulary, self._scheme, self._frequencies)

    def _verify(
        self, query: Query, plan: SearchPlan, known: Int32s, rectangles: Int64s
    ) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """Compare the sub-texts of a region exactly; give the passages to tell."""
        origin = int(rectangles[0, 0])
        end = int(rectangles[:, 3].max()) + 1
        n_rows = int(rectangles[:, 1].max()) + 1 - origin
        tokens = self.segment.tokens[origin:end]
        numbers: Int32s = np.empty(len(tokens), np.int32)
        others: Int32s = np.empty(len(tokens), np.int32)
        n_query = len(query.hashes)
        n_types = regions.number_region(tokens, n_query, known, numbers, others)
        query_weights: Int64s = np.zeros(n_types, np.int64)
        query_weights[:n_query] = query.weights
        type_weights = self._type_weights(query, others[: n_types - n_query])
        term_weights = term_frequencies(
            self._scheme.weighting.tf, int(np.bincount(numbers).max()) + 1
        )
        lows, highs = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
        regions.rows_of_rectangles(rectangles, origin, lows, highs)
        counts: Int32s = np.zeros(n_types, np.int32)
        p, q = plan.threshold.numerator, plan.threshold.denominator
        total = query.total
        regions.narrow_rows(numbers, term_weights, type_weights, total, p, q, counts, lows, highs)
        choose: Callable[..., Int] = partial(passages.pick_passages, self._overlap)
        if plan.report == "maximal":
            choose = passages.maximal_passages

        def pick(found: Int64s) -> Int:
            return choose(
                numbers,
                lows,
                highs,
                plan.min_tokens,
                term_weights,
                type_weights,
                query_weights,
                total,
                p,
                q,
                counts,
                found,
            )

        found, n = fill_array(pick, np.empty((_PASSAGE_ROOM, 4), np.int64))
        found = found[:n]
        return found[:, 0] + origin, found[:, 1] + origin + 1, found[:, 2], found[:, 3]

    def _type_weights(self, query: Query, others: Int32s) -> Floats:
        """Give the inverse document frequencies of a region's numbers."""
        if self._inverses is None:
            return np.ones(len(query.hashes) + len(others), np.float64)
        vocabulary = self.segment.vocabulary
        places = np.minimum(np.searchsorted(vocabulary, query.hashes), len(vocabulary) - 1)
        # Tokens that the segment lacks do not occur in its regions.
        return np.concatenate([self._inverses[places], self._inverses[others]])


def _join_neighbours(rectangles: Int64s) -> Int64s:
    """Join rectangles with the same ends and hits of which one begins right behind the other.

    Two ranges of starts may adjoin; where they do depends on the other documents of the segment.
    """
    order = np.lexsort((rectangles[:, 0], rectangles[:, 3], rectangles[:, 2]))
    rectangles = rectangles[order]
    goes_on = (rectangles[1:, 2:] == rectangles[:-1, 2:]).all(axis=1)
    goes_on &= rectangles[1:, 0] == rectangles[:-1, 1] + 1
    heads = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    joined = rectangles[heads]
    joined[:, 1] = rectangles[np.append(heads[1:], len(rectangles)) - 1, 1]
    return joined[np.lexsort((joined[:, 2], joined[:, 0]))]


_NOTHING = Hits(*(np.empty(0, np.int64) for _ in range(4)))


def _make_scratch(n_entries: int) -> Int32s:
    """Make room for the numbers that a query gives to a vocabulary; -1 for none."""
    return np.full(n_entries, -1, np.int32)


def _windows_in_range(
    lists: Int64s,
    rows: Int64s,
    first: int,
    last: int,
    columns: tuple[Uint32s, npt.NDArray[np.uint16], Int64s, Uint32s],
    corners: Int64s,
) -> Int:
    return candidates.windows_in_range(lists, rows, first, last, *columns, corners)


def _sweep(corners: Int64s, hits: int, *, is_counted: bool) -> Int64s:
    firsts, lasts, end_firsts, end_lasts = (np.ascontiguousarray(corner) for corner in corners)
    kernel = sweep.count_windows if is_counted else sweep.sweep_windows
    rectangles, n = fill_array(
        lambda room: kernel(firsts, lasts, end_firsts, end_lasts, hits, room),
        np.empty((4 * corners.shape[1], 5 if is_counted else 4), np.int64),
    )
    return rectangles[:n]
