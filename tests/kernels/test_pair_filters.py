from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.arrays import sealed
from neardup.kernels.join import filters as pair_filters
from neardup.kernels.join.overlap import Threshold
from tests.arrays import CODES, random_sets
from tests.each import each_of
from tests.kernels.test_filters import make
from tests.oracles.measures import JOIN_MEASURES, sets_reach


@each_of("measure", [m for m in JOIN_MEASURES if m != "overlap"])
@each_of("threshold", [Fraction(3, 10), Fraction(4, 5), Fraction(1)])
def test_sieve_pairs__drops_no_similar_pair(measure, threshold):
    """And many that are not; of directed measures the left one is the first."""
    generator = random.Random(f"{measure} {threshold}")
    sets = random_sets(generator, 40, 200)
    filters = make([sorted(own) for own in sets], measure, lead=3)
    pairs = [(x, y) for x in range(40) for y in range(40)]
    left, right = np.array(pairs, np.int64).T.copy()
    found = np.ones(len(pairs), np.bool_)
    limit = Threshold(CODES[measure], threshold.numerator, threshold.denominator)
    pair_filters.sieve_pairs(sealed(pair_filters.FilterRows(*filters)), left, right, limit, found)
    for (x, y), may_be in zip(pairs, found.tolist(), strict=True):
        assert may_be or not sets_reach(measure, sets[x], sets[y], threshold)
    n_similar = sum(sets_reach(measure, sets[x], sets[y], threshold) for x, y in pairs)
    assert n_similar <= found.sum() <= (len(pairs) if threshold < 0.5 else len(pairs) - 1)
