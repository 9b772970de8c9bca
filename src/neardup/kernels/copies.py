"""Give equal 128-bit digests equal numbers, in order of first appearance."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import ConstBools, ConstUint64Rows, Int64s, Uint64Rows


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
