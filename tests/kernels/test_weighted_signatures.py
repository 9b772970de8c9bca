from __future__ import annotations

import math
import random
from itertools import accumulate

import numpy as np
import pytest

from neardup.kernels._compile import uncompiled
from neardup.kernels.sketch import weighted
from tests.arrays import as_uint64, random_weighted_sets, random_words
from tests.each import each_of
from tests.kernels.test_consistent import log_weights_of
from tests.oracles import weighted as oracle

NONE = 2**64 - 1
KERNEL = weighted.weighted_signatures


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


def sign_one(weights, seeds):
    """Give the identities of one set as the kernel for passages does."""
    identities = np.full(len(seeds), NONE, np.uint64)
    weighted.weighted_minimum(
        as_uint64(weights), log_weights_of(list(weights.values())), as_uint64(seeds), identities
    )
    return identities.tolist()


def with_words(generator, sets):
    """Put 64-bit words in place of small elements."""
    words = random_words(generator, 100)
    return [{words[x]: weight for x, weight in chosen.items()} for chosen in sets]


@pytest.mark.slow
@each_of("n_seeds", [1, 2, 7])
@each_of("lead", [0, 3])
@each_of("heaviest", [1, 5, 2**20, 2**50])
def test_weighted_signatures__as_oracle(heaviest, lead, n_seeds):
    generator = random.Random(f"{heaviest} {lead} {n_seeds}")
    for largest in (1, 4, 12):
        sets = with_words(generator, random_weighted_sets(generator, 8, largest, heaviest))
        seeds = random_words(generator, n_seeds)
        expected = [
            [NONE if (found := oracle.minimum(seed, chosen)) is None else found for seed in seeds]
            for chosen in sets
        ]
        assert sign(sets, seeds, lead=lead) == expected


@each_of("n_seeds", [1, 5, 65])
@each_of("size", [1, 64, 65, 130])
def test_weighted_signatures__as_one_set_at_a_time(size, n_seeds):
    """Of sets by themselves, and of all of them together with what they have in common."""
    generator = random.Random(f"{size} {n_seeds}")
    words = random_words(generator, 2 * size)
    sets = [
        {x: generator.randint(1, 2**40) for x in generator.sample(sorted(set(words)), size)}
        for _ in range(3)
    ]
    seeds = random_words(generator, n_seeds)
    expected = [sign_one(chosen, seeds) for chosen in sets]
    assert sign(sets, seeds) == expected
    assert [sign([chosen], seeds) for chosen in sets] == [[row] for row in expected]


@pytest.mark.parametrize("sets", [[], [{}], [{}, {}, {}]])
def test_weighted_signatures__sets_without_elements(sets):
    assert sign(sets, [1, 2]) == [[NONE, NONE]] * len(sets)


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

    monkeypatch.setattr(weighted, "draw", draw)


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
