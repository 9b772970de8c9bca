"""Hash shingles: runs of consecutive tokens, the elements of sets."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, Self

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.kernels.text import shingle_kernels, tokens
from neardup.options.choices import Fingerprint, Occurrences, TokenizerChoice
from neardup.options.groups import FingerprintOptions, SeedOptions, ShingleOptions
from neardup.options.option import no_effect
from neardup.tables import Int64s, ShingleLists, ShingleSets, Texts, TokenLists, Uint64s, offsets_of
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import Tokenizer, make_tokenizer, named_tokenizer, shingle_tokens

# Rabin fingerprints of shingles: a hash whose collisions are bounded by a theorem.


def fingerprint_tokens(lists: TokenLists, ngram: int, seed: int = 42) -> ShingleLists:
    """Fingerprint the runs of ``ngram`` tokens of each text.

    A shorter text has one run, all of it. A run is the string of its tokens' hashes, eight bytes
    each, highest first. The seed selects a polynomial of degree 64. Two given strings of at most n
    bytes have the same fingerprint under at most one in 2^64 / (8 n) of the polynomials, for any
    strings chosen without knowledge of the seed; in addition, hashes of tokens may collide, but not
    those of bytes. ``mix64`` mixes fingerprints, one to one, because they are linear: similar
    strings would be neighbours in their order.

    References
    ----------
    Rabin (1981), Fingerprinting by random polynomials. Broder (1997), section 4.
    """
    tables = _word_tables(seed, ngram)
    values: Uint64s = np.empty(len(lists.values), np.uint64)
    offsets: Int64s = np.empty(len(lists) + 1, np.int64)
    shingle_kernels.fingerprint_tokens(lists.values, lists.offsets, ngram, *tables, values, offsets)
    return ShingleLists(values[: offsets[-1]], offsets)


@lru_cache(maxsize=64)
def draw_polynomial(seed: int) -> int:
    """Draw the irreducible polynomial of a seed, of degree 64.

    Bit k is the coefficient of t^k. Below t^64 it is the first of mix64(mix64(seed) + i * GOLDEN),
    i = 1, 2, ..., with the lowest bit set, that makes it irreducible.
    """
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(seed))
        for i in count(1):
            polynomial = 1 << 64 | int(mix_words(start + np.uint64(i) * GOLDEN)) | 1
            if is_irreducible(polynomial):
                break
    return polynomial


def is_irreducible(polynomial: int) -> bool:
    """Return whether a polynomial modulo 2 is irreducible.

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
    """Return the remainder of polynomials over the integers modulo 2."""
    length = polynomial.bit_length()
    while (excess := dividend.bit_length() - length) >= 0:
        dividend ^= polynomial << excess
    return dividend


def _square(polynomial: int) -> int:
    """Square a polynomial modulo 2 by spreading its coefficients."""
    return int(f"{polynomial:b}", 4)


def _common_divisor(a: int, b: int) -> int:
    while b:
        a, b = b, remainder(a, b)
    return a


@lru_cache(maxsize=64)
def _word_tables(seed: int, ngram: int) -> tuple[Uint64s, Uint64s]:
    modulus = draw_polynomial(seed)
    leaving = _power(64 * ngram, modulus)
    top = _rows_of_multiples(remainder(1 << 64, modulus), modulus)
    out = _rows_of_multiples(leaving, modulus)
    # Exactly one of the eight look-ups, the first, includes the leading 1.
    out[0] ^= np.uint64(remainder(leaving << 64, modulus) ^ leaving)
    return top, out


def _rows_of_multiples(factor: int, polynomial: int) -> Uint64s:
    """Multiply ``factor * t^8j`` by every byte in row j of 8."""
    factors = [remainder(factor << 8 * j, polynomial) for j in range(8)]
    return np.stack([_multiples(shifted, polynomial) for shifted in factors])


def _multiples(factor: int, polynomial: int) -> Uint64s:
    products: Uint64s = np.zeros(256, np.uint64)
    for bit in range(8):
        product = np.uint64(remainder(factor << bit, polynomial))
        products[1 << bit : 2 << bit] = products[: 1 << bit] ^ product
    return products


def _power(exponent: int, polynomial: int) -> int:
    power = 1
    for digit in f"{exponent:b}":
        power = remainder(_square(power) << int(digit), polynomial)
    return power


@dataclass(frozen=True)
class Fingerprints:
    """Hash of shingles, 64 bits.

    ``mixer`` is a mixed polynomial of the tokens' hashes. ``rabin`` are Rabin fingerprints, whose
    collisions are bounded for all texts; only they depend on the 64-bit ``seed``.
    """

    kind: Fingerprint = "mixer"
    seed: int = 42

    @classmethod
    def of(cls, options: FingerprintOptions, seed: int | None) -> Self:
        """Return the fingerprints of options, without the mixer's seed."""
        kind = options.fingerprint or "mixer"
        if seed is None or kind == "mixer":
            seed = 42
        return cls(kind, seed)

    def describe(self) -> dict[str, object]:
        """Return settings other than the defaults, as plain values."""
        return {} if self.kind == "mixer" else {"fingerprint": self.kind}


# Version of all hash definitions in docs/hashing.md; raise it if any or a token rule changes.
HASH_VERSION = 2


@dataclass(frozen=True)
class ShingleScheme:
    """Rules for sets of shingles from texts.

    A shingle has ``ngram`` tokens, from 1 to 65,536. A text with fewer tokens has one shingle: all
    of them. A shingle counts once in a ``set``. With ``numbered`` occurrences its x-th copy in a
    text is an element of its own, so that measures become those of multisets.
    """

    tokenizer: Tokenizer
    normalisation: Normalisation
    ngram: int = 5
    occurrences: Occurrences = "set"
    fingerprints: Fingerprints = field(default_factory=Fingerprints)

    def describe(self) -> dict[str, object]:
        """Return all settings that decide the sets, as plain values."""
        return {
            **self.tokenizer.describe(),
            **self.normalisation.describe(),
            **self._describe_stemmer(),
            "ngram": self.ngram,
            "occurrences": self.occurrences,
            "hash_version": HASH_VERSION,
            "unicode_version": unicodedata.unidata_version,
            **self.fingerprints.describe(),
        }

    def _describe_stemmer(self) -> dict[str, object]:
        if self.normalisation.stem is None:
            return {}
        from neardup.text.stems import VERSION

        return {"stemmer": VERSION}


class SchemeOptions(ShingleOptions, FingerprintOptions, SeedOptions):
    """Options of shingles and of their hashes."""


def make_shingle_scheme(tokenizer: TokenizerChoice | None = None, **options: Any) -> ShingleScheme:
    """Make a scheme from ``SchemeOptions`` by name."""
    given = SchemeOptions(tokenizer=tokenizer, **options)
    return shingle_scheme(given, Fingerprints.of(given, given.seed))


def shingle_scheme(
    options: ShingleOptions, fingerprints: Fingerprints | None = None
) -> ShingleScheme:
    """Make a scheme from options, with ``casefold`` by default for words."""
    tokenizer = "words" if options.tokenizer is None else options.tokenizer
    named = named_tokenizer(tokenizer)
    casefold = named is not None and named.casefold
    casefold = casefold if options.casefold is None else options.casefold
    normalisation = options.part(Normalisation, casefold=casefold)
    names = [name for name in Normalisation.known if getattr(options, name)]
    if names and named is not None and not named.normalises:
        message = (
            f"tokenizer {tokenizer} has nothing to fold away; leave out {', '.join(names)}, or "
            "choose another tokenizer"
        )
        raise InvalidParameterError(message, "tokenizer", *names)
    if options.stem is not None:
        if tokenizer != "words":
            raise no_effect(
                "stem", f"with tokenizer {tokenizer}", "choose tokenizer words", "tokenizer"
            )
        # Imports an optional library.
        from neardup.text.stems import check_stem

        check_stem(options.stem)
    return ShingleScheme(
        make_tokenizer(tokenizer, normalisation),
        normalisation,
        5 if options.ngram is None else options.ngram,
        options.occurrences or "set",
        fingerprints or Fingerprints(),
    )


def digest_token_lists(token_lists: TokenLists) -> Uint64s:
    """Digest token sequences to 128 bits, shape (n, 2)."""
    digests: Uint64s = np.empty((len(token_lists), 2), np.uint64)
    tokens.digest_tokens(token_lists.values, token_lists.offsets, digests)
    return digests


def shingle_lists(token_lists: TokenLists, scheme: ShingleScheme) -> ShingleLists:
    """Hash the shingles of each token sequence, in any order."""
    how = scheme.fingerprints
    if how.kind == "mixer":
        hashed = shingle_tokens(token_lists, scheme.ngram)
        lists = ShingleLists(hashed.values, hashed.offsets)
    else:
        lists = fingerprint_tokens(token_lists, scheme.ngram, how.seed)
    if scheme.occurrences == "numbered":
        shingle_kernels.number_occurrences(
            lists.values, lists.offsets, *sorting_room(lists.offsets)
        )
    return lists


def shingle_sets(texts: Texts, scheme: ShingleScheme) -> ShingleSets:
    """Return each text's sorted set of shingle hashes."""
    return sets_of_tokens(scheme.tokenizer.hash_tokens(texts), scheme)


def sets_of_tokens(token_lists: TokenLists, scheme: ShingleScheme) -> ShingleSets:
    """Return each token sequence's sorted set of shingle hashes."""
    return sorted_in_place(shingle_lists(token_lists, scheme))


def sorted_in_place(lists: ShingleLists) -> ShingleSets:
    """Return the set of each document's shingles, sorted in place."""
    sizes: Int64s = np.empty(len(lists), np.int64)
    shingle_kernels.sort_sets(
        lists.values, lists.offsets, *sorting_room(lists.offsets), sizes, NO_COPIES
    )
    return ShingleSets(lists.values, lists.offsets[:-1], sizes)


def shingle_set_sizes(lists: ShingleLists) -> Int64s:
    """Count the distinct shingles of each text."""
    return sorted_in_place(ShingleLists(lists.values.copy(), lists.offsets)).sizes


def digest_sets(sets: ShingleSets) -> Uint64s:
    """Digest sets to 128 bits, shape (n, 2)."""
    return digest_token_lists(take_ranges(sets.values, sets.starts, sets.starts + sets.sizes))


# Copies that ``sort_sets`` does not count.
NO_COPIES: Int64s = np.empty(0, np.int64)


def sorting_room(offsets: Int64s) -> tuple[Uint64s, Int64s]:
    """Make the scratch that the sorting kernels ask for."""
    longest = int(np.diff(offsets).max(initial=0))
    return np.empty(longest, np.uint64), np.empty(2 * longest + 1, np.int64)


def take_ranges(values: Uint64s, starts: Int64s, stops: Int64s) -> TokenLists:
    """Return one list per range of values, also overlapping ranges."""
    sizes = stops - starts
    offsets = offsets_of(sizes)
    taken: Uint64s = np.empty(int(offsets[-1]), np.uint64)
    shingle_kernels.copy_sets(values, starts, sizes, taken, offsets[:-1])
    return TokenLists(taken, offsets)
