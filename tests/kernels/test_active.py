from __future__ import annotations

import random
from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import windows
from neardup.kernels.passage.windows import Active, Occurrences
from neardup.kernels.types import sealed
from tests.arrays import JUNK, as_uint64, random_words
from tests.oracles import windows as oracle
from tests.oracles.hashing import mix

ALL = 2**64 - 1
ANY_NUMBER = 2**31 - 1


def listed(tokens, counts, seed, high=ALL, most=ANY_NUMBER, lead=2):
    """List (hash value, type, copy) of types that stand behind ``lead`` others."""
    hashes = as_uint64([*[JUNK] * lead, *tokens, JUNK])
    starts = np.array(list(accumulate([5] * lead + counts + [3], initial=0)), np.int64)
    n_tokens = sum(counts)
    values, keys = (np.full(n_tokens + 1, JUNK, np.uint64) for _ in range(2))
    entry_starts = np.full(len(tokens) + 2, -7, np.int64)
    copies = np.full(n_tokens + 1, -7, np.int32)
    type_offsets = np.array([0, lead, lead + len(tokens)], np.int64)
    none, no_places = np.empty(0, np.int64), np.empty(0, np.int32)
    texts = Occurrences(none, type_offsets, hashes, starts, no_places, no_places)
    active = Active(np.empty(0, np.int32), entry_starts, copies, values, keys)
    windows.list_active(sealed(texts), 1, most, np.uint64(seed), np.uint64(high), active)
    assert (entry_starts[0], entry_starts[-1]) == (0, -7)
    n = int(entry_starts[-2])
    assert (values[n:] == JUNK).all()
    assert (copies[n:] == -7).all()
    assert keys.tolist() == [*(mix(value) for value in values[:n].tolist()), *keys[n:].tolist()]
    assert (keys[n:] == JUNK).all()
    types = np.repeat(np.arange(len(tokens)), np.diff(entry_starts[:-1])).tolist()
    return list(zip(values[:n].tolist(), types, copies[:n].tolist(), strict=True))


def expected_active(tokens, counts, seed, most=ANY_NUMBER):
    value_of = oracle.multiset_values(seed, most)
    return [
        (value_of(token, x), k, x)
        for k, (token, f) in enumerate(zip(tokens, counts, strict=True))
        for x in oracle.active_copies(token, f, value_of)
    ]


types_and_counts = st.lists(st.integers(1, 12), max_size=8)
seeds = st.integers(0, ALL)
most_copies = st.sampled_from([1, 2, 3, ANY_NUMBER])


@given(types_and_counts, seeds, most_copies)
def test_list_active__as_oracle(counts, seed, most):
    tokens = random_words(random.Random(seed), len(counts))
    assert listed(tokens, counts, seed, most=most) == expected_active(tokens, counts, seed, most)


@given(types_and_counts, seeds, most_copies, seeds)
def test_list_active__below_a_value(counts, seed, most, high):
    tokens = random_words(random.Random(seed), len(counts))
    expected = expected_active(tokens, counts, seed, most)
    # Also one of the values themselves.
    for bound in (high, 0, *(value for value, _, _ in expected[:2])):
        within = [row for row in expected if row[0] < bound]
        assert listed(tokens, counts, seed, bound, most) == within


def test_list_active__one_token():
    for f in (1, 2, 30, 200):
        assert listed([3], [f], 9) == expected_active([3], [f], 9)
