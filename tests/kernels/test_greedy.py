from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np

from neardup.kernels.sketch import greedy
from neardup.kernels.sketch.samples import SampleRows
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
    parts=(),
    room=None,
    n_slots=8,
):
    """Cluster sets in parts that begin where ``parts`` says, with room for some clusters at once.

    Few slots, so that values meet in each table.
    """
    n = len(sets)
    largest = max(map(len, sets))
    moduli, sizes = moduli or [1] * n, sizes or [-1] * n
    n_values = sum(map(len, sets))
    frequencies = np.zeros(n_slots, np.uint32)
    bounds = list(pairwise([0, *parts, n]))
    samples = []
    for start, stop in bounds:
        values, offsets = ragged([sorted(elements) for elements in sets[start:stop]])
        columns = (np.array(column[start:stop], np.int64) for column in (sizes, moduli))
        samples.append(sealed(SampleRows(values, offsets, *columns)))
        greedy.count_values(values, frequencies)
    n_rows, n_held, n_entries = (n, n_values, n_values) if room is None else room
    held = greedy.Held(
        0,
        np.zeros(2, np.int64),
        np.zeros(n_rows + 1, np.int64),
        *np.full((2, n_rows), -7, np.int64),
        np.full(n_rows, -1, np.int64),
        np.full(n_held, 7, np.uint64),
        np.full(n_slots, -1, np.int32),
        *np.full((2, n_entries), -7, np.int32),
        np.full(n_entries, 7, np.uint64),
    )
    scratch = greedy.ClusterScratch(
        np.full(max(moduli).bit_length() if len(set(moduli)) > 1 else 1, -7, np.int64),
        *np.full((4, largest), -7, np.int64),
    )
    tallies = greedy.Tallies(
        # As small as may be, so that values meet in it.
        np.full(2 << max(n_values - 1, 0).bit_length(), -1, np.int32),
        *np.full((2, n_values), -7, np.int64),
        np.full(2 * largest, -7, np.int64),
        np.full(n, -7, np.int64),
    )
    rule = greedy.Rule(threshold.numerator, threshold.denominator, limit, min_samples)
    joined = greedy.Joined(np.full(n, -1, np.int64), np.zeros(n, np.int32), np.ones(n, np.int32))
    begin, n_passes = 0, 0
    while begin < n:
        again = n
        for (start, stop), part in zip(bounds, samples, strict=True):
            found = greedy.cluster_greedily(
                part,
                min(max(begin - start, 0), stop - start),
                start,
                frequencies,
                rule,
                int(is_popular),
                int(again == n),
                held,
                scratch,
                tallies,
                greedy.Joined(*(column[start:stop] for column in joined)),
            )
            if found < stop - start:
                again = start + found
        assert again > begin
        begin = again
        held = held._replace(first=held.first + int(held.used[0]))
        for column, empty in ((held.used, 0), (held.last_met, -1), (held.heads, -1)):
            column[:] = empty
        n_passes += 1
    assert n_passes >= held.first / n_rows
    clusters = joined.clusters.tolist()
    return clusters, [clusters.index(cluster) for cluster in range(held.first)]


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


@each_of("seed", range(40))
def test_cluster_greedily__with_room_for_few_clusters_as_oracle(seed):
    """In several passes, and parts that begin anywhere."""
    generator = random.Random(seed)
    moduli = generator.choices([1, 2, 4], k=12) if seed % 2 else [1] * 12
    sets = [
        {generator.randrange(20 // modulus) * modulus for _ in range(generator.randrange(12))}
        for modulus in moduli
    ]
    largest = max(map(len, sets))
    for n_rows in (1, 3, 12):
        for threshold in (Fraction(1, 3), Fraction(4, 5)):
            found = cluster(
                sets,
                threshold,
                moduli=moduli,
                parts=sorted(generator.choices(range(13), k=3)),
                room=(n_rows, largest * generator.randint(1, 4), largest * generator.randint(1, 4)),
                n_slots=generator.choice([1, 4, 64]),
            )
            assert found == expected(sets, threshold, moduli=moduli)


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


@each_of("seed", range(40))
def test_find_alone__those_whose_values_nobody_has(seed):
    """With bits for each value; where values share them, some may not be found, but no others."""
    generator = random.Random(seed)
    moduli = [generator.choice([1, 1, 2, 4]) for _ in range(generator.randint(1, 12))]
    if generator.random() < 0.4:
        moduli = [1] * len(moduli)
    sets = [
        [value * m for value in generator.sample(range(40), generator.randint(0, 8))]
        for m in moduli
    ]
    values, offsets = ragged([sorted(elements) for elements in sets])
    counts = np.array(moduli, np.int64)
    samples = sealed(SampleRows(values, offsets, np.full(len(sets), -1), counts))
    threshold = Fraction(generator.choice(["1/2", "3/4", "1", "1/10"]))
    largest = max(moduli) if len(set(moduli)) > 1 else 1
    levels = [m for m in (1, 2, 4) if m <= largest]

    def is_alone(d):
        others = set().union(*(set(each) for k, each in enumerate(sets) if k != d))
        for modulus in levels:
            left = {value for value in sets[d] if value % modulus == 0}
            if left and len(left & others) >= threshold * len(left):
                return False
        return True

    expected = [is_alone(d) for d in range(len(sets))]
    for n_bytes in (1, 4, 1 << 16):
        seen = np.zeros(n_bytes, np.uint8)
        greedy.note_values(values, seen)
        found = np.empty(len(sets), np.bool_)
        room = np.full((2, len(levels)), -7, np.int64)
        greedy.find_alone(samples, seen, threshold.numerator, threshold.denominator, room, found)
        assert all(wanted or not each for each, wanted in zip(found, expected, strict=True))
    assert found.tolist() == expected
