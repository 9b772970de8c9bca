"""Where in a segment windows begin that have min-hashes of queries, for many queries at a time.

The windows of each hash function that have a query's min-hash are a list. A passage in windows of
``hits`` lists is in one at least of all but ``hits - 1`` of them: so the longest lists, which have
most of the windows, need not be read. Starts are counted in buckets of a few tokens.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.common.ordering import order_of
from neardup.kernels.passage.candidates import WIDE, first_ending_from, read_span
from neardup.kernels.passage.segments import Limits, Scratch, Windows
from neardup.kernels.types import (
    ConstBools,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64Rows,
    ConstUint64s,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)

# Nanoseconds for a row of a list, and for a look at the tokens of a bucket.
_ROW, _BUCKET = 4.0, 400.0


@helper
def _find_key(keys: ConstUint64s, low: Int, high: Int, wanted: np.uint64) -> Int:
    """First of the keys from ``low`` to ``high`` that is not below another; keys ascend."""
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
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _find_lists(
    wanted: ConstUint64s,
    first_token: Int,
    key_starts: ConstInt64s,
    keys: ConstUint64s,
    list_starts: ConstInt64s,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    lists: Int64Rows,
) -> None:
    """Find the windows with each wanted key that allow a start at ``first_token`` or later.

    Rows of ``lists`` receive first row, and one after the last.
    """
    for f in range(wanted.shape[0]):
        place = _find_key(keys, key_starts[f], key_starts[f + 1], wanted[f])
        row: Int = 0
        stop: Int = 0
        if place < key_starts[f + 1] and keys[place] == wanted[f]:
            row, stop = list_starts[place], list_starts[place + 1]
            if first_token > 0:
                row = first_ending_from(
                    starts, spans, wide_rows, wide_spans, row, stop, first_token
                )
        lists[f, 0], lists[f, 1] = row, stop


@helper
def _order_lists(lists: Int64Rows, lengths: Int64s, order: Int64s, spare: Int64s) -> None:
    """Put the shortest lists first."""
    n_lists = lengths.shape[0]
    for f in range(n_lists):
        lengths[f] = lists[f, 1] - lists[f, 0]
    order_of(lengths, order, spare)
    for column in range(2):
        for f in range(n_lists):
            spare[f] = lists[order[f], column]
        for f in range(n_lists):
            lists[f, column] = spare[f]


@helper
def _count_windows(
    lists: Int64Rows,
    f: Int,
    first_token: Int,
    min_tokens: Int,
    bits: Int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    changes: Int32s,
) -> None:
    """Count list f in every bucket in which one of its windows allows a start.

    The sum of ``changes`` up to a bucket is the number of lists that are counted there.
    """
    next_bucket: Int = first_token >> bits
    for row in range(lists[f, 0], lists[f, 1]):
        a = np.int64(starts[row])
        b: Int = np.int64(spans[row, 0])
        c: Int = np.int64(spans[row, 1])
        d: Int = np.int64(spans[row, 2])
        if max(b, c, d) >= WIDE:
            b = read_span(spans, wide_rows, wide_spans, row, 0)
            c = read_span(spans, wide_rows, wide_spans, row, 1)
            d = read_span(spans, wide_rows, wide_spans, row, 2)
        last = a + min(b, b + c + d - min_tokens + 1)
        # Windows of a list ascend: it counts once in each bucket. Without a branch, for whether
        # there is any bucket cannot be foreseen.
        bucket: Int = max(a >> bits, next_bucket)
        stop: Int = (last >> bits) + 1
        change = np.int32((bucket < stop) & (a <= last))
        stop = max(stop, bucket)
        changes[bucket] += change
        changes[stop] -= change
        next_bucket = stop if change else next_bucket


@helper
def _reach_buckets(
    lists: Int64Rows,
    hits: Int,
    first_token: Int,
    min_tokens: Int,
    bits: Int,
    starts: ConstUint32s,
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    changes: Int32s,
    reached: Int64s,
) -> Int:
    """Find the buckets in which passages may start that are in windows of ``hits`` lists.

    Lists ascend in length. They are read until a look at the buckets left is cheaper than the next
    list. Returns how many of the ``reached`` buckets there are; they ascend.
    """
    n_lists, n_buckets = lists.shape[0], changes.shape[0] - 1
    first_bucket = first_token >> bits
    n_reached, n_rows = np.int64(0), np.int64(0)
    for f in range(n_lists):
        _count_windows(
            lists,
            f,
            first_token,
            min_tokens,
            bits,
            starts,
            spans,
            wide_rows,
            wide_spans,
            changes,
        )
        n_rows += lists[f, 1] - lists[f, 0]
        least = hits - n_lists + f + 1
        is_last = f + 1 == n_lists
        # All buckets are looked at only now and then.
        if not is_last and (least <= 0 or _ROW * n_rows < n_buckets - first_bucket):
            continue
        n_rows = n_reached = np.int64(0)
        count = np.int64(0)
        for bucket in range(first_bucket, n_buckets):
            count += changes[bucket]
            reached[n_reached] = bucket
            n_reached += np.int64(count >= least)
        if is_last or _BUCKET * n_reached <= _ROW * (lists[f + 1, 1] - lists[f + 1, 0]):
            break
    changes[first_bucket:] = 0
    return n_reached


@kernel
def find_buckets(
    keys: ConstUint64Rows,
    have_weight: ConstBools,
    first_tokens: ConstInt64s,
    windows: Windows,
    limits: Limits,
    scratch: Scratch,
    n_done: int,
    lists: Int64Rows,
    buckets: Int64Rows,
) -> tuple[Int, Int]:
    """Find the buckets of tokens at which passages may begin that share enough min-hashes.

    Rows of ``keys`` are the min-hashes of queries; those without weight find nothing, and the first
    ``n_done`` are left out. Passages begin at ``first_tokens`` or behind. Query k has as many rows
    of ``lists`` as there are hash functions: they receive the first window with a min-hash of it,
    and one after the last, the shortest list first. Rows of ``buckets`` receive k and a bucket.

    Returns the first query not done, which is below the end if its buckets do not fit, and how many
    buckets there are.
    """
    starts, spans = windows.starts, windows.spans
    wide_rows, wide_spans = windows.wide_rows, windows.wide_spans
    hits, reached = limits.hits, scratch.reached
    n_queries, n_functions = keys.shape
    lengths, order = np.empty(n_functions, np.int64), np.empty(n_functions, np.int64)
    spare = np.empty(n_functions, np.int64)
    n = np.int64(0)
    for k in range(n_done, n_queries):
        first_token = first_tokens[k]
        if not have_weight[k] or (first_token >> limits.bucket_bits) + 1 >= reached.shape[0]:
            continue
        own = lists[k * n_functions : (k + 1) * n_functions]
        _find_lists(
            keys[k],
            first_token,
            windows.key_starts,
            windows.keys,
            windows.list_starts,
            starts,
            spans,
            wide_rows,
            wide_spans,
            own,
        )
        _order_lists(own, lengths, order, spare)
        if own[n_functions - hits, 0] == own[n_functions - hits, 1]:
            continue
        n_reached = _reach_buckets(
            own,
            hits,
            first_token,
            limits.min_tokens,
            limits.bucket_bits,
            starts,
            spans,
            wide_rows,
            wide_spans,
            scratch.changes,
            reached,
        )
        if n + n_reached > buckets.shape[0]:
            return np.int64(k), n
        for i in range(n_reached):
            buckets[n, 0], buckets[n, 1] = k, reached[i]
            n += 1
    return np.int64(n_queries), n
