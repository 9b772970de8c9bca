"""An ordered set of small integers: a bit for each, and summaries of 64 bits in one, twice.

Numbers lie between 0 and the greatest one, which has to be in the set; finding the next one takes a
few word operations. ``bits`` has a bit for every number, ``words`` one for every word of ``bits``
that is not zero, ``blocks`` one for every word of ``words`` that is not.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, trailing_zeros
from neardup.kernels.types import Int, Uint64s

_1 = np.uint64(1)


def words_needed(size: int) -> tuple[int, int, int]:
    """Give the lengths of the three arrays for numbers below ``size``."""
    n_bits = size // 64 + 2
    n_words = n_bits // 64 + 2
    return n_bits, n_words, n_words // 64 + 2


@inlined
def clear(bits: Uint64s, words: Uint64s, blocks: Uint64s, size: Int) -> None:
    """Empty the set, which held numbers below ``size``."""
    # Loops compile sooner than assignments to slices.
    for k in range((size >> 6) + 1):
        bits[k] = 0
    for k in range((size >> 12) + 1):
        words[k] = 0
    for k in range((size >> 18) + 1):
        blocks[k] = 0


@inlined
def insert(bits: Uint64s, words: Uint64s, blocks: Uint64s, x: Int) -> None:
    """Put a number in."""
    bits[x >> 6] |= _1 << np.uint64(x & 63)
    words[x >> 12] |= _1 << np.uint64((x >> 6) & 63)
    blocks[x >> 18] |= _1 << np.uint64((x >> 12) & 63)


@inlined
def remove(bits: Uint64s, words: Uint64s, blocks: Uint64s, x: Int) -> None:
    """Take a number out, which is in."""
    bits[x >> 6] &= ~(_1 << np.uint64(x & 63))
    if bits[x >> 6] == 0:
        words[x >> 12] &= ~(_1 << np.uint64((x >> 6) & 63))
        if words[x >> 12] == 0:
            blocks[x >> 18] &= ~(_1 << np.uint64((x >> 12) & 63))


@inlined
def first_from(bits: Uint64s, words: Uint64s, blocks: Uint64s, x: Int) -> Int:
    """Give the smallest number that is at least x; there has to be one."""
    w = x >> 6
    rest = bits[w] >> np.uint64(x & 63)
    if rest != 0:
        return x + np.int64(trailing_zeros(rest))
    w += 1
    b = w >> 6
    rest = words[b] >> np.uint64(w & 63)
    if rest != 0:
        w += np.int64(trailing_zeros(rest))
    else:
        b += 1
        block = b >> 6
        rest = blocks[block] >> np.uint64(b & 63)
        b = (block << 6) + (b & 63)
        while rest == 0:
            block += 1
            rest = blocks[block]
            b = block << 6
        b += np.int64(trailing_zeros(rest))
        w = (b << 6) + np.int64(trailing_zeros(words[b]))
    return (w << 6) + np.int64(trailing_zeros(bits[w]))
