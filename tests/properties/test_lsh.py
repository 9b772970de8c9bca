from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.matching.buckets import bucket_documents
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.tables import ShingleLists
from tests.arrays import make_buckets, ragged
from tests.each import each_of
from tests.oracles import hashing

keys = st.integers(1, 30).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 12), min_size=n, max_size=n), min_size=1, max_size=5)
)
seeds = st.integers(0, 2**64 - 1)
shingle_lists = st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=12), min_size=1, max_size=4)


@given(keys, st.sampled_from([1, 2, 5]), st.sampled_from([20, 40, 58]))
def test_bucket_documents__equal_keys_share_a_bucket(bands, workers, shift):
    """As by hand: same groups, same sizes, numbers that differ between bands."""
    table = np.array(bands, np.uint64) << np.uint64(shift)
    found = bucket_documents(lambda band: table[band], len(bands), len(bands[0]), Runner(workers))
    expected = make_buckets(bands)
    assert sorted(found.sizes.tolist()) == sorted(expected.sizes.tolist())
    for numbers, others in zip(found.numbers, expected.numbers, strict=True):
        assert ((numbers < 0) == (others < 0)).all()
        # The same documents are together: numbers go one to one.
        pairs = set(zip(numbers.tolist(), others.tolist(), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
        for number in set(numbers[numbers >= 0].tolist()):
            assert (numbers == number).sum() == found.sizes[number]
    used = [set(row[row >= 0].tolist()) for row in found.numbers]
    assert sum(map(len, used)) == len(set().union(*used)) == len(found.sizes)


@each_of("n_documents", [0, 1, 2, 3, 64, 65])
def test_bucket_documents__all_alike_and_all_different(n_documents):
    alike = bucket_documents(
        lambda _: np.full(n_documents, 2**63, np.uint64), 2, n_documents, Runner(1)
    )
    assert alike.sizes.tolist() == ([n_documents] * 2 if n_documents > 1 else [])
    assert (alike.numbers >= 0).all() == (n_documents > 1 or n_documents == 0)
    different = bucket_documents(
        lambda _: np.arange(n_documents, dtype=np.uint64) << np.uint64(50),
        2,
        n_documents,
        Runner(1),
    )
    assert len(different.sizes) == 0
    assert (different.numbers == -1).all()


@given(shingle_lists, seeds, st.integers(1, 40))
def test_minhash_signatures__as_oracle(lists, seed, num_perm):
    values, offsets = ragged(lists)
    found = minhash_signatures(ShingleLists(values, offsets), MinHashScheme(num_perm, seed))
    masks = [hashing.lane_masks(seed, lane) for lane in range(num_perm)]
    assert found.tolist() == [hashing.signature(shingles, masks) for shingles in lists]


@given(shingle_lists, seeds, st.tuples(st.integers(1, 80), st.integers(1, 80)))
def test_minhash_signatures__more_functions_leave_the_first_as_they_are(lists, seed, numbers):
    fewer, more = sorted(numbers)
    shingles = ShingleLists(*ragged(lists))
    short = minhash_signatures(shingles, MinHashScheme(fewer, seed))
    assert (minhash_signatures(shingles, MinHashScheme(more, seed))[:, :fewer] == short).all()


@given(shingle_lists, st.integers(1, 12), st.integers(1, 6))
def test_band_keys__as_oracle(lists, bands, rows):
    # A width that is no multiple of 16 is a view with gaps between its rows.
    num_perm = bands * rows + 3
    signatures = minhash_signatures(ShingleLists(*ragged(lists)), MinHashScheme(num_perm, 1))
    expected = [
        [hashing.band_key(row[j * rows : (j + 1) * rows], j) for j in range(bands)]
        for row in signatures.tolist()
    ]
    assert band_keys(signatures, bands, rows).tolist() == expected


@each_of(("bands", "rows"), [(0, 1), (1, 0), (5, 4), (17, 1)])
def test_band_keys__out_of_range(bands, rows):
    with pytest.raises(InvalidParameterError):
        band_keys(np.zeros((1, 16), np.uint32), bands, rows)


@each_of(("num_perm", "seed"), [(0, 1), (65537, 1), (1, -1), (1, 2**64)])
def test_minhash_scheme__out_of_range(num_perm, seed):
    with pytest.raises(InvalidParameterError):
        MinHashScheme(num_perm, seed)
