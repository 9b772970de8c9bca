"""Pairs evaluated by labels, against precision, recall and F1 by their definitions."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.outputs.tables import TableRows
from neardup.reports.judgements import Labels
from neardup.reports.pairs import evaluate_pairs, read_pairs
from tests.oracles.evaluation import figures

values = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.7, 0.75, 1.0])
rankings = st.lists(st.tuples(values, st.booleans()), max_size=12)


def evaluate(a, b, similarities, right, *, is_two_sided=True):
    """Evaluate pairs of ids by the right pairs of ids."""
    table = pa.table({"id_a": a, "id_b": b, "similarity": pa.array(similarities, pa.float64())})
    pairs = read_pairs(TableRows.of_table(table), None, is_two_sided)
    labels = Labels(*(pa.array(side, pa.large_string()) for side in right), None)
    return evaluate_pairs(pairs, labels)


def evaluated(found, n_more):
    """Evaluate pairs with labels of the right pairs, and of more that the table does not have."""
    names = pa.array([f"x{k}" for k in range(len(found))], pa.large_string())
    right = [f"x{k}" for k, (_, is_right) in enumerate(found) if is_right]
    right += [f"y{k}" for k in range(n_more)]
    return evaluate(names, names, [value for value, _ in found], (right, right))


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
    pairs = ["a", "b", "a"], ["b", "a", "c"], [0.5, 0.9, 0.7]
    result = evaluate(*pairs, (["b"], ["a"]), is_two_sided=False)
    assert result.pairs.tolist() == [1, 2]
    assert result.is_right.tolist() == [True, False]
    result = evaluate(*pairs, (["b"], ["a"]))
    assert result.is_right.tolist() == [True, False, False]
