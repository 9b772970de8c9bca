"""Where in an index a passage may lie that shares enough min-hashes with a query.

Of each hash function the index has the windows with the query's min-hash: a list in ascending
order of the tokens a at which they start, and of the tokens b up to which they may start. The
passages that start at a token i share as many min-hashes with the query as lists have a window
with a <= i <= b, at most.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.depth import MANY, reaches
from neardup.kernels.types import (
    ConstInt64Rows,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64s,
    Int,
    Int64Rows,
    Int64s,
    Uint32s,
)
from neardup.kernels.window_lists import read_span

# Behind all starts.
_NOWHERE = 1 << 62


@kernel
def find_lists(
    wanted: ConstUint64s,
    keys: ConstUint64s,
    key_starts: ConstInt64s,
    list_starts: ConstInt64s,
    lists: Int64Rows,
) -> None:
    """Find the windows with the wanted key of each hash function: first row, one after the last.

    Function f has ``keys[key_starts[f] : key_starts[f + 1]]``, ascending; the windows of key k are
    rows ``list_starts[k]`` to ``list_starts[k + 1]``. ``lists`` has shape (n_functions, 2).
    """
    for f in range(wanted.shape[0]):
        low, high = key_starts[f], key_starts[f + 1]
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < wanted[f]:
                low = middle + 1
            else:
                high = middle
        found = low < key_starts[f + 1] and keys[low] == wanted[f]
        lists[f, 0] = list_starts[low] if found else 0
        lists[f, 1] = list_starts[low + 1] if found else 0


@kernel
def list_starts(
    lists: ConstInt64Rows,
    min_tokens: int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    firsts: Uint32s,
    lasts: Uint32s,
) -> Int:
    """List the first and the last start of passages of ``min_tokens`` in the windows of some lists.

    Shorter passages do not count, so a window may have fewer starts, or none: such are left out.
    Returns how many are listed.
    """
    n = np.int64(0)
    for f in range(lists.shape[0]):
        for row in range(lists[f, 0], lists[f, 1]):
            a = np.int64(starts[row])
            b = a + read_span(spans, wide_rows, wide_spans, row, 0)
            d = b + read_span(spans, wide_rows, wide_spans, row, 1)
            d += read_span(spans, wide_rows, wide_spans, row, 2)
            b = min(b, d - min_tokens + 1)
            if a <= b:
                firsts[n] = a
                lasts[n] = b
                n += 1
    return n


@kernel
def covered_ranges(firsts: ConstUint32s, lasts: ConstUint32s, least: int, ranges: Int64Rows) -> Int:
    """Find the ranges of starts that at least ``least`` windows allow.

    ``firsts`` and ``lasts`` of the windows, each in ascending order; ``ranges`` receives first and
    last start of each range and has room for as many as there are windows. Returns their number.
    """
    n_ranges, n_open, i, j = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while i < firsts.shape[0]:
        if firsts[i] <= lasts[j]:
            n_open += 1
            if n_open == least:
                ranges[n_ranges, 0] = firsts[i]
            i += 1
        else:
            if n_open == least:
                ranges[n_ranges, 1] = lasts[j]
                n_ranges += 1
            n_open -= 1
            j += 1
    while n_open >= least:
        if n_open == least:
            ranges[n_ranges, 1] = lasts[j]
            n_ranges += 1
        n_open -= 1
        j += 1
    return n_ranges


@helper
def first_ending_from(
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    low: Int,
    high: Int,
    x: Int,
) -> Int:
    """First row in [low, high) of a list whose window allows a start at x or later."""
    # It is seldom far, so by steps that double, and then halve.
    probe, step = low, np.int64(1)
    while probe < high:
        if np.int64(starts[probe]) + read_span(spans, wide_rows, wide_spans, probe, 0) >= x:
            high = probe
            break
        low = probe + 1
        probe += step
        step <<= 1
    while low < high:
        middle = (low + high) >> 1
        if np.int64(starts[middle]) + read_span(spans, wide_rows, wide_spans, middle, 0) < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def windows_in_range(
    lists: ConstInt64Rows,
    rows: Int64s,
    first: int,
    last: int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    corners: Int64Rows,
) -> Int:
    """List the windows that allow a start from ``first`` to ``last``, cut to these starts.

    ``corners`` (4, room) receives a, b, c, d of each. Returns how many there are, whether they fit
    or not. ``rows`` (n_lists) are the rows to look from; they are moved on to the first ones that
    allow a start at ``first`` or later.
    """
    n = np.int64(0)
    for f in range(lists.shape[0]):
        end = lists[f, 1]
        row = first_ending_from(starts, spans, wide_rows, wide_spans, rows[f], end, first)
        rows[f] = row
        while row < end and np.int64(starts[row]) <= last:
            if n < corners.shape[1]:
                a = np.int64(starts[row])
                b = a + read_span(spans, wide_rows, wide_spans, row, 0)
                c = b + read_span(spans, wide_rows, wide_spans, row, 1)
                corners[0, n] = max(a, np.int64(first))
                corners[1, n] = min(b, np.int64(last))
                corners[2, n] = c
                corners[3, n] = c + read_span(spans, wide_rows, wide_spans, row, 2)
            n += 1
            row += 1
    return n


@kernel
def sift_ranges(
    lists: ConstInt64Rows,
    least: int,
    min_tokens: int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    ranges: Int64Rows,
) -> Int:
    """Keep the ranges of starts from which a passage is in windows of ``least`` lists.

    Passages have ``min_tokens`` or more. Ranges with very many windows or starts are kept, too,
    because there the sweep is no dearer than the test. ``ranges``, first and last start of
    each, ascend and do not overlap; those kept are moved to the front. Returns their number. Cost,
    for each range, a look at one window of each list, or of fewer: best if short lists come first.
    """
    n_lists, n_kept = lists.shape[0], np.int64(0)
    # Of each list the first window that ends in the range or behind it.
    rows = np.empty(n_lists, np.int64)
    firsts, lasts = np.full(n_lists, -1, np.int64), np.full(n_lists, -1, np.int64)
    for f in range(n_lists):
        rows[f] = lists[f, 0]
    corners = np.empty((4, MANY), np.int64)
    depths = np.empty((2, MANY), np.int32)
    ends = np.empty((2, MANY), np.int64)
    for k in range(ranges.shape[0]):
        first, last = ranges[k, 0], ranges[k, 1]
        n_open = np.int64(0)
        for f in range(n_lists):
            if n_open + n_lists - f < least:
                break
            if lasts[f] < first:
                end = lists[f, 1]
                row = first_ending_from(starts, spans, wide_rows, wide_spans, rows[f], end, first)
                rows[f] = row
                firsts[f] = lasts[f] = _NOWHERE
                if row < end:
                    firsts[f] = np.int64(starts[row])
                    lasts[f] = firsts[f] + read_span(spans, wide_rows, wide_spans, row, 0)
            n_open += np.int64(firsts[f] <= last)
        if n_open < least:
            continue
        n = windows_in_range(
            lists, rows, first, last, starts, spans, wide_rows, wide_spans, corners
        )
        is_small = n <= MANY and last - first < MANY
        if is_small and not reaches(corners, n, first, last, least, min_tokens, depths, ends):
            continue
        ranges[n_kept, 0], ranges[n_kept, 1] = first, last
        n_kept += 1
    return n_kept
