"""Eight bytes at a time, as one 64-bit word with the first byte lowest."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, trailing_zeros
from neardup.kernels.types import ConstBytes, Int

# The highest bit of each byte, set in all bytes of characters that are not ASCII.
HIGH_BITS = np.uint64(0x8080808080808080)
_1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(k) for k in range(1, 9))
_16, _24, _32, _40, _48, _56 = (np.uint64(k) for k in range(16, 57, 8))


@inlined
def load_eight(data: ConstBytes, i: np.uint64) -> np.uint64:
    """Load eight bytes from any position on; LLVM makes one instruction of it."""
    return (
        np.uint64(data[i])
        | np.uint64(data[i + _1]) << _8
        | np.uint64(data[i + _2]) << _16
        | np.uint64(data[i + _3]) << _24
        | np.uint64(data[i + _4]) << _32
        | np.uint64(data[i + _5]) << _40
        | np.uint64(data[i + _6]) << _48
        | np.uint64(data[i + _7]) << _56
    )


@inlined
def ascii_end(data: ConstBytes, start: Int, end: Int) -> np.int64:
    """Find where the first character after ``start`` begins that is not ASCII, or the text ends."""
    i, stop = np.uint64(start), np.uint64(end)
    while i + _32 <= stop:
        first_half = load_eight(data, i) | load_eight(data, i + _8)
        second_half = load_eight(data, i + _16) | load_eight(data, i + _24)
        if (first_half | second_half) & HIGH_BITS:
            break
        i += _32
    while i + _8 <= stop:
        high = load_eight(data, i) & HIGH_BITS
        if high:
            return np.int64(i + (np.uint64(trailing_zeros(high)) >> _3))
        i += _8
    while i < stop and data[i] < 128:
        i += _1
    return np.int64(i)
