"""The sub-texts that share enough min-hashes with queries, by their starts: least and last end."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.candidates import windows_in_range
from neardup.kernels.segments import Windows
from neardup.kernels.sweep import sweep_windows
from neardup.kernels.types import ConstInt64Rows, Int, Int64Rows, Int64s

_ROOM = 1 << 10


@kernel
def outline_regions(
    lists: ConstInt64Rows,
    n_functions: int,
    ranges: ConstInt64Rows,
    first_range: int,
    windows: Windows,
    hits: int,
    apart: int,
    regions: Int64Rows,
    lows: Int64s,
    highs: Int64s,
) -> tuple[Int, Int]:
    """Find the sub-texts in windows of ``hits`` lists, those that may meet as one region.

    Two meet that are of one document and have less than ``apart`` tokens between them.

    ``ranges``, from ``first_range`` on, and ``lists`` are those of ``narrowing.narrow_buckets``.
    Rows of ``regions`` receive the query, the first start, where the last sub-text ends
    (exclusive), and the first row and the one after the last of ``lows`` and ``highs``: these have
    for each start, one after another, the least and the greatest last token, counted from the first
    start; the greater first where there is none.

    Returns the first range not done, which is below the end if regions do not fit, and how many
    regions there are.
    """
    starts, spans = windows.starts, windows.spans
    wide_rows, wide_spans = windows.wide_rows, windows.wide_spans
    rows = np.empty(n_functions, np.int64)
    corners = np.empty((4, _ROOM), np.int64)
    rectangles = np.empty((4 * _ROOM, 4), np.int64)
    n_regions, query, query_range = np.int64(0), np.int64(-1), np.int64(first_range)
    n_regions_before = np.int64(0)
    # The rows of the region that may go on begin at ``first_row``; there is none without rows.
    first_row, n_rows, origin, end = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    document = np.int64(-1)
    for k in range(first_range, ranges.shape[0] + 1):
        is_new = k == ranges.shape[0] or ranges[k, 0] != query
        if is_new and n_rows > first_row:
            if n_regions == regions.shape[0]:
                return query_range, n_regions_before
            regions[n_regions, 0], regions[n_regions, 1], regions[n_regions, 2] = query, origin, end
            regions[n_regions, 3], regions[n_regions, 4] = first_row, n_rows
            n_regions += 1
            first_row = n_rows
        if k == ranges.shape[0]:
            break
        if is_new:
            query, query_range, n_regions_before = ranges[k, 0], np.int64(k), n_regions
            for f in range(n_functions):
                rows[f] = lists[query * n_functions + f, 0]
        first, last = ranges[k, 2], ranges[k, 3]
        own_lists = lists[query * n_functions : (query + 1) * n_functions]
        n = windows_in_range(
            own_lists, rows, first, last, starts, spans, wide_rows, wide_spans, corners
        )
        if n > corners.shape[1]:
            corners = np.empty((4, 2 * n), np.int64)
            n = windows_in_range(
                own_lists, rows, first, last, starts, spans, wide_rows, wide_spans, corners
            )
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
            regions[n_regions, 0], regions[n_regions, 1], regions[n_regions, 2] = query, origin, end
            regions[n_regions, 3], regions[n_regions, 4] = first_row, n_rows
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
