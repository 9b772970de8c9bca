"""Weights of fields that are fitted to labels."""

from __future__ import annotations

import numpy as np

from neardup.jobs.pairs.fit import fit_weights


def simulated(weights: list[float], n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Draw similarities, and labels by a logistic model of their mean by these weights."""
    rng = np.random.default_rng(3)
    similarities = rng.random((n, len(weights)))
    chances = 1 / (1 + np.exp(-20 * (similarities @ np.array(weights) - 0.5)))
    return similarities, rng.random(n) < chances


def test_fit__finds_the_weights_of_a_model():
    true = np.array([0.6, 0.3, 0.1])
    similarities, is_right = simulated(true.tolist())
    fitted = fit_weights(similarities, is_right, np.ones(3))
    assert np.abs(fitted - true).max() < 0.03
    # Also where a third of the values are lacking, at random.
    lacks = np.random.default_rng(4).random(similarities.shape) < 1 / 3
    fitted = fit_weights(np.where(lacks, np.nan, similarities), is_right, np.ones(3))
    assert np.abs(fitted - true).max() < 0.1


def test_fit__no_weight_is_negative():
    similarities, is_right = simulated([1.0, 0.0])
    fitted = fit_weights(
        np.column_stack([similarities[:, 0], 1 - similarities[:, 0]]), is_right, np.ones(2)
    )
    assert fitted.tolist() == [1, 0]


def test_fit__stays_where_nothing_tells():
    is_right = np.arange(20) % 2 == 0
    similarities = np.where(is_right, 0.2, 0.8)[:, None] * np.ones(2)
    assert fit_weights(similarities, is_right, np.array([3.0, 1.0])).tolist() == [0.75, 0.25]
