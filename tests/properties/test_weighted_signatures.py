from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.sketches.weighted_minhash import WeightedMinHashScheme, weighted_signatures
from tests.arrays import make_weighted_sets, random_weighted_sets, random_words
from tests.oracles import weighted as oracle

NONE = 2**32 - 1
words = st.integers(0, 2**64 - 1) | st.integers(0, 9)
weighted = st.dictionaries(words, st.integers(1, 2**50) | st.sampled_from([1, 2**20]), max_size=5)


def sign(sets, scheme, gap=2):
    return weighted_signatures(make_weighted_sets(sets, gap=gap), scheme)


def many_sets(seed):
    generator = random.Random(seed)
    words = random_words(generator, 200)
    return [
        {words[x]: weight for x, weight in chosen.items()}
        for chosen in random_weighted_sets(generator, 40, 100, 2**30)
    ]


@given(st.lists(weighted, max_size=4), st.integers(1, 3), st.integers(0, 2**64 - 1))
def test_weighted_signatures__as_oracle(sets, num_perm, seed):
    seeds = oracle.function_seeds(seed, num_perm)
    expected = []
    for chosen in sets:
        found = [oracle.minimum(each, chosen) for each in seeds]
        expected.append([NONE if value is None else value >> 32 for value in found])
    signatures = sign(sets, WeightedMinHashScheme(num_perm, seed))
    assert signatures.dtype == np.uint32
    assert signatures.shape == (len(sets), num_perm)
    assert signatures.tolist() == expected


@pytest.mark.parametrize("gap", [0, 1, 3])
def test_weighted_signatures__any_order_and_any_company(gap):
    """A set's signature depends on nothing but the set."""
    sets, scheme = many_sets(1), WeightedMinHashScheme(70, 3)
    whole = sign(sets, scheme, gap)
    order = random.Random(gap).sample(range(40), 40)
    assert (sign([sets[d] for d in order], scheme, gap) == whole[order]).all()
    alone = [sign([chosen], scheme, gap)[0].tolist() for chosen in sets]
    assert whole.tolist() == alone
    assert any(not chosen for chosen in sets)


def test_weighted_signatures__sets_in_another_order_in_memory():
    """Sets need not lie one behind the other, nor in their order."""
    sets, scheme = many_sets(2), WeightedMinHashScheme(9)
    table = make_weighted_sets(sets)
    order = np.array(random.Random(2).sample(range(40), 25))
    chosen = type(table)(
        table.values, table.weights, table.starts[order], table.sizes[order], table.totals[order]
    )
    expected = weighted_signatures(table, scheme)[order]
    assert (weighted_signatures(chosen, scheme) == expected).all()


def test_weighted_signatures__more_functions_never_change_the_first_ones():
    sets = many_sets(3)
    whole = sign(sets, WeightedMinHashScheme(100, 8))
    assert (sign(sets, WeightedMinHashScheme(33, 8)) == whole[:, :33]).all()
    filled = [d for d, chosen in enumerate(sets) if chosen]
    others = sign(sets, WeightedMinHashScheme(100, 9))
    assert not (others == whole)[filled].any()


@pytest.mark.parametrize("sets", [[], [{}], [{}, {}]])
def test_weighted_signatures__nothing(sets):
    assert sign(sets, WeightedMinHashScheme(4)).tolist() == [[NONE] * 4] * len(sets)


def test_weighted_min_hash_scheme__describe():
    scheme = WeightedMinHashScheme(12, 5)
    assert scheme.describe() == {"kind": "weighted", "num_perm": 12, "seed": 5}
