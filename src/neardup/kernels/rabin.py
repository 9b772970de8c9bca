"""Rabin fingerprints of all windows of a text, rolled along it.

A string of bits is a polynomial over the integers modulo 2, its first bit the highest coefficient;
its fingerprint is the remainder modulo an irreducible polynomial P of degree 64, or less. Bit k of
a 64-bit word is the coefficient of t^k. A 1 stands before every string, so that leading zeros
count. Windows are rolled modulo M, P times a power of t of degree 64 in all, and each remainder is
then brought below the degree of P. ``text.rabin`` makes the tables.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.hashing import mix64
from neardup.kernels.types import (
    ConstBytes,
    ConstInt64s,
    ConstUint64Rows,
    ConstUint64s,
    Int64s,
    Uint64s,
)

_8, _16, _24, _32 = np.uint64(8), np.uint64(16), np.uint64(24), np.uint64(32)
_40, _48, _56, _64 = np.uint64(40), np.uint64(48), np.uint64(56), np.uint64(64)
_1, _BYTE = np.uint64(1), np.uint64(255)


@inlined
def _append_byte(fingerprint: np.uint64, byte: np.uint8, top: ConstUint64s) -> np.uint64:
    """Multiply by t^8, add a byte, and reduce the eight bits that have left the word."""
    return np.uint64((fingerprint << _8) ^ np.uint64(byte) ^ top[fingerprint >> _56])


@inlined
def _times(word: np.uint64, table: ConstUint64Rows) -> np.uint64:
    """Multiply a word by the polynomial that a table of eight rows was made for.

    Row j gives the product of each byte that stands at t^(8 j). The eight look-ups do not wait for
    each other, as those of bytes appended one by one would.
    """
    low = table[0, word & _BYTE] ^ table[1, (word >> _8) & _BYTE]
    low ^= table[2, (word >> _16) & _BYTE] ^ table[3, (word >> _24) & _BYTE]
    high = table[4, (word >> _32) & _BYTE] ^ table[5, (word >> _40) & _BYTE]
    high ^= table[6, (word >> _48) & _BYTE] ^ table[7, word >> _56]
    return np.uint64(low ^ high)


@inlined
def _shorten(remainder: np.uint64, bits: np.uint64, short: ConstUint64Rows) -> np.uint64:
    """Reduce a remainder modulo M to 32 to 64 bits; row j of ``short`` is for t^(bits + 8 j)."""
    if bits == _64:
        return remainder
    high = remainder >> bits
    low = remainder & ((_1 << bits) - _1)
    low ^= short[0, high & _BYTE] ^ short[1, (high >> _8) & _BYTE]
    return np.uint64(low ^ short[2, (high >> _16) & _BYTE] ^ short[3, high >> _24])


@kernel
def fingerprint_bytes(
    data: ConstBytes,
    text_offsets: ConstInt64s,
    width: int,
    top: ConstUint64s,
    out: ConstUint64s,
    short: ConstUint64Rows,
    bits: int,
    shingles: Uint64s,
    shingle_offsets: Int64s,
) -> None:
    """Fingerprint every run of ``width`` bytes; a shorter text has one run, all its bytes.

    ``top`` (256) is h * t^64 for each byte h. ``out`` (256) takes the byte that leaves away and
    puts the leading 1 one byte back: b * t^(8 (width - 1)) + t^(8 width) + t^(8 (width - 1)).
    ``short`` (4, 256) gives what each byte of a remainder above ``bits``, the degree of P, is
    modulo P. ``shingles`` takes mix64 of each fingerprint, one for each byte at most,
    ``shingle_offsets`` (n + 1) says whose they are.
    """
    degree = np.uint64(bits)
    count = np.int64(0)
    for doc in range(text_offsets.shape[0] - 1):
        shingle_offsets[doc] = count
        start, stop = text_offsets[doc], text_offsets[doc + 1]
        if stop == start:
            continue
        head = min(start + width, stop)
        fingerprint = np.uint64(1)
        for i in range(start, head):
            fingerprint = _append_byte(fingerprint, data[i], top)
        shingles[count] = mix64(_shorten(fingerprint, degree, short))
        count += 1
        for i in range(head, stop):
            fingerprint ^= out[data[np.uint64(i - width)]]
            fingerprint = _append_byte(fingerprint, data[np.uint64(i)], top)
            shingles[np.uint64(count)] = mix64(_shorten(fingerprint, degree, short))
            count += 1
    shingle_offsets[text_offsets.shape[0] - 1] = count


@kernel
def fingerprint_tokens(
    tokens: ConstUint64s,
    token_offsets: ConstInt64s,
    ngram: int,
    top: ConstUint64Rows,
    out: ConstUint64Rows,
    short: ConstUint64Rows,
    bits: int,
    shingles: Uint64s,
    shingle_offsets: Int64s,
) -> None:
    """Fingerprint every run of ``ngram`` tokens, each the eight bytes of its hash, highest first.

    A shorter text has one run, all its tokens. ``top`` (8, 256) multiplies a word by t^64, ``out``
    (8, 256) the word that leaves by t^(64 ngram), and adds t^(64 (ngram + 1)) + t^(64 ngram), which
    puts the leading 1 one token back. The others, and results, as of ``fingerprint_bytes``.
    """
    degree = np.uint64(bits)
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
        shingles[count] = mix64(_shorten(fingerprint, degree, short))
        count += 1
        for i in range(head, stop):
            leaving = _times(tokens[np.uint64(i - ngram)], out)
            fingerprint = _times(fingerprint, top) ^ (tokens[np.uint64(i)] ^ leaving)
            shingles[np.uint64(count)] = mix64(_shorten(fingerprint, degree, short))
            count += 1
    shingle_offsets[token_offsets.shape[0] - 1] = count
