"""Sorting, for kernels in which Numba's own functions would take longest to compile."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper
from neardup.kernels.types import ConstInt64s, Int, Int64s, Uint64s

# Runs of this length are sorted by insertion before they are merged.
_RUN = 16


@helper
def order_of(values: ConstInt64s, order: Int64s, scratch: Int64s) -> None:
    """Write the places of values in ascending order; equal ones in order of their places.

    ``order`` and ``scratch`` are as long as ``values``. A merge sort; runs that follow each other
    in order are left alone.
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
def sort_range(values: Uint64s, start: Int, stop: Int) -> None:
    """Sort a range in place by Shell's method, which suits short ranges and many equal values."""
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
