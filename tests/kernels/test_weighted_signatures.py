from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
import pytest

from neardup.kernels._compile import uncompiled
from neardup.kernels.sketch import weighted_minhash
from tests.arrays import as_uint64
from tests.kernels.test_consistent import log_weights_of
from tests.oracles import weighted as oracle

NONE = 2**64 - 1
KERNEL = weighted_minhash.weighted_signatures


def sign(sets, seeds, *, lead=0, order=None, function=KERNEL):
    """Give the identities of each set; elements come in ``order``, with junk before the first."""
    elements = order or sorted({x for chosen in sets for x in chosen})
    owners = [[d for d, chosen in enumerate(sets) if x in chosen] for x in elements]
    starts = np.array(list(accumulate(map(len, owners), initial=lead)), np.int64)
    places = np.array([-9] * lead + [d for each in owners for d in each], np.int32)
    weights = [sets[d][x] for x, each in zip(elements, owners, strict=True) for d in each]
    logs = np.concatenate([np.full(lead, np.nan), log_weights_of(weights)])
    least = np.full((len(sets), len(seeds)), np.inf)
    identities = np.full((len(sets), len(seeds)), NONE, np.uint64)
    function(as_uint64(elements), starts, places, logs, as_uint64(seeds), least, identities)
    return identities.tolist()


@pytest.mark.usefixtures("minute_r")
def test_weighted_signatures__orders_that_are_equal():
    """Then the least identity counts, whichever element comes first."""
    function = uncompiled(KERNEL)
    seeds = [4, 9]
    sets = [dict.fromkeys(range(40), 8), dict.fromkeys(range(0, 40, 3), 8) | {7: 7}, {5: 1}]
    k = math.floor(float(log_weights_of([8])[0]) / 2.0**-52 + 0.25)

    def least(elements, seed, k):
        return min(oracle.mix((oracle.mix(x ^ seed) + k) % 2**64) for x in elements)

    expected = [
        [least(range(40), seed, k) for seed in seeds],
        # What weighs less has a greater value.
        [least(range(0, 40, 3), seed, k) for seed in seeds],
        [least([5], seed, 0) for seed in seeds],
    ]
    for order in (list(range(40)), list(range(40))[::-1]):
        assert sign(sets, seeds, order=order, function=function) == expected


@pytest.fixture
def values_around_zero(monkeypatch):
    """Elements whose value at weight 1 is 0 or, where the base is even, -0."""

    def draw(bases, size, rates, log_cs, betas):
        for i in range(size):
            is_odd = bool(bases[i] & np.uint64(1))
            # k is 0, and ln a is 1 - 1 * 1, or -0 less what is too small for a number.
            rates[i], betas[i], log_cs[i] = (1.0, 0.0, 1.0) if is_odd else (5e-324, 0.75, -0.0)

    monkeypatch.setattr(weighted_minhash, "draw", draw)


@pytest.mark.usefixtures("values_around_zero")
def test_weighted_signatures__minus_zero_is_less_than_zero():
    """Values are compared as words, on which -0 stands below 0."""
    function = uncompiled(KERNEL)
    identities = {x: oracle.mix(oracle.mix(x ^ 4)) for x in range(30)}
    is_odd = {x: bool(oracle.mix(x ^ 4) % 2) for x in identities}
    below = max((x for x in is_odd if not is_odd[x]), key=identities.__getitem__)
    # If 0 were equal to -0, one of these would win by its identity.
    others = [x for x in is_odd if is_odd[x] and identities[x] < identities[below]]
    assert others
    for order in ([below, *others], [*others, below]):
        chosen = dict.fromkeys(order, 1)
        assert sign([chosen], [4], order=order, function=function) == [[identities[below]]]
