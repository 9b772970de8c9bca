"""What is told of a whole from a part of it: numbers of different values, and growth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.stages.forecasts import (
    Between,
    Executors,
    Growth,
    Planned,
    PowerLaw,
    Spread,
    StageForecast,
    expect_distinct,
    expect_pairs,
)


@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=6))
def test_expect_distinct__all_parts_are_counted(parts):
    arrays = [np.array(sorted(part), np.uint64) for part in parts]
    assert expect_distinct(arrays, 1.0) == len({value for part in parts for value in part})


@pytest.mark.slow
@pytest.mark.parametrize("share_of_pairs", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("growth", [2, 10, 40])
def test_expect_distinct__values_that_come_twice(share_of_pairs, growth):
    """Some of all values are in two parts, wherever, the others in one."""
    generator = np.random.default_rng(7)
    n_parts, size = 16 * growth, 4_000
    n = n_parts * size
    values = np.arange(n)
    n_pairs = int(n * share_of_pairs / 2)
    values[n - n_pairs :] = values[:n_pairs]
    parts = np.split(generator.permutation(values), n_parts)
    chosen = [np.unique(part).astype(np.uint64) for part in parts[:: n_parts // 16]]
    expected = len(np.unique(values))
    found = expect_distinct(chosen, n_parts / len(chosen))
    # Of few pairs fewer are seen twice.
    assert found == pytest.approx(expected, rel=0.05)


def test_expect_distinct__of_one_part():
    assert expect_distinct([np.arange(5, dtype=np.uint64)], 3.0) == 15
    assert expect_distinct([], 3.0) == 0
    # All parts have the same.
    assert expect_distinct([np.arange(5, dtype=np.uint64)] * 4, 9.0) == 5


@given(st.floats(0, 50), st.floats(0, 5), st.integers(1, 50), st.integers(1, 50))
def test_growth__finds_both_parts(of_each, of_two, n, more):
    true = Growth(of_each, of_two)
    found = Growth.of((n, true.at(n)), (n + more, true.at(n + more)))
    assert found.at(1000) == pytest.approx(true.at(1000), rel=1e-6, abs=1e-6)


def test_growth__is_never_negative():
    assert Growth.of((10, 100), (20, 100)).at(40) == pytest.approx(200)
    assert Growth.of((10, 1), (20, 100)).at(40) == pytest.approx(400)
    assert Growth.of((0, 0), (0, 0)).at(40) == 0
    assert Growth.of((10, 5), (10, 5)).at(20) == 10


def runs_of_pairs(pairs, n, n_runs, share):
    """Count pairs of documents of which both are in evenly spread runs, by those of either side."""
    starts = n * np.arange(n_runs) // n_runs
    runs = np.searchsorted(starts, pairs, side="right") - 1
    is_in = (pairs < starts[runs] + int(n * share / n_runs)).all(axis=1)
    counts = np.zeros((n_runs, n_runs), np.int64)
    np.add.at(counts, tuple(runs[is_in].T), 1)
    return counts


PLACES = {
    "anywhere": lambda generator, first: generator.permutation(first),
    "near": lambda generator, first: first + generator.integers(0, 10, len(first)),
    "half": lambda generator, first: np.where(
        generator.random(len(first)) < 0.5, generator.permutation(first), first + 3
    ),
    "some runs on": lambda generator, first: first + generator.geometric(1e-4, len(first)),
    # A hundredth of the documents has half of the pairs.
    "few": lambda generator, first: np.where(
        generator.random(len(first)) < 0.5,
        generator.choice(np.arange(0, 100_000, 100), len(first)),
        generator.permutation(first),
    ),
}


@pytest.mark.parametrize("is_one", [True, False])
@pytest.mark.parametrize("name", PLACES)
def test_expect_pairs__wherever_they_stand(name, is_one):
    """Within an eighth in the mean, and within what is told in nine of ten cases."""
    n, told, n_within = 100_000, [], 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        first = generator.integers(0, n, 20_000)
        pairs = np.stack([first, PLACES[name](generator, first)], axis=1)
        pairs = pairs[(pairs < n).all(axis=1)]
        if is_one:
            pairs.sort(axis=1)
        found = expect_pairs(runs_of_pairs(pairs, n, 32, 0.1), (0.1, 0.1), is_one=is_one)
        told.append(found.number / len(pairs))
        n_within += found.low <= len(pairs) <= found.high
    assert np.mean(told) == pytest.approx(1, abs=0.125)
    assert n_within >= (20 if name in ("near", "some runs on") else 27)


@given(st.data(), st.integers(1, 6), st.integers(1, 6), st.booleans())
def test_expect_pairs__of_all_documents_are_counted(data, n, m, is_one):
    m = n if is_one else m
    rows = st.lists(st.integers(0, 9), min_size=m, max_size=m)
    counts = np.array(data.draw(st.lists(rows, min_size=n, max_size=n)), np.int64)
    counts = np.triu(counts) if is_one else counts
    found = expect_pairs(counts, (1.0, 1.0), is_one=is_one)
    total = pytest.approx(counts.sum())
    assert (found.low, found.number, found.high) == (total, total, total)
    assert not found.is_wide


def test_expect_pairs__none_was_seen():
    found = expect_pairs(np.zeros((8, 8), np.int64), (0.1, 0.1), is_one=True)
    assert (found.low, found.number) == (0, 0)
    assert found.high > 100
    assert found.is_wide
    assert expect_pairs(np.zeros((0, 3), np.int64), (0.0, 0.1), is_one=False).high == 0


@given(st.floats(1e-3, 50), st.floats(1, 2), st.integers(1, 50), st.integers(2, 5))
def test_power_law__is_found(of_one, exponent, n, times):
    true = PowerLaw(of_one, exponent)
    found = PowerLaw.of([(size, true.at(size)) for size in (n, times * n, times**2 * n)])
    assert found.at(1000) == pytest.approx(true.at(1000), rel=1e-6)


@pytest.mark.parametrize(
    ("points", "at_40"),
    [
        # Slower than the documents, and faster than two of each, time does not grow.
        ([(5, 10), (10, 10), (20, 10)], 20),
        ([(5, 1), (10, 10), (20, 100)], 400),
        # Too few documents to take any time.
        ([(5, 0), (10, 0), (20, 10)], 20),
        ([(5, 0), (5, 0)], 0),
        ([(20, 10)], 20),
        ([(0, 0)], 0),
    ],
)
def test_power_law__of_times_that_follow_none(points, at_40):
    assert PowerLaw.of(points).at(40) == pytest.approx(at_40)


def test_planned__what_is_in_memory_and_in_files():
    planned = Planned(1000, 2)
    assert planned.within(300, 0.25) == 250
    assert planned.within(200, 0.25) == 200
    assert (planned.spilled(251, 0.25), planned.spilled(250, 0.25)) == (251, 0)


def stage(spread: Spread) -> StageForecast:
    return StageForecast("read", 5, 6, 7.0, "content", spread)


def test_executors__stages_of_threads_become_theirs():
    """Work is done by all tasks at a time, what the driver does alone is not."""
    spread = Spread(reading=4, work=6, alone=2, held=1e6, files=9, jobs=3, sent=1e9, stored=2e9)
    few, many = Executors(2, 1 << 20, 4), Executors(20, 1 << 20, 40)
    start, told = few.spread([stage(spread)])
    assert (start.stage, start.exchanged_bytes, told.stage) == ("start", 0, "read")
    assert told.memory_bytes == start.memory_bytes + 1_000_000
    assert (told.temporary_bytes, told.exchanged_bytes) == (9, 3_000_000_000)
    alone = few.seconds_of(Spread(alone=2, jobs=3))
    assert alone == 2 + few.seconds_of(Spread(jobs=3))
    assert told.seconds - alone == pytest.approx(10 * (many.seconds_of(spread) - alone))
    assert told.seconds - alone > 5
    # What is exchanged stays until the job ends.
    disks = [each.exchanged_bytes for each in few.spread([stage(spread)] * 2)]
    assert disks == [0, 3_000_000_000, 6_000_000_000]


def test_executors__the_largest_file_may_take_longest():
    evenly, one = Executors(4, 1, 4), Executors(4, 1, 4, rereading=2.5, largest=1.0)
    nothing = evenly.seconds_of(Spread())
    # Each of four tasks reads it from its start, and the last one all of it.
    assert one.seconds_of(Spread(reading=8, work=4)) - nothing == pytest.approx(9)
    assert evenly.seconds_of(Spread(reading=8, work=4)) - nothing == pytest.approx(3)
    some = Executors(4, 1, 8, rereading=2.0, largest=0.1)
    assert some.seconds_of(Spread(reading=8, work=4)) - nothing == pytest.approx((2 * 8 + 4) / 4)
    # It is written by one task.
    whole = Spread(reading=8, work=4, whole=True)
    assert one.seconds_of(whole) - nothing == pytest.approx(12)
    assert evenly.seconds_of(whole) - nothing == pytest.approx(3)


def test_executors__memory_of_a_task():
    executors = Executors(2, 500_000_000, 4)
    of_process = executors.memory_of_task(Spread())
    # Two partitions a slot, or as many as there are; no more than a task may have.
    for spread, expected in (
        (Spread(met=400_000_000), 100_000_000),
        (Spread(met=400_000_000, parts=2), 200_000_000),
        (Spread(met=400_000_000_000), 500_000_000),
        (Spread(sent=8_000_000), 7_000_000),
        (Spread(sent=8_000_000, rows=16_000_000), 14_000_000),
        (Spread(sent=8e12), 168_000_000),
    ):
        assert executors.memory_of_task(spread) - of_process == expected


def test_executors__parts():
    executors = Executors(4, 1, 4)
    assert executors.parts(800, 2, 1, 1_000) == 9
    assert executors.parts(800, 2, 300, 1_000) == 3
    assert executors.parts(80_000, 2, 300, 1_000) == 81
    assert executors.parts(0, 2, 300, 1_000) == 1


def test_spread__total_of_stages():
    one = Spread(reading=1, work=2, alone=3, sent=4, rows=5, stored=6, met=7, held=8, files=9)
    two = Spread(reading=10, work=20, alone=30, sent=40, met=1, parts=2, held=10)
    assert Spread.total([one, two]) == Spread(
        reading=11,
        work=22,
        alone=33,
        sent=44,
        rows=5,
        stored=6,
        met=7,
        parts=2,
        held=10,
        files=9,
        jobs=2,
    )


def test_between__products_of_what_is_not_known_well():
    """Errors that have nothing to do with each other are not as large as both together."""
    one, other = Between(10.0, 5.0, 20.0), Between(3.0, 1.5, 6.0)
    product = one.by(other)
    assert product.number == 30
    assert product.high == pytest.approx(30 * 2**2**0.5)
    assert product.low == pytest.approx(30 / 2**2**0.5)
    known = one.by(Between(3.0, 3.0, 3.0))
    assert (known.low, known.high) == (pytest.approx(15), pytest.approx(60))
    assert Between(0.0, 0.0, 4.0).by(other) == Between(0.0, 0.0, 24.0)
    assert other.inverse().by(other).number == pytest.approx(1)
    assert Between(0.0, 0.0, 0.0).inverse().number == 1
    assert one.at_least(Between(12.0, 4.0, 13.0)) == Between(12.0, 5.0, 20.0)
