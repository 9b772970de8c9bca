"""Signatures whose edit distance estimates that of the texts."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel, trailing_zeros
from neardup.kernels.common.hashing import mix64
from neardup.kernels.text.folding import ascii_end, decode, load_eight
from neardup.kernels.text.shingles import POWER
from neardup.kernels.types import (
    Bytes,
    ConstBytes,
    ConstInt64s,
    Int,
    Int64s,
    Uint32s,
    Uint64s,
)

_0, _1, _2, _5, _8, _32, _63, _64 = (np.uint64(k) for k in (0, 1, 2, 5, 8, 32, 63, 64))
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)

# Windows hashed at a time; characters and hashes of so many stay in the first-level cache.
_CHUNK = 1024


@helper
def _read_characters(
    data: ConstBytes, i: Int, end: Int, codes: Uint32s, n_codes: Int, wanted: Int
) -> tuple[np.int64, np.int64]:
    """Decode characters from byte ``i`` on until there are ``wanted``, or the text ends.

    Gives the next byte and the number of characters.
    """
    while n_codes < wanted and i < end:
        if data[i] < 128:
            n = ascii_end(data, i, min(end, i + wanted - n_codes)) - i
            source, target = np.uint64(i), np.uint64(n_codes)
            for k in range(np.uint64(n)):
                codes[target + k] = data[source + k]
            i += n
            n_codes += n
        else:
            code_point, length = decode(data, i)
            codes[n_codes] = code_point
            i += length
            n_codes += 1
    return np.int64(i), np.int64(n_codes)


@helper
def _hash_windows(codes: Uint32s, n_windows: Int, neighbourhood: Int, hashes: Uint64s) -> None:
    """Hash every window of characters: sum of code * POWER^(characters after it) modulo 2^64.

    ``codes`` has one element more than there are characters, with any value.
    """
    n, size = np.uint64(n_windows), np.uint64(neighbourhood)
    leaving = _1
    for _ in range(neighbourhood):
        leaving *= POWER
    # Difference of each window's hash from POWER times the previous one.
    for j in range(n):
        hashes[j] = np.uint64(codes[j + size]) - np.uint64(codes[j]) * leaving
    # One hash follows from another four cycles later. Five stretches side by side wait for each
    # other no more; pointers to six would not fit into the registers.
    second = n // _5
    third = second + second
    fourth = third + second
    fifth = fourth + second
    a, b, c, d, e = _0, _0, _0, _0, _0
    for j in range(size):
        a = a * POWER + np.uint64(codes[j])
        b = b * POWER + np.uint64(codes[second + j])
        c = c * POWER + np.uint64(codes[third + j])
        d = d * POWER + np.uint64(codes[fourth + j])
        e = e * POWER + np.uint64(codes[fifth + j])
    for j in range(second):
        step_a, step_b, step_c = hashes[j], hashes[second + j], hashes[third + j]
        step_d, step_e = hashes[fourth + j], hashes[fifth + j]
        hashes[j], hashes[second + j], hashes[third + j] = a, b, c
        hashes[fourth + j], hashes[fifth + j] = d, e
        a = a * POWER + step_a
        b = b * POWER + step_b
        c = c * POWER + step_c
        d = d * POWER + step_d
        e = e * POWER + step_e
    for j in range(fifth + second, n):
        step_e = hashes[j]
        hashes[j] = e
        e = e * POWER + step_e


@helper
def _sum_windows(codes: Uint32s, n_windows: Int, neighbourhood: Int, sums: Uint64s) -> None:
    n, size = np.uint64(n_windows), np.uint64(neighbourhood)
    for j in range(n):
        sums[j] = np.uint64(codes[j + size]) - np.uint64(codes[j])
    total = _0
    for j in range(size):
        total += np.uint64(codes[j])
    for j in range(n):
        step = sums[j]
        sums[j] = total
        total += step


@helper
def _flag_hashes(
    hashes: Uint64s, n_windows: Int, largest: np.uint64, seed: np.uint64, hits: Bytes
) -> None:
    """Mix the hashes, and flag values up to ``largest``."""
    # A loop of its own, which LLVM turns into vector code.
    for j in range(np.uint64(n_windows)):
        z = mix64(hashes[j] ^ seed)
        hashes[j] = z
        hits[j] = np.uint8(1) if z <= largest else np.uint8(0)


@helper
def _flag_sums(
    sums: Uint64s, n_windows: Int, compression: np.uint64, residue: np.uint64, hits: Bytes
) -> None:
    shift = np.uint64(trailing_zeros(compression))
    turn = (_64 - shift) & _63
    odd = compression >> shift
    # Each round doubles the bits that are right; three of them are to begin with.
    inverse = odd
    for _ in range(5):
        inverse *= _2 - odd * inverse
    limit = _ALL_ONES // compression
    # A multiple of the odd number, and no other, becomes its quotient; turned, a multiple of the
    # power of two as well. That takes a product where a remainder takes a division.
    for j in range(np.uint64(n_windows)):
        quotient = (sums[j] - residue) * inverse
        quotient = (quotient >> shift) | (quotient << turn)
        hits[j] = np.uint8(1) if quotient <= limit and sums[j] >= residue else np.uint8(0)


@helper
def _list_hits(hits: Bytes, n_windows: Int, eights: Int64s, picked: Int64s) -> np.int64:
    """List windows with a flag; return their number.

    ``hits`` has eight bytes more than there are windows; ``eights`` takes a number for each eight.
    """
    n = np.uint64(n_windows)
    for j in range(n, n + _8):
        hits[j] = 0
    # First the few eights that have a hit: whether there is one cannot be guessed, so each is
    # written in any case, and kept or written over.
    n_eights = np.int64(0)
    for first in range(0, n_windows, 8):
        eights[np.uint64(n_eights)] = first
        n_eights += np.int64(load_eight(hits, np.uint64(first)) != _0)
    n_picked = np.int64(0)
    for k in range(n_eights):
        hit = load_eight(hits, np.uint64(eights[k]))
        while hit != _0:
            picked[n_picked] = eights[k] + (np.int64(trailing_zeros(hit)) >> 3)
            n_picked += 1
            hit &= hit - _1
    return n_picked


@kernel
def sign_texts(
    data: ConstBytes,
    offsets: ConstInt64s,
    first: int,
    neighbourhood: int,
    largest: np.uint64,
    compression: np.uint64,
    residue: np.uint64,
    is_sum: bool,
    seed: np.uint64,
    letters: np.uint64,
    symbols: Uint32s,
    symbol_offsets: Int64s,
    lengths: Int64s,
) -> int:
    """Write the symbols of the texts from number ``first`` on while they fit.

    A window of ``neighbourhood`` characters has the hash z = mix64(polynomial ^ seed), and a symbol
    if z is ``largest`` or less. With ``is_sum`` it has one if the sum of its characters is
    ``residue`` modulo ``compression``, and z = mix64(sum ^ seed). The symbol is the lower half of
    z, scaled to 0 .. letters - 1.

    ``symbol_offsets`` (n + 1) is set at ``first``; ``lengths`` (n) takes characters. Returns the
    number of the text whose symbols did not fit, or n; output for earlier texts is complete.
    """
    room = symbols.shape[0]
    codes = np.zeros(_CHUNK + neighbourhood, np.uint32)
    hashes = np.empty(_CHUNK, np.uint64)
    hits = np.empty(_CHUNK + 8, np.uint8)
    eights = np.empty(_CHUNK // 8, np.int64)
    picked = np.empty(_CHUNK, np.int64)
    n_docs = int(offsets.shape[0] - 1)
    for doc in range(first, n_docs):
        count = symbol_offsets[doc]
        i, end = offsets[doc], offsets[doc + 1]
        n_codes, window = np.int64(0), np.int64(0)
        while True:
            i, n_codes = _read_characters(data, i, end, codes, n_codes, _CHUNK + neighbourhood - 1)
            n_windows = n_codes - neighbourhood + 1
            if n_windows < 1:
                break
            if is_sum:
                _sum_windows(codes, n_windows, neighbourhood, hashes)
                _flag_sums(hashes, n_windows, compression, residue, hits)
            else:
                _hash_windows(codes, n_windows, neighbourhood, hashes)
                _flag_hashes(hashes, n_windows, largest, seed, hits)
            n_picked = _list_hits(hits, n_windows, eights, picked)
            if count + n_picked > room:
                return doc
            for k in range(n_picked):
                z = hashes[picked[k]]
                if is_sum:
                    z = mix64(z ^ seed)
                symbols[count] = np.uint32(((z & _LOW32) * letters) >> _32)
                count += 1
            window += n_windows
            # The last characters begin windows that end in the next chunk.
            n_codes = np.int64(neighbourhood - 1)
            for j in range(n_codes):
                codes[j] = codes[n_windows + j]
        lengths[doc] = window + n_codes
        symbol_offsets[doc + 1] = count
    return n_docs
