"""Hash runs of consecutive tokens as lists, multisets and sets.

Rabin fingerprints of all windows of a text are rolled along it. A string of bits is a polynomial
over the integers modulo 2, its first bit the highest coefficient; its fingerprint is the remainder
modulo an irreducible polynomial of degree 64. Bit k of a 64-bit word is the coefficient of t^k. A 1
precedes every string, so that leading zeros count. ``neardup.text.shingles`` makes the tables.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstInt64s,
    ConstUint64Rows,
    ConstUint64s,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.common.ordering import sort_hashes

# Odd, and 3 modulo 4, so that POWER - 1 has a single factor 2: the order of two tokens shows in all
# bits but one.
POWER = np.uint64(0xD6E8FEB86659FD93)
_1 = np.uint64(1)


@kernel
def hash_shingles(
    tokens: ConstUint64s,
    token_offsets: ConstInt64s,
    ngram: int,
    shingles: Uint64s,
    shingle_offsets: Int64s,
) -> None:
    """Hash runs of ``ngram`` tokens, or all tokens if fewer.

    The tokens' hashes h_1..h_m are joined as a polynomial, sum of h_i * POWER^(m - i) modulo 2^64;
    the shingle is mix64(polynomial + m * GOLDEN). ``shingles`` takes one value for each token,
    ``shingle_offsets`` (n + 1) delimits texts.
    """
    leaving = _1
    for _ in range(ngram):
        leaving *= POWER
    count = np.int64(0)
    for doc in range(token_offsets.shape[0] - 1):
        shingle_offsets[doc] = count
        start, stop = token_offsets[doc], token_offsets[doc + 1]
        if stop == start:
            continue
        head = min(start + ngram, stop)
        polynomial = np.uint64(0)
        for i in range(start, head):
            polynomial = polynomial * POWER + tokens[i]
        length_term = np.uint64(head - start) * GOLDEN
        first = np.uint64(count)
        shingles[first] = polynomial + length_term
        for i in range(head, stop):
            step = tokens[np.uint64(i)] - tokens[np.uint64(i - ngram)] * leaving
            polynomial = polynomial * POWER + step
            count += 1
            shingles[np.uint64(count)] = polynomial + length_term
        count += 1
        # A loop of its own, of which LLVM makes vector code.
        for k in range(first, np.uint64(count)):
            shingles[k] = mix64(shingles[k])
    shingle_offsets[token_offsets.shape[0] - 1] = count


@kernel
def number_occurrences(
    shingles: Uint64s,
    offsets: ConstInt64s,
    scratch: Uint64s,
    counts: Int64s,
) -> None:
    """Turn each text's shingles into numbered sets, in place.

    The x-th copy of shingle h becomes mix64(h ^ mix64(x)) for x > 1, the first stays h; so the
    intersection of two such sets is the multiset intersection. ``scratch`` and ``counts`` are as
    long as the longest text's shingles, ``counts`` twice as long and one more.
    """
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts, 0)
        i = start
        while i < stop:
            value = shingles[i]
            copy = np.uint64(2)
            i += 1
            while i < stop and shingles[i] == value:
                shingles[i] = mix64(value ^ mix64(copy))
                copy += np.uint64(1)
                i += 1


@kernel
def sort_sets(
    shingles: Uint64s,
    offsets: ConstInt64s,
    scratch: Uint64s,
    counts: Int64s,
    sizes: Int64s,
    copies: Int64s,
) -> None:
    """Sort each text's shingles and drop repeats, in place.

    The set of text d is then ``shingles[offsets[d] : offsets[d] + sizes[d]]``; values from there to
    ``offsets[d + 1]`` are meaningless. ``scratch`` and ``counts`` as in ``number_occurrences``.
    ``copies`` is empty, or as long as ``shingles`` and gets how often each one occurs.
    """
    are_counted = copies.shape[0] > 0
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts, 0)
        last = start - 1
        for i in range(start, stop):
            if i == start or shingles[i] != shingles[last]:
                last += 1
                shingles[last] = shingles[i]
                if are_counted:
                    copies[last] = 0
            if are_counted:
                copies[last] += 1
        sizes[doc] = last + 1 - start


@kernel
def copy_sets(
    values: ConstUint64s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    target: Uint64s,
    target_starts: ConstInt64s,
) -> None:
    """Copy n sets between arrays."""
    for d in range(starts.shape[0]):
        for i in range(sizes[d]):
            target[target_starts[d] + i] = values[starts[d] + i]


_8, _16, _24, _32 = np.uint64(8), np.uint64(16), np.uint64(24), np.uint64(32)
_40, _48, _56 = np.uint64(40), np.uint64(48), np.uint64(56)
_BYTE = np.uint64(255)


@inlined
def _times(word: np.uint64, table: ConstUint64Rows) -> np.uint64:
    """Multiply a word by the polynomial of a table.

    Row j has the product of each byte at t^(8 j). The eight look-ups do not wait for each other, as
    appending bytes one by one would.
    """
    low = table[0, word & _BYTE] ^ table[1, (word >> _8) & _BYTE]
    low ^= table[2, (word >> _16) & _BYTE] ^ table[3, (word >> _24) & _BYTE]
    high = table[4, (word >> _32) & _BYTE] ^ table[5, (word >> _40) & _BYTE]
    high ^= table[6, (word >> _48) & _BYTE] ^ table[7, word >> _56]
    return np.uint64(low ^ high)


@kernel
def fingerprint_tokens(
    tokens: ConstUint64s,
    token_offsets: ConstInt64s,
    ngram: int,
    top: ConstUint64Rows,
    out: ConstUint64Rows,
    shingles: Uint64s,
    shingle_offsets: Int64s,
) -> None:
    """Fingerprint ``ngram``-token runs by hash bytes, highest first.

    A shorter text has one run, all its tokens. ``top`` (8, 256) multiplies a word by t^64, ``out``
    (8, 256) the word that leaves by t^(64 ngram), and adds t^(64 (ngram + 1)) + t^(64 ngram), which
    puts the leading 1 one token back. ``shingles`` takes mix64 of each fingerprint,
    one for each token at most, ``shingle_offsets`` (n + 1) delimits texts.
    """
    count = np.int64(0)
    for doc in range(token_offsets.shape[0] - 1):
        shingle_offsets[doc] = count
        start, stop = token_offsets[doc], token_offsets[doc + 1]
        if stop == start:
            continue
        head = min(start + ngram, stop)
        fingerprint = np.uint64(1)
        for i in range(start, head):
            fingerprint = _times(fingerprint, top) ^ tokens[i]
        shingles[count] = mix64(fingerprint)
        count += 1
        for i in range(head, stop):
            leaving = _times(tokens[np.uint64(i - ngram)], out)
            fingerprint = _times(fingerprint, top) ^ (tokens[np.uint64(i)] ^ leaving)
            shingles[np.uint64(count)] = mix64(fingerprint)
            count += 1
    shingle_offsets[token_offsets.shape[0] - 1] = count
