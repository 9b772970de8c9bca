from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from neardup.kernels.bucket import components
from neardup.kernels.join.overlap import Comparisons, DocumentKeys, Threshold
from neardup.kernels.types import sealed
from neardup.matching.buckets import list_keys
from neardup.matching.verify import measure_sets
from tests.arrays import (
    CODES,
    make_buckets,
    make_sets,
    make_weighted_sets,
    random_labels,
    random_sets,
    random_weighted_sets,
)
from tests.each import each_of
from tests.oracles import components as oracle
from tests.oracles.measures import MEASURES, WEIGHTED


def join(sets, bands, measure, threshold, *, steps=()):
    """Run the kernel in one or more steps; give the first of each one's component, and counts."""
    table = make_weighted_sets(sets) if measure == WEIGHTED else make_sets(sets)
    lists = list_keys(make_buckets(bands))
    n = len(sets)
    parents = np.arange(n)
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(lists.starts))
    heads = np.full(len(lists.sizes), -1, np.int64)
    links = np.full((3, len(lists.keys)), -1, np.int64)
    groups = sealed(components.ComponentGroups(owners, heads, *links))
    comparisons = Comparisons(np.full(n, -1, np.int32), np.zeros(2, np.int64))
    bounds = [0, *steps, n]
    for start, stop in pairwise(bounds):
        components.join_components(
            start,
            stop,
            sealed(DocumentKeys(lists.starts, lists.keys)),
            measure_sets(table),
            Threshold(CODES[measure], threshold.numerator, threshold.denominator),
            groups,
            parents,
            comparisons,
            True,
        )
    roots = []
    for d in range(n):
        root = d
        while parents[root] != root:
            assert parents[root] < root
            root = int(parents[root])
        roots.append(root)
    return roots, comparisons.counts.tolist()


@pytest.mark.slow
@each_of("n_bands", [1, 2, 5])
@each_of("measure", MEASURES)
def test_join_components__as_oracle(measure, n_bands):
    generator = random.Random(f"{measure} {n_bands}")
    for _ in range(12):
        n = generator.randint(1, 30)
        sets = random_sets(generator, n, generator.choice((3, 8, 20)))
        bands = random_labels(generator, n, n_bands)
        threshold = Fraction(generator.choice(("0.3", "0.5", "0.6", "0.75", "0.8", "1")))
        steps = sorted(generator.choices(range(n + 1), k=generator.randrange(3)))
        roots, _ = join(sets, bands, measure, threshold, steps=steps)
        assert roots == oracle.firsts(
            sets,
            measure,
            threshold,
            are_candidates=lambda d, o, bands=bands: any(row[d] == row[o] for row in bands),
        )


@each_of("seed", range(8))
def test_join_components__groups_melt_in_any_order(seed):
    """Chains whose links come in random order, so that groups of a bucket grow together."""
    generator = random.Random(seed)
    sets = [{chain * 100 + i, chain * 100 + i + 1} for chain in range(4) for i in range(8)]
    generator.shuffle(sets)
    n = len(sets)
    bands = [[0] * n, *random_labels(generator, n, 2)]
    roots, counts = join(sets, bands, "jaccard", Fraction(1, 3))
    assert roots == oracle.firsts(sets, "jaccard", Fraction(1, 3))
    assert len(set(roots)) == 4
    assert counts[1] == n - 4


@pytest.mark.slow
@each_of("n_bands", [1, 2, 5])
@each_of("heaviest", [1, 3, 2**20, 2**50])
def test_join_components__weighted_as_oracle(heaviest, n_bands):
    generator = random.Random(f"{heaviest} {n_bands}")
    n_joined = 0
    for _ in range(12):
        n = generator.randint(1, 30)
        sets = random_weighted_sets(generator, n, generator.choice((3, 8, 20)), heaviest)
        bands = random_labels(generator, n, n_bands)
        threshold = Fraction(generator.choice(("0.2", "0.3", "0.5", "0.6", "0.75", "0.8", "1")))
        steps = sorted(generator.choices(range(n + 1), k=generator.randrange(3)))
        roots, counts = join(sets, bands, WEIGHTED, threshold, steps=steps)
        assert roots == oracle.firsts(
            sets,
            WEIGHTED,
            threshold,
            are_candidates=lambda d, o, bands=bands: any(row[d] == row[o] for row in bands),
        )
        # Every similar pair that is found joins two components.
        assert counts[1] == n - len(set(roots))
        n_joined += counts[1]
    assert n_joined > 10
