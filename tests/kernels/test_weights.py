from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from neardup.kernels.common.hashing import logarithms
from neardup.kernels.sketch import weighted_minhash
from tests.each import each_of

UNIT = 2.0**-20


def weigh(frequency, inverse):
    found = np.empty(1, np.int64)
    weighted_minhash.fill_weights(
        np.array([1]), np.array([0.0, frequency]), np.array([inverse]), found
    )
    return int(found[0])


@each_of(
    ("units", "expected"),
    [
        (0, 0),
        (0.49999999999999994, 0),
        (0.5, 1),
        (1, 1),
        (1.5, 2),
        (2.5, 3),
        (2.4999999999999996, 2),
        (2.0**49 + 0.5, 2**49 + 1),
        (-0.5, 0),
        (-1, 0),
        (-(2.0**70), 0),
        (-math.inf, 0),
        (2.0**50 - 0.5, 2**50),
        (2.0**50, 2**50),
        (2.0**50 + 1, 2**50),
        (math.inf, 2**50),
    ],
)
def test_scaled_weight__is_rounded_half_up_and_capped(units, expected):
    assert weigh(units * UNIT, 1.0) == weigh(1.0, units * UNIT) == expected


def test_scaled_weight__as_fractions():
    generator = random.Random(1)
    for _ in range(200):
        frequency, inverse = generator.uniform(0, 1000), generator.choice((-1, 1, 30)) * 0.731
        exact = Fraction(frequency * inverse) * 2**20
        assert weigh(frequency, inverse) == max(0, math.floor(exact + Fraction(1, 2)))


def test_fill_log_weights__of_a_larger_table():
    frequencies = np.array([np.nan, 1.0, 2.0, 3.0])
    starts = np.array([2, 5, 6, 8, 99])
    found = np.full(10, np.nan)
    weighted_minhash.fill_log_weights(
        starts, 3, frequencies, np.array([0.5, 0.0, 0.5 * UNIT]), found
    )
    expected = np.empty(3)
    logarithms(np.array([2.0**19, 2.0**20, 3 * 2.0**19]), expected)
    assert found[2:5].tolist() == expected.tolist()
    # Half a unit is rounded up to one, whose logarithm is 0.
    assert found[5:8].tolist() == [-math.inf, 0.0, 0.0]
    assert np.isnan(found[:2]).all()
    assert np.isnan(found[8:]).all()


def test_fill_log_weights__no_types():
    found = np.full(2, np.nan)
    weighted_minhash.fill_log_weights(np.array([1]), 0, np.ones(1), np.empty(0), found)
    assert np.isnan(found).all()
