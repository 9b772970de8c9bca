from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from neardup.kernels.bucket import survivors
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
from tests.oracles import survivors as oracle
from tests.oracles.measures import MEASURES, WEIGHTED, rank_of_sets, value

# What the kernel is to leave as it is.
NOTED = 0.125


def choose(sets, bands, measure, threshold, *, n_fixed=0, steps=(), n_probed=None, known=None):
    """Run the kernel in one or more steps; give keepers, similarities and counts.

    ``n_probed`` is how many of its keys each set looks under, if not under all; ``known`` has for
    some sets overlap and size of one that they go for in any case.
    """
    table = make_weighted_sets(sets) if measure == WEIGHTED else make_sets(sets)
    lists = list_keys(make_buckets(bands))
    if n_probed is not None:
        lists = replace(lists, n_probed=np.array(n_probed, np.int64))
    n = len(sets)
    starts = np.cumsum(lists.sizes) - lists.sizes
    documents = np.full(lists.sizes.sum(), -9, np.int32)
    members = survivors.StayingMembers(starts, np.zeros(len(lists.sizes), np.int64), documents)
    decisions = survivors.Decisions(
        np.full(n, -1, np.int32),
        np.zeros(n, np.int64),
        np.full(n, -9.0),
        np.zeros(n if known else 0, np.int64),
    )
    for d, (overlap, size) in (known or {}).items():
        decisions.keepers[d], decisions.overlaps[d] = survivors.KNOWN, overlap
        decisions.similarities[d], decisions.known_sizes[d] = NOTED, size
    decisions = sealed(decisions)
    comparisons = Comparisons(np.full(n, -1, np.int32), np.zeros(2, np.int64))
    bounds = [0, *steps, n]
    for start, stop in pairwise(bounds):
        survivors.choose_survivors(
            start,
            stop,
            n_fixed,
            sealed(DocumentKeys(lists.starts, lists.keys)),
            lists.n_probed,
            members,
            measure_sets(table),
            Threshold(CODES[measure], threshold.numerator, threshold.denominator),
            decisions,
            comparisons,
            True,
        )
    keepers, _, similarities, _ = decisions
    return keepers.tolist(), similarities.tolist(), comparisons.counts.tolist()


@each_of("n_bands", [1, 2, 5])
@each_of("measure", MEASURES)
def test_choose_survivors__as_oracle(measure, n_bands):
    generator = random.Random(f"{measure} {n_bands}")
    for _ in range(12):
        n = generator.randint(1, 25)
        sets = random_sets(generator, n, generator.choice((3, 8, 20)))
        bands = random_labels(generator, n, n_bands)
        threshold = Fraction(generator.choice(("0.3", "0.5", "0.6", "0.75", "0.8", "1")))
        n_fixed = generator.choice((0, 0, generator.randint(0, n)))
        steps = sorted(generator.choices(range(n + 1), k=generator.randrange(3)))
        keepers, similarities, _ = choose(
            sets, bands, measure, threshold, n_fixed=n_fixed, steps=steps
        )
        expected = oracle.choose(
            sets,
            measure,
            threshold,
            n_fixed=n_fixed,
            are_candidates=lambda d, o, bands=bands: any(row[d] == row[o] for row in bands),
        )
        assert keepers == expected
        for d, keeper in enumerate(keepers):
            if keeper >= 0:
                exact = value(measure, rank_of_sets(measure, sets[d], sets[keeper]))
                assert similarities[d] == pytest.approx(exact, rel=4 * 2.0**-53, abs=0)
            else:
                assert math.isnan(similarities[d])


def test_choose_survivors__no_chain():
    """b is similar to a, c to b only; with b gone, c stays."""
    a, b, c = set(range(10)), set(range(1, 11)), set(range(2, 12))
    assert choose([a, b, c], [[0] * 3], "jaccard", Fraction("0.75"))[0] == [-1, 0, -1]


@each_of(("first", "second"), [(9, 1), (1, 9), (18, 2), (2, 18)])
def test_choose_survivors__exact_tie_under_cosine(first, second):
    """1 / sqrt(3 * 1) = 3 / sqrt(3 * 9), whose roundings differ: still the earlier one wins."""
    x = {0, 1, 2}
    common = {1: 1, 9: 3, 2: 1, 18: 3}
    padding = iter(range(100, 200))
    fixed = [
        set(range(common[size])) | {next(padding) for _ in range(size - common[size])}
        for size in (first, second)
    ]
    assert rank_of_sets("cosine", x, fixed[0]) == rank_of_sets("cosine", x, fixed[1])
    keepers, _, _ = choose([*fixed, x], [[0] * 3], "cosine", Fraction("0.2"), n_fixed=2)
    assert keepers == [-1, -1, 0]


def test_choose_survivors__looks_under_some_keys_and_is_found_under_all():
    generator = random.Random(1)
    n_unseen = 0
    for _ in range(25):
        sets = random_sets(generator, 10, 4)
        bands = random_labels(generator, 10, 3)
        keys = list_keys(make_buckets(bands))
        of_each = [keys.keys[start:stop].tolist() for start, stop in pairwise(keys.starts)]
        n_probed = [generator.randint(0, len(run)) for run in of_each]

        def meet(d, other, of_each=of_each, n_probed=n_probed):
            return bool({*of_each[d][: n_probed[d]]} & {*of_each[other]})

        threshold = Fraction("0.5")
        expected = oracle.choose(sets, "jaccard", threshold, are_candidates=meet)
        assert choose(sets, bands, "jaccard", threshold, n_probed=n_probed)[0] == expected
        n_unseen += expected != choose(sets, bands, "jaccard", threshold)[0]
    assert n_unseen > 0


def members_by_key(lists):
    """Lay lists of documents out with room behind each; give also where each ends."""
    starts = np.cumsum([0, *(len(documents) + 2 for documents in lists)])[:-1]
    sizes = np.array([len(documents) for documents in lists], np.int64)
    documents = np.array([d for each in lists for d in (*each, -9, -9)], np.int32)
    return survivors.StayingMembers(starts, sizes, documents), starts + sizes


def test_list_members__each_once_under_the_keys_asked_for():
    members, _ = members_by_key([[0, 3, 5], [1, 4], [3, 4, 5, 6], []])
    marks, listed = np.full(7, -1, np.int32), np.empty(7, np.int32)
    for mark, keys, expected in (
        (0, [0, 2], [0, 3, 4, 5, 6]),
        (1, [2, 3], [3, 4, 5, 6]),
        (2, [1, 2], [1, 3, 4, 5, 6]),
        (3, [3], []),
    ):
        n = survivors.list_members(np.array(keys), members, mark, marks, listed)
        assert sorted(listed[:n].tolist()) == expected


def test_show_next__members_in_ascending_parts():
    lists = [[0, 3, 5], [1, 2], [2, 3, 6], []]
    members, ends = members_by_key(lists)
    keys = np.array([0, 2, 3])
    members.sizes[keys] = 0
    shown = []
    for stop in (2, 3, 6, 9):
        survivors.show_next(keys, ends[keys], stop, members)
        shown.append(
            [
                members.documents[start : start + size].tolist()
                for start, size in zip(members.starts, members.sizes, strict=True)
            ]
        )
    assert shown == [
        [[0], [1, 2], [], []],
        [[], [1, 2], [2], []],
        [[3, 5], [1, 2], [3], []],
        [[], [1, 2], [6], []],
    ]


@each_of("n_bands", [1, 2, 5])
@each_of("heaviest", [1, 3, 2**20, 2**50])
def test_choose_survivors__weighted_as_oracle(heaviest, n_bands):
    generator = random.Random(f"{heaviest} {n_bands}")
    n_removed = 0
    for _ in range(12):
        n = generator.randint(1, 25)
        sets = random_weighted_sets(generator, n, generator.choice((3, 8, 20)), heaviest)
        bands = random_labels(generator, n, n_bands)
        threshold = Fraction(generator.choice(("0.2", "0.3", "0.5", "0.6", "0.75", "0.8", "1")))
        n_fixed = generator.choice((0, 0, generator.randint(0, n)))
        steps = sorted(generator.choices(range(n + 1), k=generator.randrange(3)))
        keepers, similarities, _ = choose(
            sets, bands, WEIGHTED, threshold, n_fixed=n_fixed, steps=steps
        )
        assert keepers == oracle.choose(
            sets,
            WEIGHTED,
            threshold,
            n_fixed=n_fixed,
            are_candidates=lambda d, o, bands=bands: any(row[d] == row[o] for row in bands),
        )
        for d, keeper in enumerate(keepers):
            if keeper >= 0:
                exact = float(rank_of_sets(WEIGHTED, sets[d], sets[keeper]))
                assert similarities[d] == pytest.approx(exact, rel=4 * 2.0**-53, abs=0)
                n_removed += 1
            else:
                assert math.isnan(similarities[d])
    assert n_removed > 10


def test_choose_survivors__weighted_best_by_less_than_floating_point_shows():
    """Similarities that differ by a part in 2^58 are told apart, and equal ones are equal."""
    most = 2**58
    x, tied, also = {1: most, 2: 2, 3: 6}, {1: most, 2: 1, 3: 6}, {1: most, 2: 2, 3: 5}
    assert rank_of_sets(WEIGHTED, x, tied) == rank_of_sets(WEIGHTED, x, also)
    for fixed, best in (([tied, also], 0), ([also, tied], 0), ([tied, x], 1), ([x, also], 0)):
        keepers, similarities, _ = choose(
            [*fixed, x], [[0] * 3], WEIGHTED, Fraction("0.9"), n_fixed=2
        )
        assert keepers == [-1, -1, best]
        assert similarities[2] == 1.0


@each_of("measure", [*MEASURES, WEIGHTED])
def test_choose_survivors__known_to_be_similar_as_oracle(measure):
    """What is known to be similar to a document outside never stays; the most similar one wins."""
    generator = random.Random(measure)
    seen = set()
    for _ in range(60):
        n = generator.randint(1, 20)
        if measure == WEIGHTED:
            sets = random_weighted_sets(generator, n + 4, 6, 3)
        else:
            sets = random_sets(generator, n + 4, 6)
        sets, outside = sets[:n], sets[n:]
        bands = random_labels(generator, n, 2)
        earlier = {
            d: x
            for d in generator.sample(range(n), generator.randint(0, n))
            for x in [generator.choice(outside)]
            if sets[d] and x and rank_of_sets(measure, sets[d], x) > 0
        }
        steps = sorted(generator.choices(range(n + 1), k=generator.randrange(3)))
        known = {d: common_and_size(sets[d], x) for d, x in earlier.items()}
        threshold = Fraction(generator.choice(("0.3", "0.5", "0.8")))
        keepers, similarities, _ = choose(sets, bands, measure, threshold, steps=steps, known=known)
        assert keepers == oracle.choose(
            sets,
            measure,
            threshold,
            are_candidates=lambda d, o, bands=bands: any(row[d] == row[o] for row in bands),
            earlier=earlier,
        )
        for d, keeper in enumerate(keepers):
            assert keeper >= 0 or (similarities[d] == NOTED) == (keeper == survivors.KNOWN)
            seen.add((d in earlier, min(keeper, 0)))
    assert seen == {(True, survivors.KNOWN), (True, 0), (False, -1), (False, 0)}


def common_and_size(x, y):
    if isinstance(x, set):
        return len(x & y), len(y)
    return sum(min(x[e], y[e]) for e in x.keys() & y.keys()), sum(y.values())


def test_choose_survivors__known_one_has_the_ties_and_is_no_member():
    x = set(range(10))
    near, far = (9, 9), (8, 9)
    for first, keeper in ((near, survivors.KNOWN), (far, 0)):
        keepers, _, counts = choose(
            [x - {0}, x, x], [[0] * 3], "jaccard", Fraction("0.8"), known={1: first, 2: first}
        )
        assert keepers == [-1, keeper, keeper]
        assert counts == [2, 2]
