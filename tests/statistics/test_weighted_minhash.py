"""Whether weighted signatures do what the theory says, over fixed seeds.

Every bound is a number of standard errors that follows from the number of trials: 3.5 for a single
figure (exceeded by chance once in 2,000 times), more where many figures are looked at together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from neardup.sketches.minhash import WeightedMinHashScheme, weighted_signatures
from neardup.tables import WeightedSets
from tests.oracles.weighted import weighted_jaccard

pytestmark = pytest.mark.statistics

SIGMAS = 3.5
JACCARDS = [0.1, 0.3, 0.5, 0.8, 0.95, 0.99]
# Pairs and functions for each size of a set, and what can be looked at in seconds.
TRIALS = {10: (6000, 64), 100: (6000, 64), 1000: (2600, 32)}
CASES = [(size, j) for size in TRIALS for j in JACCARDS if size < 1000 or 0.3 <= j <= 0.8]


def make_pattern(size, jaccard, *, one_sided=True):
    """Give the weights of two sets whose similarity is about ``jaccard``, and the exact one.

    Weights spread over four orders of magnitude. Some elements are in one set only, the others in
    both, and heavier in the one or in the other by turns.
    """
    generator = np.random.default_rng(size)
    most = np.exp(generator.uniform(0, 9, size)) * 2.0**20
    alone = generator.random(size) < ((1 - jaccard) / 3 if one_sided else 0)
    # What is in both has to make up for what is not.
    ratio = min(jaccard * most.sum() / most[~alone].sum(), 1.0)
    least = np.where(alone, 0, most * ratio)
    turns = np.arange(size) % 2 == 0
    x, y = (np.where(side, most, least).astype(np.int64) for side in (turns, ~turns))
    exact = weighted_jaccard(*(dict(enumerate(side.tolist())) for side in (x, y)))
    assert abs(float(exact) - jaccard) < 0.005
    return x, y, exact


def pairs_of(generator, n_pairs, x, y):
    """Lay out pairs of sets with these weights, of random elements: x, y, x, y and so on."""
    size = len(x)
    elements = generator.integers(0, 2**64, (n_pairs, 1, size), np.uint64)
    elements.sort(axis=2)
    values = np.broadcast_to(elements, (n_pairs, 2, size)).reshape(-1)
    weights = np.broadcast_to(np.stack([x, y]), (n_pairs, 2, size)).reshape(-1)
    owners = np.repeat(np.arange(2 * n_pairs), size)[weights > 0]
    sizes = np.bincount(owners, minlength=2 * n_pairs)
    totals = np.tile([x.sum(), y.sum()], n_pairs)
    has_weight = weights > 0
    return WeightedSets(
        values[has_weight], weights[has_weight], np.cumsum(sizes) - sizes, sizes, totals
    )


def agreements(generator, n_pairs, x, y, scheme):
    """Tell, for each pair and function, whether the signatures agree."""
    signatures = np.concatenate(
        [
            weighted_signatures(pairs_of(generator, min(500, n_pairs - start), x, y), scheme)
            for start in range(0, n_pairs, 500)
        ]
    )
    return signatures[0::2] == signatures[1::2]


@pytest.mark.parametrize(("size", "jaccard"), CASES)
def test_weighted_signatures__estimate_is_unbiased_with_the_variance_of_independent_functions(
    size, jaccard
):
    """J, and J (1 - J) / k, over random sets under one fixed scheme."""
    trials, lanes = TRIALS[size]
    x, y, exact = make_pattern(size, jaccard)
    j = float(exact)
    generator = np.random.default_rng(size + round(100 * jaccard))
    estimates = agreements(generator, trials, x, y, WeightedMinHashScheme(lanes)).mean(axis=1)
    expected = j * (1 - j) / lanes
    assert abs(estimates.mean() - j) <= SIGMAS * math.sqrt(expected / trials)
    # Variance of a sample variance: sigma^4 (2 / (n - 1) + excess kurtosis / n), binomial here.
    kurtosis = (1 - 6 * j * (1 - j)) / (lanes * j * (1 - j))
    relative_error = math.sqrt(2 / (trials - 1) + kurtosis / trials)
    assert SIGMAS * relative_error < 0.1
    assert abs(estimates.var(ddof=1) / expected - 1) <= SIGMAS * relative_error


@pytest.mark.parametrize("jaccard", [0.3, 0.8])
def test_weighted_signatures__unbiased_over_schemes(jaccard):
    """The same pair of sets under many seeds."""
    x, y, exact = make_pattern(40, jaccard)
    generator = np.random.default_rng(3)
    sets = pairs_of(generator, 1, x, y)
    agreed = 0
    for seed in range(400):
        signatures = weighted_signatures(sets, WeightedMinHashScheme(128, seed))
        agreed += int((signatures[0] == signatures[1]).sum())
    trials = 400 * 128
    error = math.sqrt(float(exact * (1 - exact)) / trials)
    assert abs(agreed / trials - float(exact)) <= SIGMAS * error


def test_weighted_signatures__functions_agree_independently():
    """No two functions agree together more or less often than chance has it."""
    trials, lanes = 6000, 64
    x, y, exact = make_pattern(40, 0.5)
    generator = np.random.default_rng(8)
    agreed = agreements(generator, trials, x, y, WeightedMinHashScheme(lanes)).astype(np.float64)
    centred = (agreed - float(exact)) / math.sqrt(float(exact * (1 - exact)))
    correlations = (centred.T @ centred / trials)[np.triu_indices(lanes, 1)]
    # 2,016 standard normal figures: the largest exceeds 5.1 once in 1,000 times.
    assert np.abs(correlations).max() * math.sqrt(trials) <= 5.1
    n = len(correlations)
    assert abs(trials * (correlations**2).sum() - n) <= SIGMAS * math.sqrt(2 * n)
