"""Compute weights of tokens, their logarithms, and the counts behind them."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.common.hashing import ln
from neardup.kernels.types import (
    ConstFloats,
    ConstInt64s,
    ConstUint64s,
    Floats,
    Int,
    Int64s,
    Uint64s,
)

# Weights are multiples of 1 / SCALE.
SCALE = 1 << 20
# The greatest weight in these units, 2^30 before scaling; so each is exact in floating point, and
# no sum of weights overflows 63 bits. Inverse frequencies are below 2^5, so that a token of f
# occurrences weighs at most 2^25 f where a frequency is f or less: 2^37 occurrences, of all tokens
# of both texts, are safe. Squared, it is at most min(2^25 f^2, 2^50) <= 2^37.5 f: 2^25 are safe.
MOST_WEIGHT = 1 << 50

_SCALE, _MOST = np.float64(SCALE), np.float64(MOST_WEIGHT)


@inlined
def scaled_weight(frequency: np.float64, inverse: np.float64) -> np.int64:
    """Multiply the two parts of a weight, scale, and round half up to [0, MOST_WEIGHT].

    Neither is NaN, and zero never meets infinity.
    """
    # The scale is a power of two: the only rounding so far is that of the product.
    scaled = min(max(frequency * inverse * _SCALE, np.float64(0.0)), _MOST)
    whole = np.floor(scaled)
    # Not floor(scaled + 1/2), because that sum may be rounded up.
    return np.int64(whole) + np.int64(scaled - whole >= 0.5)


@kernel
def fill_log_weights(
    type_starts: ConstInt64s,
    n_types: int,
    frequencies: ConstFloats,
    inverses: ConstFloats,
    log_weights: Floats,
) -> None:
    """Fill in the logarithms of the weights of a text's tokens at every count.

    Type t, a distinct token, has f = ``type_starts[t + 1] - type_starts[t]`` occurrences, and
    ``log_weights[type_starts[t] + x - 1]`` gets the logarithm of its weight at x of them, in units
    of 1 / SCALE: the scaled weight of ``frequencies[x]`` and ``inverses[t]``. Minus infinity stands
    for the weight 0.
    """
    for t in range(n_types):
        start = type_starts[t]
        for x in range(1, type_starts[t + 1] - start + 1):
            weight = scaled_weight(frequencies[x], inverses[t])
            log_weights[start + x - 1] = ln(np.float64(weight)) if weight > 0 else -np.inf


@kernel
def fill_weights(
    counts: ConstInt64s, frequencies: ConstFloats, inverses: ConstFloats, weights: Int64s
) -> None:
    """Compute the scaled weight of each token at its count."""
    for t in range(counts.shape[0]):
        weights[t] = scaled_weight(frequencies[counts[t]], inverses[t])


@kernel
def merge_counts(
    hashes: ConstUint64s,
    counts: ConstInt64s,
    other_hashes: ConstUint64s,
    other_counts: ConstInt64s,
    merged_hashes: Uint64s,
    merged_counts: Int64s,
) -> Int:
    """Merge two lists of counts by hash, each ascending without repeats; return the new length.

    The outputs have room for both lists.
    """
    i, j, n = np.int64(0), np.int64(0), np.int64(0)
    while i < hashes.shape[0] or j < other_hashes.shape[0]:
        takes = j == other_hashes.shape[0] or (i < hashes.shape[0] and hashes[i] <= other_hashes[j])
        takes_other = i == hashes.shape[0] or (
            j < other_hashes.shape[0] and other_hashes[j] <= hashes[i]
        )
        merged_hashes[n] = hashes[i] if takes else other_hashes[j]
        count = np.int64(0)
        if takes:
            count += counts[i]
            i += 1
        if takes_other:
            count += other_counts[j]
            j += 1
        merged_counts[n] = count
        n += 1
    return n
