"""Bits and products of 64-bit words.

Parities are 64 bits of a set that bound its difference from another set from below. Products have
128 bits, so that fractions are compared exactly.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import ConstInt64s, ConstUint64s, Int, Uint64s

_1, _2, _4, _56, _63 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56), np.uint64(63)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inlined
def count_ones(word: np.uint64) -> np.int64:
    """Count the set bits, by code that LLVM recognises."""
    word -= (word >> _1) & _PAIRS
    word = (word & _FOURS) + ((word >> _2) & _FOURS)
    word = (word + (word >> _4)) & _EIGHTS
    return np.int64((word * _BYTES) >> _56)


@inlined
def turn_bit(parity: np.uint64, value: np.uint64) -> np.uint64:
    """Turn the bit of a value's class, one of 64."""
    return parity ^ (_1 << (value & _63))


@kernel
def set_parities(
    values: ConstUint64s, starts: ConstInt64s, sizes: ConstInt64s, parities: Uint64s
) -> None:
    """Record the parities of 64 hash classes per set.

    Two sets that differ in d elements have parities that differ in d bits at most.
    """
    for k in range(starts.shape[0]):
        parity = np.uint64(0)
        for i in range(starts[k], starts[k] + sizes[k]):
            parity = turn_bit(parity, values[i])
        parities[k] = parity


# Factor of a lower bound for comparison with floating-point sums, far above their error; values
# within it are compared exactly.
MARGIN = 1.0 - 1e-9

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_NARROW = np.int64(2**31)


@inlined
def wide_product(x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and lower halves of a 128-bit product."""
    x_upper, x_lower = x >> _HALF, x & _LOWER
    y_upper, y_lower = y >> _HALF, y & _LOWER
    lowest = x_lower * y_lower
    middle = x_upper * y_lower + (lowest >> _HALF)
    carried = x_lower * y_upper + (middle & _LOWER)
    upper = x_upper * y_upper + (middle >> _HALF) + (carried >> _HALF)
    return upper, (carried << _HALF) | (lowest & _LOWER)


@inlined
def compare_products(a: Int, b: Int, c: Int, d: Int) -> np.int64:
    """Return the sign of ``a*b - c*d`` for non-negative int64.

    ``compare_products(a, d, c, b)`` compares the fractions a/b and c/d.
    """
    if (np.int64(a) | np.int64(b) | np.int64(c) | np.int64(d)) < _NARROW:
        difference = np.int64(a) * np.int64(b) - np.int64(c) * np.int64(d)
        return np.int64(difference > 0) - np.int64(difference < 0)
    left_upper, left_lower = wide_product(np.uint64(a), np.uint64(b))
    right_upper, right_lower = wide_product(np.uint64(c), np.uint64(d))
    if left_upper != right_upper:
        return np.int64(left_upper > right_upper) - np.int64(left_upper < right_upper)
    return np.int64(left_lower > right_lower) - np.int64(left_lower < right_lower)
