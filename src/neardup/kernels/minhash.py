"""MinHash signatures and the keys of their bands."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.hashing import GOLDEN, mix64

_32, _ODD = np.uint64(32), np.uint32(1)
_ALL_ONES = np.uint32(0xFFFFFFFF)

# Shingles split into halves at a time; both arrays stay in the first-level cache.
_CHUNK = 1024


@inlined
def _lane(upper, odd, mask, even_mask):  # type: ignore[no-untyped-def]
    """Value of a shingle in one lane: its upper half and its lower half made odd, masked and
    multiplied.

    For any fixed lane and odd factor this is one to one in the upper half, so that values are
    exactly uniform; and because both factors vary, the order of two shingles in one lane says
    nothing about their order in another, unlike with multiply-and-add.
    """
    # Numba widens 32-bit operands to 64 bits. With all four loaded from 32-bit arrays and the
    # product cast back, LLVM narrows it again, to vectors of 32-bit lanes.
    return np.uint32((upper ^ mask) * (odd ^ even_mask))


@inlined
def _lower_signature(uppers, odds, size, masks, even_masks, signature):  # type: ignore[no-untyped-def]
    """Lower every lane of a signature to the least value of ``size`` shingles."""
    n_lanes = np.uint64(masks.shape[0])
    i = np.int64(0)
    # Eight shingles per pass over the lanes: the inner loop is straight arithmetic that LLVM turns
    # into vector code, and each lane is loaded and stored once for eight shingles.
    while i + 8 <= size:
        u0, u1, u2, u3 = uppers[i], uppers[i + 1], uppers[i + 2], uppers[i + 3]
        u4, u5, u6, u7 = uppers[i + 4], uppers[i + 5], uppers[i + 6], uppers[i + 7]
        w0, w1, w2, w3 = odds[i], odds[i + 1], odds[i + 2], odds[i + 3]
        w4, w5, w6, w7 = odds[i + 4], odds[i + 5], odds[i + 6], odds[i + 7]
        for k in range(n_lanes):
            m, e = masks[k], even_masks[k]
            low = min(signature[k], _lane(u0, w0, m, e))
            low = min(low, _lane(u1, w1, m, e))
            low = min(low, _lane(u2, w2, m, e))
            low = min(low, _lane(u3, w3, m, e))
            low = min(low, _lane(u4, w4, m, e))
            low = min(low, _lane(u5, w5, m, e))
            low = min(low, _lane(u6, w6, m, e))
            signature[k] = min(low, _lane(u7, w7, m, e))
        i += 8
    while i < size:
        u0, w0 = uppers[i], odds[i]
        for k in range(n_lanes):
            signature[k] = min(signature[k], _lane(u0, w0, masks[k], even_masks[k]))
        i += 1


@kernel("const-u8[] const-i8[] const-u4[] const-u4[] u4[,]")
def minhash_signatures(shingles, offsets, masks, even_masks, signatures):  # type: ignore[no-untyped-def]
    """Take the smallest value of each text's shingles in every lane; all ones where there is none.

    ``masks`` and ``even_masks`` (n_lanes, the latter even) make the lanes; ``signatures`` has
    shape (n, n_lanes). Repeated shingles change nothing.
    """
    uppers = np.empty(_CHUNK, np.uint32)
    odds = np.empty(_CHUNK, np.uint32)
    for doc in range(offsets.shape[0] - 1):
        signature = signatures[doc]
        signature[:] = _ALL_ONES
        for start in range(offsets[doc], offsets[doc + 1], _CHUNK):
            size = min(_CHUNK, offsets[doc + 1] - start)
            for i in range(size):
                shingle = shingles[start + i]
                uppers[i] = np.uint32(shingle >> _32)
                odds[i] = np.uint32(shingle) | _ODD
            _lower_signature(uppers, odds, size, masks, even_masks, signature)


@kernel("const-u4[,] i8 i8 u8[,]")
def band_keys(signatures, n_bands, n_rows, keys):  # type: ignore[no-untyped-def]
    """Hash each band of each signature, with the band's number, to one 64-bit key.

    Band j of ``n_rows`` lanes starts at lane j * n_rows; ``keys`` has shape (n, n_bands).
    """
    for doc in range(signatures.shape[0]):
        for band in range(n_bands):
            key = mix64(GOLDEN ^ np.uint64(band))
            for row in range(n_rows):
                key = mix64(key ^ np.uint64(signatures[doc, band * n_rows + row]))
            keys[doc, band] = key
