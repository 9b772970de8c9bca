"""Rabin fingerprints of shingles: a hash whose collisions are bounded by a theorem."""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels import shingles
from neardup.kernels.hashing import GOLDEN, mix_words
from neardup.tables import Int64s, ShingleLists, Texts, TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme

_DEGREE = 64


def rabin_shingle_lists(
    source: Texts | TokenLists, scheme: ShingleScheme, seed: int = 42
) -> ShingleLists:
    """Fingerprint the shingles of each text; a stand-in for ``text.shingles.shingle_lists``.

    A shingle of the tokenizer ``bytes`` is the string of its bytes, one of any other tokenizer the
    string of its tokens' hashes, eight bytes each, highest first. Two given strings of at most n
    bytes have the same fingerprint under at most one in 2^64 / (8 n) of the polynomials, whatever
    the strings are, if they were chosen without knowing the seed; for tokens, in addition, their
    hashes may collide. Fingerprints go through ``mix64``, one to one: they are linear, and in
    their own order similar strings would stand together.

    Parameters
    ----------
    source
        Texts, or the tokens of texts that are already there; not the tokens of ``bytes``.
    scheme
        Tokenizer, ngram and occurrences.
    seed
        From 0 to 2^64 - 1; selects the polynomial.

    Returns
    -------
    As of ``shingle_lists``: a text shorter than ``ngram`` tokens has one shingle, all of it.

    Raises
    ------
    InvalidParameterError
        For a seed out of range, and for token lists where the tokenizer is ``bytes``.

    References
    ----------
    Rabin (1981), Fingerprinting by random polynomials. Broder (1997), section 4.
    """
    if not 0 <= seed < 2**64:
        message = f"seed must lie between 0 and 2^64 - 1, got {seed}"
        raise InvalidParameterError(message)
    is_bytes = scheme.tokenizer.is_bytewise
    if is_bytes and not isinstance(source, Texts):
        message = "source must be texts where tokens are bytes, got token lists; hand in the texts"
        raise InvalidParameterError(message)
    lists = (
        _fingerprint_bytes(source, scheme.ngram, seed)
        if isinstance(source, Texts) and is_bytes
        else _fingerprint_tokens(
            scheme.tokenizer.hash_tokens(source) if isinstance(source, Texts) else source,
            scheme.ngram,
            seed,
        )
    )
    if scheme.occurrences == "numbered":
        longest = int(np.diff(lists.offsets).max(initial=0))
        scratch, counts = np.empty(longest, np.uint64), np.empty(longest + 2, np.int64)
        shingles.number_occurrences(lists.values, lists.offsets, scratch, counts)
    return lists


@lru_cache(maxsize=64)
def draw_polynomial(seed: int) -> int:
    """Draw the irreducible polynomial of degree 64 that a seed selects; bit k stands for t^k.

    Its lower 64 coefficients are the first of mix64(mix64(seed) + i * GOLDEN), i = 1, 2, ..., with
    the lowest bit set, that make it irreducible; about one in 32 does.
    """
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(seed))
        for i in count(1):
            drawn = int(mix_words(start + np.uint64(i) * GOLDEN)) | 1
            if is_irreducible(1 << _DEGREE | drawn):
                break
    return 1 << _DEGREE | drawn


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


def _fingerprint_bytes(texts: Texts, width: int, seed: int) -> ShingleLists:
    from neardup.kernels import rabin

    top, out = _byte_tables(seed, width)
    n_bytes = int(texts.offsets[-1] - texts.offsets[0])
    values: Uint64s = np.empty(n_bytes, np.uint64)
    offsets: Int64s = np.empty(len(texts) + 1, np.int64)
    rabin.fingerprint_bytes(texts.data, texts.offsets, width, top, out, values, offsets)
    return ShingleLists(values[: offsets[-1]], offsets)


def _fingerprint_tokens(lists: TokenLists, ngram: int, seed: int) -> ShingleLists:
    from neardup.kernels import rabin

    top, out = _word_tables(seed, ngram)
    values: Uint64s = np.empty(len(lists.values), np.uint64)
    offsets: Int64s = np.empty(len(lists) + 1, np.int64)
    rabin.fingerprint_tokens(lists.values, lists.offsets, ngram, top, out, values, offsets)
    return ShingleLists(values[: offsets[-1]], offsets)


@lru_cache(maxsize=64)
def _byte_tables(seed: int, width: int) -> tuple[Uint64s, Uint64s]:
    """Make the tables of ``kernels.rabin.fingerprint_bytes``."""
    polynomial = draw_polynomial(seed)
    leaving = _power(8 * (width - 1), polynomial)
    lead = remainder(leaving << 8, polynomial) ^ leaving
    top = _multiples(remainder(1 << _DEGREE, polynomial), polynomial)
    return top, _multiples(leaving, polynomial) ^ np.uint64(lead)


@lru_cache(maxsize=64)
def _word_tables(seed: int, ngram: int) -> tuple[Uint64s, Uint64s]:
    """Make the tables of ``kernels.rabin.fingerprint_tokens``."""
    polynomial = draw_polynomial(seed)
    leaving = _power(64 * ngram, polynomial)
    top = _rows_of_multiples(remainder(1 << _DEGREE, polynomial), polynomial)
    out = _rows_of_multiples(leaving, polynomial)
    # Of the eight look-ups, which are added up, the first brings the leading 1 along.
    out[0] ^= np.uint64(remainder(leaving << 64, polynomial) ^ leaving)
    return top, out


def _rows_of_multiples(factor: int, polynomial: int) -> Uint64s:
    """Multiply a factor by every byte at t^0, t^8, ..., t^56, shape (8, 256)."""
    factors = [remainder(factor << 8 * j, polynomial) for j in range(8)]
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
