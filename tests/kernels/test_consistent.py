from __future__ import annotations

import math
import random
import struct
from decimal import Decimal
from itertools import accumulate

import numpy as np
import pytest

from neardup.kernels._compile import uncompiled
from neardup.kernels.common.hashing import logarithms
from neardup.kernels.sketch import weighted_minhash
from tests.arrays import JUNK, as_uint64, random_words
from tests.each import each_of
from tests.oracles import weighted as oracle

SEED = 0x0123456789ABCDEF


def log_weights_of(weights):
    results = np.empty(len(weights))
    logarithms(np.array(weights, np.float64), results)
    return results


def number_of(order):
    """Undo the mapping of numbers to ascending words."""
    bits = order ^ (1 << 63) if order >> 63 else order ^ (2**64 - 1)
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def list_values(tokens, weights, seed=SEED, *, lead=0, function=weighted_minhash.list_weighted):
    """List (type, count, order, identity) of tokens with weights at each count."""
    starts = np.array(list(accumulate(map(len, weights), initial=lead)), np.int64)
    logs = np.full(starts[-1] + 3, np.nan)
    logs[lead : starts[-1]] = log_weights_of([w for run in weights for w in run])
    n_most = int(starts[-1]) - lead
    orders, identities = (np.full(n_most + 2, JUNK, np.uint64) for _ in range(2))
    types, counts = (np.full(n_most + 2, -7, np.int32) for _ in range(2))
    hashes, seed = as_uint64([*tokens, JUNK]), np.uint64(seed)
    n = function(hashes, starts, len(tokens), logs, seed, orders, identities, types, counts)
    assert n <= n_most
    assert (orders[n:] == JUNK).all()
    assert (identities[n:] == JUNK).all()
    assert (types[n:] == -7).all()
    assert (counts[n:] == -7).all()
    columns = (types, counts, orders, identities)
    return list(zip(*(column[:n].tolist() for column in columns), strict=True))


def assert_listed(tokens, weights, seed=SEED, lead=0):
    """Compare with the definition; values may differ by some units of the last bit."""
    found = list_values(tokens, weights, seed, lead=lead)
    expected = [
        (t, *row)
        for t, (token, run) in enumerate(zip(tokens, weights, strict=True))
        for row in oracle.active(token, seed, run)
    ]
    assert [(t, x, identity) for t, x, _, identity in found] == [
        (t, x, identity) for t, x, _, identity in expected
    ]
    for (_, _, order, _), (_, _, exact, _) in zip(found, expected, strict=True):
        assert abs(Decimal(number_of(order)) - exact) < Decimal("1e-12")


def test_ascending_bits__orders_numbers():
    numbers = [-math.inf, -1e300, -2.5, -1.0, -5e-324, -0.0, 0.0, 5e-324, 0.3, 1.0, 7.0, math.inf]
    words = [int(weighted_minhash.ascending_bits(np.float64(number))) for number in numbers]
    assert words == sorted(set(words))
    assert [number_of(word) for word in words] == numbers


def test_uniform__ends_and_steps():
    words = [0, 2**12 - 1, 2**12, 2**63, 2**64 - 1]
    found = [float(weighted_minhash._uniform(np.uint64(word))) for word in words]
    assert found == [2**-53, 2**-53, 3 * 2**-53, 0.5 + 2**-53, 1 - 2**-53]


@pytest.mark.slow
@each_of("f", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 100])
@each_of("kind", ["raw", "squared", "binary", "steps", "leaps"])
def test_list_weighted__every_number_of_occurrences(kind, f):
    """The counts where values fall are found at any distance from each other."""
    generator = random.Random(f)
    runs = {
        "raw": [x << 20 for x in range(1, f + 1)],
        "squared": [x * x << 20 for x in range(1, f + 1)],
        "binary": [1 << 20] * f,
        "steps": list(accumulate(generator.choice((0, 0, 0, 0, 1 << 20)) for _ in range(f))),
        "leaps": list(accumulate(generator.choice((0, 0, 1, 1 << 10, 1 << 30)) for _ in range(f))),
    }
    for token in random_words(generator, 6):
        assert_listed([token], [runs[kind]])


def test_list_weighted__many_types_of_a_larger_table():
    generator = random.Random(3)
    tokens = random_words(generator, 70)
    weights = [
        list(accumulate(generator.choice((0, 1, 1 << 20)) for _ in range(generator.randint(1, 12))))
        for _ in tokens
    ]
    assert_listed(tokens, weights, seed=2**64 - 1, lead=5)


@each_of("weights", [[0], [0, 0, 0], [0, 0, 5], [0, 1, 1], [1, 2**50]])
def test_list_weighted__weight_zero_has_no_value(weights):
    assert_listed([11, 12], [weights, [7]])


def test_list_weighted__extreme_weights():
    """Logarithms from -36 to 43: less than any weight has, and 2^62."""
    token, seed = 99, 4
    for weight in (2.0**-52, 0.001, 1.0, 2.0**50, 2.0**62):
        r, c, beta = (float(p) for p in oracle.parameters(token, seed))
        ((_, _, order, identity),) = list_values([token], [[weight]], seed)
        k = math.floor(math.log(weight) / r + beta)
        assert number_of(order) == pytest.approx(math.log(c) - r * (k - beta + 1), abs=1e-12)
        assert identity == oracle.value(token, seed, k)[1]


def test_list_weighted__weights_that_grow_have_values_that_fall():
    generator = random.Random(8)
    for seed in range(20):
        (token,) = random_words(generator, 1)
        run = sorted(generator.randint(1, 2**40) for _ in range(200))
        listed = list_values([token], [run], seed)
        values = [(order, identity) for *_, order, identity in listed]
        assert values == sorted(values, reverse=True)
        for x in (1, 2, 50, 200):
            # The value at x alone is the last one listed up to x.
            ((_, _, *alone),) = list_values([token], [[run[x - 1]]], seed)
            assert alone == [value for _, y, *value in listed if y <= x][-1]


@pytest.mark.usefixtures("minute_r")
def test_list_weighted__orders_that_are_equal():
    """Then values are compared by identity, although k differs."""
    function = uncompiled(weighted_minhash.list_weighted)
    # ln of these grows by its last bit, and ln a is rounded to twice as much.
    run = [1, *(2.0**45 + i / 8 for i in range(50)), 2**50]
    listed = list_values([5], [run], function=function)
    values = [(order, identity) for *_, order, identity in listed]
    assert values == sorted(set(values), reverse=True)
    base = oracle.mix(5 ^ SEED)
    least, expected = None, []
    for x, log_weight in enumerate(log_weights_of(run).tolist(), start=1):
        k = math.floor(log_weight / 2.0**-52 + 0.25)
        ln_a = -3.0 - 2.0**-52 * (k - 0.25 + 1)
        value = (-ln_a, -oracle.mix((base + k) % 2**64))
        if least is None or value > least:
            least = value
            expected.append((x, ln_a, -value[1]))
    found = [(x, number_of(order), identity) for _, x, order, identity in listed]
    assert found == expected
    assert len({order for _, _, order, _ in listed}) < len(listed) < len(run)


KNOWN = [
    (0x0000000000000000, 0x0000000000000000, 1 << 20, 0x3FD5DDD27BB5BB9C, 0x255C6046F62FBE29),
    (0x506A8CDE82BE8080, 0x0000000000000001, 1 << 20, 0x3FD5ED49AFDAC55A, 0x52F7F13AE81ECE07),
    (0x34E87CBAA124BFFF, 0xFFFFFFFFFFFFFFFF, 1, 0xBFE64BF44839BFE2, 0xF8301FE8ACD22218),
    (0x34E87CBAA124BFFF, 0xFFFFFFFFFFFFFFFF, 3, 0x402C79069B23B65B, 0x75DF4E0D874B0B8C),
    (0x423C7B91FB1EE083, 0x9E3779B97F4A7C15, 1 << 50, 0x3FBEC3D84DF0EF71, 0x8F825EFD9CE81CF2),
    (0xEAD876FD23F7D5AC, 0x00000000DEADBEEF, 726817, 0x3FD5A79E7B1A0E2A, 0xB6BED40775018DBF),
]


@each_of(("token", "seed", "weight", "order", "identity"), KNOWN)
def test_list_weighted__known_answers(token, seed, weight, order, identity):
    assert list_values([token], [[weight]], seed) == [(0, 1, order, identity)]


def minimum(tokens, weights, seeds, function=weighted_minhash.weighted_minimum):
    identities = np.full(len(seeds), JUNK, np.uint64)
    logs = log_weights_of(weights)
    has_weight = function(as_uint64(tokens), logs, as_uint64(seeds), identities)
    return bool(has_weight), identities.tolist()


@pytest.mark.usefixtures("minute_r")
def test_weighted_minimum__orders_that_are_equal():
    function = uncompiled(weighted_minhash.weighted_minimum)
    tokens = list(range(40))
    k = math.floor(float(log_weights_of([8])[0]) / 2.0**-52 + 0.25)
    expected = min(oracle.mix((oracle.mix(token ^ SEED) + k) % 2**64) for token in tokens)
    assert minimum(tokens, [8] * 40, [SEED], function) == (True, [expected])
    assert minimum(tokens[::-1], [8] * 40, [SEED], function) == (True, [expected])
