"""The examples of the article that docs/papers.md repeats, one after the other."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from neardup.matching.buckets import bucket_documents
from neardup.runs.runner import Runner
from neardup.sketches.minhash import (
    MinHashScheme,
    band_keys,
    estimate_agreement,
    minhash_signatures,
)
from neardup.tables import ShingleLists, Signatures
from neardup.text.shingles import make_shingle_scheme, shingle_sets
from tests.arrays import make_texts, ragged
from tests.oracles import hashing
from tests.unit.sketches.samples import rows

# The rows of the second matrix that are 1 for either document, of seven.
FIRST, SECOND = {2, 3, 5, 7}, {3, 4, 7}

# Its signatures of the documents j and j + 1, and what its hash makes of three bands of four, for
# the documents 1, j, j + 1 and l.
BEFORE = [23, 524, 7207, 34784, 14927, 17492, 43306, 38712, 25862, 52, 567849]
ONE, OTHER = [*BEFORE, 7849], [*BEFORE, 32]
BAND_HASHES = [[390, 57232, 57232, 33719], [62509, 453, 453, 51954], [453, 13009, 23905, 12174]]


def test_shingles__of_two_characters():
    scheme = make_shingle_scheme("characters", ngram=2)
    found = shingle_sets(make_texts(["abcdabd"]), scheme)
    expected = shingle_sets(make_texts(["ab", "bc", "cd", "da", "bd"]), scheme)
    assert found.sizes.tolist() == [5]
    assert set(found.values[:5].tolist()) == {
        int(expected.values[start]) for start in expected.starts
    }


def test_shingles__of_three_words():
    scheme = make_shingle_scheme("words", ngram=3)
    found = shingle_sets(make_texts(["it is trivial to show"]), scheme)
    parts = make_texts(["it is trivial", "is trivial to", "trivial to show"])
    expected = shingle_sets(parts, scheme)
    assert found.sizes.tolist() == [3]
    assert set(found.values[:3].tolist()) == {
        int(expected.values[start]) for start in expected.starts
    }


def test_matrix__the_first_row_is_of_both_as_often_as_the_jaccard_index():
    """In all orders of the seven rows, those of neither document left out."""
    both, orders = 0, 0
    for order in itertools.permutations(range(1, 8)):
        first = next(row for row in order if row in FIRST | SECOND)
        both += first in FIRST & SECOND
        orders += 1
    assert orders == 5040
    assert Fraction(both, orders) == Fraction(len(FIRST & SECOND), len(FIRST | SECOND))


def test_matrix__min_hashes_agree_as_often_as_that():
    """Of 20,000 functions so many agree, within four standard errors."""
    n = 20_000
    hashed = [[hashing.hash_token(str(row).encode()) for row in own] for own in (FIRST, SECOND)]
    signatures = minhash_signatures(ShingleLists(*ragged(hashed)), MinHashScheme(n))
    share = float((signatures[0] == signatures[1]).mean())
    assert share == pytest.approx(0.4, abs=4 * (0.4 * 0.6 / n) ** 0.5)


def test_signatures__share_of_equal_values_and_bands():
    values = np.array([ONE, OTHER], np.uint32)
    sizes = np.array([50, 50])
    signatures = Signatures(values, sizes)
    found = estimate_agreement(signatures, signatures, rows(0), rows(1))
    assert found.values.tolist() == pytest.approx([11 / 12])
    keys = band_keys(values, 3, 4)
    assert (keys[0] == keys[1]).tolist() == [True, True, False]


def test_bands__equal_hashes_of_different_bands_are_no_bucket():
    """Documents j and j + 1 meet in bands 1 and 2; document 1 has their hash in another band."""
    table = np.array(BAND_HASHES, np.uint64)
    found = bucket_documents(lambda band: table[band], 3, 4, Runner(1))
    assert (found.numbers >= 0).tolist() == [
        [False, True, True, False],
        [False, True, True, False],
        [False, False, False, False],
    ]
    assert found.sizes.tolist() == [2, 2]
