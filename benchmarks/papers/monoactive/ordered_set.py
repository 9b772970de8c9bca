"""An ordered set of small integers, with which keys in any order are visited.

A bit for each number, and summaries of 64 bits in one, twice. Numbers lie between 0 and the
greatest one, which has to be in the set; the next number takes a few word operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.papers.monoactive.allalign import compiled
from neardup.kernels._compile import trailing_zeros

_1 = np.uint64(1)


def words_needed(size: int) -> tuple[int, int, int]:
    """Return the three array lengths for numbers below ``size``."""
    n_bits = size // 64 + 2
    n_words = n_bits // 64 + 2
    return n_bits, n_words, n_words // 64 + 2


@compiled
def clear(bits: Any, words: Any, blocks: Any, size: int) -> None:
    """Empty the set of numbers below ``size``."""
    # Loops compile sooner than assignments to slices.
    for k in range((size >> 6) + 1):
        bits[k] = 0
    for k in range((size >> 12) + 1):
        words[k] = 0
    for k in range((size >> 18) + 1):
        blocks[k] = 0


@compiled
def insert(bits: Any, words: Any, blocks: Any, x: int) -> None:
    """Insert a number into the set."""
    bits[x >> 6] |= _1 << np.uint64(x & 63)
    words[x >> 12] |= _1 << np.uint64((x >> 6) & 63)
    blocks[x >> 18] |= _1 << np.uint64((x >> 12) & 63)


@compiled
def remove(bits: Any, words: Any, blocks: Any, x: int) -> None:
    """Remove a number that the set contains."""
    bits[x >> 6] &= ~(_1 << np.uint64(x & 63))
    if bits[x >> 6] == 0:
        words[x >> 12] &= ~(_1 << np.uint64((x >> 6) & 63))
        if words[x >> 12] == 0:
            blocks[x >> 18] &= ~(_1 << np.uint64((x >> 12) & 63))


@compiled
def first_from(bits: Any, words: Any, blocks: Any, x: int) -> int:
    """Return the smallest number not below x, assuming one exists."""
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
