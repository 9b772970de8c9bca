from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.kernels.join.overlap import Threshold, common_weight, score_pairs
from neardup.matching.measures import WeightedJaccard, measure_sets
from tests.arrays import make_weighted_sets, random_weighted_sets
from tests.each import each_of
from tests.oracles.weighted import weighted_jaccard

MOST = 2**30 - 1
HEAVIEST = [1, 7, 2**20, 2**50]


def common_of(x, y, p, q):
    """Run on two sets that lie among others."""
    table = make_weighted_sets([{9: 5}, y, x])
    found = common_weight(measure_sets(table), 2, 1, p, q)
    return int(found)


def exact_common(x, y, p, q):
    common = sum(min(x[e], y[e]) for e in x.keys() & y.keys())
    return common if common and weighted_jaccard(x, y) >= Fraction(p, q) else -1


def thresholds_near(similarity, generator):
    """Give fractions that are just met, just missed, close by and anywhere."""
    found = [Fraction(1), Fraction(1, MOST), Fraction(generator.randint(1, MOST), MOST)]
    near = similarity.limit_denominator(MOST)
    for shift in (Fraction(0), Fraction(1, MOST), Fraction(-1, MOST)):
        found.append((near + shift).limit_denominator(MOST))
    return [t for t in found if 0 < t <= 1]


@pytest.mark.slow
@each_of("largest", [2, 3, 15, 16, 17, 33, 60])
@each_of("heaviest", HEAVIEST)
def test_common_weight__as_oracle(heaviest, largest):
    generator = random.Random(f"{heaviest} {largest}")
    outcomes = set()
    sets = random_weighted_sets(generator, 14, largest, heaviest)
    for i, x in enumerate(sets):
        for y in sets[: i + 1]:
            if not x or not y:
                continue
            for t in thresholds_near(weighted_jaccard(x, y), generator):
                expected = exact_common(x, y, t.numerator, t.denominator)
                assert common_of(x, y, t.numerator, t.denominator) == expected
                outcomes.add(expected > 0)
    assert outcomes == {True, False}


@each_of("bits", [3, 20, 50, 61])
def test_common_weight__met_and_missed_by_one(bits):
    """Sums up to 2^61 each: what floating point cannot tell apart is decided exactly."""
    generator = random.Random(bits)
    for _ in range(200):
        q = generator.randint(1, min(MOST, 2**bits))
        p = generator.randint(1, q)
        common, either = (p * (2**bits // q), q * (2**bits // q))
        # y is a part of x.
        part = generator.randint(1, common)
        y = {e: weight for e, weight in ((1, part), (2, common - part)) if weight}
        x = y | ({3: either - common} if either > common else {})
        assert common_of(x, y, p, q) == common_of(y, x, p, q) == common
        x[4] = 1
        # One more in the union: common / (either + 1) < p / q.
        assert common_of(x, y, p, q) == common_of(y, x, p, q) == -1
        y[4] = 1
        # One more in both: (common + 1) / (either + 1) >= p / q.
        assert common_of(x, y, p, q) == common_of(y, x, p, q) == common + 1


@pytest.mark.parametrize("n", [17, 40])
def test_common_weight__most_weight_of_many_elements(n):
    """The common elements are the last, or the first, and all others stand on one side."""
    heavy = 2**50
    for common in (range(5), range(n - 5, n)):
        x = dict.fromkeys(range(n), heavy)
        y = dict.fromkeys(common, heavy - 1)
        weight = 5 * (heavy - 1)
        t = Fraction(weight, n * heavy)
        near = t.limit_denominator(MOST)
        for a, b in ((x, y), (y, x)):
            assert common_of(a, b, 5, n) == -1
            assert common_of(a, b, 5, n + 1) == weight
            reached = weight if t >= near else -1
            assert common_of(a, b, near.numerator, near.denominator) == reached


@pytest.mark.parametrize("p", [0, 1])
def test_common_weight__nothing_in_common(p):
    """Also where the threshold is 0: what has nothing in common is not similar."""
    for x, y in (({1: 5}, {2: 5}), ({}, {1: 5}), ({}, {})):
        assert common_of(x, y, p, MOST) == common_of(y, x, p, MOST) == -1


def score(sets, left, right):
    table = make_weighted_sets(sets)
    similarities = np.full(len(left), -9.0)
    sides = np.array(left, np.int64), np.array(right, np.int64)
    threshold = Threshold(WeightedJaccard.code, 0, 1)
    overlaps = np.full(len(left), -9, np.int64)
    score_pairs(measure_sets(table), *sides, threshold, overlaps, similarities)
    return similarities.tolist()


@each_of("heaviest", HEAVIEST)
def test_score_pairs__of_weighted_sets_as_oracle(heaviest):
    generator = random.Random(heaviest)
    sets = random_weighted_sets(generator, 12, 20, heaviest)
    pairs = [(d, other) for d in range(12) for other in range(12)]
    found = score(sets, *zip(*pairs, strict=True))
    for (d, other), similarity in zip(pairs, found, strict=True):
        x, y = sets[d], sets[other]
        exact = float(weighted_jaccard(x, y)) if x and y else 0.0
        # Three roundings where sums take more than 53 bits.
        assert similarity == pytest.approx(exact, rel=4 * 2.0**-53, abs=0)
