"""What every join promises, against looking at all pairs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.errors import ResultLimitError
from neardup.matching import join as pieces
from neardup.matching.edit_join import EditJoin
from neardup.matching.join import BOTH, FIRST, SECOND, FilterCounts, salt_sets
from neardup.matching.set_join import WeightedJoin
from neardup.runs.runner import Runner
from neardup.tables import ScoredPairs
from tests.each import each_of
from tests.protocols.join_cases import CASES

each_case = each_of("case", CASES, ids=lambda case: case.name)
each_parted = each_of(
    "case",
    [case for case in CASES if not case.name.startswith("buckets")],
    ids=lambda case: case.name,
)


def rows_of(pairs):
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True))


def run(join, sides=None, limit=None, runner=None):
    sides = None if sides is None else np.array(sides, np.uint8)
    pairs, counts = join.run(sides, limit, runner or Runner(1))
    return rows_of(pairs), counts


def random_records(case, n=12, seed=1):
    generator = random.Random(f"{case.name} {seed}")
    return generator, case.records(generator, n)


def twin_pairs(join):
    """Every record that reaches the threshold with itself, as a pair."""
    return ScoredPairs(join.twins, join.twins, join.own_scores[join.twins])


@pytest.mark.slow
@each_case
def test_run__as_by_looking_at_all_pairs(case):
    for seed in range(4):
        generator, records = random_records(case, seed=seed)
        join = case.make(records)
        for sides in (None, [generator.randrange(4) for _ in records]):
            found, counts = run(join, sides)
            assert found == case.expected(records, sides)
            # A pair that is verified may be one in both directions.
            n_verified = counts.verified * (2 if join.is_directed else 1)
            assert counts.results == len(found) <= n_verified


@each_case
def test_run__same_in_any_order_of_records(case):
    generator, records = random_records(case)
    shuffled = generator.sample(records, len(records))
    found = []
    for order in (records, shuffled):
        join = case.make(order)
        numbers = [records.index(record) for record in order]
        pairs = ((numbers[a], numbers[b], score) for a, b, score in run(join)[0])
        as_pair = tuple if join.is_directed else frozenset
        found.append({(as_pair((x, y)), score) for x, y, score in pairs})
    assert found[0] == found[1]


@each_case
def test_run__one_collection_is_two_equal_ones(case):
    """Records that are in both collections: the pairs of a self-join."""
    _, records = random_records(case)
    join = case.make(records)
    assert run(join, [3] * len(records))[0] == run(join)[0]
    assert run(join, [1] * len(records))[0] == []
    assert run(join, [0] * len(records))[0] == []


@pytest.mark.slow
@each_parted
def test_run__parts_meet_each_other_and_not_themselves(case):
    for seed in range(4):
        generator, records = random_records(case, seed=seed)
        join = case.make(records)
        parts = [generator.choice((FIRST, SECOND)) for _ in records]
        for sides in ([BOTH] * len(records), [generator.randrange(4) for _ in records]):
            both = [side and side | part for side, part in zip(sides, parts, strict=True)]
            pairs = case.expected(records, sides)
            assert run(join, both)[0] == [row for row in pairs if parts[row[0]] != parts[row[1]]]


@each_parted
def test_of__some_of_the_records(case):
    """Only pairs within equal keys."""
    generator, records = random_records(case)
    join, some = case.make(records), generator.sample(range(len(records)), len(records) // 2)
    own = [records[place] for place in sorted(some)]
    keys = [generator.choice((0, 2**63)) for _ in own]
    made = case.make(own)
    compared = made.strings if isinstance(made, EditJoin) else made.sets
    pairs = [row for row in case.expected(own, None) if keys[row[0]] == keys[row[1]]]
    assert run(join.of(compared, None))[0] == case.expected(own, None)
    of_keys = np.array(keys, np.uint64)
    if not isinstance(made, EditJoin):
        compared = salt_sets(compared, of_keys)
    assert run(join.of(compared, of_keys))[0] == pairs


@each_parted
def test_may_match__holds_for_pairs_and_what_is_nearer(case):
    _, records = random_records(case, 20)
    join = case.make(records)
    extents = (
        np.diff(join.strings.offsets)
        if isinstance(join, EditJoin)
        else join.sets.totals
        if isinstance(join, WeightedJoin)
        else join.sets.sizes
    ).tolist()
    for a, b, _ in run(join)[0]:
        low, high = sorted((extents[a], extents[b]))
        for smaller, larger in ((low, high), (low, low), (high, high), ((low + high) // 2, high)):
            assert join.may_match(smaller, larger)


@each_case
def test_run__limit(case):
    _, records = random_records(case)
    join = case.make(records)
    found, _ = run(join)
    assert run(join, limit=max(len(found), 1))[0] == found
    if len(found) > 1:
        with pytest.raises(ResultLimitError):
            run(join, limit=len(found) - 1)


@pytest.mark.slow
@each_case
def test_run__threads_and_pieces_change_nothing(case, monkeypatch):
    _, records = random_records(case, 20)
    join = case.make(records)
    expected = run(join)
    for workers, piece, room in ((2, 3, 1), (3, 1, 2), (1, 7, 1)):
        monkeypatch.setattr(pieces, "_PIECE", piece)
        monkeypatch.setattr(pieces, "_FIRST_PAIRS", room)
        assert run(join, runner=Runner(workers)) == expected


@each_case
def test_run__reports_records_probed(case):
    _, records = random_records(case)
    reports = []
    run(case.make(records), runner=Runner(1, lambda *report: reports.append(report)))
    assert reports == [("join", len(records), len(records))]


@pytest.mark.slow
@each_case
def test_twins__pairs_that_equal_records_make(case):
    """What a record has with itself is what it has with an equal one."""
    _, records = random_records(case)
    n = len(records)
    expected = [
        (a, a, score) for a, b, score in case.expected([*records, *records], None) if b == a + n
    ]
    assert rows_of(twin_pairs(case.make(records))) == expected


@each_case
def test_similarities__as_defined(case):
    _, records = random_records(case)
    join = case.make(records)
    pairs = join.run(None, None, Runner(1))[0]
    for found in (pairs, twin_pairs(join)):
        expected = [case.similarity(records[a], records[b], s) for a, b, s in rows_of(found)]
        assert join.similarities(found).tolist() == pytest.approx(expected, rel=1e-15)


@each_case
def test_counts__add_up(case):
    _, records = random_records(case)
    counts = run(case.make(records))[1]
    total = FilterCounts.total([counts, counts, counts])
    assert type(total) is type(counts)
    assert vars(total) == {name: 3 * number for name, number in vars(counts).items()}
