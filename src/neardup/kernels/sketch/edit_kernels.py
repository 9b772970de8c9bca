"""Signatures that estimate the edit distance of texts."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.arrays import (
    ConstBytes,
    ConstInt64s,
    Int64s,
    Uint32s,
)
from neardup.kernels.common.hashing import mix64
from neardup.kernels.text.folding import character_at
from neardup.kernels.text.shingle_kernels import POWER

_LOW32 = np.uint64(0xFFFFFFFF)


@kernel
def sign_texts(
    data: ConstBytes,
    offsets: ConstInt64s,
    first: int,
    neighbourhood: int,
    largest: np.uint64,
    seed: np.uint64,
    symbols: Uint32s,
    symbol_offsets: Int64s,
    lengths: Int64s,
) -> int:
    """Write the symbols of texts from ``first`` while they fit.

    A window of ``neighbourhood`` characters has the hash z = mix64(polynomial ^ seed), where the
    polynomial is the sum of code * POWER^(characters after it) modulo 2^64. If z is ``largest`` or
    less, its lower half is a symbol.

    ``symbol_offsets`` (n + 1) is set at ``first``; ``lengths`` (n) takes characters. Returns the
    number of the text whose symbols did not fit, or n; output for earlier texts is complete.
    """
    room = symbols.shape[0]
    leaving = np.uint64(1)
    for _ in range(neighbourhood):
        leaving *= POWER
    n_docs = int(offsets.shape[0] - 1)
    for doc in range(first, n_docs):
        count = symbol_offsets[doc]
        i, left, end = offsets[doc], offsets[doc], offsets[doc + 1]
        n_characters, window = np.int64(0), np.uint64(0)
        while i < end:
            code, length = character_at(data, i)
            i += length
            step = np.uint64(code)
            if n_characters >= neighbourhood:
                code, length = character_at(data, left)
                left += length
                step -= np.uint64(code) * leaving
            n_characters += 1
            window = window * POWER + step
            if n_characters < neighbourhood:
                continue
            z = mix64(window ^ seed)
            if z <= largest:
                if count < room:
                    symbols[count] = np.uint32(z & _LOW32)
                count += 1
        if count > room:
            return doc
        lengths[doc] = n_characters
        symbol_offsets[doc + 1] = count
    return n_docs
