"""Products of 64-bit integers in 128 bits, so that fractions are compared exactly."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined
from neardup.kernels.types import Int

# Factor of a lower bound for comparison with floating-point sums, far above their error; values
# within it are compared exactly.
MARGIN = 1.0 - 1e-9

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_NARROW = np.int64(2**31)


@inlined
def wide_product(a: Int, b: Int) -> tuple[np.uint64, np.uint64]:
    """Multiply two non-negative int64; return the upper and the lower 64 bits."""
    x, y = np.uint64(a), np.uint64(b)
    x_upper, x_lower = x >> _HALF, x & _LOWER
    y_upper, y_lower = y >> _HALF, y & _LOWER
    # The upper halves are below 2**31, so no sum goes over 64 bits.
    lowest = x_lower * y_lower
    middle = x_upper * y_lower + (lowest >> _HALF)
    carried = x_lower * y_upper + (middle & _LOWER)
    upper = x_upper * y_upper + (middle >> _HALF) + (carried >> _HALF)
    return upper, (carried << _HALF) | (lowest & _LOWER)


@inlined
def compare_products(a: Int, b: Int, c: Int, d: Int) -> np.int64:
    """Return the sign of ``a * b - c * d`` for non-negative int64: -1, 0 or 1.

    ``compare_products(a, d, c, b)`` compares the fractions a/b and c/d.
    """
    if (np.int64(a) | np.int64(b) | np.int64(c) | np.int64(d)) < _NARROW:
        difference = np.int64(a) * np.int64(b) - np.int64(c) * np.int64(d)
        return np.int64(difference > 0) - np.int64(difference < 0)
    left_upper, left_lower = wide_product(a, b)
    right_upper, right_lower = wide_product(c, d)
    if left_upper != right_upper:
        return np.int64(left_upper > right_upper) - np.int64(left_upper < right_upper)
    return np.int64(left_lower > right_lower) - np.int64(left_lower < right_lower)
