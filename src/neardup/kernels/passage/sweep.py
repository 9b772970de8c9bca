"""Find sub-texts with enough common min-hashes, by a sweep.

For each hash function the index lists the windows with the query's min-hash. They ascend and their
starts are disjoint, so that a range of starts has a run of each list.

A window is a rectangle: all sub-texts that start in one range and end in another. From left to
right, windows enter at their first start and leave after their last one. In between a segment tree
over the end positions counts the windows of each sub-text.

References
----------
Bentley (1977), Algorithms for Klee's rectangle problems.
Peng, Wang, Deng (2023), Near-duplicate sequence search at scale for large language model
memorization evaluation.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstInt64Rows,
    ConstInt64s,
    ConstUint64Rows,
    ConstUint64s,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)
from neardup.kernels.common.ordering import first_at_least, order_of
from neardup.kernels.passage.segment_kernels import SegmentWindows

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def find_lists(wanted: ConstUint64s, windows: SegmentWindows, lists: Int64Rows) -> None:
    """Find each hash function's windows with the wanted key.

    ``lists`` (n_functions, 2) receives the first window and the end.
    """
    keys, key_starts = windows.keys, windows.key_starts
    for f in range(wanted.shape[0]):
        stop = key_starts[f + 1]
        lists[f, 0] = first_at_least(keys, key_starts[f], stop, wanted[f])
        lists[f, 1] = stop
        if wanted[f] < _LARGEST:
            lists[f, 1] = first_at_least(keys, lists[f, 0], stop, wanted[f] + np.uint64(1))


@kernel
def windows_in_range(
    lists: Int64Rows, first: int, last: int, windows: SegmentWindows, corners: Int64Rows
) -> Int:
    """List windows that allow a start from ``first`` to ``last``.

    Windows are cut to these starts. ``corners`` (4, room) receives a, b, c, d of each. Returns
    their number, also if they do not fit. The firsts of ``lists`` are moved on to the first ones
    that allow a start at ``first`` or later.
    """
    starts, spans = windows.starts, windows.spans
    n = np.int64(0)
    for f in range(lists.shape[0]):
        row, end = lists[f, 0], lists[f, 1]
        stop = end
        while row < stop:
            middle = (row + stop) >> 1
            if np.int64(starts[middle]) + np.int64(spans[middle, 0]) < first:
                row = middle + 1
            else:
                stop = middle
        lists[f, 0] = row
        while row < end and np.int64(starts[row]) <= last:
            if n < corners.shape[1]:
                a = np.int64(starts[row])
                b = a + np.int64(spans[row, 0])
                c = b + np.int64(spans[row, 1])
                corners[0, n] = max(a, np.int64(first))
                corners[1, n] = min(b, np.int64(last))
                corners[2, n] = c
                corners[3, n] = c + np.int64(spans[row, 2])
            n += 1
            row += 1
    return n


@inlined
def _update(node: Int, added: Int32s, least: Int32s, most: Int32s) -> None:
    left, right = node << 1, (node << 1) | 1
    least[node] = min(least[left], least[right]) + added[node]
    most[node] = max(most[left], most[right]) + added[node]


@helper
def _add(start: Int, stop: Int, change: Int, added: Int32s, least: Int32s, most: Int32s) -> None:
    """Add to the counts of leaves ``start`` to ``stop``.

    The range is exclusive and not empty. A node's own amount applies to all leaves below it and is
    never pushed down: its ``least`` and ``most`` include only amounts of its subtree.
    """
    n_leaves = added.shape[0] >> 1
    left, right = start + n_leaves, stop + n_leaves
    first, last = left >> 1, (right - 1) >> 1
    while left < right:
        if left & 1:
            added[left] += change
            least[left] += change
            most[left] += change
            left += 1
        if right & 1:
            right -= 1
            added[right] += change
            least[right] += change
            most[right] += change
        left >>= 1
        right >>= 1
    while first > 0:
        _update(first, added, least, most)
        if last != first:
            _update(last, added, least, most)
        first >>= 1
        last >>= 1


@helper
def _find_runs(
    wanted: Int,
    added: Int32s,
    least: Int32s,
    most: Int32s,
    nodes: Int64s,
    counts: Int64s,
    first_run: Int,
    starts: Int64s,
    stops: Int64s,
) -> Int:
    """Find the longest runs of leaves with at least ``wanted``.

    Runs are written from left to right, from ``first_run`` on; returns their end. ``nodes`` and
    ``counts`` are a stack of nodes with the amounts of the nodes above them.
    """
    n_leaves = added.shape[0] >> 1
    run, height = np.int64(first_run), np.int64(1)
    nodes[0], counts[0] = 1, 0
    while height > 0:
        height -= 1
        node, count = nodes[height], counts[height]
        if most[node] + count < wanted:
            continue
        if least[node] + count < wanted:
            count += added[node]
            nodes[height], counts[height] = (node << 1) | 1, count
            nodes[height + 1], counts[height + 1] = node << 1, count
            height += 2
            continue
        # All leaves below the node.
        start, stop = node, node + 1
        while start < n_leaves:
            start <<= 1
            stop <<= 1
        start -= n_leaves
        stop -= n_leaves
        if run > first_run and stops[run - 1] == start:
            stops[run - 1] = stop
        else:
            starts[run], stops[run] = start, stop
            run += 1
    return run


@kernel
def sweep_windows(
    firsts: ConstInt64s,
    lasts: ConstInt64s,
    end_firsts: ConstInt64s,
    end_lasts: ConstInt64s,
    wanted: int,
    rectangles: Int64Rows,
) -> Int:
    """Find sub-texts in ``wanted`` or more windows, as disjoint rectangles.

    Window w holds the sub-texts [i, j] with ``firsts[w] <= i <= lasts[w]`` and ``end_firsts[w] <= j
    <= end_lasts[w]``; none is empty, and ``wanted`` is positive. Rows of ``rectangles`` get the
    same four numbers, by ascending first start, then first end. Rectangles are as wide (in starts)
    as they can be without overlapping others: neighbours with the same ends are not adjacent.

    Returns the number of rectangles, including rectangles that do not fit. Cost O((W + R) log W)
    for W windows and R runs of ends, summed up over all positions where a window begins or ends.
    Windows of an index are at most one for each hash function and start, so there are few runs at a
    time.
    """
    n_windows = firsts.shape[0]
    if n_windows < wanted:
        return np.int64(0)
    scratch = np.empty(2 * n_windows, np.int64)
    entering, leaving = np.empty(n_windows, np.int64), np.empty(n_windows, np.int64)
    order_of(firsts, entering, scratch)
    order_of(lasts, leaving, scratch)

    # Leaf k of the tree stands for the ends from bounds[k] to bounds[k + 1], exclusive.
    ends = np.empty(2 * n_windows, np.int64)
    for w in range(n_windows):
        ends[w], ends[n_windows + w] = end_firsts[w], end_lasts[w] + 1
    by_end = np.empty(2 * n_windows, np.int64)
    order_of(ends, by_end, scratch)
    bounds = np.empty(2 * n_windows, np.int64)
    leaves = np.empty(2 * n_windows, np.int64)
    n_bounds = np.int64(0)
    for i in range(2 * n_windows):
        k = by_end[i]
        if n_bounds == 0 or bounds[n_bounds - 1] != ends[k]:
            bounds[n_bounds] = ends[k]
            n_bounds += 1
        leaves[k] = n_bounds - 1

    n_leaves, height = np.int64(1), np.int64(0)
    while n_leaves < n_bounds:
        n_leaves <<= 1
        height += 1
    added = np.zeros(2 * n_leaves, np.int32)
    least = np.zeros(2 * n_leaves, np.int32)
    most = np.zeros(2 * n_leaves, np.int32)
    nodes = np.empty(height + 2, np.int64)
    counts = np.empty(height + 2, np.int64)
    is_in_tree = np.zeros(n_windows, np.int32)

    # Runs with the rectangles that they belong to: runs of the positions before in one half of the
    # arrays, current ones in the other.
    half: Int = n_windows
    starts = np.empty(2 * half, np.int64)
    stops = np.empty(2 * half, np.int64)
    owners = np.empty(2 * half, np.int64)
    first_run: Int = 0
    old_first: Int = half
    old_end: Int = half
    n_rectangles: Int = 0

    entered, left = np.int64(0), np.int64(0)
    tree_entered, tree_left = np.int64(0), np.int64(0)
    while entered < n_windows or entered - left >= wanted:
        # The next position with a new window, or the first one after a window.
        position = lasts[leaving[left]] + 1
        if entered < n_windows:
            position = min(position, firsts[entering[entered]])
        while entered < n_windows and firsts[entering[entered]] == position:
            entered += 1
        while left < n_windows and lasts[leaving[left]] < position:
            left += 1
        # With too few windows the tree stays unchanged, and most windows that leave meanwhile never
        # were in it.
        if entered - left < wanted:
            old_end = old_first
            continue
        while tree_entered < entered:
            w = entering[tree_entered]
            tree_entered += 1
            if lasts[w] >= position:
                is_in_tree[w] = 1
                _add(leaves[w], leaves[n_windows + w], 1, added, least, most)
        while tree_left < left:
            w = leaving[tree_left]
            tree_left += 1
            if is_in_tree[w]:
                _add(leaves[w], leaves[n_windows + w], -1, added, least, most)
        end_run: Int = first_run
        if most[1] >= wanted:
            end_run = _find_runs(
                wanted, added, least, most, nodes, counts, first_run, starts, stops
            )
        last = lasts[leaving[left]]
        if entered < n_windows:
            last = min(last, firsts[entering[entered]] - 1)
        old = old_first
        for run in range(first_run, end_run):
            while old < old_end and starts[old] < starts[run]:
                old += 1
            if old < old_end and starts[old] == starts[run] and stops[old] == stops[run]:
                owner = owners[old]
            else:
                owner = n_rectangles
                n_rectangles += 1
                if owner < rectangles.shape[0]:
                    rectangles[owner, 0] = position
                    rectangles[owner, 2] = bounds[starts[run]]
                    rectangles[owner, 3] = bounds[stops[run]] - 1
            owners[run] = owner
            if owner < rectangles.shape[0]:
                rectangles[owner, 1] = last
        first_run, old_first, old_end = old_first, first_run, end_run
    return n_rectangles


_ROOM = 1 << 10


@inlined
def _add_region(
    regions: Int64Rows, n: Int, query: Int, origin: Int, end: Int, first_row: Int, n_rows: Int
) -> None:
    regions[n, 0], regions[n, 1], regions[n, 2] = query, origin, end
    regions[n, 3], regions[n, 4] = first_row, n_rows


@kernel
def outline_regions(
    keys: ConstUint64Rows,
    ranges: ConstInt64Rows,
    first_range: int,
    windows: SegmentWindows,
    hits: int,
    apart: int,
    regions: Int64Rows,
    lows: Int64s,
    highs: Int64s,
) -> tuple[Int, Int]:
    """Join adjacent sub-texts in windows of ``hits`` hash functions to regions.

    Sub-texts of one document are adjacent if less than ``apart`` tokens lie between them.

    ``ranges``, from ``first_range`` on, are from ``narrowing.narrow_buckets``. Row k of ``keys``
    has the min-hashes of query k. Rows of ``regions`` receive the query, the first start, the end
    of the last sub-text, and the range of rows in ``lows`` and ``highs``: these have for each start
    in turn the least and the greatest last token, counted from the first start; the greater first
    if there is none.

    Returns the first range not done, which is below the end if regions do not fit, and the number
    of regions.
    """
    lists = np.empty((keys.shape[1], 2), np.int64)
    corners = np.empty((4, _ROOM), np.int64)
    rectangles = np.empty((4 * _ROOM, 4), np.int64)
    n_regions, query, query_range = np.int64(0), np.int64(-1), np.int64(first_range)
    n_regions_before = np.int64(0)
    # The rows of the open region begin at ``first_row``; without rows none is open.
    first_row, n_rows, origin, end = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    document = np.int64(-1)
    for k in range(first_range, ranges.shape[0] + 1):
        is_new = k == ranges.shape[0] or ranges[k, 0] != query
        if is_new and n_rows > first_row:
            if n_regions == regions.shape[0]:
                return query_range, n_regions_before
            _add_region(regions, n_regions, query, origin, end, first_row, n_rows)
            n_regions += 1
            first_row = n_rows
        if k == ranges.shape[0]:
            break
        if is_new:
            query, query_range, n_regions_before = ranges[k, 0], np.int64(k), n_regions
            find_lists(keys[query], windows, lists)
        first, last = ranges[k, 2], ranges[k, 3]
        n = windows_in_range(lists, first, last, windows, corners)
        if n > corners.shape[1]:
            corners = np.empty((4, 2 * n), np.int64)
            n = windows_in_range(lists, first, last, windows, corners)
        firsts, lasts = corners[0], corners[1]
        end_firsts, end_lasts = corners[2], corners[3]
        n_rectangles = sweep_windows(
            firsts[:n], lasts[:n], end_firsts[:n], end_lasts[:n], hits, rectangles
        )
        if n_rectangles > rectangles.shape[0]:
            rectangles = np.empty((2 * n_rectangles, 4), np.int64)
            n_rectangles = sweep_windows(
                firsts[:n], lasts[:n], end_firsts[:n], end_lasts[:n], hits, rectangles
            )
        if n_rectangles == 0:
            continue
        if n_rows > first_row and (first >= end + apart or ranges[k, 1] != document):
            if n_regions == regions.shape[0]:
                return query_range, n_regions_before
            _add_region(regions, n_regions, query, origin, end, first_row, n_rows)
            n_regions += 1
            first_row = n_rows
        if n_rows == first_row:
            origin, end, document = rectangles[0, 0], np.int64(0), ranges[k, 1]
        for r in range(n_rectangles):
            row_stop = first_row + rectangles[r, 1] + 1 - origin
            if row_stop > lows.shape[0]:
                return query_range, n_regions_before
            while n_rows < row_stop:
                lows[n_rows], highs[n_rows] = np.int64(1), np.int64(0)
                n_rows += 1
            low, high = rectangles[r, 2], rectangles[r, 3]
            end = max(end, high + 1)
            for i in range(first_row + rectangles[r, 0] - origin, row_stop):
                if lows[i] > highs[i]:
                    lows[i], highs[i] = low - origin, high - origin
                else:
                    lows[i] = min(lows[i], low - origin)
                    highs[i] = max(highs[i], high - origin)
    return np.int64(ranges.shape[0]), n_regions
