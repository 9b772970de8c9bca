"""Passages of a segment that are similar to a query: candidates by min-hashes, then the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import comb

import numpy as np
import numpy.typing as npt

from neardup.errors import InvalidParameterError
from neardup.kernels.passage import candidates, sweep
from neardup.kernels.passage.matches import Choice
from neardup.kernels.passage.segments import Limits
from neardup.kernels.types import Int
from neardup.options.choices import Report
from neardup.passages.batches import Batch, BatchSearcher, Hits
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment import PassageSegment, fill_array
from neardup.passages.windows import Queries, Query
from neardup.tables import Int32s, Int64s, Uint32s
from neardup.text.weighting import DocumentFrequencies

# How many min-hashes a passage must share with a query to be compared with it.

# Unless recall or hits are given.
DEFAULT_RECALL = Fraction(99, 100)


def choose_hits(
    num_perm: int, threshold: Fraction, recall: Fraction | None = None, hits: int | None = None
) -> int:
    """Return how many min-hashes to ask for: ``hits``, or as many as the recall allows."""
    if hits is None:
        return least_hits(num_perm, threshold, DEFAULT_RECALL if recall is None else recall)
    if hits > num_perm:
        message = f"hits must be at most num_perm, got {hits} of {num_perm} hash functions"
        raise InvalidParameterError(message, "hits", "num_perm")
    return hits


@lru_cache(maxsize=64)
def least_hits(num_perm: int, threshold: Fraction, recall: Fraction) -> int:
    """Give the most min-hashes to ask for, so that a passage at the threshold has them.

    Each of ``num_perm`` min-hashes agrees with probability ``threshold``, apart from the others; at
    least so many of them agree with a probability of ``recall`` or more. At least 1.
    """
    tail = Fraction(0)
    for hits in range(num_perm, 0, -1):
        tail += comb(num_perm, hits) * threshold**hits * (1 - threshold) ** (num_perm - hits)
        if tail >= recall:
            return hits
    message = (
        f"recall {float(recall):g} is out of reach at threshold {float(threshold):g} with "
        f"{num_perm} hash functions; ask for less, or build the index with a greater num_perm"
    )
    raise InvalidParameterError(message, "recall", "threshold", "num_perm")


@lru_cache(maxsize=64)
def candidate_probability(num_perm: int, hits: int, similarity: Fraction) -> float:
    """Give the probability that a passage of this similarity shares at least so many."""
    return float(
        sum(
            comb(num_perm, k) * similarity**k * (1 - similarity) ** (num_perm - k)
            for k in range(hits, num_perm + 1)
        )
    )


# Lists are read from the shortest on, until those left can no longer matter by so many min-hashes.
# With fewer, too many places look like candidates; with more, longer lists are read.
_LEAST_OF_SHORT = 10
# Lists with so many windows together are read in any case.
_CHEAP_ROWS = 1 << 12

_FIRST_ROOM = 1 << 10


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


def make_search_plan(
    scheme: PassageScheme,
    threshold: Fraction,
    recall: Fraction | None,
    report: Report,
    hits: int | None = None,
) -> SearchPlan:
    """Choose how many min-hashes to ask for: ``hits``, or as many as the recall allows."""
    hits = choose_hits(scheme.num_perm, threshold, recall, hits)
    return SearchPlan(threshold, hits, scheme.least_shingles, report)


class SegmentSearcher:
    """Looks for queries in one segment, for any number of threads."""

    def __init__(
        self,
        segment: PassageSegment,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.segment = segment
        self._batches = BatchSearcher(segment, scheme, frequencies)

    def entries(self, queries: Queries) -> Int32s:
        """Return the entry of the vocabulary that each token of some queries is, or -1."""
        return self._batches.entries(queries)

    def search(self, batch: Batch, entries: Int32s, plan: SearchPlan) -> Hits:
        """Find the passages that are similar to some of many queries.

        ``entries`` is what the method of that name gives for all of them.
        """
        threshold = plan.threshold
        limits = Limits(
            plan.hits, plan.min_tokens, np.float64(threshold), self._batches.bucket_bits
        )
        choice = Choice(
            plan.min_tokens,
            threshold.numerator,
            threshold.denominator,
            plan.report == "maximal",
            self._batches.overlap,
        )
        return self._batches.search(batch, entries, limits, choice)

    def windows(self, query: Query, plan: SearchPlan) -> Int64s:
        """Find all sub-texts with enough common min-hashes, as rectangles (n, 5).

        Each is first and last start, first and last end (the last token, inclusive), counted
        through the segment, and the number of common min-hashes. They are not compared exactly.
        """
        lists = self._find_lists(query)
        ranges = self._candidate_ranges(lists, plan.hits, 1)
        found = list(self._rectangles(lists, ranges, plan.hits))
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

    def _rectangles(self, lists: Int64s, ranges: Int64s, hits: int) -> Iterator[Int64s]:
        """Give the sub-texts with enough common min-hashes, those of a range together."""
        columns = self._columns()
        rows = lists[:, 0].copy()
        corners: Int64s = np.empty((4, _FIRST_ROOM), np.int64)
        for first, last in ranges.tolist():
            # The room of one range is that of the next, so that it seldom grows.
            corners, n = fill_array(
                partial(_windows_in_range, lists, rows, first, last, columns), corners, axis=1
            )
            yield _count_windows(corners[:, :n], hits)


def _join_neighbours(rectangles: Int64s) -> Int64s:
    """Join rectangles with the same ends and hits of which one begins right behind the other.

    Two ranges of starts may adjoin; where they do depends on the other documents of the segment.
    """
    if not len(rectangles):
        return rectangles
    order = np.lexsort((rectangles[:, 0], rectangles[:, 3], rectangles[:, 2]))
    rectangles = rectangles[order]
    goes_on = (rectangles[1:, 2:] == rectangles[:-1, 2:]).all(axis=1)
    goes_on &= rectangles[1:, 0] == rectangles[:-1, 1] + 1
    heads = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    joined = rectangles[heads]
    joined[:, 1] = rectangles[np.append(heads[1:], len(rectangles)) - 1, 1]
    return joined[np.lexsort((joined[:, 2], joined[:, 0]))]


def _windows_in_range(
    lists: Int64s,
    rows: Int64s,
    first: int,
    last: int,
    columns: tuple[Uint32s, npt.NDArray[np.uint16], Int64s, Uint32s],
    corners: Int64s,
) -> Int:
    return candidates.windows_in_range(lists, rows, first, last, *columns, corners)


def _count_windows(corners: Int64s, hits: int) -> Int64s:
    firsts, lasts, end_firsts, end_lasts = (np.ascontiguousarray(corner) for corner in corners)
    rectangles, n = fill_array(
        lambda room: sweep.count_windows(firsts, lasts, end_firsts, end_lasts, hits, room),
        np.empty((4 * corners.shape[1], 5), np.int64),
    )
    return rectangles[:n]
