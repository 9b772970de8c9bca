from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.sketches.minhash import WeightedMinHashScheme, weighted_signatures
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
