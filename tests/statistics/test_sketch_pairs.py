"""Whether pairs are found as often as the theory says, over fixed seeds.

Bounds are numbers of standard errors, as in ``test_broder.py``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from neardup.matching.measures import Containment, MaxContainment
from neardup.runs.runner import Runner
from neardup.sketches.minhash import (
    MinHashScheme,
    SuperShingleRule,
    SuperShingles,
    minhash_signatures,
)
from neardup.sketches.samples import ModuloScheme, join_modulo
from neardup.tables import Signatures
from tests.statistics.test_broder import SIGMAS, hypergeometric, overlap_for, random_pairs

pytestmark = pytest.mark.statistics

TRIALS = 800
# A small set and a large one; how many elements of the small one are in the other.
PARTS = [(400, 20_000, 280), (2000, 6000, 1900), (400, 400, 200), (600, 60_000, 599)]
# Of bounded sketches those of which the small set has samples at the modulus of the large one.
CASES = [
    *((ModuloScheme(8), *part) for part in PARTS),
    (ModuloScheme(size=400), 2000, 6000, 1900),
    (ModuloScheme(size=400), 3000, 20_000, 900),
]


def sketched(left, right, common, scheme, seed):
    """Sketch pairs of sets: a small one, a large one, and so on."""
    generator = np.random.default_rng(seed)
    step = max(1, 3_000_000 // (left + right))
    parts = []
    for start in range(0, TRIALS, step):
        n = min(step, TRIALS - start)
        parts.append(scheme.sample(random_pairs(generator, n, left, right, common)))
    return scheme, scheme.join_rows(parts)


@pytest.mark.parametrize(("scheme", "left", "right", "common"), CASES)
def test_max_containment__is_that_of_the_smaller_set(scheme, left, right, common):
    """Mean c and the hypergeometric variance, given the samples; either way round."""
    kind, rows = sketched(left, right, common, scheme, left + common)
    first = np.arange(0, 2 * TRIALS, 2, dtype=np.int64)
    for one, other in ((first, first + 1), (first + 1, first)):
        found = kind.estimate(rows, one, other).measures["max-containment"]
        share, n = common / left, found.samples[found.is_usable]
        assert len(n) > TRIALS / 2
        values = found.hits[found.is_usable] / n
        variances = share * (1 - share) / n * (left - n) / (left - 1)
        deviations = (values - share) / np.sqrt(variances)
        assert abs(deviations.sum()) <= SIGMAS * math.sqrt(len(n))
        kurtosis = max(((1 - 6 * share * (1 - share)) / (n * share * (1 - share))).mean(), 0)
        error = math.sqrt(2 / len(n) + kurtosis / len(n))
        assert abs((deviations**2).mean() - 1) <= SIGMAS * error


@pytest.mark.parametrize("measure", [Containment, MaxContainment])
@pytest.mark.parametrize("threshold", [Fraction(3, 5), Fraction(7, 10), Fraction(4, 5)])
def test_join_modulo__finds_parts_as_often_as_samples_say(measure, threshold):
    """At a threshold of the true containment about every second, above it fewer."""
    left, right, common = PARTS[0]
    _, rows = sketched(left, right, common, ModuloScheme(8), 5)
    first = np.arange(0, 2 * TRIALS, 2, dtype=np.int64)
    samples = np.diff(rows.offsets)[first].tolist()
    chances = {}
    for n in set(samples):
        hits = np.arange(n + 1)
        reaching = hits * threshold.denominator >= n * threshold.numerator
        chances[n] = float(hypergeometric(left, common, n)[reaching].sum())
    expected = np.array([chances[n] for n in samples])
    pairs = zip(*join_modulo(rows, measure(threshold), runner=Runner(2)), strict=True)
    found = sum(int(b) == int(a) + 1 and int(a) % 2 == 0 for a, b in pairs)
    error = math.sqrt((expected * (1 - expected)).sum())
    assert abs(found - expected.sum()) <= SIGMAS * error
    assert 0 < found < TRIALS


@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("share", [0.8, 0.9, 0.95])
def test_super_shingles__find_pairs_as_often_as_the_rule_says(share, least):
    rule, size = SuperShingleRule(6, 14, least), 390
    overlap = overlap_for(size, share)
    exact = overlap / (2 * size - overlap)
    lists = random_pairs(np.random.default_rng(least), TRIALS, size, size, overlap)
    order = np.concatenate([np.arange(0, 2 * TRIALS, 2), np.arange(1, 2 * TRIALS, 2)])
    values = minhash_signatures(lists, MinHashScheme(84))[order]
    signatures = Signatures(np.ascontiguousarray(values), np.full(2 * TRIALS, size))
    left, right = SuperShingles.of(signatures, rule).join(TRIALS, Runner(1))
    # Unrelated sets agree in no group of fourteen.
    assert (right == left + TRIALS).all()
    p = rule.probability(exact)
    assert abs(len(left) / TRIALS - p) <= SIGMAS * math.sqrt(p * (1 - p) / TRIALS) + 1e-9
