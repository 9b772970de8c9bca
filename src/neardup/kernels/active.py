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

from neardup.kernels._compile import helper, inlined
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int32s, Int64s, Uint64s


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
    high: np.uint64,
    entry_starts: Int64s,
    copies: Int32s,
    values: Uint64s,
    identities: Uint64s,
) -> None:
    """List the active hash values below ``high`` of a text, type by type, by ascending copy.

    Of each token at most ``most_copies`` copies count. Those of type t, counted from
    ``first_type``, become ``entry_starts[t]`` to ``entry_starts[t + 1]`` of ``copies`` (x),
    ``values`` and ``identities``, which have room for every token.
    """
    n = np.int64(0)
    for k in range(n_types):
        entry_starts[k] = n
        mixed = mix64(type_hashes[first_type + k] ^ seed)
        f = min(type_starts[first_type + k + 1] - type_starts[first_type + k], most_copies)
        best = high
        for x in range(1, f + 1):
            value = occurrence_hash(mixed, x)
            if value < best:
                best = value
                copies[n] = x
                values[n] = value
                identities[n] = mix64(value)
                n += 1
    entry_starts[n_types] = n
