from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.matching import buckets
from neardup.matching.buckets import list_full_keys
from tests.each import each_of

# Keys that differ in their lowest bits only, in their highest, or anywhere.
few_keys = st.sampled_from([0, 1, 2, 2**63, 2**63 + 1, 2**64 - 1, 0x9E3779B97F4A7C15])
any_keys = few_keys | st.integers(0, 2**64 - 1)


@st.composite
def tables(draw):
    n, n_bands = draw(st.integers(0, 12)), draw(st.integers(1, 4))
    pool = st.sampled_from(draw(st.lists(any_keys, min_size=1, max_size=6)))
    row = st.lists(pool, min_size=n_bands, max_size=n_bands)
    keys = np.array(draw(st.lists(row, min_size=n, max_size=n)), np.uint64).reshape(n, n_bands)
    numbers = st.lists(st.sampled_from([0, 1, 2, 2**40]), min_size=n, max_size=n)
    components = draw(st.none() | numbers)
    return keys, None if components is None else np.array(components, np.int64)


def documents_by_key(lists):
    """Give the documents under each key, in order of their keys' numbers."""
    documents = [[] for _ in lists.sizes]
    for d, (start, stop) in enumerate(pairwise(lists.starts)):
        for key in lists.keys[start:stop]:
            documents[key].append(d)
    return documents


@given(tables())
def test_list_full_keys__by_definition(drawn):
    keys, components = drawn
    groups: dict[tuple[int, ...], list[int]] = {}
    for d, row in enumerate(keys.tolist()):
        for band, key in enumerate(row):
            label = 0 if components is None else int(components[d])
            groups.setdefault((band, key, label), []).append(d)
    lists = list_full_keys(keys, components)
    found = documents_by_key(lists)
    assert sorted(found) == sorted(group for group in groups.values() if len(group) > 1)
    assert lists.sizes.tolist() == [len(documents) for documents in found]
    assert lists.n_probed.tolist() == np.diff(lists.starts).tolist()


@each_of("bit", [0, 1, 5, 33, 63])
def test_list_full_keys__one_bit_of_a_key_counts(bit):
    """Among many documents, of which some have the same upper bits by accident."""
    generator = np.random.default_rng(bit)
    keys = generator.integers(0, 2**64, (2000, 2), np.uint64)
    keys[1000:] = keys[:1000]
    keys[1500:, 1] ^= np.uint64(1 << bit)
    lists = list_full_keys(keys)
    pairs = [[d, d + 1000] for d in range(1000)]
    assert sorted(documents_by_key(lists)) == sorted(pairs + pairs[:500])


def test_list_full_keys__components_that_look_alike():
    """By the constant that spreads them one is 10, and the lowest five bits are not sorted."""
    components = np.zeros(20, np.int64)
    components[::2] = 10 * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64
    lists = list_full_keys(np.full((20, 1), 7, np.uint64), components)
    assert sorted(documents_by_key(lists)) == [[*range(0, 20, 2)], [*range(1, 20, 2)]]


@pytest.mark.parametrize(("most", "n_bands"), [(4, 2), (3, 3), (2, 1)])
def test_list_full_keys__as_many_as_numbers_of_32_bits(monkeypatch, most, n_bands):
    """Each band of these has a key that two documents share."""
    monkeypatch.setattr(buckets, "_MOST", most)
    assert len(list_full_keys(np.ones((2, n_bands), np.uint64)).sizes) == n_bands
    for shape in ((2, most + 1), (most + 1, 0)):
        with pytest.raises(InvalidParameterError):
            list_full_keys(np.ones(shape, np.uint64))
