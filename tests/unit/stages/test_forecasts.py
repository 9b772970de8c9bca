"""What is told of a whole from a part of it: numbers of different values, and growth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.stages.forecasts import Growth, Planned, PowerLaw, expect_distinct


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
    assert planned.process_bytes(7) - planned.process_bytes(5) == 4
