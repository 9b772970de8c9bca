"""Whether signatures do what the theory says, over fixed seeds and within the theory's bounds.

Every bound is a number of standard errors that follows from the number of trials: 3.5 for a single
figure (exceeded by chance once in 2,000 times), more where many figures are looked at together.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from neardup.kernels.common.hashing import mix_words
from neardup.matching.buckets import Banding, bucket_documents, choose_banding
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.tables import ShingleLists
from tests.oracles import curve

pytestmark = pytest.mark.statistics

SIGMAS = 3.5
LANES = 128
JACCARDS = [Fraction(j) for j in ("0", "0.1", "0.5", "0.8", "0.95", "1")]


def sizes_for(size, jaccard):
    """Give the overlap of two sets of a size that comes closest to a Jaccard similarity."""
    overlap = round(2 * size * jaccard / (1 + jaccard))
    return overlap, Fraction(overlap, 2 * size - overlap)


def random_pairs(generator, n_pairs, size, overlap):
    """Lay out pairs of random sets with a given overlap: x, y, x, y and so on."""
    shape = (n_pairs, 2 * size - overlap)
    elements = generator.integers(0, 2**64, shape, np.uint64)
    left, right = elements[:, :size], elements[:, size - overlap :]
    values = np.stack([left, right], axis=1).reshape(-1)
    return ShingleLists(values, np.arange(2 * n_pairs + 1, dtype=np.int64) * size)


def agreements(generator, n_pairs, size, overlap, scheme):
    """Tell, for each pair and lane, whether the signatures agree."""
    signatures = minhash_signatures(random_pairs(generator, n_pairs, size, overlap), scheme)
    return signatures[0::2] == signatures[1::2]


def poisson_tail(count, mean):
    """Probability of ``count`` or more events where ``mean`` are expected."""
    return 1 - sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count))


# Pairs and schemes for each size; lanes * pairs * schemes agreements make the mean.
TRIALS = {1: (1000, 10), 10: (1000, 10), 1000: (200, 10), 1_000_000: (1, 20)}
# What can be had with sets of these sizes.
CASES = sorted({(size, *sizes_for(size, jaccard)) for size in TRIALS for jaccard in JACCARDS})


@pytest.mark.parametrize(("size", "overlap", "exact"), CASES, ids=str)
def test_minhash_signatures__estimate_is_unbiased(size, overlap, exact):
    n_pairs, n_schemes = TRIALS[size]
    generator = np.random.default_rng(size)
    agreed = sum(
        int(agreements(generator, n_pairs, size, overlap, MinHashScheme(LANES, seed)).sum())
        for seed in range(n_schemes)
    )
    trials = LANES * n_pairs * n_schemes
    if exact == 1:
        assert agreed == trials
    elif exact == 0:
        # Values have 32 bits: the minima of n random ones each agree with probability n / 2^33.
        accidental = trials * size / 2**33
        assert agreed == 0 or poisson_tail(agreed, accidental) > 1 / 2000
    else:
        error = math.sqrt(float(exact * (1 - exact)) / trials)
        assert abs(agreed / trials - float(exact)) <= SIGMAS * error


@pytest.mark.parametrize(
    ("size", "overlap", "exact"),
    [case for case in CASES if case[0] <= 1000 and 0 < case[2] < 1],
    ids=str,
)
def test_minhash_signatures__estimate_has_the_variance_of_independent_lanes(size, overlap, exact):
    """J (1 - J) / k, over random sets under one fixed scheme."""
    trials = 6000
    generator = np.random.default_rng(7)
    estimates = np.concatenate(
        [
            agreements(generator, 500, size, overlap, MinHashScheme(LANES)).mean(axis=1)
            for _ in range(trials // 500)
        ]
    )
    j = float(exact)
    expected = j * (1 - j) / LANES
    # Variance of a sample variance: sigma^4 (2 / (n - 1) + excess kurtosis / n), binomial here.
    kurtosis = (1 - 6 * j * (1 - j)) / (LANES * j * (1 - j))
    relative_error = math.sqrt(2 / (trials - 1) + kurtosis / trials)
    assert SIGMAS * relative_error < 0.1
    assert abs(estimates.var(ddof=1) / expected - 1) <= SIGMAS * relative_error


def test_minhash_signatures__lanes_agree_independently():
    """No two lanes agree together more or less often than chance has it."""
    trials, size = 6000, 60
    overlap, exact = sizes_for(size, Fraction(1, 2))
    generator = np.random.default_rng(8)
    agreed = agreements(generator, trials, size, overlap, MinHashScheme(LANES)).astype(np.float64)
    centred = (agreed - float(exact)) / math.sqrt(float(exact * (1 - exact)))
    correlations = (centred.T @ centred / trials)[np.triu_indices(LANES, 1)]
    # 8,128 standard normal figures: the largest exceeds 5.3 once in 1,000 times.
    assert np.abs(correlations).max() * math.sqrt(trials) <= 5.3
    # Their squares add up to chi-square, with the variance of twice its degrees of freedom.
    n = len(correlations)
    assert abs(trials * (correlations**2).sum() - n) <= SIGMAS * math.sqrt(2 * n)


def test_lanes__values_are_uncorrelated():
    """Values of the same random shingles in different lanes, and their distribution in each."""
    n, lanes = 20_000, 32
    generator = np.random.default_rng(9)
    shingles = generator.integers(0, 2**64, n, np.uint64)
    single = ShingleLists(shingles, np.arange(n + 1, dtype=np.int64))
    values = minhash_signatures(single, MinHashScheme(lanes)) / 2**32
    centred = (values - 0.5) * math.sqrt(12)
    correlations = (centred.T @ centred / n)[np.triu_indices(lanes, 1)]
    # 496 standard normal figures: the largest exceeds 4.8 once in 1,000 times.
    assert np.abs(correlations).max() * math.sqrt(n) <= 4.8
    # Mean 1/2 and, in each of 64 parts of the range, a 64th of the values.
    assert np.abs(centred.mean(axis=0)).max() * math.sqrt(n) <= 4.2
    for lane in range(lanes):
        counts = np.histogram(values[:, lane], bins=64, range=(0, 1))[0]
        chi_square = ((counts - n / 64) ** 2).sum() / (n / 64)
        # The cube root of chi-square over its degrees is nearly normal (Wilson and Hilferty).
        deviation = ((chi_square / 63) ** (1 / 3) - (1 - 2 / (9 * 63))) / math.sqrt(2 / (9 * 63))
        assert deviation <= 4.2


@pytest.mark.parametrize("rows", [1, 2, 4, 8])
def test_band_keys__agree_with_probability_of_the_rows_power(rows):
    trials, size = 3000, 90
    overlap, exact = sizes_for(size, Fraction(4, 5))
    assert exact == Fraction(4, 5)
    bands = LANES // rows
    generator = np.random.default_rng(rows)
    signatures = minhash_signatures(
        random_pairs(generator, trials, size, overlap), MinHashScheme(LANES)
    )
    keys = band_keys(signatures, bands, rows)
    share = (keys[0::2] == keys[1::2]).mean()
    expected = 0.8**rows
    error = math.sqrt(expected * (1 - expected) / (trials * bands))
    assert abs(share - expected) <= SIGMAS * error


@pytest.mark.parametrize(
    ("jaccard", "recall", "num_perm"),
    [("0.5", "0.9", 128), ("0.8", "0.99", 128), ("0.8", "0.9", 64), ("0.95", "0.95", 256)],
)
def test_bucket_documents__recall_at_the_threshold_is_as_predicted(jaccard, recall, num_perm):
    """Pairs exactly at the threshold share a bucket as often as the S-curve says."""
    trials, size = 3000, 117
    overlap, exact = sizes_for(size, Fraction(jaccard))
    banding = choose_banding(Fraction(jaccard), Fraction(recall), num_perm)
    found = share_found(trials, size, overlap, banding)
    expected = float(curve.candidate_probability(exact, banding.bands, banding.rows))
    assert banding.candidate_probability(float(exact)) == pytest.approx(expected, rel=1e-9)
    error = math.sqrt(expected * (1 - expected) / trials)
    assert abs(found - expected) <= SIGMAS * error
    if exact == Fraction(jaccard):
        assert found >= float(Fraction(recall)) - SIGMAS * error


@pytest.mark.parametrize("jaccard", ["0.2", "0.4", "0.6", "0.7", "0.9"])
def test_bucket_documents__pairs_off_the_threshold_follow_the_curve(jaccard):
    trials, size, banding = 3000, 117, Banding(16, 6)
    overlap, exact = sizes_for(size, Fraction(jaccard))
    found = share_found(trials, size, overlap, banding)
    expected = float(curve.candidate_probability(exact, banding.bands, banding.rows))
    error = math.sqrt(expected * (1 - expected) / trials)
    assert abs(found - expected) <= SIGMAS * error


def share_found(trials, size, overlap, banding):
    """Share of random pairs that share a bucket among all documents together."""
    generator = np.random.default_rng(banding.bands)
    signatures = minhash_signatures(
        random_pairs(generator, trials, size, overlap), MinHashScheme(banding.num_perm, 5)
    )
    keys = band_keys(signatures, banding.bands, banding.rows)
    buckets = bucket_documents(
        lambda band: keys[:, band], banding.bands, 2 * trials, Runner(1)
    ).numbers
    left, right = buckets[:, 0::2], buckets[:, 1::2]
    return ((left == right) & (left >= 0)).any(axis=0).mean()


def test_mix_words__every_bit_flips_every_bit():
    """Strict avalanche: 64 x 64 shares of one half each; one in 400 such tables exceeds 5 sigma."""
    trials = 4000
    words = np.random.default_rng(10).integers(0, 2**64, trials, np.uint64)
    with np.errstate(over="ignore"):
        mixed = mix_words(words)
        for bit in range(64):
            flipped = mixed ^ mix_words(words ^ np.uint64(1 << bit))
            bits = np.unpackbits(flipped.view(np.uint8).reshape(trials, 8), axis=1)
            assert np.abs(bits.mean(axis=0) - 0.5).max() <= 5 * 0.5 / math.sqrt(trials)


def test_mix_words__counters_look_random():
    """Consecutive numbers, the least random of inputs, spread evenly over leading bits."""
    n = 1 << 16
    with np.errstate(over="ignore"):
        mixed = mix_words(np.arange(1, n + 1, dtype=np.uint64))
    for shift in (56, 28, 0):
        counts = np.bincount((mixed >> np.uint64(shift)).astype(np.uint8), minlength=256)
        chi_square = ((counts - n / 256) ** 2).sum() / (n / 256)
        deviation = ((chi_square / 255) ** (1 / 3) - (1 - 2 / (9 * 255))) / math.sqrt(2 / (9 * 255))
        assert abs(deviation) <= SIGMAS
