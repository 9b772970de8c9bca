"""Rabin fingerprints of shingles: a hash whose collisions are bounded by a theorem."""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.tables import Int64s, ShingleLists, Texts, TokenLists, Uint64s

# Bits of the words that windows are rolled in.
_WORD = 64


def fingerprint_bytes(texts: Texts, width: int, seed: int = 42, bits: int = 64) -> ShingleLists:
    """Fingerprint the runs of ``width`` bytes of each text, each run as the string that it is.

    Two given strings of at most n bytes have the same fingerprint under at most one in
    2^bits / (8 n) of the polynomials, whatever the strings are, if they were chosen without knowing
    the seed. Fingerprints go through ``mix64``, one to one: they are linear, and in their own order
    similar strings would stand together.

    Parameters
    ----------
    texts
        Texts; one shorter than ``width`` has one run, all of it.
    width
        Bytes in a run.
    seed
        From 0 to 2^64 - 1; selects the polynomial.
    bits
        32, 40 or 64: the degree of the polynomial.

    References
    ----------
    Rabin (1981), Fingerprinting by random polynomials. Broder (1997), section 4.
    """
    from neardup.kernels.text import shingles

    tables = _byte_tables(seed, width, bits)
    n_bytes = int(texts.offsets[-1] - texts.offsets[0])
    values: Uint64s = np.empty(n_bytes, np.uint64)
    offsets: Int64s = np.empty(len(texts) + 1, np.int64)
    shingles.fingerprint_bytes(texts.data, texts.offsets, width, *tables, bits, values, offsets)
    return ShingleLists(values[: offsets[-1]], offsets)


def fingerprint_tokens(
    lists: TokenLists, ngram: int, seed: int = 42, bits: int = 64
) -> ShingleLists:
    """Fingerprint the runs of ``ngram`` tokens of each text.

    A run is the string of its tokens' hashes, eight bytes each, highest first. Otherwise as
    ``fingerprint_bytes``; in addition to fingerprints, hashes of tokens may collide.
    """
    from neardup.kernels.text import shingles

    tables = _word_tables(seed, ngram, bits)
    values: Uint64s = np.empty(len(lists.values), np.uint64)
    offsets: Int64s = np.empty(len(lists) + 1, np.int64)
    shingles.fingerprint_tokens(lists.values, lists.offsets, ngram, *tables, bits, values, offsets)
    return ShingleLists(values[: offsets[-1]], offsets)


@lru_cache(maxsize=64)
def draw_polynomial(seed: int, degree: int = 64) -> int:
    """Draw the irreducible polynomial that a seed selects; bit k stands for t^k.

    Its lower coefficients are the lowest bits of the first of mix64(mix64(seed) + i * GOLDEN),
    i = 1, 2, ..., with the lowest bit set, that make it irreducible; about one in half its degree
    does.
    """
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(seed))
        for i in count(1):
            drawn = int(mix_words(start + np.uint64(i) * GOLDEN)) & ((1 << degree) - 1) | 1
            if is_irreducible(1 << degree | drawn):
                break
    return 1 << degree | drawn


def is_irreducible(polynomial: int) -> bool:
    """Tell whether a polynomial over the integers modulo 2 has no divisor but 1 and itself.

    Ben-Or's test: t^(2^k) - t is the product of all irreducible polynomials whose degree divides k,
    so a reducible one shares a divisor with it for some k up to half its degree. Most fail early.
    """
    degree = polynomial.bit_length() - 1
    if degree < 1:
        return False
    power = 2
    for _ in range(degree // 2):
        power = remainder(_square(power), polynomial)
        if _common_divisor(polynomial, power ^ 2) != 1:
            return False
    return True


def remainder(dividend: int, polynomial: int) -> int:
    """Divide polynomials over the integers modulo 2, and give what is left."""
    length = polynomial.bit_length()
    while (excess := dividend.bit_length() - length) >= 0:
        dividend ^= polynomial << excess
    return dividend


def _square(polynomial: int) -> int:
    """Square: modulo 2 that moves each coefficient to twice its place, as base 4 does digits."""
    return int(f"{polynomial:b}", 4)


def _common_divisor(a: int, b: int) -> int:
    while b:
        a, b = b, remainder(a, b)
    return a


@lru_cache(maxsize=64)
def _byte_tables(seed: int, width: int, bits: int) -> tuple[Uint64s, Uint64s, Uint64s]:
    """Make the tables of ``kernels.rabin.fingerprint_bytes``."""
    modulus = _modulus(seed, bits)
    leaving = _power(8 * (width - 1), modulus)
    lead = remainder(leaving << 8, modulus) ^ leaving
    top = _multiples(remainder(1 << _WORD, modulus), modulus)
    return top, _multiples(leaving, modulus) ^ np.uint64(lead), _short_table(seed, bits)


@lru_cache(maxsize=64)
def _word_tables(seed: int, ngram: int, bits: int) -> tuple[Uint64s, Uint64s, Uint64s]:
    """Make the tables of ``kernels.rabin.fingerprint_tokens``."""
    modulus = _modulus(seed, bits)
    leaving = _power(64 * ngram, modulus)
    top = _rows_of_multiples(remainder(1 << _WORD, modulus), modulus, 8)
    out = _rows_of_multiples(leaving, modulus, 8)
    # Of the eight look-ups, which are added up, the first brings the leading 1 along.
    out[0] ^= np.uint64(remainder(leaving << 64, modulus) ^ leaving)
    return top, out, _short_table(seed, bits)


def _modulus(seed: int, bits: int) -> int:
    """Return a multiple of the polynomial that fills the words in which windows are rolled."""
    return draw_polynomial(seed, bits) << (_WORD - bits)


def _short_table(seed: int, bits: int) -> Uint64s:
    """Return what bytes above the degree of the polynomial are modulo it, shape (4, 256)."""
    polynomial = draw_polynomial(seed, bits)
    return _rows_of_multiples(remainder(1 << bits, polynomial), polynomial, 4)


def _rows_of_multiples(factor: int, polynomial: int, n_rows: int) -> Uint64s:
    """Multiply a factor by every byte at t^0, t^8, and so on, shape (n_rows, 256)."""
    factors = [remainder(factor << 8 * j, polynomial) for j in range(n_rows)]
    return np.stack([_multiples(shifted, polynomial) for shifted in factors])


def _multiples(factor: int, polynomial: int) -> Uint64s:
    """Multiply a factor by each of the 256 polynomials of degree below 8."""
    products: Uint64s = np.zeros(256, np.uint64)
    for bit in range(8):
        product = np.uint64(remainder(factor << bit, polynomial))
        products[1 << bit : 2 << bit] = products[: 1 << bit] ^ product
    return products


def _power(exponent: int, polynomial: int) -> int:
    """Give t^exponent modulo a polynomial, by squaring."""
    power = 1
    for digit in f"{exponent:b}":
        power = remainder(_square(power) << int(digit), polynomial)
    return power
