from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy as np

from neardup.kernels.bucket import buckets as kernels
from neardup.kernels.join.overlap import MeasuredSets, WideMatches
from neardup.kernels.types import sealed
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


def members_of(buckets):
    starts = np.cumsum(buckets.sizes) - buckets.sizes
    ends, members = starts.copy(), np.full(buckets.sizes.sum(), -9, np.int32)
    kernels.list_members(buckets.numbers, ends, members)
    assert ends.tolist() == (starts + buckets.sizes).tolist()
    return starts, members


def probed(sets, bands, measure, threshold, *, sides=None, room=100, steps=()):
    """Pairs in the order found and how many were compared, the sets of ``steps`` apart.

    With the output full after ``room`` pairs.
    """
    found, n_compared, _ = probed_in_calls(
        sets, bands, measure, threshold, sides=sides, room=room, steps=steps
    )
    return found, n_compared


def probed_in_calls(sets, bands, measure, threshold, *, sides=None, room=100, steps=()):
    """As ``probed``, and in how many calls."""
    buckets, table, exact = make_buckets(bands), made(sets), MEASURES[measure](threshold)
    starts, members = members_of(buckets)
    n = len(sets)
    last_seen = np.full(n, -1, np.int32)
    counts = np.zeros(kernels.N_COUNTS, np.int64)
    weights, parities = np.empty(0, np.int64), np.empty(0, np.uint64)
    totals = table.sizes
    if measure == WEIGHTED:
        weights, totals = table.weights, table.totals
    found, n_calls = [], 0
    for start, stop in steps or [(0, n)]:
        while start < stop:
            columns = [np.full(room, -9, dtype) for dtype in (np.int32, np.int32, np.int64)]
            reached, n_pairs = kernels.probe_buckets(
                start,
                stop,
                sealed(kernels.BucketLists(buckets.numbers, starts, members)),
                sealed(
                    MeasuredSets(table.values, table.starts, table.sizes, weights, totals, parities)
                ),
                exact.in_kernels,
                int(exact.is_directed),
                np.array([] if sides is None else sides, np.uint8),
                last_seen,
                WideMatches(*columns),
                counts,
            )
            n_calls += 1
            assert start <= reached <= stop
            assert n_pairs <= room
            found += zip(*(column[:n_pairs].tolist() for column in columns), strict=True)
            room = room * 2 + 1 if reached == start else room
            start = reached
    return found, int(counts[kernels.CANDIDATES]), n_calls


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


def test_list_members__by_definition():
    generator = random.Random(1)
    for _ in range(30):
        bands = random_labels(generator, generator.randint(1, 9), generator.randint(1, 4))
        buckets = make_buckets(bands)
        starts, members = members_of(buckets)
        for bucket, start in enumerate(starts):
            expected = sorted(d for row in buckets.numbers for d in np.flatnonzero(row == bucket))
            assert members[start : start + len(expected)].tolist() == expected


@each_of("measure", [*JOIN_MEASURES, WEIGHTED])
def test_probe_buckets__as_oracle(measure):
    for _, arguments, sides in random_joins(measure, 20):
        expected, n_compared = by_definition(*arguments, sides)
        found, n_candidates = probed(*arguments, sides=sides)
        assert sorted(found) == expected
        assert n_candidates == n_compared
        # Each record's own together.
        assert [max(a, b) for a, b, _ in found] == sorted(max(a, b) for a, b, _ in found)


@each_of("measure", [*JOIN_MEASURES, WEIGHTED])
def test_probe_buckets__full_output(measure):
    """However little fits, the same pairs and counts."""
    for _, arguments, sides in random_joins(measure, 6):
        found = probed(*arguments, sides=sides)
        for room in (0, 1, 2, 3, len(found[0])):
            assert probed(*arguments, sides=sides, room=room) == found


@each_of(("room", "n_calls"), [(7, 1), (6, 1), (5, 2), (3, 2)])
def test_probe_buckets__output_that_just_fits(room, n_calls):
    """Filled to the last row it is not too full."""
    arguments = [{1}] * 4, [[0] * 4], "dice", Fraction(1)
    assert probed_in_calls(*arguments, room=room)[1:] == (6, n_calls)


@each_of("measure", [*JOIN_MEASURES, WEIGHTED])
def test_probe_buckets__in_any_order_by_one_worker(measure):
    """Pieces need not come in their order, and marks of an earlier one do no harm."""
    for generator, arguments, sides in random_joins(measure, 6):
        n = len(arguments[0])
        cut = generator.randint(0, n)
        expected = by_definition(*arguments, sides)
        found, n_candidates = probed(*arguments, sides=sides, room=1, steps=[(cut, n), (0, cut)])
        assert (sorted(found), n_candidates) == expected


@each_of("sides", [(a, b) for a in (1, 2, 3) for b in (1, 2, 3)])
@each_of(("first", "second"), [({1, 2}, {1, 2, 3, 4}), ({1, 2, 3, 4}, {1, 2})])
def test_probe_buckets__contained_on_the_left(first, second, sides):
    """Whichever of the two comes first: what is contained is of the left collection."""
    small, large = (0, 1) if len(first) < len(second) else (1, 0)
    fits = sides[small] in (1, 3) and sides[large] in (2, 3)
    found, n_candidates = probed(
        [first, second], [[0, 0]], "containment", Fraction("0.75"), sides=sides
    )
    assert found == ([(small, large, 2)] if fits else [])
    assert n_candidates == (sides not in ((1, 1), (2, 2)))


@each_of("measure", [*JOIN_MEASURES, WEIGHTED])
@each_of(("piece", "room"), [(1, 1), (3, 2), (64, 1)])
def test_join_buckets__as_oracle(monkeypatch, measure, piece, room):
    monkeypatch.setattr(join, "_PIECE", piece)
    monkeypatch.setattr(join, "_FIRST_ROOM", room)
    for _, (sets, bands, *measured), sides in random_joins(measure, 6):
        expected, n_compared = by_definition(sets, bands, *measured, sides)
        seen = []
        pairs, counts = bucket_join.join_buckets(
            make_buckets(bands),
            made(sets),
            MEASURES[measured[0]](measured[1]),
            sides=None if sides is None else np.array(sides, np.uint8),
            runner=Runner(2, lambda *report, seen=seen: seen.append(report)),
        )
        rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
        assert list(rows) == expected
        assert counts == bucket_join.BucketJoinCounts(n_compared, len(expected))
        steps = sorted({*range(piece, len(sets), piece), len(sets)})
        assert seen == [("join", done, len(sets)) for done in steps]
