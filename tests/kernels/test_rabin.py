from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from neardup.kernels.text import shingles as kernels
from neardup.text import shingles
from tests.arrays import ragged, random_words, unragged
from tests.each import each_of
from tests.oracles import rabin as oracle

POLYNOMIAL = shingles.draw_polynomial(42)


def fingerprint_bytes(strings, width, seed=42, lead="", bits=64):
    data = np.frombuffer(lead.encode() + b"".join(strings) + b"#", np.uint8)
    offsets = len(lead) + np.cumsum([0, *map(len, strings)])
    values, value_offsets = np.zeros(len(data), np.uint64), np.zeros(len(strings) + 1, np.int64)
    tables = shingles._byte_tables(seed, width, bits)
    kernels.fingerprint_bytes(data, offsets, width, *tables, bits, values, value_offsets)
    return unragged(values, value_offsets)


def fingerprint_tokens(lists, ngram, seed=42, lead=0, bits=64):
    tokens, offsets = ragged(lists, lead=lead)
    values, value_offsets = np.zeros(len(tokens), np.uint64), np.zeros(len(lists) + 1, np.int64)
    tables = shingles._word_tables(seed, ngram, bits)
    kernels.fingerprint_tokens(tokens, offsets, ngram, *tables, bits, values, value_offsets)
    return unragged(values, value_offsets)


def as_bytes(string):
    return [bytes([byte]) for byte in string]


def as_words(tokens):
    return [token.to_bytes(8, "big") for token in tokens]


@each_of("width", [1, 2, 7, 8, 9, 17, 32, 50])
def test_fingerprint_bytes__as_division(width):
    generator = random.Random(width)
    strings = [generator.randbytes(n) for n in (0, 1, 7, 8, 9, 40, 49, 50, 51, 70)]
    expected = [oracle.shingles(as_bytes(string), width, POLYNOMIAL) for string in strings]
    assert fingerprint_bytes(strings, width) == expected


@each_of("ngram", [1, 2, 3, 5, 8])
def test_fingerprint_tokens__as_division(ngram):
    generator = random.Random(ngram)
    lists = [random_words(generator, n) for n in (0, 1, 2, 4, 5, 6, 9, 20)]
    expected = [oracle.shingles(as_words(tokens), ngram, POLYNOMIAL) for tokens in lists]
    assert fingerprint_tokens(lists, ngram, lead=3) == expected


@pytest.mark.parametrize("bits", [32, 40, 64])
def test_fingerprints__of_fewer_bits_as_division(bits):
    polynomial = shingles.draw_polynomial(7, bits)
    generator = random.Random(bits)
    strings = [generator.randbytes(n) for n in (0, 1, 4, 5, 8, 9, 40)]
    expected = [oracle.shingles(as_bytes(string), 9, polynomial) for string in strings]
    assert fingerprint_bytes(strings, 9, seed=7, bits=bits) == expected
    lists = [random_words(generator, n) for n in (0, 1, 2, 5, 20)]
    expected = [oracle.shingles(as_words(tokens), 3, polynomial) for tokens in lists]
    assert fingerprint_tokens(lists, 3, seed=7, bits=bits) == expected


def test_fingerprint_bytes__reads_its_own_text_only():
    found = fingerprint_bytes([b"abcdef", b"", b"xyz"], 4, lead="junk")
    assert found == [
        oracle.shingles(as_bytes(string), 4, POLYNOMIAL) for string in (b"abcdef", b"", b"xyz")
    ]


def test_fingerprint_bytes__is_the_same_wherever_a_window_stands():
    string = random.Random(3).randbytes(12)
    rolled = fingerprint_bytes([b"before" + string + b"after"], 12)[0]
    assert fingerprint_bytes([string], 12)[0][0] == rolled[6]
    assert len(rolled) == 12


def test_fingerprint_bytes__leading_zeros_count():
    found = fingerprint_bytes([b"\0" * n for n in range(1, 9)], 8)
    assert len({values[0] for values in found}) == 8
    assert fingerprint_bytes([b"\0ab"], 3) != fingerprint_bytes([b"ab"], 3)


def test_fingerprint_tokens__is_that_of_their_bytes_highest_first():
    """Both kernels fingerprint strings, whatever these are made of."""
    tokens = random_words(random.Random(4), 9)
    strings = [b"".join(as_words(tokens[i : i + 3])) for i in range(7)]
    from_bytes = [values[0] for values in fingerprint_bytes(strings, 24)]
    assert fingerprint_tokens([tokens], 3) == [from_bytes]


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1])
def test_fingerprint_tokens__is_linear_before_mixing(seed):
    """The fingerprint of a sum is the sum of the fingerprints; the leading 1 makes it of three."""
    generator = random.Random(seed)
    a, b, c = (random_words(generator, 9) for _ in range(3))
    total = [x ^ y ^ z for x, y, z in zip(a, b, c, strict=True)]
    prints = [
        [oracle.unmix(value) for value in values]
        for values in fingerprint_tokens([a, b, c, total], 4, seed)
    ]
    assert [x ^ y ^ z for x, y, z in zip(*prints[:3], strict=True)] == prints[3]


def test_fingerprint_bytes__neighbours_are_far_apart_after_mixing():
    """Strings that differ in the last byte have the same upper 56 bits before, not after."""
    found = [values[0] for values in fingerprint_bytes([b"abc" + bytes([b]) for b in range(64)], 4)]
    assert len({oracle.unmix(value) >> 8 for value in found}) == 1
    assert len({value >> 56 for value in found}) > 32


def test_draw_polynomial__first_irreducible_candidate():
    for seed, degree in product((0, 1, 42, 2**64 - 1), (32, 40, 64)):
        for candidate in oracle.candidates(seed, degree):
            if oracle.is_irreducible(candidate):
                break
            assert not shingles.is_irreducible(candidate)
        assert shingles.draw_polynomial(seed, degree) == candidate


@each_of("degree", range(1, 9))
def test_is_irreducible__as_trial_division(degree):
    found = [p for p in range(1 << degree, 2 << degree) if shingles.is_irreducible(p)]
    assert found == oracle.irreducibles(degree)
    assert [p for p in range(1 << degree, 2 << degree) if oracle.is_irreducible(p)] == found


@pytest.mark.parametrize("polynomial", [0, 1])
def test_is_irreducible__constants_are_not(polynomial):
    assert not shingles.is_irreducible(polynomial)


def test_is_irreducible__products_are_not():
    generator = random.Random(5)
    for degree in (1, 2, 31, 32):
        factor = 1 << degree | generator.getrandbits(degree) | 1
        other = 1 << 64 - degree | generator.getrandbits(64 - degree) | 1
        assert not shingles.is_irreducible(oracle.multiply(factor, other))


def test_is_irreducible__a_known_one():
    """t^64 + t^4 + t^3 + t + 1, that of the checksum CRC-64-ISO."""
    assert shingles.is_irreducible(1 << 64 | 0b11011)
    assert not shingles.is_irreducible(1 << 64 | 0b11001)


def test_remainder__as_long_division():
    generator = random.Random(6)
    for _ in range(50):
        dividend, divisor = generator.getrandbits(generator.randint(1, 150)), POLYNOMIAL
        assert shingles.remainder(dividend, divisor) == oracle.divide(dividend, divisor)[1]


def test_unmix__undoes_mix():
    for word in random_words(random.Random(7), 20):
        assert oracle.unmix(oracle.mix(word)) == word
