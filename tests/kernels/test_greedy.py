from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.sketch import greedy
from neardup.kernels.types import sealed
from tests.arrays import ragged
from tests.each import each_of
from tests.oracles import broder as oracle


def cluster(
    sets,
    threshold,
    *,
    limit=2**62,
    min_samples=1,
    moduli=None,
    sizes=None,
    is_popular=False,
):
    n = len(sets)
    largest = max(map(len, sets))
    values, offsets = ragged([sorted(elements) for elements in sets])
    moduli = moduli or [1] * n
    distinct, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.lexsort((numbers, counts[numbers], np.repeat(np.arange(n), np.diff(offsets))))
    clusters, representatives = np.full((2, n), -7, np.int64)
    links, owners, tallies, popular = np.full((4, len(values)), -7, np.int64)
    n_clusters = greedy.cluster_greedily(
        sealed(
            greedy.RankedSketches(
                values,
                offsets,
                np.array(sizes or [-1] * n, np.int64),
                np.array(moduli, np.int64),
                numbers,
                order,
            )
        ),
        greedy.Rule(threshold.numerator, threshold.denominator, limit, min_samples),
        int(is_popular),
        greedy.Chains(np.full(len(distinct), -1, np.int64), links, owners),
        greedy.Scratch(
            np.full(max(moduli).bit_length() if len(set(moduli)) > 1 else 1, -7, np.int64),
            np.full(largest, -7, np.int64),
            np.full(n, -1, np.int64),
        ),
        greedy.Tallies(
            # As small as may be, so that values meet in it.
            np.full(2 << (len(values) - 1).bit_length(), -1, np.int64),
            tallies,
            popular,
            np.full(2 * largest, -7, np.int64),
            np.full(n, -7, np.int64),
        ),
        values.copy(),
        clusters,
        representatives,
    )
    return clusters.tolist(), representatives[:n_clusters].tolist()


def expected(
    sets,
    threshold,
    *,
    limit=None,
    min_samples=1,
    moduli=None,
    sizes=None,
    is_popular=False,
):
    moduli, sizes = moduli or [1] * len(sets), sizes or [-1] * len(sets)
    sketches = [
        (elements, modulus, size == len(elements))
        for elements, modulus, size in zip(sets, moduli, sizes, strict=True)
    ]
    found = oracle.greedy_clusters(
        sketches, threshold, size=limit, min_samples=min_samples, is_popular=is_popular
    )
    members = {d: c for c, cluster in enumerate(found) for d in cluster.members}
    return [members[d] for d in range(len(sets))], [cluster.representative for cluster in found]


def test_cluster_greedily__joins_the_best_and_the_earliest_of_the_best():
    sets = [{1, 2, 3, 4}, {1, 2, 5, 6}, {1, 2, 5, 9}, {1, 2}, set(), set(), {7}]
    assert cluster(sets, Fraction(1, 2)) == ([0, 1, 1, 0, 2, 3, 4], [0, 1, 4, 5, 6])
    assert cluster(sets, Fraction(3, 5)) == ([0, 1, 1, 2, 3, 4, 5], [0, 1, 3, 4, 5, 6])
    # The later cluster is met first: its place is the head of each chain.
    assert cluster([{1, 2, 3}, {1, 2, 4}, {1, 2}], Fraction(2, 3))[0] == [0, 1, 0]


def test_cluster_greedily__exactly_at_the_threshold():
    sets = [set(range(10)), set(range(7))]
    assert cluster(sets, Fraction(7, 10))[0] == [0, 0]
    assert cluster(sets, Fraction(7 * 10**8 + 1, 10**9))[0] == [0, 1]


def test_cluster_greedily__members_are_not_representatives():
    """A chain does not hold together: the third resembles the second, not the first."""
    sets = [{1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}, {3, 4, 5, 6, 7}]
    assert cluster(sets, Fraction(3, 5)) == ([0, 0, 1, 1], [0, 2])


def test_cluster_greedily__popular_values_follow_the_members():
    """The first value is in one member of three, and is given up for one that two have."""
    sets = [{1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}, {2, 3, 4, 5}, {1, 2, 3, 4}]
    assert cluster(sets, Fraction(3, 5), is_popular=True) == ([0, 0, 1, 0, 0], [0, 2])
    # A member more, and 5 stands beside 2, 3 and 4 in place of 1.
    drifted = [*sets[:2], {2, 3, 4, 5}, {3, 4, 5, 6}]
    assert cluster(drifted, Fraction(3, 5), is_popular=True)[0] == [0, 0, 0, 0]
    assert cluster(drifted, Fraction(3, 5))[0] == [0, 0, 0, 1]


def test_cluster_greedily__of_values_equally_popular_the_smaller():
    sets = [{2, 3, 4, 9}, {1, 3, 4, 9}, {1, 2, 3, 4}]
    # After two: 3, 4 and 9 twice, then 1; not 2, though it is of the first.
    assert cluster([*sets[:2], {1, 3, 4, 9}], Fraction(1), is_popular=True)[0] == [0, 1, 1]
    assert cluster([*sets[:2], {1, 3, 4, 9}], Fraction(3, 5), is_popular=True)[0] == [0, 0, 0]
    joined = cluster([*sets[:2], {1, 3, 4}], Fraction(3, 5), is_popular=True)
    assert joined[0] == [0, 0, 0]
    assert cluster([*sets[:2], {2, 3, 4}], Fraction(3, 5), is_popular=True)[0] == [0, 0, 1]


@each_of("seed", range(40))
def test_cluster_greedily__smallest_sketches_as_oracle(seed):
    generator = random.Random(seed)
    limit = generator.randint(1, 9)
    sets = [
        set(sorted(generator.choices(range(14), k=generator.randrange(14)))[:limit])
        for _ in range(12)
    ]
    sizes = [len(elements) if len(elements) < limit else -1 for elements in sets]
    for threshold in (Fraction(1, 3), Fraction(1, 2), Fraction(4, 5)):
        for min_samples, is_popular in ((1, False), (4, False), (1, True), (4, True)):
            options = {"min_samples": min_samples, "sizes": sizes, "limit": limit}
            options["is_popular"] = is_popular
            assert cluster(sets, threshold, **options) == expected(sets, threshold, **options)


@each_of("seed", range(40))
def test_cluster_greedily__modulo_sketches_as_oracle(seed):
    generator = random.Random(seed)
    moduli = generator.choices([1, 2, 4], k=12)
    sets = [
        {generator.randrange(24 // modulus) * modulus for _ in range(generator.randrange(16))}
        for modulus in moduli
    ]
    sizes = [len(x) if modulus == 1 else -1 for x, modulus in zip(sets, moduli, strict=True)]
    for threshold in (Fraction(1, 3), Fraction(1, 2), Fraction(4, 5)):
        for min_samples, is_popular in ((1, False), (4, False), (1, True), (4, True)):
            options = {"min_samples": min_samples, "sizes": sizes, "moduli": moduli}
            options["is_popular"] = is_popular
            assert cluster(sets, threshold, **options) == expected(sets, threshold, **options)


# Sketches of modulus 1, and another one so that multiples of two and of four are looked at as well.
FOUR = {4000, 4004}


def test_cluster_greedily__found_by_odd_values_behind_rarer_even_ones():
    odd, even, other_even = ({k + 20 * j for k in range(0, 12, 2)} for j in (0, 1, 2))
    odd = {value + 101 for value in odd}
    sets = [odd | even, odd | other_even, FOUR]
    assert cluster(sets, Fraction(1, 3), moduli=[1, 1, 4])[0] == [0, 0, 1]


def test_cluster_greedily__found_by_multiples_behind_rarer_multiples():
    """Not among the first of the multiples of four, but among the first of all."""
    shared = {200, 204, 208, *range(301, 313, 2)}
    sets = [set(range(0, 20, 4)) | shared, set(range(100, 120, 4)) | shared, FOUR]
    assert cluster(sets, Fraction(9, 20), moduli=[1, 1, 4])[0] == [0, 0, 1]


def test_cluster_greedily__found_at_the_larger_modulus():
    """Behind many values that the other cannot have."""
    fine, coarse = set(range(1, 17, 2)) | set(range(20, 36, 4)), set(range(20, 36, 4))
    for sets, moduli in (([fine, coarse], [1, 4]), ([coarse, fine], [4, 1])):
        assert cluster(sets, Fraction(3, 4), moduli=moduli)[0] == [0, 0]
