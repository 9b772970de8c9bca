"""In how many documents windows of tokens are, by 64-bit hashes."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.shingles import POWER
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int32s, Uint64s

_0, _1, _32 = np.uint64(0), np.uint64(1), np.uint64(32)


@inlined
def window_hash(polynomial: np.uint64, length: Int) -> np.uint64:
    """Hash a window given the polynomial of its tokens; never 0."""
    return mix64(polynomial + np.uint64(length) * GOLDEN) | _1


@inlined
def slot_of(table: ConstUint64s, hashed: np.uint64) -> np.uint64:
    """Slot that a hash has or may take in an open table of a power of two slots, 0 where free."""
    mask = np.uint64(table.shape[0] - 1)
    # The lowest bit is always set.
    slot = (hashed >> _1) & mask
    while table[slot] != _0 and table[slot] != hashed:
        slot = (slot + _1) & mask
    return slot


@kernel
def count_documents(
    values: ConstUint64s,
    offsets: ConstInt64s,
    order: ConstInt64s,
    min_tokens: int,
    part: int,
    n_parts: int,
    hashes: Uint64s,
    counts: Int32s,
    last_seen: Int32s,
) -> None:
    """Count in how many documents of the order each window of ``min_tokens`` tokens is.

    Only windows whose hashes are in one of ``n_parts`` ranges of equal size. ``hashes`` is a table
    of ``slot_of`` with a free slot at least; by its slots ``counts`` gets the numbers, and
    ``last_seen`` the place of the last document in the order, plus one.
    """
    leaving = _1
    for _ in range(min_tokens):
        leaving *= POWER
    for number in range(order.shape[0]):
        start, stop = offsets[order[number]], offsets[order[number] + 1]
        joined = _0
        for i in range(start, stop):
            joined = joined * POWER + values[np.uint64(i)]
            if i - start >= min_tokens:
                joined -= leaving * values[np.uint64(i - min_tokens)]
            if i - start + 1 < min_tokens:
                continue
            hashed = window_hash(joined, min_tokens)
            if np.int64(((hashed >> _32) * np.uint64(n_parts)) >> _32) != part:
                continue
            slot = slot_of(hashes, hashed)
            hashes[slot] = hashed
            if last_seen[slot] != number + 1:
                last_seen[slot] = number + 1
                counts[slot] += 1


@kernel
def fill_table(hashes: ConstUint64s, table: Uint64s) -> None:
    """Put hashes that all differ into an empty table of ``slot_of``."""
    for hashed in hashes:
        table[slot_of(table, hashed)] = hashed
