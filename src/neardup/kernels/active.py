"""Active hash values: those of a token's occurrences that can be the smallest of a sub-text.

The x-th copy of a token has the hash h(t, x) = mix64(mix64(t ^ seed) + x * GOLDEN). A sub-text with
f copies of the token has all of h(t, 1) to h(t, f), so h(t, x) matters only where it is less than
all before it; of f values some ln f are expected to be.

References
----------
Zhang, Qiao, Peng, Deng (2025), Near-duplicate text alignment under weighted Jaccard similarity,
Algorithm 5.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int32s, Uint64s

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def occurrence_hash(mixed: np.uint64, x: Int) -> np.uint64:
    """Hash of the x-th copy of a token; ``mixed`` is mix64 of its hash and the seed."""
    return mix64(mixed + np.uint64(x) * GOLDEN)


@helper
def list_active(
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    first_type: Int,
    n_types: Int,
    most_copies: Int,
    seed: np.uint64,
    low: np.uint64,
    high: np.uint64,
    values: Uint64s,
    types: Int32s,
    copies: Int32s,
) -> Int:
    """List the active hash values of a text that lie in [low, high).

    Of each token at most ``most_copies`` copies count. ``values``, ``types`` (counted from
    ``first_type``) and ``copies`` (x) have room for every token. Returns how many there are.
    """
    n = np.int64(0)
    for k in range(n_types):
        mixed = mix64(type_hashes[first_type + k] ^ seed)
        f = min(type_starts[first_type + k + 1] - type_starts[first_type + k], most_copies)
        best = high
        for x in range(1, f + 1):
            value = occurrence_hash(mixed, x)
            if value < best:
                best = value
                if value < low:
                    break
                values[n] = value
                types[n] = k
                copies[n] = x
                n += 1
    return n


@kernel
def least_values(
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    most_copies: int,
    seeds: ConstUint64s,
    keys: Uint64s,
) -> None:
    """Give the identity of a text's least hash value for every seed; it has a token at least.

    The types are all that the arrays hold.
    """
    for i in range(seeds.shape[0]):
        best = _LARGEST
        for k in range(type_hashes.shape[0]):
            mixed = mix64(type_hashes[k] ^ seeds[i])
            f = min(type_starts[k + 1] - type_starts[k], most_copies)
            for x in range(1, f + 1):
                best = min(best, occurrence_hash(mixed, x))
        keys[i] = mix64(best)
