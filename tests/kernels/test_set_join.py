from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.kernels import set_join
from neardup.matching.measures import make_join_measure
from neardup.matching.set_join import ALGORITHMS, join_sets
from tests.arrays import make_sets
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES, reaches

THRESHOLDS = ("0.2", "0.5", "0.54", "0.6", "0.75", "0.8", "0.9", "1")


def random_sets(generator: random.Random, n: int) -> list[set[int]]:
    """Sets of which many are edited copies of others, some are equal and some empty."""
    universe = generator.choice([6, 15, 40])
    sets: list[set[int]] = []
    for _ in range(n):
        if sets and generator.random() < 0.6:
            new = set(generator.choice(sets))
            for _ in range(generator.randrange(4)):
                new ^= {generator.randrange(universe)}
        else:
            new = {generator.randrange(universe) for _ in range(generator.randrange(15))}
        sets.append(new)
    return sets


def threshold_of(generator: random.Random, measure: str) -> str:
    return str(generator.randint(1, 5)) if measure == "overlap" else generator.choice(THRESHOLDS)


def joined(sets, measure, threshold, **options):
    pairs, counts = join_sets(make_sets(sets), make_join_measure(measure, threshold), **options)
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", JOIN_MEASURES)
@pytest.mark.parametrize("two_sided", [False, True])
def test_join_sets__as_oracle(measure, algorithm, two_sided):
    generator = random.Random(f"{measure} {two_sided}")
    for _ in range(12):
        sets = random_sets(generator, generator.randint(1, 12))
        sides = [generator.randint(1, 3) for _ in sets] if two_sided else None
        threshold = threshold_of(generator, measure)
        found, counts = joined(
            sets,
            measure,
            threshold,
            algorithm=algorithm,
            sides=None if sides is None else np.array(sides, np.uint8),
        )
        assert found == joins.join(sets, measure, Fraction(threshold), sides)
        assert counts.results == len(found) <= counts.verified


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_join_sets__exact_tie_that_floating_point_loses(algorithm):
    """0.54 * 450 is 243.00000000000003 in floating point."""
    sets = [set(range(450)), set(range(243))]
    assert joined(sets, "jaccard", "0.54", algorithm=algorithm)[0] == [(0, 1, 243)]
    assert joined(sets, "jaccard", "0.540000001", algorithm=algorithm)[0] == []


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_prefix_lengths__by_definition(measure):
    """Every pair that can reach the threshold shares a token of both prefixes."""
    for threshold in ("2", "5") if measure == "overlap" else THRESHOLDS:
        t = make_join_measure(measure, threshold).threshold
        code = make_join_measure(measure, threshold).code
        sizes = np.arange(1, 25, dtype=np.int64)
        least, probing, indexing = (np.empty(24, np.int64) for _ in range(3))
        set_join.prefix_lengths(sizes, code, t.numerator, t.denominator, least, probing, indexing)
        for x in range(1, 25):
            partners = range(1, 25) if "containment" in measure else range(1, x + 1)
            for y in partners:
                if measure == "max-containment" and y < x:
                    continue
                overlaps = [o for o in range(1, min(x, y) + 1) if reaches(measure, o, x, y, t)]
                if not overlaps:
                    continue
                # o common tokens leave at most x - o others, so one is among the first x - o + 1.
                assert y >= least[x - 1] or measure == "max-containment"
                assert probing[x - 1] >= x - min(overlaps) + 1
                assert indexing[y - 1] >= y - min(overlaps) + 1


def test_suffix_distance__never_too_high():
    """Where two runs differ in no more than the limit, the bound is no more than they do."""
    generator = random.Random(5)
    for _ in range(1500):
        x = sorted(generator.sample(range(25), generator.randrange(13)))
        y = sorted(generator.sample(range(25), generator.randrange(13)))
        limit = generator.randrange(15)
        limit += (limit - abs(len(x) - len(y))) % 2
        tokens = np.array([9, *x, 9, *y, 9], np.int32)
        start = len(x) + 2
        bound = set_join.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        true = joins.difference(x, y)
        assert true > limit or bound <= true


def test_suffix_distance__prunes():
    tokens = np.array([1, 2, 3, 4, 11, 12, 13, 14], np.int32)
    assert set_join.suffix_distance(tokens, 0, 4, 4, 8, np.int64(4)) > 4
