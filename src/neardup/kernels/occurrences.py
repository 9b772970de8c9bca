"""The tokens of each text numbered by kind, with the positions of each kind."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int32s, Int64s, Uint64s


@kernel
def group_occurrences(
    values: ConstUint64s,
    offsets: ConstInt64s,
    slots: Int32s,
    numbers: Int32s,
    type_offsets: Int64s,
    type_hashes: Uint64s,
    type_starts: Int64s,
    positions: Int32s,
) -> Int:
    """Give the different tokens of each text numbers, and list their positions.

    ``values`` and ``offsets`` (n + 1) are token lists, ``offsets[0]`` is 0. The types of text d, by
    first appearance, are ``type_offsets[d]`` to ``type_offsets[d + 1]``; type k has the hash
    ``type_hashes[k]`` and stands at ``positions[type_starts[k] : type_starts[k + 1]]``, counted
    from 1 in its text, ascending.
    ``type_hashes`` and ``numbers`` have room for every token, ``type_starts`` for one more;
    ``slots`` is scratch: a power of two, at least twice the longest text.

    Returns the number of types.
    """
    n_types = np.int64(0)
    for d in range(offsets.shape[0] - 1):
        type_offsets[d] = n_types
        start, stop = offsets[d], offsets[d + 1]
        n_slots = np.int64(2)
        while n_slots < 2 * (stop - start):
            n_slots *= 2
        for k in range(n_slots):
            slots[k] = -1
        mask = n_slots - 1
        first = n_types
        for i in range(start, stop):
            value = values[i]
            slot = np.int64(value) & mask
            while slots[slot] >= 0 and type_hashes[first + slots[slot]] != value:
                slot = (slot + 1) & mask
            number = np.int64(slots[slot])
            if number < 0:
                number = n_types - first
                slots[slot] = number
                type_hashes[n_types] = value
                type_starts[n_types + 1] = 0
                n_types += 1
            numbers[i] = number
            type_starts[first + number + 1] += 1
        # Counts, held one place further on, become ends and then, filled backwards, starts.
        end = start
        for k in range(first, n_types):
            end += type_starts[k + 1]
            type_starts[k + 1] = end
        for i in range(stop - 1, start - 1, -1):
            k = first + numbers[i] + 1
            type_starts[k] -= 1
            positions[type_starts[k]] = i - start + 1
        for k in range(first, n_types):
            type_starts[k] = type_starts[k + 1]
        type_starts[n_types] = stop
    type_offsets[offsets.shape[0] - 1] = n_types
    return n_types
