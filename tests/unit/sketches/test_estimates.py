from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.sketches.intervals import estimate_shares
from neardup.sketches.modulo import ModuloScheme, estimate_containment
from neardup.sketches.samples import (
    estimate_resemblance,
    sketch_sets,
)
from neardup.sketches.smallest import SmallestScheme
from neardup.text.shingles import make_shingle_scheme, shingle_texts
from tests.arrays import make_texts
from tests.each import each_of
from tests.unit.sketches.samples import rows, sketch


@each_of("ngram", [1, 2, 3])
@each_of("occurrences", ["set", "numbered"])
@each_of("fingerprint", ["mixer", "rabin"])
@each_of("bits", [32, 40, 64])
def test_estimate_resemblance__broders_example(ngram, occurrences, fingerprint, bits):
    """Roses and flowers, by both of Broder's options; sketches that hold all are exact."""
    texts = make_texts(["a rose is a rose is a rose", "a rose is a flower which is a rose"])
    expected = {
        "numbered": [Fraction(7, 10), Fraction(5, 10), Fraction(3, 10)],
        "set": [Fraction(3, 5), Fraction(3, 6), Fraction(3, 7)],
    }[occurrences][ngram - 1]
    shingles = make_shingle_scheme(
        ngram=ngram, occurrences=occurrences, fingerprint=fingerprint, fingerprint_bits=bits
    )
    for scheme in (SmallestScheme(), ModuloScheme()):
        sketches = sketch_sets(shingle_texts(texts, shingles), scheme)
        found = estimate_resemblance(sketches, sketches, rows(0), rows(1), scheme)
        assert found.values.tolist() == found.low.tolist() == [float(expected)]
        assert found.is_usable().all()


def test_estimate_containment__broders_permutations():
    """Texts may have the same shingles and not be the same."""
    texts = make_texts(["a c a b a", "a b a c a", "a c a", "x"])
    scheme = ModuloScheme()
    sketches = sketch_sets(shingle_texts(texts, make_shingle_scheme(ngram=2)), scheme)
    found = estimate_containment(sketches, sketches, rows(0, 0, 2, 0), rows(1, 2, 0, 3), scheme)
    assert found.values.tolist() == [1, 0.5, 1, 0]
    assert found.n_samples.tolist() == [4, 4, 2, 4]


@pytest.mark.parametrize("scheme", [SmallestScheme(4), ModuloScheme(5), ModuloScheme()])
def test_estimate_resemblance__empty_sets_resemble_nothing(scheme):
    sketches = sketch([[], list(range(400)), []], scheme)
    found = estimate_resemblance(sketches, sketches, rows(0, 1, 0), rows(1, 0, 2), scheme)
    assert found.values.tolist() == found.low.tolist() == found.high.tolist() == [0, 0, 0]
    assert found.is_usable().all()


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


def test_estimate_resemblance__without_samples_nothing_is_known():
    scheme = ModuloScheme(2**32)
    sketches = sketch([[1, 2, 3]], scheme)
    found = estimate_resemblance(sketches, sketches, rows(0), rows(0), scheme)
    assert np.isnan([found.values[0], found.errors[0]]).all()
    assert (found.low[0], found.high[0], found.n_samples[0]) == (0, 1, 0)
    assert not found.is_usable()[0]
    assert len(found) == 1


def test_estimate_resemblance__no_pairs():
    scheme = SmallestScheme()
    found = estimate_resemblance(*[sketch([], scheme)] * 2, rows(), rows(), scheme)
    assert len(found) == 0


def test_estimate_resemblance__rows_that_are_not_there():
    scheme = SmallestScheme()
    one, other = sketch([[1], [2]], scheme), sketch([[1]], scheme)
    with pytest.raises(InvalidParameterError, match="left must be rows of 2 sketches, got 0 to 2"):
        estimate_resemblance(one, other, rows(0, 2), rows(0, 0), scheme)
    with pytest.raises(InvalidParameterError, match="right must be rows of 1 sketches, got 0 to 1"):
        estimate_resemblance(one, other, rows(0, 1), rows(0, 1), scheme)
    with pytest.raises(InvalidParameterError, match="right must be rows of 1 sketches, got -1"):
        estimate_resemblance(one, other, rows(0), rows(-1), scheme)
    with pytest.raises(InvalidParameterError, match="one row for each pair, got 1, 2"):
        estimate_resemblance(one, other, rows(0), rows(0, 0), scheme)


@each_of(
    ("made", "used", "moduli"),
    [
        (ModuloScheme(3), ModuloScheme(5), (5, 3)),
        (ModuloScheme(3), ModuloScheme(), (None, 3)),
        (ModuloScheme(4), SmallestScheme(), (1, 4)),
        (ModuloScheme(size=1), ModuloScheme(1), (1, 8)),
    ],
)
def test_estimate_resemblance__unlike_moduli(made, used, moduli):
    good, bad = sketch([[]] * 3, SmallestScheme()), sketch([range(9)] * 3, made)
    for pair in ((good, bad), (bad, good)) if used != ModuloScheme(5) else ((bad, bad),):
        with pytest.raises(SketchMismatchError) as caught:
            estimate_resemblance(*pair, rows(0), rows(0), used)
        assert caught.value.differences == {"modulus": moduli}


@pytest.mark.parametrize(("size", "used"), [(5, 4), (5, 6), (9, 3)])
def test_estimate_resemblance__unlike_sizes(size, used):
    sketches = sketch([range(9), range(3)], SmallestScheme(size))
    with pytest.raises(SketchMismatchError) as caught:
        estimate_resemblance(sketches, sketches, rows(0), rows(0), SmallestScheme(used))
    assert caught.value.differences == {"size": (used, size)}


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
