from __future__ import annotations

from fractions import Fraction

import numpy as np

from neardup.sketches.kind import estimate_shares
from neardup.sketches.samples import (
    ModuloScheme,
    SmallestScheme,
    estimate_containment,
    estimate_resemblance,
)
from neardup.text.shingles import make_shingle_scheme, shingle_lists
from tests.arrays import make_texts
from tests.each import each_of
from tests.unit.sketches.samples import rows, sketch


@each_of("ngram", [1, 2, 3])
@each_of("occurrences", ["set", "numbered"])
@each_of("fingerprint", ["mixer", "rabin"])
def test_estimate_resemblance__broders_example(ngram, occurrences, fingerprint):
    """Roses and flowers, by both of Broder's options; sketches that hold all are exact."""
    texts = make_texts(["a rose is a rose is a rose", "a rose is a flower which is a rose"])
    expected = {
        "numbered": [Fraction(7, 10), Fraction(5, 10), Fraction(3, 10)],
        "set": [Fraction(3, 5), Fraction(3, 6), Fraction(3, 7)],
    }[occurrences][ngram - 1]
    shingles = make_shingle_scheme(ngram=ngram, occurrences=occurrences, fingerprint=fingerprint)
    for scheme in (SmallestScheme(), ModuloScheme()):
        sketches = scheme.sample(shingle_lists(shingles.tokenizer.hash_tokens(texts), shingles))
        found = estimate_resemblance(sketches, sketches, rows(0), rows(1), scheme)
        assert found.values.tolist() == found.low.tolist() == [float(expected)]
        assert found.is_usable().all()


def test_estimate_containment__broders_permutations():
    """Texts may have the same shingles and not be the same."""
    texts = make_texts(["a c a b a", "a b a c a", "a c a", "x"])
    scheme, shingles = ModuloScheme(), make_shingle_scheme(ngram=2)
    sketches = scheme.sample(shingle_lists(shingles.tokenizer.hash_tokens(texts), shingles))
    found = estimate_containment(sketches, sketches, rows(0, 0, 2, 0), rows(1, 2, 0, 3), scheme)
    assert found.values.tolist() == [1, 0.5, 1, 0]
    assert found.n_samples.tolist() == [4, 4, 2, 4]


def test_estimate_containment__few_samples_are_told():
    """Of a short text in a long one little is known: the value stands, and is marked."""
    scheme = ModuloScheme()
    sketches = sketch([range(150), range(20_000), range(1000)], scheme)
    assert sketches.moduli.tolist() == [1, 128, 8]
    found = estimate_containment(sketches, sketches, rows(0, 1, 2), rows(1, 0, 1), scheme)
    assert (found.n_samples < 20).tolist() == [True, False, True]
    assert found.is_usable().tolist() == [False, True, False]
    assert found.is_usable(1).tolist() == [True] * 3
    assert found.values[0] == 1
    assert found.low[0] < 0.9


def test_estimate_shares__errors():
    found = estimate_shares(
        rows(3, 0, 5, 0, 2),
        rows(12, 7, 5, 0, 8),
        np.array([1, 0.5, 0.25, 1, 0.1]),
        np.array([False, False, False, False, True]),
    )
    assert found.values[[0, 1, 2, 4]].tolist() == [0.25, 0, 1, 0.25]
    assert found.errors[[0, 1, 2, 4]].tolist() == [0.125, 0, 0, 0]
    assert (found.low[1], found.high[2]) == (0, 1)
    assert found.high[1] > 0.1
    assert found.low[2] < 0.9
    assert (found.low[4], found.high[4]) == (0.25, 0.25)
