"""Weighted min-hashes of tokens by consistent sampling.

Improved consistent weighted sampling, Ioffe (2010). Five numbers per token and seed determine the
value of the token at any weight. The least value among the tokens of a text is the text's min-hash,
and the probability that two texts have the same one is the weighted Jaccard similarity of their
tokens, the sum of the lesser weights over the sum of the greater ones.

    base = mix64(token ^ seed)
    z_i  = mix64(base + i * GOLDEN), i = 1..5          SplitMix64 started at base
    u_i  = ((z_i >> 12) + 1/2) * 2^-52                 exact; never 0, never 1
    r = -ln(u_1 * u_2),  c = -ln(u_3 * u_4),  beta = u_5

A weight w > 0 has the value (order, identity), compared in this order:

    k        = floor(ln(w) / r + beta)
    ln a     = ln(c) - r * ((k - beta) + 1)
    order    = bits of ln a, turned so that they ascend with it
    identity = mix64(base + k)                         k in two's complement

With the logarithm of ``kernels.common.hashing``, and every operation rounded to 64-bit floating
point in the order written, values are the same on every machine. They depend on the weight through
k only, and fall as k grows: a larger weight never has a larger value. Weights are given as their
logarithms, minus infinity for the weight 0, which has no value. -36 <= ln(w) <= 700 keeps k within
62 bits, since r is 2^-52 at least.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstFloats,
    ConstInt64s,
    ConstUint64s,
    FloatRows,
    Floats,
    Int,
    Int32s,
    Int64s,
    Uint64Rows,
    Uint64s,
)
from neardup.kernels.common.hashing import GOLDEN, ln, mix64

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
    """Multiply a weight's two parts, scale, and round half up.

    Neither is NaN, and zero never meets infinity. The result is at most MOST_WEIGHT.
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
    """Compute logarithms of a text's token weights at every count.

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


_12, _63 = np.uint64(12), np.uint64(63)
_ONE = np.uint64(0x3FF0000000000000)
_JUST_BELOW_ONE = np.float64(1.0 - 2.0**-53)
_G1, _G2, _G3, _G4, _G5 = (np.uint64(i * int(GOLDEN) % 2**64) for i in range(1, 6))

# Tokens whose parameters are drawn together.
_CHUNK = 64


@inlined
def _uniform(z: np.uint64) -> np.float64:
    """Return an odd multiple of 2^-53 between 0 and 1."""
    # As the fraction of a number in [1, 2); the difference is exact.
    return np.float64(np.uint64((z >> _12) | _ONE).view(np.float64) - _JUST_BELOW_ONE)


@inlined
def ascending_bits(value: np.float64) -> np.uint64:
    """Convert a number to an ascending word, -0 below 0."""
    bits = np.float64(value).view(np.uint64)
    negative = bits >> _63
    return bits ^ ((np.uint64(0) - negative) | (np.uint64(1) << _63))


@inlined
def draw(bases: Uint64s, size: Int, rates: Floats, log_cs: Floats, betas: Floats) -> None:
    """Draw r, ln c and beta for each base."""
    # Straight arithmetic, which becomes vector code: three times as fast as token by token.
    for i in range(size):
        base = bases[i]
        rates[i] = -ln(_uniform(mix64(base + _G1)) * _uniform(mix64(base + _G2)))
        c = -ln(_uniform(mix64(base + _G3)) * _uniform(mix64(base + _G4)))
        log_cs[i] = ln(c)
        betas[i] = _uniform(mix64(base + _G5))


@inlined
def _level(log_weight: np.float64, r: np.float64, beta: np.float64) -> np.float64:
    """Return the level k, or minus infinity for weight 0."""
    return np.float64(np.floor(np.divide(log_weight, r) + beta))


@inlined
def _order(k: np.float64, r: np.float64, log_c: np.float64, beta: np.float64) -> np.uint64:
    return ascending_bits(log_c - r * ((k - beta) + 1.0))


@inlined
def identity_of(base: np.uint64, k: np.float64) -> np.uint64:
    """Return the identity of a token's value at k."""
    return mix64(base + np.uint64(np.int64(k)))


@helper
def list_weighted(
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    n_types: int,
    log_weights: ConstFloats,
    seed: np.uint64,
    orders: Uint64s,
    identities: Uint64s,
    types: Int32s,
    counts: Int32s,
) -> Int:
    """List a text's active values by token and ascending count.

    Type t is a distinct token of hash ``type_hashes[t]`` that the text has f times, f =
    ``type_starts[t + 1] - type_starts[t]``; the logarithm of its weight when counted x times is
    ``log_weights[type_starts[t] + x - 1]``, and never falls with x. The value at x is active if it
    is less than the values at all smaller counts. For each active value the outputs get its order
    and identity, its type and its count x. They need room for ``type_starts[n_types] -
    type_starts[0]`` values. Returns the number of values. Time O(a log f) for a type with a active
    values.
    """
    bases = np.empty(_CHUNK, np.uint64)
    rates = np.empty(_CHUNK, np.float64)
    log_cs = np.empty(_CHUNK, np.float64)
    betas = np.empty(_CHUNK, np.float64)
    n = np.int64(0)
    for first in range(0, n_types, _CHUNK):
        size = min(_CHUNK, n_types - first)
        for i in range(size):
            bases[i] = mix64(type_hashes[first + i] ^ seed)
        draw(bases, size, rates, log_cs, betas)
        for i in range(size):
            base, r, log_c, beta = bases[i], rates[i], log_cs[i], betas[i]
            t = first + i
            before = type_starts[t] - 1
            f = type_starts[t + 1] - type_starts[t]
            last_k = _level(log_weights[before + f], r, beta)
            least_order, least_identity = ~np.uint64(0), ~np.uint64(0)
            x, k = np.int64(0), -np.inf
            # A value may be less than the values before only where k grows: find these places.
            while k < last_k:
                step = np.int64(1)
                above = min(x + step, f)
                above_k = last_k if above == f else _level(log_weights[before + above], r, beta)
                while above_k <= k:
                    x = above
                    step += step
                    above = min(x + step, f)
                    above_k = last_k if above == f else _level(log_weights[before + above], r, beta)
                while above - x > 1:
                    middle = (x + above) >> 1
                    middle_k = _level(log_weights[before + middle], r, beta)
                    if middle_k <= k:
                        x = middle
                    else:
                        above, above_k = middle, middle_k
                x, k = above, above_k
                order = _order(k, r, log_c, beta)
                identity = identity_of(base, k)
                # Where r is minute, orders of different k may be equal.
                if order < least_order or (order == least_order and identity < least_identity):
                    least_order, least_identity = order, identity
                    orders[n] = order
                    identities[n] = identity
                    types[n] = t
                    counts[n] = x
                    n += 1
    return n


@kernel
def weighted_minimum(
    type_hashes: ConstUint64s,
    log_weights: ConstFloats,
    seeds: ConstUint64s,
    identities: Uint64s,
) -> bool:
    """Find the least value's identity among weighted tokens, per seed.

    ``type_hashes`` and ``log_weights`` (n) are distinct tokens and the logarithms of their weights,
    ``identities`` (k) gets one value for each of the k seeds. Returns whether any token has a
    weight above 0; if none has, ``identities`` stays as it is.
    """
    has_weight = False
    for t in range(type_hashes.shape[0]):
        has_weight |= log_weights[t] > -np.inf
    if not has_weight:
        return False
    bases = np.empty(_CHUNK, np.uint64)
    rates = np.empty(_CHUNK, np.float64)
    log_cs = np.empty(_CHUNK, np.float64)
    betas = np.empty(_CHUNK, np.float64)
    for s in range(seeds.shape[0]):
        least_order, least_identity = ~np.uint64(0), ~np.uint64(0)
        for first in range(0, type_hashes.shape[0], _CHUNK):
            size = min(_CHUNK, type_hashes.shape[0] - first)
            for i in range(size):
                bases[i] = mix64(type_hashes[first + i] ^ seeds[s])
            draw(bases, size, rates, log_cs, betas)
            for i in range(size):
                if log_weights[first + i] == -np.inf:
                    continue
                k = _level(log_weights[first + i], rates[i], betas[i])
                order = _order(k, rates[i], log_cs[i], betas[i])
                if order <= least_order:
                    identity = identity_of(bases[i], k)
                    if order < least_order or identity < least_identity:
                        least_order, least_identity = order, identity
        identities[s] = least_identity
    return True


@kernel
def weighted_signatures(
    hashes: ConstUint64s,
    owner_starts: ConstInt64s,
    owners: Int32s,
    log_weights: ConstFloats,
    seeds: ConstUint64s,
    least: FloatRows,
    identities: Uint64Rows,
) -> None:
    """Find each weighted set's least value's identity under each seed.

    ``hashes`` are distinct elements; element e is in the sets ``owners[owner_starts[e] :]`` up to
    the next start, with the logarithms of its weights in ``log_weights``, all above minus infinity.
    ``least`` (n_sets, n_seeds) is scratch, and infinite at first; ``identities`` of the same shape
    stays as it is for sets without elements. Each element's numbers are drawn once for all sets.
    """
    n_seeds = seeds.shape[0]
    bases = np.empty(n_seeds, np.uint64)
    rates, log_cs, betas = np.empty(n_seeds), np.empty(n_seeds), np.empty(n_seeds)
    levels, values = np.empty(n_seeds), np.empty(n_seeds)
    for e in range(hashes.shape[0]):
        for s in range(n_seeds):
            bases[s] = mix64(hashes[e] ^ seeds[s])
        draw(bases, n_seeds, rates, log_cs, betas)
        for place in range(owner_starts[e], owner_starts[e + 1]):
            log_weight, owner = log_weights[place], owners[place]
            n_low = np.int64(0)
            # Straight arithmetic first, as vector code; few values are less than all before.
            for s in range(n_seeds):
                k = np.floor(np.divide(log_weight, rates[s]) + betas[s])
                value = log_cs[s] - rates[s] * ((k - betas[s]) + 1.0)
                levels[s], values[s] = k, value
                n_low += np.int64(value <= least[owner, s])
            if n_low == 0:
                continue
            for s in range(n_seeds):
                if values[s] <= least[owner, s]:
                    identity = identity_of(bases[s], levels[s])
                    order, best = ascending_bits(values[s]), ascending_bits(least[owner, s])
                    if order < best or (order == best and identity < identities[owner, s]):
                        least[owner, s], identities[owner, s] = values[s], identity
