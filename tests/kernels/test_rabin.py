from __future__ import annotations

import random

import numpy as np

from neardup.kernels.text import shingles as kernels
from neardup.text import shingles
from tests.arrays import unragged
from tests.each import each_of
from tests.oracles import rabin as oracle

POLYNOMIAL = shingles.draw_polynomial(42)


def fingerprint_bytes(strings, width, seed=42, lead=""):
    data = np.frombuffer(lead.encode() + b"".join(strings) + b"#", np.uint8)
    offsets = len(lead) + np.cumsum([0, *map(len, strings)])
    values, value_offsets = np.zeros(len(data), np.uint64), np.zeros(len(strings) + 1, np.int64)
    tables = shingles._byte_tables(seed, width)
    kernels.fingerprint_bytes(data, offsets, width, *tables, values, value_offsets)
    return unragged(values, value_offsets)


def as_bytes(string):
    return [bytes([byte]) for byte in string]


@each_of("width", [1, 2, 7, 8, 9, 17, 32, 50])
def test_fingerprint_bytes__as_division(width):
    generator = random.Random(width)
    strings = [generator.randbytes(n) for n in (0, 1, 7, 8, 9, 40, 49, 50, 51, 70)]
    expected = [oracle.shingles(as_bytes(string), width, POLYNOMIAL) for string in strings]
    assert fingerprint_bytes(strings, width) == expected


def test_fingerprint_bytes__neighbours_are_far_apart_after_mixing():
    """Strings that differ in the last byte have the same upper 56 bits before, not after."""
    found = [values[0] for values in fingerprint_bytes([b"abc" + bytes([b]) for b in range(64)], 4)]
    assert len({oracle.unmix(value) >> 8 for value in found}) == 1
    assert len({value >> 56 for value in found}) > 32


def test_draw_polynomial__first_irreducible_candidate():
    for seed in (0, 1, 42, 2**64 - 1):
        for candidate in oracle.candidates(seed, 64):
            if oracle.is_irreducible(candidate):
                break
            assert not shingles.is_irreducible(candidate)
        assert shingles.draw_polynomial(seed) == candidate


@each_of("degree", range(1, 9))
def test_is_irreducible__as_trial_division(degree):
    found = [p for p in range(1 << degree, 2 << degree) if shingles.is_irreducible(p)]
    assert found == oracle.irreducibles(degree)
    assert [p for p in range(1 << degree, 2 << degree) if oracle.is_irreducible(p)] == found
