from __future__ import annotations

import random
from fractions import Fraction

import pytest

from neardup.matching.join import ALGORITHMS
from neardup.matching.measures import MEASURES
from neardup.matching.set_join import JoinCounts, SetJoin
from neardup.runs.runner import Runner
from tests.arrays import make_sets
from tests.each import each_of
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES


def joined(sets, measure, threshold, algorithm):
    join = SetJoin(make_sets(sets), MEASURES[measure].parse(threshold), algorithm)
    pairs, counts = join.run(None, None, Runner(1))
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


def large_sets(measure):
    """Sets large enough that several words of parities tell them apart."""
    generator = random.Random(f"large {measure}")
    sets = []
    for _ in range(40):
        new = {generator.randrange(400) for _ in range(generator.choice([20, 90, 150]))}
        if sets and generator.random() < 0.7:
            # Around the threshold, from equal to rather unlike.
            n_changes = generator.randrange(60)
            new = generator.choice(sets) ^ {generator.randrange(400) for _ in range(n_changes)}
        sets.append(new)
    return sets


@each_of("algorithm", ALGORITHMS)
@each_of("measure", JOIN_MEASURES)
def test_join_sets__of_large_sets_as_oracle(measure, algorithm):
    sets = large_sets(measure)
    threshold = "70" if measure == "overlap" else "0.7"
    found, counts = joined(sets, measure, threshold, algorithm=algorithm)
    assert found == joins.join(sets, measure, Fraction(threshold))
    assert 0 < len(found) < counts.after_size


@each_of(
    ("algorithm", "counts"),
    [
        ("allpairs", JoinCounts(4039, 1462, 0, 0, 0, 291, 33)),
        ("ppjoin", JoinCounts(4039, 1462, 0, 1186, 1186, 127, 33)),
        ("ppjoin+", JoinCounts(4039, 1462, 36, 36, 36, 36, 33)),
    ],
)
def test_join_sets__what_each_filter_lets_through(algorithm, counts):
    assert joined(large_sets("jaccard"), "jaccard", "0.7", algorithm=algorithm)[1] == counts


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_join_sets__exact_tie_that_floating_point_loses(algorithm):
    """0.54 * 450 is 243.00000000000003 in floating point."""
    sets = [set(range(450)), set(range(243))]
    assert joined(sets, "jaccard", "0.54", algorithm=algorithm)[0] == [(0, 1, 243)]
    assert joined(sets, "jaccard", "0.540000001", algorithm=algorithm)[0] == []
