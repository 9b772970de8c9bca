from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.kernels.join import overlap
from neardup.matching.measures import measure_sets
from tests.arrays import CODES, make_sets
from tests.each import each_of
from tests.oracles import measures as oracle

THRESHOLDS = sorted({Fraction(p, q) for q in range(1, 8) for p in range(1, q + 1)})
THRESHOLDS += [Fraction(t) for t in ("0.54", "0.8", "0.7", "0.999999999", "0.000000001")]


def required(measure, x, y, threshold):
    p, q = threshold.numerator, threshold.denominator
    arguments = (np.int64(n) for n in (x, y, p, q))
    return int(overlap.required_overlap(CODES[measure], *arguments))


def is_least(measure, least, x, y, threshold):
    return oracle.reaches(measure, least, x, y, threshold) and (
        least == 0 or not oracle.reaches(measure, least - 1, x, y, threshold)
    )


@pytest.mark.slow
@each_of("measure", oracle.MEASURES)
def test_required_overlap__small_sets(measure):
    for threshold in THRESHOLDS:
        for x in range(1, 14):
            for y in range(1, 14):
                least = next(o for o in range(x + y) if oracle.reaches(measure, o, x, y, threshold))
                assert required(measure, x, y, threshold) == least, (threshold, x, y)


@each_of("measure", oracle.MEASURES)
def test_required_overlap__large_sets(measure):
    """Close to the limits: sizes of 2^31, nine decimals, and next to exact ties."""
    generator = random.Random(measure)
    for _ in range(300):
        x, y = (generator.randint(1, 2 ** generator.randint(1, 31) - 1) for _ in range(2))
        q = generator.choice((10**9, 10**9 - 1, 2**29, 1000, 3, 1))
        threshold = Fraction(generator.randint(1, q), q)
        least = required(measure, x, y, threshold)
        assert is_least(measure, least, x, y, threshold), (x, y, threshold)


@each_of("size", [2**31 - 1, 2**31 - 2, 2**30 + 1, 10**9])
@each_of("measure", oracle.MEASURES)
def test_required_overlap__largest_sets(measure, size):
    for threshold in (Fraction(999999999, 10**9), Fraction(1, 10**9), Fraction(1), Fraction(1, 2)):
        for other in (size, size - 1, size // 2, 1):
            for x, y in ((size, other), (other, size)):
                least = required(measure, x, y, threshold)
                assert is_least(measure, least, x, y, threshold), (x, y, threshold)


def test_required_overlap__cosine_ties_of_large_sets():
    """x = a^2 k and y = b^2 k have overlap a b k t exactly at the threshold t."""
    generator = random.Random(2)
    for _ in range(300):
        a, b = generator.randint(1, 2000), generator.randint(1, 2000)
        k = generator.randint(1, (2**31 - 1) // max(a, b) ** 2)
        threshold = Fraction(generator.randint(1, 100), 100)
        least = required("cosine", a * a * k, b * b * k, threshold)
        assert least == -(-a * b * k * threshold.numerator // threshold.denominator)


@each_of("measure", oracle.MEASURES)
def test_similarity__rounded_once(measure):
    generator = random.Random(measure)
    for _ in range(300):
        x, y = generator.randint(1, 5000), generator.randint(1, 5000)
        common = generator.randint(0, min(x, y))
        found = float(overlap.similarity(CODES[measure], *map(np.int64, (common, x, y))))
        expected = oracle.value(measure, oracle.rank(measure, common, x, y))
        if measure == "cosine":
            # Two roundings of at most half a unit in the last place each, and the oracle's own two.
            assert abs(found - expected) <= 4 * 2.0**-53 * expected
        else:
            assert found == expected


def random_pair(generator, largest):
    universe = range(generator.randint(1, 2 * largest))
    x, y = (
        set(generator.sample(universe, generator.randint(1, min(largest, len(universe)))))
        for _ in range(2)
    )
    if generator.random() < 0.3:
        y = x | set(generator.sample(universe, generator.randint(0, min(3, len(universe)))))
    return x, y


@each_of("largest", [3, 15, 16, 17, 33, 60])
def test_overlap_at_least__never_wrong_for_any_requirement(largest):
    generator = random.Random(largest)
    for _ in range(25):
        x, y = random_pair(generator, largest)
        sets = make_sets([x, y], gap=generator.randrange(3))
        common = len(x & y)
        for least in {0, 1, common - 1, common, common + 1, min(len(x), len(y)), len(x | y)}:
            if least < 0:
                continue
            arguments = (sets.starts[0], sets.sizes[0], sets.starts[1], sets.sizes[1])
            found = int(overlap.overlap_at_least(sets.values, *arguments, np.int64(least)))
            assert (found >= least) == (common >= least), (x, y, least)
            if common >= least:
                assert found == common


def score(sets, pairs, measure, threshold):
    table = make_sets(sets)
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    overlaps = np.full(len(pairs), -9, np.int64)
    similarities = np.full(len(pairs), -9.0)
    overlap.score_pairs(
        measure_sets(table),
        left,
        right,
        overlap.Threshold(CODES[measure], threshold.numerator, threshold.denominator),
        overlaps,
        similarities,
    )
    return overlaps.tolist(), similarities.tolist()


@each_of("threshold", ["0", "0.3", "0.5", "0.54", "0.75", "1"])
@each_of("measure", oracle.MEASURES)
def test_score_pairs__as_oracle(measure, threshold):
    generator = random.Random(f"{measure} {threshold}")
    sets = [s for _ in range(8) for s in random_pair(generator, 24)]
    pairs = [(a, b) for a in range(16) for b in range(16)]
    exact = Fraction(threshold)
    for (a, b), found, value in zip(pairs, *score(sets, pairs, measure, exact), strict=True):
        x, y = sets[a], sets[b]
        if oracle.sets_reach(measure, x, y, exact):
            assert found == len(x & y)
            expected = oracle.value(measure, oracle.rank_of_sets(measure, x, y))
            assert value == pytest.approx(expected, rel=4 * 2.0**-53, abs=0)
        else:
            assert found == -1
            assert np.isnan(value)


def test_score_pairs__exactly_at_the_threshold():
    """243 of 450 is 0.54; one element less is below it."""
    x = set(range(343))
    at, below = (set(range(343 - common, 343 - common + 350)) for common in (243, 242))
    assert score([x, at], [(0, 1)], "jaccard", Fraction("0.54")) == ([243], [0.54])
    assert score([x, below], [(0, 1)], "jaccard", Fraction("0.54"))[0] == [-1]
