from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np

from neardup.kernels.common.hashing import logarithms
from tests.each import each_of
from tests.oracles import weighted as oracle

# The same bits on every machine, compiled or not.
KNOWN = [
    ("0x1.0000000000000p+0", "0x0.0p+0"),
    ("0x1.fffffffffffffp-1", "-0x1.0000000000000p-53"),
    ("0x1.0000000000001p+0", "0x1.fffffffffffffp-53"),
    ("0x1.8000000000000p+1", "0x1.193ea7aad030ap+0"),
    ("0x1.0000000000000p+20", "0x1.bb9d3beb8c86bp+3"),
    ("0x1.921fb54442d18p+1", "0x1.250d048e7a1bdp+0"),
    ("0x1.6a09e667f3bcdp-1", "-0x1.62e42fefa39eep-2"),
    ("0x1.6a09e00000000p-1", "-0x1.62e4420e1ff10p-2"),
    ("0x1.6a09dffffffffp-1", "-0x1.62e4420e1ff13p-2"),
    ("0x1.5555555555555p-2", "-0x1.193ea7aad030bp+0"),
    ("0x1.b7cdfd9d7bdbbp-34", "-0x1.7069e2aa2aa5bp+4"),
    ("0x1.0000000000000p-1022", "-0x1.6232bdd7abcd2p+9"),
    ("0x1.fffffffffffffp+1023", "0x1.62e42fefa39efp+9"),
    ("0x1.0000000000000p-53", "-0x1.25e4f7b2737fap+5"),
]


def logs(values):
    results = np.full(len(values), np.nan)
    logarithms(np.array(values, np.float64), results)
    return results.tolist()


def around(x, n):
    """The n numbers below x, x, and the n above."""
    word = int(np.float64(x).view(np.uint64))
    return np.arange(word - n, word + n + 1, dtype=np.uint64).view(np.float64).tolist()


generator = random.Random(1)
RANGES = {
    "all": [
        math.ldexp(generator.uniform(1, 2), generator.randint(-1022, 1023)) for _ in range(300)
    ],
    "uniform": [generator.random() for _ in range(300)],
    "near one": [
        1 + generator.uniform(-1, 1) * 2.0 ** -generator.randint(2, 52) for _ in range(300)
    ],
    "near the cut": [math.sqrt(0.5) + generator.uniform(-1e-3, 1e-3) for _ in range(100)],
    "at one": around(1.0, 20),
    "at the cut": [*around(math.sqrt(0.5), 20), *around(0.7071, 3), *around(math.sqrt(2), 20)],
    "at the coarse cut": around(float.fromhex("0x1.6a09ep-1"), 20),
    "powers of two": [math.ldexp(1.0, n) for n in range(-1022, 1024, 11)],
    "whole numbers": [*range(1, 50), *(float(2**n - 1) for n in range(2, 63)), 2.0**50],
    "ends": [2.0**-1022, 1.7976931348623157e308],
}


@each_of("name", RANGES)
def test_ln__is_off_by_less_than_one_last_bit(name):
    values = [float(x) for x in RANGES[name]]
    for x, result in zip(values, logs(values), strict=True):
        # The greatest error found among 120,000 values is 0.86.
        assert oracle.errors_in_last_bits(x, result) < 0.95, x.hex()


@each_of(("x", "expected"), KNOWN)
def test_ln__known_answers(x, expected):
    assert [result.hex() for result in logs([float.fromhex(x)])] == [expected]


@each_of("x", [0.3, math.sqrt(0.5), 0.9999, 1.0, 1.5, math.sqrt(2), 1e6, 2.0**50])
def test_ln__never_falls(x):
    results = logs(around(x, 500))
    assert all(low <= high for low, high in pairwise(results))


def test_logarithms__of_what_has_none():
    assert logs([0.0, -0.0, -1.0, -math.inf]) == [-math.inf] * 4
