"""Rows by rank, as sorting all of them would have it."""

from __future__ import annotations

import math
import statistics
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.outputs import ranking
from neardup.outputs.ranking import Ranking

FEW = st.sampled_from([1.0, 0.9, 0.0, -0.0, -1.0, -0.5, 5e-324, math.inf, -math.inf])
VALUES = st.lists(FEW | st.floats(allow_nan=False), min_size=1, max_size=40)
ENDS = st.tuples(st.integers(0, 40), st.integers(0, 40))


def ranking_of(values: list[float], step: int) -> Ranking:
    """Rank values in batches; the place of the one at n is 3 n."""

    def batches():
        for start in range(0, len(values), step):
            some = np.array(values[start : start + step])
            yield 3 * np.arange(start, start + len(some)), some

    return Ranking(batches)


@given(VALUES, st.integers(1, 9), st.integers(1, 20), st.lists(ENDS, max_size=4))
def test_rows__as_sorted(values, step, at_once, ends):
    order = sorted(range(len(values)), key=lambda n: (-values[n], n))
    ranges = [range(min(each), min(max(each), len(values))) for each in ends]
    with patch.object(ranking, "_AT_ONCE", at_once):
        found = ranking_of(values, step).rows(ranges)
    assert [each.tolist() for each in found] == [
        [3 * order[rank] for rank in ranks] for ranks in ranges
    ]


@given(VALUES, st.integers(1, 9))
def test_values__as_sorted(values, step):
    ranked = ranking_of(values, step)
    with patch.object(ranking, "_AT_ONCE", 10):
        assert ranked.values(range(len(values))) == sorted(values, reverse=True)
    assert ranked.values([len(values) - 1, 0]) == [min(values), max(values)]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.integers(1, 9))
def test_median__as_sorted(values, step):
    assert ranking_of(values, step).median(len(values)) == statistics.median(values)
