"""Bit filters that bound the overlap of shingle sets.

A filter has 2^k words. Each distinct shingle sets or turns one bit, its hash modulo the number of
bits. Folding a filter, by OR or XOR of its halves, gives the filter of half as many bits; so any
two can be compared.

No pair at the threshold is ruled out. A bit set in the filter of X but not of Y comes from a
shingle that only X has; a turned bit in which they differ comes from a shingle that only one of
them has; and different bits come from different shingles. A pair at the threshold has at least r
common shingles, so |X| - r at most are only in X and |Y| - r only in Y. More bits rule it out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import Bools, ConstInt64s, ConstUint64s, Int, Int64s, Uint64s
from neardup.kernels.common.bits import count_ones
from neardup.kernels.join.overlap import CONTAINMENT, MAX_CONTAINMENT, Threshold, required_overlap

_0, _1, _6, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)

# A table of at most this size, which the cache nearby has room for, stays three quarters empty.
_ROOMY = 2**14

# Shingles whose bits are set together.
_CHUNK = np.uint64(256)

# Words between two looks at whether the threshold is out of reach.
_STRETCH = 8


@inlined
def _sets_bits(measure: Int) -> bool:
    """Return whether shingles set their bits, or turn them.

    Set bits bound the surplus of the smaller set, which counts for containment. Turned bits only
    bound the differences of both sides together, but hide fewer: at two bits per shingle four of
    ten differing shingles meet a bit that is set already.
    """
    return measure in (CONTAINMENT, MAX_CONTAINMENT)


@kernel
def count_words(
    shingle_offsets: ConstInt64s, bits_per_shingle: int, most_words: int, offsets: Int64s
) -> None:
    """Size filters as powers of two of words.

    ``offsets`` (n + 1) receives where each filter starts.
    """
    offsets[0] = 0
    for d in range(shingle_offsets.shape[0] - 1):
        n_bits = bits_per_shingle * (shingle_offsets[d + 1] - shingle_offsets[d])
        n_words = np.int64(1)
        while 64 * n_words < n_bits and n_words < most_words:
            n_words *= 2
        offsets[d + 1] = offsets[d] + n_words


@kernel
def fill_filters(
    shingles: ConstUint64s,
    shingle_offsets: ConstInt64s,
    measure: int,
    seen: Uint64s,
    offsets: ConstInt64s,
    words: Uint64s,
    sizes: Int64s,
) -> None:
    """Set or turn one bit per distinct shingle.

    All ``words`` are 0 before. ``seen`` has room for the least power of two of which the longest
    document fills a half at most. ``sizes`` receives the numbers of distinct shingles.
    """
    sets_bits = _sets_bits(measure)
    waiting = np.empty(_CHUNK, np.uint64)
    for d in range(offsets.shape[0] - 1):
        start = np.uint64(offsets[d])
        bit_mask = np.uint64(64 * (offsets[d + 1] - offsets[d]) - 1)
        n_shingles = shingle_offsets[d + 1] - shingle_offsets[d]
        width = np.int64(2)
        while width < 2 * n_shingles or width < min(4 * n_shingles, _ROOMY):
            width *= 2
        seen[:width] = _0
        place_mask = np.uint64(width - 1)
        size, has_zero = n_shingles, False
        end = np.uint64(shingle_offsets[d + 1])
        for first in range(np.uint64(shingle_offsets[d]), end, _CHUNK):
            # All shingles first, as if none were repeated; a shingle whose place is taken waits.
            # Processors cannot predict a branch at each shingle.
            n_waiting = _0
            for i in range(first, min(first + _CHUNK, end)):
                shingle = shingles[i]
                found = seen[shingle & place_mask]
                # An empty place is 0, and so is one shingle.
                seen[shingle & place_mask] = shingle if found == _0 else found
                waiting[n_waiting] = shingle
                n_waiting += np.uint64((found != _0) | (shingle == _0))
                word, bit = start + ((shingle & bit_mask) >> _6), _1 << (shingle & _63)
                words[word] = words[word] | bit if sets_bits else words[word] ^ bit
            for k in range(n_waiting):
                shingle = waiting[k]
                place = shingle & place_mask
                while seen[place] != shingle and seen[place] != _0:
                    place = (place + _1) & place_mask
                is_repeat = seen[place] == shingle and (shingle != _0 or has_zero)
                has_zero |= shingle == _0
                seen[place] = shingle
                if is_repeat:
                    size -= 1
                    if not sets_bits:
                        words[start + ((shingle & bit_mask) >> _6)] ^= _1 << (shingle & _63)
        sizes[d] = size


class FilterRows(NamedTuple):
    """Filters ``words[offsets[d] : offsets[d + 1]]`` of documents d.

    ``sizes`` are the numbers of distinct shingles.
    """

    words: ConstUint64s
    offsets: ConstInt64s
    sizes: ConstInt64s


@inlined
def may_reach(filters: FilterRows, x: Int, y: Int, threshold: Threshold, either_way: Int) -> bool:
    """Return whether filters allow x to be similar to y.

    With ``either_way`` either direction is enough.
    """
    words, offsets, sizes = filters
    measure, p, q = threshold
    x_start, x_stop, x_size = offsets[x], offsets[x + 1], sizes[x]
    y_start, y_stop, y_size = offsets[y], offsets[y + 1], sizes[y]
    required = required_overlap(measure, x_size, y_size, p, q)
    if either_way:
        required = min(required, required_overlap(measure, y_size, x_size, p, q))
    if required > x_size or required > y_size:
        return False
    if x_stop - x_start > y_stop - y_start:
        x_start, y_start, x_stop, y_stop = y_start, x_start, y_stop, x_stop
        x_size, y_size = y_size, x_size
    # From here on x has the shorter filter, and the other one is folded.
    n_words = x_stop - x_start
    sets_bits = _sets_bits(measure)
    n_different, x_only, y_only = np.int64(0), np.int64(0), np.int64(0)
    first: Int = np.int64(0)
    while first < n_words:
        stop = min(first + _STRETCH, n_words)
        for i in range(first, stop):
            word, folded = words[x_start + i], _0
            if sets_bits:
                for k in range(y_start + i, y_stop, n_words):
                    folded |= words[k]
                    # Also unfolded each bit that x lacks where it would be stands for a shingle.
                    y_only += count_ones(words[k] & ~word)
                x_only += count_ones(word & ~folded)
            else:
                for k in range(y_start + i, y_stop, n_words):
                    folded ^= words[k]
                n_different += count_ones(word ^ folded)
        first = stop
        if x_only > x_size - required or y_only > y_size - required:
            return False
        if n_different > x_size + y_size - 2 * required:
            return False
    return True


@kernel
def sieve_pairs(
    filters: FilterRows,
    left: ConstInt64s,
    right: ConstInt64s,
    threshold: Threshold,
    may_be_similar: Bools,
) -> None:
    """Mark the pairs whose filters allow similarity."""
    for k in range(left.shape[0]):
        may_be_similar[k] = may_reach(filters, left[k], right[k], threshold, 0)
