"""Sort in kernels, faster to compile than Numba's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.kernels._compile import helper, inlined, leading_zeros
from neardup.kernels.arrays import ConstInt64s, ConstNumbers, Int, Int32s, Int64s, Uint64s

# Runs of this length are sorted by insertion before they are merged.
_RUN = 16
# Ranges of hashes up to this length are sorted by insertion, and buckets up to that.
_FEW, _SHORT = 8, 24
_1 = np.uint64(1)


@inlined
def first_at_least(values: ConstNumbers, start: Int, stop: Int, least: Any) -> Int:
    """Return the first position of an ascending value not below ``least``."""
    while start < stop:
        middle = (start + stop) >> 1
        if values[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


@helper
def order_of(values: ConstInt64s, order: Int64s, scratch: Int64s) -> None:
    """Write the places of values in ascending order, stably.

    ``order`` and ``scratch`` are as long as ``values``. A merge sort; adjacent runs in order stay.
    """
    n = values.shape[0]
    for start in range(0, n, _RUN):
        for i in range(start, min(start + _RUN, n)):
            value = values[i]
            j = i
            while j > start and values[order[j - 1]] > value:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = _RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            middle, stop = start + width, min(start + 2 * width, n)
            if values[order[middle - 1]] <= values[order[middle]]:
                continue
            for k in range(width):
                scratch[k] = order[start + k]
            left: Int = 0
            right: Int = middle
            to: Int = start
            while left < width:
                if right < stop and values[order[right]] < values[scratch[left]]:
                    order[to] = order[right]
                    right += 1
                else:
                    order[to] = scratch[left]
                    left += 1
                to += 1
        width *= 2


@helper
def ascending(start: Int, stop: Int) -> Int64s:
    """Return the numbers from one to another, exclusive."""
    numbers = np.empty(stop - start, np.int64)
    for i in range(stop - start):
        numbers[i] = start + i
    return numbers


@helper
def sort_order(values: ConstInt64s, order: Int64s) -> None:
    """Sort places by their values, stably."""
    n = order.shape[0]
    keys, ranks, scratch = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        keys[i] = values[order[i]]
    order_of(keys, ranks, scratch)
    for i in range(n):
        keys[i] = order[ranks[i]]
    for i in range(n):
        order[i] = keys[i]


@helper
def sort_range(values: Uint64s | Int32s, start: Int, stop: Int) -> None:
    """Sort a short or repetitive range by Shell's method."""
    gap: Int = np.int64(1)
    while gap * 4 < stop - start:
        gap = (gap * 9 >> 2) + 1
    while gap > 0:
        for i in range(start + gap, stop):
            value = values[np.uint64(i)]
            j: Int = i
            while j >= start + gap and values[np.uint64(j - gap)] > value:
                values[np.uint64(j)] = values[np.uint64(j - gap)]
                j -= gap
            values[np.uint64(j)] = value
        gap = gap * 4 // 9


@inlined
def _insertion_sort(values: Uint64s, start: Int, stop: Int) -> None:
    for i in range(start + 1, stop):
        value = values[i]
        j = i
        while j > start and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@inlined
def _spread(
    values: Uint64s,
    start: np.uint64,
    size: np.uint64,
    shift: np.uint64,
    n_buckets: np.uint64,
    scratch: Uint64s,
    counts: Int64s,
) -> np.int64:
    """Spread values over buckets by their bits above ``shift``.

    Afterwards ``counts[b]`` is the end of bucket b. Returns the size of the largest bucket.
    """
    for b in range(n_buckets + _1):
        counts[b] = 0
    for i in range(size):
        value = values[start + i]
        scratch[i] = value
        counts[(value >> shift) + _1] += 1
    total, longest = np.int64(0), np.int64(0)
    for b in range(n_buckets):
        longest = max(longest, counts[b + _1])
        total += counts[b]
        counts[b] = total
    for i in range(size):
        value = scratch[i]
        home = value >> shift
        values[start + np.uint64(counts[home])] = value
        counts[home] += 1
    return longest


@helper
def sort_hashes(
    values: Uint64s, start: Int, stop: Int, scratch: Uint64s, counts: Int64s, n_zeros: Int
) -> None:
    """Sort hashes whose highest ``n_zeros`` bits are zero.

    Hashes are uniform, so that spread by their leading bits over more buckets than there are values
    they are nearly in order: linear time. Equal values share a bucket; one that is long because of
    them goes to a general sort. ``scratch`` is as long as the range, ``counts`` twice that and one.
    """
    if stop - start <= _FEW:
        _insertion_sort(values, start, stop)
        return
    first, size = np.uint64(start), np.uint64(stop - start)
    bits = np.int64(64) - np.int64(leading_zeros(size))
    shift = np.uint64(max(np.int64(64 - n_zeros) - bits, np.int64(0)))
    n_buckets = _1 << np.uint64(bits)
    if _spread(values, first, size, shift, n_buckets, scratch, counts) > _SHORT:
        bucket_start = np.int64(0)
        for b in range(n_buckets):
            if counts[b] - bucket_start > _SHORT:
                sort_range(values, start + bucket_start, start + counts[b])
            bucket_start = counts[b]
    _insertion_sort(values, start, stop)
