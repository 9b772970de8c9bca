"""Whether weighted min-hashes do what the theory says, over fixed seeds.

Every bound is a number of standard errors that follows from the number of trials: 4 for a single
figure (exceeded by chance once in 16,000 times), more where many are looked at together.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from neardup.kernels.common.hashing import mix_words
from neardup.kernels.sketch import weighted_minhash
from tests.oracles import weighted as oracle

pytestmark = pytest.mark.statistics

SIGMAS = 4
N_SEEDS = 40_000
ONE = 1 << 20


def random_words(n, number):
    return np.random.default_rng(number).integers(0, 2**64, n, np.uint64)


def draw(tokens, seed):
    """Give r, c and beta of some tokens under a seed."""
    with np.errstate(over="ignore"):
        bases = mix_words(tokens ^ np.uint64(seed))
    rates, log_cs, betas = (np.empty(len(tokens)) for _ in range(3))
    weighted_minhash.draw(bases, len(tokens), rates, log_cs, betas)
    return rates, np.exp(log_cs), betas


def draw_under_all(token, seeds):
    """Give r, c and beta of a token under some seeds; the two enter alike."""
    return draw(seeds, token)


def list_all(tokens, log_weights, starts, seeds):
    """Give types, counts, orders and identities listed under each seed, arrays of its own."""
    n = len(log_weights)
    orders, identities = np.empty(n, np.uint64), np.empty(n, np.uint64)
    types, counts = np.empty(n, np.int32), np.empty(n, np.int32)
    outputs = (orders, identities, types, counts)
    for seed in seeds:
        size = weighted_minhash.list_weighted(
            tokens, starts, len(tokens), log_weights, seed, *outputs
        )
        yield types[:size], counts[:size], orders[:size], identities[:size]


def numbers_of(orders):
    """Undo the mapping of numbers to ascending words."""
    sign = np.uint64(1 << 63)
    return np.where(orders & sign, orders ^ sign, ~orders).view(np.float64)


def sketch(weights, tokens, seeds):
    identities = np.empty(len(seeds), np.uint64)
    chosen = np.array(weights, np.float64)
    with np.errstate(divide="ignore"):
        weighted_minhash.weighted_minimum(tokens, np.log(chosen), seeds, identities)
    return identities


def distance(values, distribution):
    """Greatest distance of a sample's distribution from another one (Kolmogorov and Smirnov)."""
    n = len(values)
    expected = distribution(np.sort(values))
    steps = np.arange(n + 1) / n
    return max((steps[1:] - expected).max(), (expected - steps[:-1]).max())


def greatest_distance(n):
    """Distance that is exceeded once in 16,000 times: 2 exp(-2 n d^2), true for any n (Massart)."""
    return math.sqrt(math.log(2 * 16_000) / (2 * n))


def uniform(x):
    return x


def gamma2(x):
    return -np.expm1(-x) - x * np.exp(-x)


def exponential(x):
    return -np.expm1(-x)


PAIRS = {
    "equal": ([3, 5, 1], [3, 5, 1]),
    "nothing in common": ([3, 5, 0, 0], [0, 0, 4, 1]),
    "one token": ([1], [3]),
    "twice as heavy": ([2, 4, 6, 8], [1, 2, 3, 4]),
    "counts": ([1, 2, 2, 0, 7], [3, 1, 2, 1, 0]),
    "almost equal": ([1000] * 10, [1000] * 9 + [1100]),
    "one heavy token": ([ONE << 20, 5, 5, 5], [ONE << 20, 900, 0, 12345]),
    "heavy against light": ([1, 1, ONE << 18], [1, 1, ONE << 17]),
    "every size": ([4**n for n in range(25)], [4 ** (24 - n) for n in range(25)]),
    "many": ([1 + n % 7 for n in range(100)], [1 + n % 5 for n in range(100)]),
    "subset": ([1] * 30, [1] * 10 + [0] * 20),
}


@pytest.mark.parametrize("name", PAIRS)
def test_weighted_minimum__collides_as_often_as_weights_are_similar(name):
    x, y = PAIRS[name]
    tokens = random_words(len(x), 1)
    seeds = random_words(N_SEEDS, len(name))
    exact = float(oracle.weighted_jaccard(dict(enumerate(x)), dict(enumerate(y))))
    share = (sketch(x, tokens, seeds) == sketch(y, tokens, seeds)).mean()
    error = math.sqrt(exact * (1 - exact) / N_SEEDS)
    assert abs(share - exact) <= SIGMAS * error


@pytest.mark.parametrize("under", ["one seed", "all seeds"])
def test_parameters__have_their_distributions(under):
    words = random_words(100_000, 4)
    if under == "one seed":
        r, c, beta = draw(words, 42)
    else:
        r, c, beta = draw_under_all(np.uint64(0x34E87CBAA124BFFF), words)
    bound = greatest_distance(len(words))
    assert distance(r, gamma2) <= bound
    assert distance(c, gamma2) <= bound
    assert distance(beta, uniform) <= bound
    assert ((beta > 0) & (beta < 1)).all()
    centred = [(p - 0.5) * math.sqrt(12) for p in (gamma2(r), gamma2(c), beta)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert abs((centred[i] * centred[j]).mean()) * math.sqrt(len(words)) <= SIGMAS


@pytest.mark.parametrize("seed_step", [1, 1 << 32])
def test_parameters__of_consecutive_seeds_are_independent(seed_step):
    words = random_words(100_000, 5)
    ranks = []
    for seed in (7, 7 + seed_step):
        r, c, beta = draw(words, seed)
        ranks.append([(p - 0.5) * math.sqrt(12) for p in (gamma2(r), gamma2(c), beta)])
    for x in ranks[0]:
        for y in ranks[1]:
            # Nine figures.
            assert abs((x * y).mean()) * math.sqrt(len(words)) <= 4.5


@pytest.mark.parametrize("weight", [1, 7, ONE, 123_456_789, 1 << 50])
def test_list_weighted__values_are_exponential_with_the_rate_of_the_weight(weight):
    """That is why the least of several is each token's as often as its share of the weight."""
    tokens = random_words(N_SEEDS, 6)
    starts = np.arange(N_SEEDS + 1, dtype=np.int64)
    logs = np.full(N_SEEDS, math.log(weight))
    ((_, _, orders, _),) = list_all(tokens, logs, starts, [np.uint64(9)])
    assert len(orders) == N_SEEDS
    values = np.exp(numbers_of(orders) + math.log(weight))
    assert distance(values, exponential) <= greatest_distance(N_SEEDS)


def test_list_weighted__the_least_is_each_tokens_by_its_share():
    weights = np.array([1, 2, 3, 10, 50, 0.5])
    tokens, seeds = random_words(6, 7), random_words(N_SEEDS, 8)
    starts = np.arange(7, dtype=np.int64)
    wins = np.zeros(6)
    for types, _, orders, identities in list_all(tokens, np.log(weights), starts, seeds):
        wins[types[np.lexsort((identities, orders))[0]]] += 1
    shares = weights / weights.sum()
    errors = np.sqrt(shares * (1 - shares) / N_SEEDS)
    # Six figures.
    assert (np.abs(wins / N_SEEDS - shares) <= 4.4 * errors).all()


@pytest.mark.parametrize("tf", ["binary", "raw", "log", "squared"])
@pytest.mark.parametrize("idf", [1.0, 0.037])
def test_list_weighted__active_as_often_as_the_weight_grows(tf, idf):
    """Pr[active at x] = (w(x) - w(x - 1)) / w(x), whatever the inverse frequency."""
    f, n = 30, 30_000
    weights = np.array([float(oracle.term_frequency(tf, x)) * idf for x in range(f + 1)])
    tokens, seeds = random_words(1, 9), random_words(n, 10)
    active = np.zeros(f + 1)
    starts = np.array([0, f])
    for _, counts, _, _ in list_all(tokens, np.log(weights[1:]), starts, seeds):
        active[counts] += 1
    expected = np.diff(weights) / weights[1:]
    errors = np.sqrt(expected * (1 - expected) / n)
    # 30 figures at a time.
    assert (np.abs(active[1:] / n - expected) <= 4.8 * errors + 1e-12).all()
