"""What `estimate_agreement` tells of real signatures, over fixed seeds, against binomial theory.

Each pair of random sets has elements of its own, so that all pairs and positions are independent.
Bounds are 3 standard errors of the mean, and 10 % of the variance.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from neardup.sketches.minhash import (
    MinHashScheme,
    WeightedMinHashScheme,
    estimate_agreement,
    minhash_signatures,
    weighted_signatures,
)
from neardup.tables import ShingleLists, Signatures, WeightedSets

pytestmark = pytest.mark.statistics

NUM_PERM = 64
SHARES = ["0.1", "0.3", "0.5", "0.8", "0.9", "0.99"]
# Elements of each set: pairs at a time, and in all.
SIZES = {10: (2000, 6000), 300: (500, 3000), 1500: (200, 2000)}


def overlap_for(size, jaccard):
    overlap = round(2 * size * jaccard / (1 + jaccard))
    return overlap, overlap / (2 * size - overlap)


def random_pairs(generator, n_pairs, size, overlap):
    """Elements of x, y, x, y and so on; each pair has ``overlap`` in common."""
    elements = generator.integers(0, 2**64, (n_pairs, 2 * size - overlap), np.uint64)
    return np.stack([elements[:, :size], elements[:, size - overlap :]], axis=1).reshape(-1)


def plain(generator, n_pairs, size, jaccard):
    """Signatures of pairs of sets, and the exact similarity of each."""
    overlap, exact = overlap_for(size, jaccard)
    values = random_pairs(generator, n_pairs, size, overlap)
    lists = ShingleLists(values, np.arange(2 * n_pairs + 1, dtype=np.int64) * size)
    scheme = MinHashScheme(NUM_PERM, int(generator.integers(2**32)))
    return minhash_signatures(lists, scheme), np.full(2 * n_pairs, size, np.int64), exact


def weighted(generator, n_pairs, size, jaccard):
    """The same with weights: those of y are a share of those of x where both have an element."""
    overlap, _ = overlap_for(size, max(jaccard, Fraction(1, 2)))
    n_union = 2 * size - overlap
    drawn = generator.integers(1 << 18, 1 << 22, n_union)
    first, second = drawn.copy(), drawn.copy()
    first[size:] = 0
    second[: size - overlap] = 0
    common = slice(size - overlap, size)
    # Lessen until the similarity is about right; what it is then is worked out exactly.
    factor = 1.0
    for _ in range(60):
        second[common] = np.maximum((drawn[common] * factor).astype(np.int64), 1)
        found = np.minimum(first, second).sum() / np.maximum(first, second).sum()
        if found <= jaccard:
            break
        factor *= 0.9
    exact = np.minimum(first, second).sum() / np.maximum(first, second).sum()
    elements = generator.integers(0, 2**64, (n_pairs, n_union), np.uint64)
    elements.sort(axis=1)
    order = generator.permutation(n_union)
    parts = []
    for weights in (first[order], second[order]):
        has = weights > 0
        parts.append((elements[:, has], np.tile(weights[has], (n_pairs, 1))))
    values = np.concatenate([values for values, _ in parts], axis=1)
    weights = np.concatenate([weights for _, weights in parts], axis=1)
    sizes = np.tile([part.shape[1] for part, _ in parts], n_pairs).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    totals = np.tile([first.sum(), second.sum()], n_pairs).astype(np.int64)
    sets = WeightedSets(values.reshape(-1), weights.reshape(-1), starts, sizes, totals)
    scheme = WeightedMinHashScheme(NUM_PERM, int(generator.integers(2**32)))
    return weighted_signatures(sets, scheme), sizes, exact


def estimates(make, size, jaccard):
    """Estimates of many pairs under many seeds, and the similarity of all of them."""
    n_pairs, n_trials = SIZES[size]
    for trial in range(n_trials // n_pairs):
        generator = np.random.default_rng([size, round(1000 * jaccard), trial])
        signatures, sizes, exact = make(generator, n_pairs, size, jaccard)
        table = Signatures(signatures, sizes)
        rows = np.arange(0, 2 * n_pairs, 2)
        found = estimate_agreement(table, table, rows, rows + 1)
        assert (found.n_samples == NUM_PERM).all()
        yield found.values, found.low, found.high, exact


def binomial(share):
    return [
        math.comb(NUM_PERM, k) * share**k * (1 - share) ** (NUM_PERM - k)
        for k in range(NUM_PERM + 1)
    ]


def wilson(k):
    """The interval from its definition: all shares that k is less than 1.96 deviations from."""
    n, z = NUM_PERM, 1.959963984540054
    middle = (k + z * z / 2) / (n + z * z)
    spread = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return middle - spread, middle + spread


CASES = [
    *((make, size, share) for make in (plain, weighted) for size in (10, 300) for share in SHARES),
    # Large sets take their time, weighted ones most.
    (plain, 1500, "0.5"),
    (plain, 1500, "0.99"),
    (weighted, 1500, "0.9"),
]


@pytest.mark.parametrize(
    ("make", "size", "share"),
    # Two sets of ten elements cannot have nearly all in common, unless they are the same.
    [case for case in CASES if case[1] > 10 or case[2] not in ("0.9", "0.99")],
)
def test_estimate_agreement__bias_variance_and_coverage(make, size, share):
    standardised, variances, held, expected = [], [], [], []
    for values, low, high, exact in estimates(make, size, Fraction(share)):
        variance = exact * (1 - exact) / NUM_PERM
        standardised.append((values - exact) / math.sqrt(variance))
        held.append((low <= exact) & (exact <= high))
        variances.append(variance)
        chances = binomial(exact)
        covers = [wilson(k)[0] <= exact <= wilson(k)[1] for k in range(NUM_PERM + 1)]
        expected.append(sum(p for p, c in zip(chances, covers, strict=True) if c))
    z, is_held = np.concatenate(standardised), np.concatenate(held)
    n = len(z)
    assert n >= 2000
    assert abs(z.mean()) <= 3 / math.sqrt(n)
    assert abs(z.var(ddof=1) - 1) <= 0.1
    coverage = float(np.mean(expected))
    error = math.sqrt(coverage * (1 - coverage) / n)
    assert abs(is_held.mean() - coverage) <= 3 * error + 1e-9
    # Wilson's intervals hold 95 % in the mean over all shares, less for some.
    assert is_held.mean() > 0.88
