"""Where in an index a passage may lie that shares enough min-hashes with a query.

Of each hash function the index has the windows with the query's min-hash: a list in ascending
order of the tokens a at which they start, and of the tokens b up to which they may start. The
passages that start at a token i share as many min-hashes with the query as lists have a window
with a <= i <= b, at most.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import (
    ConstInt64Rows,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64s,
    Int,
    Int64Rows,
    Uint32s,
)
from neardup.kernels.window_lists import read_span


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
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    firsts: Uint32s,
    lasts: Uint32s,
) -> None:
    """Copy the first and the last start of all windows of some lists."""
    n = np.int64(0)
    for f in range(lists.shape[0]):
        for row in range(lists[f, 0], lists[f, 1]):
            first = np.int64(starts[row])
            firsts[n] = first
            lasts[n] = first + read_span(spans, wide_rows, wide_spans, row, 0)
            n += 1


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


@inlined
def _first_ending_from(
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    low: Int,
    high: Int,
    x: Int,
) -> Int:
    """First row in [low, high) of a list whose window allows a start at x or later."""
    while low < high:
        middle = (low + high) >> 1
        last = np.int64(starts[middle]) + read_span(spans, wide_rows, wide_spans, middle, 0)
        if last < x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def windows_in_range(
    lists: ConstInt64Rows,
    first: int,
    last: int,
    least: int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    corners: Int64Rows,
) -> Int:
    """List the windows that allow a start from ``first`` to ``last``, cut to these starts.

    ``corners`` (4, room) receives a, b, c, d of each. Returns how many there are, whether they fit
    or not; -1 if fewer than ``least`` lists have one.
    """
    n, n_lists = np.int64(0), np.int64(0)
    n_functions = np.int64(lists.shape[0])
    for f in range(n_functions):
        if n_lists + n_functions - f < least:
            return np.int64(-1)
        end = lists[f, 1]
        row = _first_ending_from(starts, spans, wide_rows, wide_spans, lists[f, 0], end, first)
        n_lists += np.int64(row < end and np.int64(starts[row]) <= last)
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
    return n if n_lists >= least else np.int64(-1)


@kernel
def next_candidate(
    lists: ConstInt64Rows,
    ranges: ConstInt64Rows,
    number: int,
    least: int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    corners: Int64Rows,
) -> tuple[Int, Int]:
    """Find the first range from ``number`` on with windows of enough lists, and list these.

    Gives its number and how many windows there are, as ``windows_in_range``; the number of ranges
    and -1 if there is none.
    """
    n_ranges = np.int64(ranges.shape[0])
    for k in range(number, n_ranges):
        n = windows_in_range(
            lists,
            ranges[k, 0],
            ranges[k, 1],
            least,
            starts,
            spans,
            wide_rows,
            wide_spans,
            corners,
        )
        if n >= 0:
            return np.int64(k), n
    return n_ranges, np.int64(-1)
