from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.join import weighted_join
from neardup.kernels.join.overlap import WideMatches
from neardup.matching import set_join as joins
from neardup.matching.measures import WeightedJaccard
from neardup.runs.runner import Runner
from tests.arrays import make_weighted_sets, random_weighted_sets
from tests.each import each_of
from tests.oracles.joins import join as all_pairs
from tests.oracles.measures import WEIGHTED
from tests.oracles.weighted import weighted_jaccard

THRESHOLDS = ("0.000000001", "0.3", "0.5", "0.75", "0.9", "1")
HEAVIEST = (1, 3, 1000, 2**50)


def test_weight_prefixes__sums_that_wrap_around():
    sums = np.array([2**63 - 3, 2**63 - 1, -(2**63) + 1, -(2**63) + 6], np.int64)
    found = np.empty(1, np.int64)
    starts, lengths = np.array([0], np.int64), np.array([3], np.int64)
    for needed, n in ((5.0, 3), (5.5, 2), (7.0, 2), (7.5, 1), (9.5, 0)):
        weighted_join.weight_prefixes(starts, lengths, sums, np.array([needed]), found)
        assert found.tolist() == [n]


def joined(sets, threshold, sides=None):
    join = joins.WeightedJoin(make_weighted_sets(sets), WeightedJaccard(Fraction(threshold)))
    own_sides = None if sides is None else np.array(sides, np.uint8)
    pairs, counts = join.run(own_sides, None, Runner(1))
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


@each_of("heaviest", HEAVIEST)
@each_of("threshold", THRESHOLDS)
def test_probe_weighted__as_oracle(threshold, heaviest):
    """Sets without weight among them, of one collection and of two."""
    generator = random.Random(f"{threshold} {heaviest}")
    for _ in range(8):
        sets = random_weighted_sets(generator, 14, generator.choice((4, 12)), heaviest)
        for sides in (None, [generator.randrange(4) for _ in sets]):
            found, _ = joined(sets, threshold, sides)
            assert found == all_pairs(sets, WEIGHTED, Fraction(threshold), sides)


@each_of("size", [1, 7, 8, 9, 30])
def test_probe_weighted__exact_ties_of_heavy_sets(size):
    """A pair reaches its own similarity, and not the next one above."""
    heavy = {k: 2**49 + k for k in range(size)}
    changed = heavy | {0: 1, size: 3}
    value = weighted_jaccard(heavy, changed).limit_denominator(10**9)
    below, above = (value + Fraction(k, 10**9) for k in (-1, 1))
    for threshold in (below, value, above):
        exact = weighted_jaccard(heavy, changed) >= threshold
        if 0 < threshold <= 1:
            assert len(joined([heavy, changed], threshold)[0]) == exact


@each_of("room", [0, 1, 2, 3])
def test_probe_weighted__full_output(room):
    """What does not fit is left to a call with more room, and scratch is as it was."""
    sets = make_weighted_sets([{1: 4, 2: 5, 3: k} for k in range(1, 6)])
    measure = WeightedJaccard(Fraction("0.5"))
    order = np.argsort(sets.totals, kind="stable")
    records, groups, index = joins.prepare_weighted(sets, order, measure, None)
    next_places = [np.full(5, -9, np.int32) for _ in range(3)]
    seen = weighted_join.SeenPartners(np.zeros(5, np.int64), *next_places)
    found, start, rooms = [], 0, []
    while start < 5:
        columns = [np.full(room, -9, dtype) for dtype in (np.int32, np.int32, np.int64)]
        counts = np.zeros(weighted_join.N_COUNTS, np.int64)
        reached, n_pairs = weighted_join.probe_weighted(
            start,
            5,
            measure.in_kernels,
            records,
            groups,
            index,
            seen,
            WideMatches(*columns),
            counts,
        )
        assert not seen.common.any()
        found += zip(*(column[:n_pairs].tolist() for column in columns), strict=True)
        rooms.append(room)
        room += reached == start
        start = reached
    expected = all_pairs([{1: 4, 2: 5, 3: k} for k in range(1, 6)], WEIGHTED, Fraction("0.5"))
    assert sorted(found) == expected
    assert len(rooms) > 2
