"""Sample sets by smallest values or multiples of a modulus.

Distinct hashes are sorted, or counted without sorting them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, leading_zeros
from neardup.kernels.arrays import ConstInt64s, ConstUint64s, Int, Int64Rows, Int64s, Uint64s
from neardup.kernels.common.hashing import mix64
from neardup.kernels.common.ordering import sort_hashes

_0, _1, _6, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
_64 = np.int64(64)


@helper
def sort_distinct(
    values: Uint64s, start: Int, stop: Int, scratch: Uint64s, counts: Int64s
) -> np.int64:
    """Sort a range, drop repeats, and return the new end.

    Values are uniform up to their largest. ``scratch`` and ``counts`` as for ``sort_hashes``.
    """
    if stop - start < 2:
        return np.int64(stop)
    largest = _0
    for i in range(np.uint64(start), np.uint64(stop)):
        largest = max(largest, values[i])
    # Values below a bound have leading zeros, useless for spreading them.
    sort_hashes(values, start, stop, scratch, counts, np.int64(leading_zeros(largest | _1)))
    last, previous = np.uint64(start), values[start]
    for i in range(np.uint64(start) + _1, np.uint64(stop)):
        value = values[i]
        last += np.uint64(value != previous)
        values[last] = value
        previous = value
    return np.int64(last + _1)


_ALL_ONES, _20 = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(20)


@helper
def _gather_below(
    shingles: ConstUint64s,
    start: Int,
    stop: Int,
    key: np.uint64,
    bound: np.uint64,
    pool: Uint64s,
    scratch: Uint64s,
    counts: Int64s,
) -> np.int64:
    """Find and count the distinct values up to a bound."""
    held = np.uint64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        # Written in any case, and kept or written over: no branch to be guessed wrong.
        value = mix64(shingles[i] ^ key)
        pool[held] = value
        held += np.uint64(value <= bound)
    return sort_distinct(pool, 0, np.int64(held), scratch, counts)


@kernel
def smallest_sketches(
    shingles: ConstUint64s,
    offsets: ConstInt64s,
    key: np.uint64,
    size: int,
    pool: Uint64s,
    scratch: Uint64s,
    counts: Int64s,
    values: Uint64s,
    value_offsets: Int64s,
    sizes: Int64s,
) -> None:
    """Keep each text's ``size`` smallest distinct hash values, ascending.

    Values are mix64(shingle ^ key). ``values`` has room for ``size`` of each text, or its number of
    shingles if less; ``value_offsets`` (n + 1) delimits them. ``sizes`` becomes the number of
    distinct shingles if it is less than ``size``, else -1. ``pool`` and ``scratch`` are as long as
    the longest text's shingles, ``counts`` twice as long and one more.
    """
    # With as many distinct shingles as expected below the bound, less than ``size`` are below it
    # once in a thousand million times.
    wanted = np.uint64(size) + np.uint64(6 * np.sqrt(size)) + _20
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        value_offsets[doc] = count
        start, stop = offsets[doc], offsets[doc + 1]
        n_shingles = np.uint64(stop - start)
        held = np.int64(0)
        if n_shingles > wanted:
            bound = _ALL_ONES // n_shingles * wanted
            held = _gather_below(shingles, start, stop, key, bound, pool, scratch, counts)
        if held < size:
            # A short text, or a repetitive one: no value is known to be too large.
            held = _gather_below(shingles, start, stop, key, _ALL_ONES, pool, scratch, counts)
        held = min(held, np.int64(size))
        for i in range(held):
            values[count + i] = pool[i]
        count += held
        sizes[doc] = held if held < size else -1
    value_offsets[offsets.shape[0] - 1] = count


@kernel
def modulo_sketches(
    shingles: ConstUint64s,
    offsets: ConstInt64s,
    key: np.uint64,
    modulus: int,
    size: int,
    scratch: Uint64s,
    counts: Int64s,
    values: Uint64s,
    value_offsets: Int64s,
    sizes: Int64s,
    moduli: Int64s,
) -> None:
    """Keep each text's hash values that a modulus divides, ascending.

    Values are mix64(shingle ^ key), each once. If ``modulus`` is 0, each text has the largest power
    of two of which ``size`` times itself is at most the number of distinct values, or 1. ``values``
    has room for all shingles, and ``value_offsets`` (n + 1) delimits them. ``scratch`` and
    ``counts`` are as long as the longest text's shingles, ``counts`` twice as long and one more.
    ``sizes`` and ``moduli`` receive each text's number of distinct shingles, and its modulus.
    """
    count = np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        value_offsets[doc] = count
        stop = count
        for i in range(offsets[doc], offsets[doc + 1]):
            values[stop] = mix64(shingles[i] ^ key)
            stop += 1
        stop = sort_distinct(values, count, stop, scratch, counts)
        sizes[doc] = stop - count
        own = np.int64(modulus)
        if own == 0:
            own += 1
            while 2 * own * size <= sizes[doc]:
                own *= 2
        moduli[doc] = own
        divisor = np.uint64(own)
        # Most values that are no multiples of a power of two need no division.
        mask = (divisor & (~divisor + _1)) - _1
        for i in range(count, stop):
            value = values[i]
            if value & mask == _0 and value % divisor == _0:
                values[count] = value
                count += 1
    value_offsets[offsets.shape[0] - 1] = count


@inlined
def sample_mask(modulus: Int, other_modulus: Int) -> np.uint64:
    """Return bits that must be zero at the coarser modulus."""
    if modulus == other_modulus:
        return _0
    return np.uint64(max(modulus, other_modulus)) - _1


@helper
def compare_samples(
    values: ConstUint64s,
    start: Int,
    stop: Int,
    other_values: ConstUint64s,
    other_start: Int,
    other_stop: Int,
    mask: np.uint64,
    limit: Int,
) -> tuple[Int, Int, Int, np.uint64]:
    """Compare the ``limit`` smallest values in two samples' union.

    Values with a bit of the mask do not count. Returns the number of values in both samples, in the
    union, and in the first sample, and the largest of them.
    """
    common, union, own = np.int64(0), np.int64(0), np.int64(0)
    largest = _0
    i, j = np.int64(start), np.int64(other_start)
    while i < stop and j < other_stop and union < limit:
        x, y = values[np.uint64(i)], other_values[np.uint64(j)]
        largest = min(x, y)
        counts = largest & mask == _0
        union += np.int64(counts)
        own += np.int64(counts and x <= y)
        # A common value is a multiple of both moduli.
        common += np.int64(x == y)
        i += np.int64(x <= y)
        j += np.int64(y <= x)
    while i < stop and union < limit:
        largest = values[np.uint64(i)]
        counts = largest & mask == _0
        union += np.int64(counts)
        own += np.int64(counts)
        i += 1
    while j < other_stop and union < limit:
        largest = other_values[np.uint64(j)]
        union += np.int64(largest & mask == _0)
        j += 1
    return common, union, own, largest


class SampleRows(NamedTuple):
    """Ascending sketches ``values[offsets[x] : offsets[x + 1]]`` of sets x.

    ``sizes`` are the set sizes of sketches known to be whole, else -1.
    """

    values: ConstUint64s
    offsets: ConstInt64s
    sizes: ConstInt64s
    moduli: ConstInt64s


@kernel
def compare_sketches(
    first: SampleRows,
    second: SampleRows,
    left: ConstInt64s,
    right: ConstInt64s,
    limit: int,
    counts: Int64Rows,
    largest: Uint64s,
) -> None:
    """Compare pairs of samples from two tables.

    Rows of ``counts`` receive the counts of ``compare_samples``: common, union and own; and 1 if
    both samples are whole sets, or one set is empty, so that nothing is left to chance, else 0.
    ``limit`` applies unless both samples are whole sets.
    """
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        size, other_size = first.sizes[x], second.sizes[y]
        start, stop = first.offsets[x], first.offsets[x + 1]
        other_start, other_stop = second.offsets[y], second.offsets[y + 1]
        n_both = stop - start + other_stop - other_start
        is_whole = size == stop - start and other_size == other_stop - other_start
        counts[k, 0], counts[k, 1], counts[k, 2], largest[k] = compare_samples(
            first.values,
            start,
            stop,
            second.values,
            other_start,
            other_stop,
            _0 if is_whole else sample_mask(first.moduli[x], second.moduli[y]),
            n_both if is_whole else limit,
        )
        counts[k, 3] = np.int64(is_whole or size == 0 or other_size == 0)
