"""Whether Broder's estimators do what the theory says, over fixed seeds.

Every bound is a number of standard errors that follows from the number of trials: 3.5 for a single
figure (exceeded by chance once in 2,000 times), more where many figures are looked at together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from neardup.sketches.kind import wilson_intervals
from neardup.sketches.samples import (
    ModuloScheme,
    SmallestScheme,
    estimate_containment,
    estimate_resemblance,
)
from neardup.tables import Estimates, ShingleLists

pytestmark = pytest.mark.statistics

SIGMAS = 3.5
TRIALS = 2400
SIZES = [30, 1000, 30_000]
SHARES = [0.1, 0.5, 0.9, 0.99]
CASES = [
    (size, share) for size in SIZES for share in SHARES if size < 30_000 or share in (0.5, 0.99)
]


def overlap_for(size, share):
    """Give the overlap of two sets of a size that comes closest to a resemblance below 1."""
    return min(round(2 * size * share / (1 + share)), size - 1)


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def hypergeometric(population, marked, drawn):
    """Probability of 0, 1, ..., ``drawn`` marked elements among those drawn, in floats."""
    probabilities = np.zeros(drawn + 1)
    for k in range(max(0, drawn - population + marked), min(drawn, marked) + 1):
        log = log_choose(marked, k) + log_choose(population - marked, drawn - k)
        probabilities[k] = math.exp(log - log_choose(population, drawn))
    return probabilities


def coverage(probabilities, share, left):
    """Probability that the interval holds the share, given that of each number of hits."""
    drawn = len(probabilities) - 1
    hits = np.arange(drawn + 1) / drawn
    effective = np.full(drawn + 1, drawn / left)
    low, high = wilson_intervals(hits, effective)
    return probabilities[(low <= share) & (share <= high)].sum()


def random_pairs(generator, n_pairs, left_size, right_size, overlap):
    """Lay out pairs of random sets with a given overlap: x, y, x, y and so on."""
    n_all = left_size + right_size - overlap
    elements = generator.integers(0, 2**64, (n_pairs, n_all), np.uint64)
    values = np.concatenate([elements[:, :left_size], elements[:, n_all - right_size :]], axis=1)
    sizes = np.tile([left_size, right_size], n_pairs)
    return ShingleLists(values.reshape(-1), np.concatenate([[0], np.cumsum(sizes)]))


def run(estimate, scheme, left_size, right_size, overlap, seed):
    """Estimate for ``TRIALS`` pairs of random sets under one scheme."""
    generator = np.random.default_rng(seed)
    step = max(1, min(TRIALS, 2_000_000 // (left_size + right_size)))
    parts = []
    for start in range(0, TRIALS, step):
        n_pairs = min(step, TRIALS - start)
        lists = random_pairs(generator, n_pairs, left_size, right_size, overlap)
        sketches = scheme.sample(lists)
        rows = np.arange(0, 2 * n_pairs, 2, dtype=np.int64)
        parts.append(estimate(sketches, sketches, rows, rows + 1, scheme))
    names = ("values", "errors", "low", "high", "n_samples")
    return Estimates(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def check_mean(found, expected):
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() - expected) <= SIGMAS * error


def check_variance(found, expected, n_samples, share):
    """Variance of a sample variance: sigma^4 (2 / (n - 1) + excess kurtosis / n)."""
    kurtosis = max((1 - 6 * share * (1 - share)) / (n_samples * share * (1 - share)), 0)
    relative_error = math.sqrt(2 / (len(found) - 1) + kurtosis / len(found))
    assert abs(found.var(ddof=1) / expected - 1) <= SIGMAS * relative_error


def check_coverage(found, share, probabilities):
    """``probabilities`` are those of each trial's interval to hold the share."""
    covered = (found.low <= share) & (share <= found.high)
    error = math.sqrt((probabilities * (1 - probabilities)).sum())
    assert abs(covered.sum() - probabilities.sum()) <= SIGMAS * error + 1e-6


@pytest.mark.parametrize(("size", "share"), CASES)
def test_estimate_resemblance__of_smallest_sketches(size, share):
    """Mean r, variance r (1 - r) / s * (N - s) / (N - 1), intervals that hold as they should."""
    scheme = SmallestScheme(20 if size == 30 else 100)
    overlap = overlap_for(size, share)
    union = 2 * size - overlap
    exact, s = overlap / union, scheme.size
    found = run(estimate_resemblance, scheme, size, size, overlap, size)
    assert (found.n_samples == s).all()
    check_mean(found.values, exact)
    variance = exact * (1 - exact) / s * (union - s) / (union - 1)
    check_variance(found.values, variance, s, exact)
    # v (1 - v) is r (1 - r) less the variance in the mean, and what is unseen of 2^64 is what
    # lies above the s-th of N uniform numbers: (N + 1 - s) / (N + 1). Both are independent.
    unseen = (union + 1 - s) / (union + 1)
    check_mean(found.errors**2, (exact * (1 - exact) - variance) / s * unseen)
    probabilities = hypergeometric(union, overlap, s)
    lefts = 1 - np.random.default_rng(1).beta(s, union + 1 - s, 1000)
    held = np.mean([coverage(probabilities, exact, left) for left in lefts])
    check_coverage(found, exact, np.full(TRIALS, held))


@pytest.mark.parametrize(("size", "share"), CASES)
def test_estimate_resemblance__of_modulo_sketches(size, share):
    """Given the number of samples, the estimate is hypergeometric; nothing is known without one."""
    modulus = {30: 3, 1000: 10, 30_000: 300}[size]
    overlap = overlap_for(size, share)
    union = 2 * size - overlap
    found = run(estimate_resemblance, ModuloScheme(modulus), size, size, overlap, size + 1)
    counts = binomial_counts(found.n_samples, union, modulus)
    check_shares(found, counts, overlap / union, union, overlap, lambda _: 1 - 1 / modulus)


@pytest.mark.parametrize(("size", "share"), [(n, c) for n in (30, 1000, 6000) for c in SHARES])
def test_estimate_containment__of_modulo_sketches(size, share):
    """Of a set and one three times as large, and of that one in the first."""
    modulus = {30: 3, 1000: 10, 6000: 60}[size]
    overlap = min(round(size * share), size - 1)
    for left, right in ((size, 3 * size), (3 * size, size)):
        found = run(estimate_containment, ModuloScheme(modulus), left, right, overlap, size + 2)
        counts = binomial_counts(found.n_samples, left, modulus)
        check_shares(
            found, counts, overlap / left, left, overlap, lambda n, w=left: (w - n) / (w - 1)
        )


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("left", "right"), [(1500, 6000), (6000, 1500), (150, 1500), (50, 100)])
def test_estimate_containment__of_bounded_sketches(left, right, share):
    """At the larger modulus of the two, which is that of the larger set."""
    modulus = 1
    while max(left, right) >= 200 * modulus:
        modulus *= 2
    overlap = round(min(left, right) * share)
    found = run(estimate_containment, ModuloScheme(), left, right, overlap, left + overlap)
    if modulus == 1:
        assert (found.values == overlap / left).all()
        return
    counts = binomial_counts(found.n_samples, left, modulus)
    check_shares(found, counts, overlap / left, left, overlap, lambda n: (left - n) / (left - 1))


def binomial_counts(n_samples, population, modulus):
    """Check that one in ``modulus`` elements is a sample, and count how often each number comes."""
    n = len(n_samples)
    mean = population / modulus
    variance = mean * (1 - 1 / modulus)
    assert abs(n_samples.mean() - mean) <= SIGMAS * math.sqrt(variance / n)
    # A binomial variable has a kurtosis of nearly 3.
    spread = math.sqrt(2 / (n - 1) + max(0, 1 - 6 / modulus * (1 - 1 / modulus)) / variance / n)
    assert abs(n_samples.var(ddof=1) / variance - 1) <= SIGMAS * spread
    return dict(zip(*np.unique(n_samples, return_counts=True), strict=True))


def check_shares(found, counts, share, population, marked, left):
    """Check estimates from samples of different sizes: mean, variance and coverage given these."""
    some = found.n_samples > 0
    assert np.isnan(found.values[~some]).all()
    assert not found.low[~some].any()
    assert (found.high[~some] == 1).all()
    n = found.n_samples[some]
    drawn = share * (1 - share) / n * (population - n) / (population - 1)
    deviations = (found.values[some] - share) / np.sqrt(drawn)
    # Standardised, they are of mean 0 and variance 1; a binomial's kurtosis bounds theirs.
    assert abs(deviations.sum()) <= SIGMAS * math.sqrt(len(n))
    kurtosis = max(((1 - 6 * share * (1 - share)) / (n * share * (1 - share))).mean(), 0)
    spread = math.sqrt(2 / len(n) + kurtosis / len(n))
    assert abs((deviations**2).mean() - 1) <= SIGMAS * spread
    held = {
        size: coverage(hypergeometric(population, marked, size), share, left(size))
        for size in counts
        if size
    }
    probabilities = np.array([held.get(size, 1.0) for size in found.n_samples.tolist()])
    check_coverage(found, share, probabilities)


@pytest.mark.parametrize("n_samples", [20, 50, 100, 400])
def test_wilson_intervals__hold_in_the_mean(n_samples):
    """Over all shares 95 % of the intervals hold, within 1 %, and nowhere less than 83 %."""
    hits = np.arange(n_samples + 1)
    low, high = wilson_intervals(hits / n_samples, np.full(n_samples + 1, float(n_samples)))
    shares = (np.arange(2000) + 0.5) / 2000
    logs = np.array([log_choose(n_samples, k) for k in hits])[:, None]
    logs = logs + hits[:, None] * np.log(shares) + (n_samples - hits)[:, None] * np.log(1 - shares)
    holds = (low[:, None] <= shares) & (shares <= high[:, None])
    held = (np.exp(logs) * holds).sum(axis=0)
    assert abs(held.mean() - 0.95) < 0.01
    assert held.min() > 0.83
