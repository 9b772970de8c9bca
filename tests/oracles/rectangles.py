"""All sub-texts with enough common min-hashes, listed as in the paper.

Jobs use ``passages.search`` to find and compare passages. The paper's experiments and the tests of
its theory need every candidate, without comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from neardup.kernels.passage import candidates, sweep
from neardup.kernels.types import Int
from neardup.passages.index import OpenPassages
from neardup.passages.plan import SearchPlan
from neardup.passages.segment import PassageSegment, fill_array
from neardup.passages.windows import Query
from neardup.tables import Int64s, Uint32s

# Lists are read from the shortest on, until the remaining ones can change the count by less than
# this. A smaller value yields too many candidates; a larger one reads longer lists.
_LEAST_OF_SHORT = 10
# Lists with this many windows together are always read.
_CHEAP_ROWS = 1 << 12

_FIRST_ROOM = 1 << 10

_Columns = tuple[Uint32s, npt.NDArray[np.uint16], Int64s, Uint32s]


@dataclass(frozen=True)
class Rectangles:
    """Sub-texts with enough common min-hashes as rectangles; a row per rectangle.

    ``corners`` (n, 5) are first and last start, first and last end (the last token, inclusive),
    counted through the segment with number ``segments``, and the number of common min-hashes.
    """

    queries: Int64s
    segments: Int64s
    corners: Int64s


def find_windows(index: OpenPassages, queries: Sequence[Query], plan: SearchPlan) -> Rectangles:
    """Find all sub-texts with enough common min-hashes, without comparing texts."""
    parts = [
        (query.number, number, _find_in(segment, query, plan.hits))
        for query in queries
        for number, segment in enumerate(index.segments)
    ]
    sizes = np.array([len(corners) for _, _, corners in parts], np.int64)
    numbers = np.array([part[:2] for part in parts], np.int64).reshape(-1, 2)
    corners = [np.empty((0, 5), np.int64), *(corners for _, _, corners in parts)]
    return Rectangles(
        np.repeat(numbers[:, 0], sizes),
        np.repeat(numbers[:, 1], sizes),
        np.concatenate(corners),
    )


def _find_in(segment: PassageSegment, query: Query, hits: int) -> Int64s:
    windows = segment.windows
    columns = windows.starts, windows.spans, windows.wide_rows, windows.wide_spans
    lists: Int64s = np.empty((len(query.keys), 2), np.int64)
    candidates.find_lists(query.keys, windows.keys, windows.key_starts, windows.list_starts, lists)
    lists = lists[np.argsort(lists[:, 1] - lists[:, 0], kind="stable")]
    rows = lists[:, 0].copy()
    corners: Int64s = np.empty((4, _FIRST_ROOM), np.int64)
    found = [np.empty((0, 5), np.int64)]
    for first, last in _candidate_ranges(lists, hits, columns).tolist():
        # The buffer is reused for the next range, so that it rarely grows.
        fill = partial(_windows_in_range, lists, rows, first, last, columns)
        corners, n = fill_array(fill, corners, axis=1)
        found.append(_count_windows(corners[:, :n], hits))
    return _join_neighbours(np.concatenate(found))


def _candidate_ranges(lists: Int64s, hits: int, columns: _Columns) -> Int64s:
    """Find candidate ranges of starts.

    The shorter lists come first: a passage in ``hits`` lists is in at least ``hits`` minus the
    unread lists. The windows of all lists are read only there.
    """
    sizes = lists[:, 1] - lists[:, 0]
    n_left_out = hits - min(hits, _LEAST_OF_SHORT)
    n_cheap = int(np.searchsorted(np.cumsum(sizes), _CHEAP_ROWS, side="right"))
    n_read = max(len(lists) - n_left_out, n_cheap)
    n_rows = int(sizes[:n_read].sum())
    firsts: Uint32s = np.empty(n_rows, np.uint32)
    lasts: Uint32s = np.empty(n_rows, np.uint32)
    n = candidates.list_starts(lists[:n_read], 1, *columns, firsts, lasts)
    firsts, lasts = firsts[:n], lasts[:n]
    firsts.sort()
    lasts.sort()
    room: Int64s = np.empty((n, 2), np.int64)
    least = hits - (len(lists) - n_read)
    ranges = room[: candidates.covered_ranges(firsts, lasts, least, room)]
    return ranges[: candidates.sift_ranges(lists, hits, 1, *columns, ranges)]


def _windows_in_range(
    lists: Int64s, rows: Int64s, first: int, last: int, columns: _Columns, corners: Int64s
) -> Int:
    return candidates.windows_in_range(lists, rows, first, last, *columns, corners)


def _count_windows(corners: Int64s, hits: int) -> Int64s:
    firsts, lasts, end_firsts, end_lasts = (np.ascontiguousarray(corner) for corner in corners)
    rectangles, n = fill_array(
        lambda room: sweep.count_windows(firsts, lasts, end_firsts, end_lasts, hits, room),
        np.empty((4 * corners.shape[1], 5), np.int64),
    )
    return rectangles[:n]


def _join_neighbours(rectangles: Int64s) -> Int64s:
    """Join rectangles with the same ends and hits and adjoining starts.

    The boundary of two ranges of starts depends on the other documents of the segment.
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
