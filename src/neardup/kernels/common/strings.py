"""Hash strings such as ids, and number 128-bit digests by first appearance."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.types import (
    ConstBools,
    ConstBytes,
    ConstInt64s,
    ConstUint64Rows,
    Int64s,
    Uint64Rows,
    Uint64s,
)


@kernel
def hash_strings(data: ConstBytes, offsets: ConstInt64s, hashes: Uint64s) -> None:
    """Hash every string, byte for byte, as ``hashing.hash_bytes`` does.

    String i is ``data[offsets[i] : offsets[i + 1]]``; ``hashes`` takes a value for each.
    """
    for i in range(offsets.shape[0] - 1):
        h, word, n_bytes = GOLDEN, np.uint64(0), np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            word |= np.uint64(data[np.uint64(k)]) << (n_bytes << np.uint64(3))
            n_bytes += np.uint64(1)
            if n_bytes == np.uint64(8):
                h, word, n_bytes = mix64(h ^ word), np.uint64(0), np.uint64(0)
        hashes[i] = mix64(h ^ word ^ (n_bytes << np.uint64(56)))


@kernel
def number_digests(
    slots: Int64s,
    known: Uint64Rows,
    n_known: int,
    digests: ConstUint64Rows,
    wanted: ConstBools,
    numbers: Int64s,
) -> int:
    """Look up each wanted digest among the known ones and add it if it is new; return n_known.

    ``slots`` is an open hash table of positions in ``known``, -1 where free; its length is a power
    of two and at least twice the number of digests that it will hold. ``known`` has a row free for
    every digest that may be new. ``numbers`` receives each digest's row, -1 where not wanted.
    """
    mask = slots.shape[0] - 1
    for d in range(digests.shape[0]):
        if not wanted[d]:
            numbers[d] = -1
            continue
        low, high = digests[d, 0], digests[d, 1]
        slot = np.int64(low) & mask
        while slots[slot] >= 0 and (known[slots[slot], 0] != low or known[slots[slot], 1] != high):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = n_known
            known[n_known, 0] = low
            known[n_known, 1] = high
            n_known += 1
        numbers[d] = slots[slot]
    return n_known


@kernel
def rebuild_slots(
    slots: Int64s,
    known: ConstUint64Rows,
    n_known: int,
) -> None:
    """Fill an empty hash table (all -1) with the known digests, which all differ."""
    mask = slots.shape[0] - 1
    for number in range(n_known):
        slot = np.int64(known[number, 0]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number
