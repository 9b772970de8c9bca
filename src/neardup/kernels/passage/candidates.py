"""Find index ranges that share min-hashes with a query.

For each hash function the index lists the windows with the query's min-hash, in ascending order of
their first possible start a and last possible start b. The passages that start at a token i share
at most as many min-hashes with the query as there are lists with a window of a <= i <= b.

A test before the sweep checks whether any passage lies in enough windows at the same time. Among
many windows there is seldom such a passage, and a few counts show it, while the sweep would have to
build its tree first.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.common.ordering import first_at_least, order_of
from neardup.kernels.passage.segments import Limits, SegmentWindows
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64Rows,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64Rows,
    ConstUint64s,
    Int,
    Int32Rows,
    Int64Rows,
    Int64s,
    Uint16Rows,
    Uint32Rows,
    Uint32s,
)

# Marks a span that does not fit into 16 bits.
WIDE = 65535


@kernel
def order_windows(
    numbers: ConstInt32s,
    ranks: ConstInt32s,
    starts: ConstUint32s,
    spans: ConstUint32Rows,
    next_row: Int64s,
    ordered_starts: Uint32s,
    ordered_spans: Uint32Rows,
) -> Int:
    """Write windows by rank of their key, stably.

    ``numbers`` has each window's key, ``ranks`` each key's rank, and ``next_row`` the first row of
    each rank, which is moved on. Returns the number of windows with a span of 65,535 or more.
    """
    n_wide = np.int64(0)
    for i in range(numbers.shape[0]):
        rank = ranks[numbers[i]]
        row = next_row[rank]
        next_row[rank] = row + 1
        ordered_starts[row] = starts[i]
        is_wide = False
        for k in range(3):
            ordered_spans[row, k] = spans[i, k]
            is_wide |= spans[i, k] >= WIDE
        n_wide += np.int64(is_wide)
    return n_wide


@kernel
def pack_spans(
    spans: ConstUint32Rows, packed: Uint16Rows, wide_rows: Int64s, wide_spans: Uint32Rows
) -> None:
    """Narrow spans to 16 bits and list wider spans separately."""
    n_wide = np.int64(0)
    for row in range(spans.shape[0]):
        is_wide = False
        for k in range(3):
            span = spans[row, k]
            is_wide |= span >= WIDE
            packed[row, k] = np.uint16(min(np.int64(span), np.int64(WIDE)))
        if is_wide:
            wide_rows[n_wide] = row
            for k in range(3):
                wide_spans[n_wide, k] = spans[row, k]
            n_wide += 1


@helper
def read_span(
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    row: Int,
    which: Int,
) -> Int:
    """Return one span of a window, narrow or wide.

    A function of its own: inlined in a loop it made Numba count references to its arrays, 50 ns per
    row.
    """
    span = np.int64(spans[row, which])
    if span < WIDE:
        return span
    wide_row = first_at_least(wide_rows, 0, wide_rows.shape[0], row)
    return np.int64(wide_spans[wide_row, which])


# With more windows, or starts, the sweep is not dearer than the test.
MANY = 1024


@helper
def _has_common(ends: Int64Rows, n: Int, least: Int) -> bool:
    """Return whether ``least`` of n ranges share a first number."""
    for i in range(n):
        first, depth = ends[0, i], np.int64(0)
        for k in range(n):
            depth += np.int64((ends[0, k] <= first) & (first <= ends[1, k]))
        if depth >= least:
            return True
    return False


@helper
def reaches(
    corners: Int64Rows,
    n: Int,
    first: Int,
    last: Int,
    least: Int,
    min_tokens: Int,
    depths: Int32Rows,
    ends: Int64Rows,
) -> bool:
    """Return whether ``least`` windows share a long enough passage.

    The windows are columns a, b, c, d of ``corners``, as ``sweep_windows`` takes them, and all
    their starts lie from ``first`` to ``last``. There are at most ``MANY`` of both. ``depths`` and
    ``ends`` (2, MANY) are written over. Cost O(n^2) at worst, for each start.
    """
    n_starts = last - first + 1
    # Numbers of windows that enter at each start, and leave after it.
    for i in range(n_starts):
        depths[0, i] = depths[1, i] = 0
    for w in range(n):
        a, b = corners[0, w], min(corners[1, w], corners[3, w] - min_tokens + 1)
        if a <= b:
            depths[0, a - first] += 1
            depths[1, b - first] += 1
    depth, newest, is_new = np.int64(0), np.int64(0), False
    for i in range(n_starts):
        if depths[0, i] > 0:
            depth += depths[0, i]
            newest, is_new = np.int64(first + i), True
        if depths[1, i] == 0:
            continue
        # All current windows remain until the next one leaves; the windows of later starts, until
        # one more enters, are some of them. Their last common end belongs to a long passage,
        # because each of them has one from this start.
        if is_new and depth >= least:
            n_open = np.int64(0)
            for w in range(n):
                b = min(corners[1, w], corners[3, w] - min_tokens + 1)
                if corners[0, w] <= newest <= b:
                    ends[0, n_open] = corners[2, w]
                    ends[1, n_open] = corners[3, w]
                    n_open += 1
            if _has_common(ends, n_open, least):
                return True
            is_new = False
        depth -= depths[1, i]
    return False


# After all starts.
_NOWHERE = 1 << 62


@helper
def _find_key(keys: ConstUint64s, low: Int, high: Int, wanted: np.uint64) -> Int:
    """Return the first ascending key not below ``wanted``."""
    # Hashes are spread evenly, so a guess by their value is near; then by halves.
    size = high - low
    if size > 64:
        guess: Int = low + np.int64(np.float64(wanted) * (np.float64(size) * 2.0**-64))
        guess = min(guess, high - 1)
        step = np.int64(np.sqrt(np.float64(size))) + 1
        if keys[guess] < wanted:
            low = guess + 1
            while low + step < high and keys[low + step] < wanted:
                low += step + 1
            high = min(high, low + step)
        else:
            high = guess
            while high - step > low and keys[high - step] >= wanted:
                high -= step
            low = max(low, high - step)
    return first_at_least(keys, low, high, wanted)


@kernel
def find_lists(
    wanted: ConstUint64s,
    keys: ConstUint64s,
    key_starts: ConstInt64s,
    list_starts: ConstInt64s,
    lists: Int64Rows,
) -> None:
    """Find each hash function's windows with the wanted key.

    Function f has ``keys[key_starts[f] : key_starts[f + 1]]``, ascending; the windows of key k are
    rows ``list_starts[k]`` to ``list_starts[k + 1]``. ``lists`` has shape (n_functions, 2).
    """
    for f in range(wanted.shape[0]):
        place = _find_key(keys, key_starts[f], key_starts[f + 1], wanted[f])
        found = place < key_starts[f + 1] and keys[place] == wanted[f]
        lists[f, 0] = list_starts[place] if found else 0
        lists[f, 1] = list_starts[place + 1] if found else 0


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
    """Return the first row with a possible start from x."""
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
    """List windows that allow a start from ``first`` to ``last``.

    Windows are cut to these starts. ``corners`` (4, room) receives a, b, c, d of each. Returns
    their number, also if they do not fit. ``rows`` (n_lists) are the rows to start at; they are
    moved on to the first ones that allow a start at ``first`` or later.
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
    """Keep ranges of passage starts in windows of ``least`` lists.

    Passages have ``min_tokens`` or more. Ranges with very many windows or starts are kept, too,
    because there the sweep is not dearer than the test. ``ranges``, first and last start of each,
    ascend and do not overlap; kept ranges are moved to the front. Returns their number. Cost, for
    each range, a look at one window of each list, or of fewer: best if short lists come first.
    """
    n_lists, n_kept = lists.shape[0], np.int64(0)
    # The first window of each list that ends in the range or after it.
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


@helper
def _order_lists(lists: Int64Rows, lengths: Int64s, order: Int64s, spare: Int64s) -> None:
    n_lists = lengths.shape[0]
    for f in range(n_lists):
        lengths[f] = lists[f, 1] - lists[f, 0]
    order_of(lengths, order, spare)
    for column in range(2):
        for f in range(n_lists):
            spare[f] = lists[order[f], column]
        for f in range(n_lists):
            lists[f, column] = spare[f]


@kernel
def sift_queries(
    keys: ConstUint64Rows,
    windows: SegmentWindows,
    limits: Limits,
    lists: Int64Rows,
    ranges: Int64Rows,
) -> Int:
    """Keep ranges of passages that share enough min-hashes with queries.

    ``ranges`` are from ``narrowing.narrow_buckets``; kept ranges are moved to the front. Row k of
    ``keys`` has the min-hashes of query k. If it has a range, its rows of ``lists``, one per hash
    function, receive the first window of its min-hash and the end, the shortest list first.

    Returns the number of kept ranges.
    """
    n_functions = keys.shape[1]
    lengths, order = np.empty(n_functions, np.int64), np.empty(n_functions, np.int64)
    spare = np.empty(n_functions, np.int64)
    own = np.empty((64, 2), np.int64)
    n_kept, first = np.int64(0), np.int64(0)
    while first < ranges.shape[0]:
        k, stop = ranges[first, 0], first
        while stop < ranges.shape[0] and ranges[stop, 0] == k:
            stop += 1
        n = stop - first
        if n > own.shape[0]:
            own = np.empty((2 * n, 2), np.int64)
        for i in range(n):
            own[i, 0], own[i, 1] = ranges[first + i, 2], ranges[first + i, 3]
        of_query = lists[k * n_functions : (k + 1) * n_functions]
        find_lists(keys[k], windows.keys, windows.key_starts, windows.list_starts, of_query)
        _order_lists(of_query, lengths, order, spare)
        n_own = sift_ranges(
            of_query,
            limits.hits,
            limits.min_tokens,
            windows.starts,
            windows.spans,
            windows.wide_rows,
            windows.wide_spans,
            own[:n],
        )
        # Kept ranges stay in order.
        row = first
        for i in range(n_own):
            while ranges[row, 2] != own[i, 0]:
                row += 1
            for column in range(ranges.shape[1]):
                ranges[n_kept, column] = ranges[row, column]
            n_kept += 1
        first = stop
    return n_kept
