from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from neardup.kernels.bucket import components
from neardup.kernels.join.overlap import Comparisons, Keys, Threshold
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
    """Give the first of each one's component, and counts."""
    return join_and_group(sets, bands, measure, threshold, steps=steps)[:2]


def join_and_group(sets, bands, measure, threshold, *, steps=()):
    """Run the kernel in one or more steps; give also the groups of the first bucket."""
    table = make_weighted_sets(sets) if measure == WEIGHTED else make_sets(sets)
    lists = list_keys(make_buckets(bands))
    n = len(sets)
    parents = np.arange(n)
    owners = np.repeat(np.arange(n, dtype=np.int32), np.diff(lists.starts))
    heads = np.full(len(lists.sizes), -1, np.int64)
    links = np.full((3, len(lists.keys)), -1, np.int64)
    groups = sealed(components.Groups(owners, heads, *links))
    comparisons = Comparisons(np.full(n, -1, np.int32), np.zeros(2, np.int64))
    bounds = [0, *steps, n]
    for start, stop in pairwise(bounds):
        components.join_components(
            start,
            stop,
            sealed(Keys(lists.starts, lists.keys)),
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
    next_group, next_member, _ = links.tolist()
    first_group = int(heads[0]) if len(heads) else -1
    found = [
        [int(owners[slot]) for slot in follow(next_member, first)]
        for first in follow(next_group, first_group)
    ]
    return roots, comparisons.counts.tolist(), found


def follow(links, first):
    """Walk along a linked list, which must not come back to where it was."""
    seen = set()
    while first >= 0:
        assert first not in seen
        seen.add(first)
        yield first
        first = links[first]


def test_replace_members__in_groups_of_their_components():
    """Keys of no document that comes or goes keep their members."""
    lists = list_keys(make_buckets([[0, 0, 0, 0, 1, 1], [2, 2, 3, 3, 3, 3]]))
    keys = sealed(Keys(lists.starts, lists.keys))
    owners = np.repeat(np.arange(6, dtype=np.int32), np.diff(lists.starts))
    links = np.full((3, len(lists.keys)), -1, np.int64)
    groups = components.Groups(owners, np.full(len(lists.sizes), -1, np.int64), *links)
    parents = np.array([0, 1, 0, 1, 4, 4])

    def members():
        next_group, next_member, _ = links.tolist()
        return [
            sorted([int(owners[slot]) for slot in follow(next_member, first)])
            for head in groups.heads.tolist()
            for first in follow(next_group, head)
        ]

    def replace(last, following):
        components.replace_members(
            np.array(last, np.int64), np.array(following, np.int64), keys, sealed(groups), parents
        )
        return sorted(members())

    assert replace([], [0, 1, 2]) == [[0], [0, 2], [1], [1], [2]]
    assert replace([0, 1, 2], [2, 3, 4]) == [[2], [2], [3], [3], [4], [4]]
    assert replace([2, 3], [0]) == [[0], [0], [4]]
    assert replace([0, 4], []) == []


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


@each_of("seed", range(8))
def test_join_components__one_group_for_each_component_of_a_bucket(seed):
    """Groups that have become one component melt, so that later documents pass them at once."""
    generator = random.Random(seed)
    sets = [{chain * 100 + i, chain * 100 + i + 1} for chain in range(4) for i in range(8)]
    generator.shuffle(sets)
    roots, _, groups = join_and_group(sets, [[0] * len(sets)], "jaccard", Fraction(1, 3))
    found = sorted(sorted(group) for group in groups)
    expected = [[d for d, other in enumerate(roots) if other == root] for root in set(roots)]
    assert found == sorted(expected)


def test_join_components__follows_chains():
    a, b, c = set(range(10)), set(range(1, 11)), set(range(2, 12))
    assert join([a, b, c], [[0] * 3], "jaccard", Fraction("0.75"))[0] == [0, 0, 0]
    assert join([a, c, b], [[0] * 3], "jaccard", Fraction("0.75"))[0] == [0, 0, 0]


def test_join_components__chain_through_different_bands():
    sets = [{1, 2}, {3, 4}, {2, 3}, {1, 2, 3}]
    bands = [[1, 2, 3, 1], [1, 2, 2, 3], [1, 2, 3, 3]]
    roots, _ = join(sets, bands, "jaccard", Fraction(1, 3))
    assert roots == [0, 0, 0, 0]


@pytest.mark.parametrize("order", [1, -1])
def test_join_components__one_sided_measure_counts_in_either_direction(order):
    sets = [{1, 2}, set(range(10))][::order]
    assert join(sets, [[0, 0]], "containment", Fraction(1))[0] == [0, 0]


@each_of("measure", MEASURES)
def test_join_components__copies_cost_one_comparison_each(measure):
    n = 40
    roots, counts = join([{1, 2, 3}] * n, [[0] * n, [5] * n], measure, Fraction("0.8"))
    assert roots == [0] * n
    assert counts == [n - 1, n - 1]


def test_join_components__documents_without_a_bucket_stay_apart():
    assert join([{1}, {1}], [[0, 1]], "jaccard", Fraction(1)) == ([0, 1], [0, 0])


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


def test_join_components__weighted_follows_chains():
    a, b, c = {1: 8, 2: 8}, {2: 8, 3: 8}, {3: 8, 4: 8}
    for sets in ([a, b, c], [a, c, b]):
        assert join(sets, [[0] * 3], WEIGHTED, Fraction(1, 3))[0] == [0, 0, 0]
        just_above = Fraction(3334, 10000)
        assert join(sets, [[0] * 3], WEIGHTED, just_above)[0] == [0, 1, 2]


def test_join_components__what_weighs_nothing_stays_apart():
    roots, counts = join([{}, {}, {1: 1}, {}], [[0] * 4], WEIGHTED, Fraction(1, 1000))
    assert (roots, counts) == ([0, 1, 2, 3], [1 + 2 + 3, 0])


def test_join_components__weighted_copies_cost_one_comparison_each():
    n = 40
    roots, counts = join([{1: 2**50, 2: 1}] * n, [[0] * n, [5] * n], WEIGHTED, Fraction("0.8"))
    assert (roots, counts) == ([0] * n, [n - 1, n - 1])
