from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.join import filters as pair_filters
from neardup.kernels.join.overlap import Threshold, score_pairs
from neardup.kernels.types import sealed
from neardup.matching.measures import WeightedJaccard
from neardup.matching.verify import measure_sets
from tests.arrays import CODES, make_weighted_sets, random_sets, random_weighted_sets
from tests.each import each_of
from tests.kernels.test_filters import make
from tests.oracles.measures import JOIN_MEASURES, sets_reach
from tests.oracles.weighted import weighted_jaccard


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


def test_score_pairs__of_weighted_sets_by_definition():
    generator = random.Random(5)
    sets = [own for own in random_weighted_sets(generator, 60, 20, 1000) if own]
    table = make_weighted_sets(sets)
    pairs = [(x, y) for x in range(len(sets)) for y in range(len(sets))]
    left, right = np.array(pairs, np.int64).T.copy()
    for p, q in ((1, 10), (1, 2), (4, 5), (1, 1)):
        found, similarities = np.full(len(pairs), 77, np.int64), np.full(len(pairs), 77.0)
        threshold = Threshold(WeightedJaccard.code, p, q)
        score_pairs(measure_sets(table), left, right, threshold, found, similarities)
        for (x, y), common in zip(pairs, found.tolist(), strict=True):
            expected = sum(min(w, sets[y].get(e, 0)) for e, w in sets[x].items())
            if weighted_jaccard(sets[x], sets[y]) >= Fraction(p, q):
                assert common == expected
            else:
                assert common == -1
