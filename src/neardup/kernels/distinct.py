"""Distinct hashes: sorted, and counted without sorting them."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel, leading_zeros
from neardup.kernels.hashing import mix64
from neardup.kernels.ordering import sort_hashes
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

_0, _1, _6, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
_64 = np.int64(64)


@helper
def sort_distinct(
    values: Uint64s, start: Int, stop: Int, scratch: Uint64s, counts: Int64s
) -> np.int64:
    """Sort a range of values that are uniform up to their largest, drop repeats, give the new end.

    ``scratch`` and ``counts`` as for ``sort_hashes``.
    """
    if stop - start < 2:
        return np.int64(stop)
    largest = _0
    for i in range(np.uint64(start), np.uint64(stop)):
        largest = max(largest, values[i])
    # Values below a bound have leading zeros, by which they are not to be spread.
    sort_hashes(values, start, stop, scratch, counts, np.int64(leading_zeros(largest | _1)))
    last, previous = np.uint64(start), values[start]
    for i in range(np.uint64(start) + _1, np.uint64(stop)):
        value = values[i]
        last += np.uint64(value != previous)
        values[last] = value
        previous = value
    return np.int64(last + _1)


@kernel
def count_distinct(
    shingles: ConstUint64s,
    offsets: ConstInt64s,
    key: np.uint64,
    least: int,
    seen: Uint64s,
    again: Uint64s,
    values: Uint64s,
    scratch: Uint64s,
    counts: Int64s,
    sizes: Int64s,
) -> None:
    """Count each text's distinct shingles; where there are less than ``least``, all of them.

    ``seen``, ``again``, ``values`` and ``scratch`` are as long as the longest text's shingles,
    ``counts`` twice as long and one more.
    """
    for doc in range(offsets.shape[0] - 1):
        start, n = np.uint64(offsets[doc]), np.uint64(offsets[doc + 1] - offsets[doc])
        if n == _0 or np.int64(n) < least:
            sizes[doc] = n
            continue
        # A bit for each value, of 32 to 64 times as many: few different ones share one.
        bits = _64 - np.int64(leading_zeros(n)) + 5
        shift = np.uint64(_64 - bits)
        for word in range(_1 << np.uint64(bits - 6)):
            seen[word] = _0
            again[word] = _0
        # A loop of its own, which LLVM turns into vector code.
        for i in range(n):
            values[i] = mix64(shingles[start + i] ^ key)
        n_again = _0
        for i in range(n):
            place = values[i] >> shift
            before = seen[place >> _6]
            bit = _1 << (place & _63)
            seen[place >> _6] = before | bit
            # Written in any case, and kept or written over: no branch to be guessed wrong.
            scratch[n_again] = place
            n_again += np.uint64(before & bit != _0)
        sizes[doc] = n
        if n_again == _0:
            continue
        # What shares a bit is sorted, to tell repeats from values that are different.
        for k in range(n_again):
            again[scratch[k] >> _6] |= _1 << (scratch[k] & _63)
        n_shared = _0
        for i in range(n):
            value = values[i]
            place = value >> shift
            values[n_shared] = value
            n_shared += (again[place >> _6] >> (place & _63)) & _1
        n_distinct = sort_distinct(values, 0, np.int64(n_shared), scratch, counts)
        sizes[doc] -= np.int64(n_shared) - n_distinct
