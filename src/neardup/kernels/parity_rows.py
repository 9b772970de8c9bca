"""Parities of records with their sizes: bits that bound from below in how much two differ.

A token turns one of a record's bits, that of its rank modulo their number. A bit in which two
records differ was turned by a token that only one of them has, and different bits by different
tokens: so no more bits differ than tokens (``kernels.parities``). Tokens of adjacent ranks turn
different bits. That spreads them better than chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.parities import count_ones
from neardup.kernels.types import ConstInt32s, ConstInt64s, ConstUint64s, Int, Uint64s

_1, _32, _LOW32 = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)


class ParityRows(NamedTuple):
    """Parities of ``n_words`` words, a power of two; where it is 0 there are none.

    ``firsts`` has two words of each record, its size and length, and the first word of its
    parities. These are read of all partners; ``others`` has the rest, which few are asked for: so
    what is read over and over stays in a cache.
    """

    firsts: ConstUint64s
    others: ConstUint64s
    n_words: int


@kernel
def fill_parity_rows(
    tokens: ConstInt32s,
    starts: ConstInt64s,
    lengths: ConstInt64s,
    sizes: ConstInt64s,
    n_words: int,
    firsts: Uint64s,
    others: Uint64s,
) -> None:
    """Fill the rows, all 0 before: a record of ``sizes[r]`` tokens has a run of ``lengths[r]``."""
    n_bits = 64 * n_words
    for r in range(starts.shape[0]):
        firsts[2 * r] = np.uint64(sizes[r]) << _32 | np.uint64(lengths[r])
        for i in range(starts[r], starts[r] + lengths[r]):
            place = np.int64(tokens[i]) & (n_bits - 1)
            bit = _1 << np.uint64(place & 63)
            if place < 64:
                firsts[2 * r + 1] ^= bit
            else:
                others[r * (n_words - 1) + (place >> 6) - 1] ^= bit


@inlined
def read_sizes(parities: ParityRows, record: Int) -> tuple[Int, Int]:
    """Return the size and the length of a record."""
    word = parities.firsts[np.uint64(2 * record)]
    return np.int64(word >> _32), np.int64(word & _LOW32)


@inlined
def first_distance(parities: ParityRows, x: Int, y: Int) -> Int:
    """Bound from below in how many tokens two records differ, by their first words alone."""
    firsts = parities.firsts
    return count_ones(firsts[np.uint64(2 * x + 1)] ^ firsts[np.uint64(2 * y + 1)])


@inlined
def other_distance(parities: ParityRows, x: Int, y: Int, limit: Int) -> Int:
    """Bound by their other words in how many more they do; above ``limit`` it may be too low."""
    others, n_others = parities.others, parities.n_words - 1
    distance, word = np.int64(0), np.int64(0)
    while word < n_others and distance <= limit:
        x_word, y_word = others[x * n_others + word], others[y * n_others + word]
        distance += count_ones(x_word ^ y_word)
        word += 1
    return distance
