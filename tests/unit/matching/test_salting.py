from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching import join
from neardup.matching.join import salt, salt_sets
from neardup.tables import WeightedSets
from tests.arrays import make_sets

hashes = st.integers(0, 2**64 - 1)


@given(data=st.data(), n_at_once=st.integers(1, 9))
def test_salt_sets__sorted_and_of_the_key(data, n_at_once):
    """Values are those that ``salt`` gives, in order, and weights stay with their values."""
    members = data.draw(st.lists(st.sets(hashes, max_size=5), max_size=6))
    own_keys = data.draw(st.lists(hashes, min_size=len(members), max_size=len(members)))
    keys = np.array(own_keys, np.uint64)
    plain = make_sets(members)
    weights = np.arange(1, len(plain.values) + 1, dtype=np.int64)
    sizes = plain.sizes.copy()
    weighted = WeightedSets(plain.values.copy(), weights.copy(), plain.starts, sizes, sizes)
    of_value = {
        (d, value): weight
        for d in range(len(members))
        for value, weight in zip(
            *(each[plain.starts[d] :][: sizes[d]].tolist() for each in (plain.values, weights)),
            strict=True,
        )
    }
    own, join._AT_ONCE = join._AT_ONCE, n_at_once
    try:
        for sets in (salt_sets(plain, keys), salt_sets(weighted, keys)):
            for d, values in enumerate(members):
                found = sets.values[sets.starts[d] :][: sets.sizes[d]].tolist()
                salted = {(value + int(keys[d])) % 2**64: value for value in values}
                assert found == sorted(salted)
                if isinstance(sets, WeightedSets):
                    own_weights = sets.weights[sets.starts[d] :][: sets.sizes[d]].tolist()
                    assert own_weights == [of_value[d, salted[value]] for value in found]
    finally:
        join._AT_ONCE = own


def test_salt__equal_only_with_equal_keys():
    values = np.array([5, 5, 6, 2**64 - 1], np.uint64)
    salted = salt(values, np.array([1, 2, 1, 7], np.uint64))
    assert salted.tolist() == [6, 7, 7, 6]
