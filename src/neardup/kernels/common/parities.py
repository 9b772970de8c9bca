"""Parities: 64 bits of a set that bound its difference from another set from below."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import ConstInt64s, ConstUint64s, Uint64s

_1, _2, _4, _56, _63 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56), np.uint64(63)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inlined
def count_ones(word: np.uint64) -> np.int64:
    """Count the set bits, in halves of halves; LLVM makes one instruction of it."""
    word -= (word >> _1) & _PAIRS
    word = (word & _FOURS) + ((word >> _2) & _FOURS)
    word = (word + (word >> _4)) & _EIGHTS
    return np.int64((word * _BYTES) >> _56)


@inlined
def turn_bit(parity: np.uint64, value: np.uint64) -> np.uint64:
    """Turn the bit of one of 64 classes of uniform values."""
    return parity ^ (_1 << (value & _63))


@kernel
def set_parities(
    values: ConstUint64s, starts: ConstInt64s, sizes: ConstInt64s, parities: Uint64s
) -> None:
    """Record for each set of hashes which of 64 classes have an odd number of elements.

    Two sets that differ in d elements have parities that differ in d bits at most.
    """
    for k in range(starts.shape[0]):
        parity = np.uint64(0)
        for i in range(starts[k], starts[k] + sizes[k]):
            parity = turn_bit(parity, values[i])
        parities[k] = parity
