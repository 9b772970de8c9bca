"""Signatures of weighted sets by consistent weighted sampling; see ``kernels.consistent``."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.consistent import ascending_bits, draw, identity_of
from neardup.kernels.hashing import mix64
from neardup.kernels.types import (
    ConstFloats,
    ConstInt64s,
    ConstUint64s,
    FloatRows,
    Int32s,
    Uint64Rows,
)


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
    """Take the identity of the least value of each weighted set under each seed.

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
