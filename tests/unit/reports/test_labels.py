"""Pairs evaluated by labels, against precision, recall and F1 by their definitions."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.judgements import Labels
from neardup.reports.labels import evaluate_pairs
from tests.oracles.evaluation import figures

values = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.7, 0.75, 1.0])
rankings = st.lists(st.tuples(values, st.booleans()), max_size=12)


def evaluated(found, n_more):
    """Evaluate pairs with labels of the right pairs, and of more that the table does not have."""
    names = [f"x{k}" for k in range(len(found))]
    right = [f"x{k}" for k, (_, is_right) in enumerate(found) if is_right]
    right += [f"y{k}" for k in range(n_more)]
    ids = pa.array(names, pa.large_string()), pa.array(names, pa.large_string())
    labelled = Labels(*(pa.array(right, pa.large_string()) for _ in "ab"), None)
    numbers = pa.array([value for value, _ in found], pa.float64()).to_numpy()
    return evaluate_pairs(ids, numbers, labelled, is_two_sided=True)


@given(found=rankings, n_more=st.integers(0, 4))
def test_evaluate_pairs__as_oracle(found, n_more):
    if not any(right for _, right in found):
        # Labels that have no document in common with the pairs are refused.
        n_more = 0
    n_right = sum(right for _, right in found) + n_more
    result = evaluated(found, n_more)
    assert result.thresholds.tolist() == sorted({value for value, _ in found}, reverse=True)
    assert (result.n_right, result.n_missing) == (n_right, n_more)
    every = [figures(found, n_right, value) for value in result.thresholds.tolist()]
    for own, expected in zip(zip(*result.scores, strict=True), every, strict=True):
        assert expected is not None
        assert own == pytest.approx(tuple(map(float, expected)))
    scores = [each[2] for each in every if each is not None]
    if not any(scores):
        assert result.best is None
        return
    # The strictest of equally good thresholds, and the shortest decimal that finds the same.
    assert result.best == scores.index(max(scores))
    assert figures(found, n_right, result.best_rank) == every[result.best]


def test_evaluate_pairs__both_directions_count_once():
    ids = tuple(pa.array(side, pa.large_string()) for side in (["a", "b", "a"], ["b", "a", "c"]))
    labels = Labels(*(pa.array(side, pa.large_string()) for side in (["b"], ["a"])), None)
    numbers = pa.array([0.5, 0.9, 0.7]).to_numpy()
    result = evaluate_pairs(ids, numbers, labels, is_two_sided=False)
    assert result.pairs.tolist() == [1, 2]
    assert result.is_right.tolist() == [True, False]
    result = evaluate_pairs(ids, numbers, labels, is_two_sided=True)
    assert result.is_right.tolist() == [True, False, False]
