from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy as np

from neardup.matching import buckets as bucket_join
from neardup.matching import join
from neardup.matching.measures import MEASURES
from neardup.runs.runner import Runner
from tests.arrays import (
    make_buckets,
    make_sets,
    make_weighted_sets,
    random_labels,
    random_sets,
    random_weighted_sets,
)
from tests.each import each_of
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES, WEIGHTED

THRESHOLDS = [Fraction(t) for t in ("0.3", "0.5", "0.6", "0.75", "1")]


def share_a_bucket(bands, a, b):
    return any(labels[a] == labels[b] for labels in bands)


def by_definition(sets, bands, measure, threshold, sides=None):
    """Pairs at the threshold that share a bucket, and how many had to be compared."""
    found = [
        row
        for row in joins.join(sets, measure, threshold, sides)
        if share_a_bucket(bands, *row[:2])
    ]
    n_compared = sum(
        share_a_bucket(bands, a, b)
        and (sides is None or joins.may_pair(sides[a], sides[b], is_directed=False))
        for a, b in combinations(range(len(sets)), 2)
    )
    return found, n_compared


def made(sets):
    """Sets, or weighted sets, as tables."""
    is_weighted = any(isinstance(chosen, dict) for chosen in sets)
    return make_weighted_sets(sets) if is_weighted else make_sets(sets)


def random_joins(measure, n=12):
    generator = random.Random(f"buckets {measure}")
    for k in range(n):
        n_sets = generator.randint(1, 12)
        largest = generator.choice((3, 8))
        if measure == WEIGHTED:
            sets = random_weighted_sets(generator, n_sets, largest, generator.choice((3, 2**45)))
        else:
            sets = random_sets(generator, n_sets, largest)
        bands = random_labels(generator, n_sets, generator.randint(1, 4))
        threshold = generator.choice(THRESHOLDS)
        if measure == "overlap":
            threshold = Fraction(generator.randint(1, 4))
        sides = [generator.randint(1, 3) for _ in sets] if k % 2 else None
        yield generator, (sets, bands, measure, threshold), sides


@each_of("measure", [*JOIN_MEASURES, WEIGHTED])
@each_of(("piece", "room"), [(1, 1), (3, 2), (64, 1)])
def test_join_buckets__as_oracle(monkeypatch, measure, piece, room):
    monkeypatch.setattr(join, "_PIECE", piece)
    monkeypatch.setattr(join, "_FIRST_PAIRS", room)
    for _, (sets, bands, *measured), sides in random_joins(measure, 6):
        expected, n_compared = by_definition(sets, bands, *measured, sides)
        pairs, counts = bucket_join.join_buckets(
            make_buckets(bands),
            made(sets),
            MEASURES[measured[0]](measured[1]),
            sides=None if sides is None else np.array(sides, np.uint8),
            runner=Runner(2),
        )
        rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
        assert list(rows) == expected
        assert counts == bucket_join.BucketJoinCounts(n_compared, len(expected))
