from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.pairs.labelled import evaluate
from tests.oracles.evaluation import figures

values = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.7, 0.75, 1.0])
rankings = st.lists(st.tuples(values, st.booleans()), max_size=12)


def evaluated(found, n_right):
    numbers = np.array([value for value, _ in found], np.float64)
    return evaluate(numbers, np.array([right for _, right in found], np.bool_), n_right)


@given(found=rankings, n_more=st.integers(0, 4))
def test_evaluate__as_oracle(found, n_more):
    """Also at thresholds between values, and above all of them."""
    n_right = sum(right for _, right in found) + n_more
    result = evaluated(found, n_right)
    assert result.thresholds.tolist() == sorted({value for value, _ in found}, reverse=True)
    for threshold in [*result.thresholds.tolist(), 0.0, 0.3, 0.6, 0.72, 1.1]:
        expected = figures(found, n_right, threshold)
        place = result.at(threshold)
        assert (place is None) == (expected is None)
        if place is not None and expected is not None:
            own = (result.precisions[place], result.recalls[place], result.f1_scores[place])
            assert own == pytest.approx(tuple(map(float, expected)))


@given(found=rankings, n_more=st.integers(0, 4))
def test_evaluation__best_and_round(found, n_more):
    n_right = sum(right for _, right in found) + n_more
    result = evaluated(found, n_right)
    every = [figures(found, n_right, value) for value in result.thresholds.tolist()]
    scores = [each[2] for each in every if each is not None]
    if not any(scores):
        assert result.best is None
        return
    # The strictest of equally good ones.
    assert result.best == scores.index(max(scores))
    for place in range(len(result)):
        assert result.at(result.round_threshold(place)) == place
