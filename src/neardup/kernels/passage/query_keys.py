"""The tokens of queries, parts of one list of tokens, weighed and hashed.

Queries may overlap, as the windows of a long text do: their tokens are numbered once, for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.common.hashing import ln, mix64
from neardup.kernels.passage.windows import occurrence_hash
from neardup.kernels.sketch.weighted import weighted_minimum
from neardup.kernels.text.weights import scaled_weight
from neardup.kernels.types import (
    Bools,
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64Rows,
)

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Wanted(NamedTuple):
    """Query texts: query k is ``numbers[starts[k] : stops[k]]``.

    Distinct tokens have numbers, ``hashes`` and inverse document frequencies ``inverses``; a token
    that a query has f times weighs ``term_weights[f]`` times the latter.
    """

    numbers: ConstInt32s
    starts: ConstInt64s
    stops: ConstInt64s
    hashes: ConstUint64s
    inverses: ConstFloats
    term_weights: ConstFloats


@helper
def count_tokens(
    numbers: ConstInt32s, start: Int, stop: Int, counts: Int32s, types: Int32s, copies: Int32s
) -> int:
    """List a query's distinct tokens and their copies; return their number.

    ``counts``, one for each number, is zero, and zero again afterwards.
    """
    n = 0
    for i in range(start, stop):
        number = numbers[i]
        if counts[number] == 0:
            types[n] = number
            n += 1
        counts[number] += 1
    for t in range(n):
        copies[t] = counts[types[t]]
        counts[types[t]] = 0
    return n


@helper
def weigh_tokens(
    types: ConstInt32s,
    copies: ConstInt32s,
    n_types: Int,
    inverses: ConstFloats,
    term_weights: ConstFloats,
    weights: Int64s,
) -> int:
    """Compute the weight of each token of a query; return their sum."""
    total = 0
    for t in range(n_types):
        weights[t] = scaled_weight(term_weights[copies[t]], inverses[types[t]])
        total += weights[t]
    return total


@kernel
def least_keys(
    wanted: Wanted,
    chosen: ConstInt64s,
    most_copies: int,
    seeds: ConstUint64s,
    keys: Uint64Rows,
    have_weight: Bools,
) -> None:
    """Write the identity of the least hash value for every seed, query by query.

    Row k of ``keys`` belongs to query ``chosen[k]``, and has no meaning where ``have_weight``
    becomes false, without tokens. At most ``most_copies`` copies of each token count.
    """
    numbers, hashes = wanted.numbers, wanted.hashes
    counts = np.zeros(hashes.shape[0], np.int32)
    longest = np.int64(0)
    for k in range(keys.shape[0]):
        longest = max(longest, wanted.stops[chosen[k]] - wanted.starts[chosen[k]])
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for k in range(keys.shape[0]):
        start, stop = wanted.starts[chosen[k]], wanted.stops[chosen[k]]
        n_types = count_tokens(numbers, start, stop, counts, types, copies)
        have_weight[k] = n_types > 0
        for s in range(seeds.shape[0]):
            seed, best = seeds[s], _LARGEST
            for t in range(n_types):
                mixed = mix64(hashes[types[t]] ^ seed)
                f = min(np.int64(copies[t]), np.int64(most_copies))
                for x in range(1, f + 1):
                    best = min(best, occurrence_hash(mixed, x))
            keys[k, s] = mix64(best)


@kernel
def weighted_keys(
    wanted: Wanted, chosen: ConstInt64s, seeds: ConstUint64s, keys: Uint64Rows, have_weight: Bools
) -> None:
    """Write the identity of the least value of weighted tokens for every seed, query by query.

    Row k of ``keys`` belongs to query ``chosen[k]``, and has no meaning where ``have_weight``
    becomes false, without tokens of positive weight.
    """
    numbers, hashes, inverses = wanted.numbers, wanted.hashes, wanted.inverses
    term_weights = wanted.term_weights
    counts = np.zeros(hashes.shape[0], np.int32)
    longest = np.int64(0)
    for k in range(keys.shape[0]):
        longest = max(longest, wanted.stops[chosen[k]] - wanted.starts[chosen[k]])
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    own_hashes, log_weights = np.empty(longest, np.uint64), np.empty(longest, np.float64)
    for k in range(keys.shape[0]):
        start, stop = wanted.starts[chosen[k]], wanted.stops[chosen[k]]
        n_types = count_tokens(numbers, start, stop, counts, types, copies)
        for t in range(n_types):
            own_hashes[t] = hashes[types[t]]
            weight = scaled_weight(term_weights[copies[t]], inverses[types[t]])
            log_weights[t] = ln(np.float64(weight)) if weight > 0 else -np.inf
        have_weight[k] = weighted_minimum(
            own_hashes[:n_types], log_weights[:n_types], seeds, keys[k]
        )
