"""MinHash signatures, their band keys and their equal positions."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstInt32Rows,
    ConstInt32s,
    ConstInt64s,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint32Rows,
    Uint32s,
    Uint64Rows,
)
from neardup.kernels.common.hashing import GOLDEN, mix64

_32, _ODD = np.uint64(32), np.uint32(1)
_ALL_ONES = np.uint32(0xFFFFFFFF)

# Shingles split into halves at a time; both arrays stay in the first-level cache.
_CHUNK = 1024


@inlined
def _lane(upper: np.uint32, odd: np.uint32, mask: np.uint32, even_mask: np.uint32) -> np.uint32:
    """Return the value of a shingle in one lane.

    For any fixed lane and odd factor this is one to one in the upper half, so that values are
    exactly uniform. Both halves of the shingle enter, and not linearly: 63 of its bits decide each
    lane, while a multiply-and-add on 32 bits would keep progressions and use one half only.
    """
    # Numba widens 32-bit operands to 64 bits. With all four loaded from 32-bit arrays and the
    # product cast back, LLVM narrows it again, to vectors of 32-bit lanes.
    return np.uint32((upper ^ mask) * (odd ^ even_mask))


@inlined
def _lower_signature(
    uppers: Uint32s,
    odds: Uint32s,
    size: int,
    masks: ConstUint32s,
    even_masks: ConstUint32s,
    signature: Uint32s,
) -> None:
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


@kernel
def minhash_signatures(
    shingles: ConstUint64s,
    offsets: ConstInt64s,
    masks: ConstUint32s,
    even_masks: ConstUint32s,
    signatures: Uint32Rows,
) -> None:
    """Compute each text's smallest shingle value in every lane.

    ``masks`` and ``even_masks`` (n_lanes, the latter even) define the lanes; ``signatures`` has
    shape (n, n_lanes). Repeated shingles change nothing. An empty text has all ones.
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


@kernel
def band_keys(
    signatures: ConstUint32Rows,
    n_bands: int,
    n_rows: int,
    keys: Uint64Rows,
) -> None:
    """Hash each numbered band of signatures to a 64-bit key.

    Band j of ``n_rows`` lanes starts at lane j * n_rows; ``keys`` has shape (n, n_bands).
    """
    beginnings = np.empty(n_bands, np.uint64)
    for band in range(n_bands):
        beginnings[band] = mix64(GOLDEN ^ np.uint64(band))
    width = np.uint64(n_rows)
    for doc in range(signatures.shape[0]):
        signature, own = signatures[doc], keys[doc]
        for band in range(np.uint64(n_bands)):
            own[band] = beginnings[band]
        # All bands row by row: a key waits for the row before it, but not for other bands, so that
        # LLVM makes vector code of it.
        for row in range(width):
            for band in range(np.uint64(n_bands)):
                own[band] = mix64(own[band] ^ np.uint64(signature[band * width + row]))


@kernel
def count_equal(
    signatures: ConstUint32Rows,
    other: ConstUint32Rows,
    left: ConstInt64s,
    right: ConstInt64s,
    equal: Int64s,
) -> None:
    """Count equal positions of rows left[k] and right[k]."""
    for k in range(left.shape[0]):
        x, y, n = left[k], right[k], np.int64(0)
        for i in range(signatures.shape[1]):
            n += np.int64(signatures[x, i] == other[y, i])
        equal[k] = n


@kernel
def probe_agreeing(
    start: int,
    stop: int,
    n_left: int,
    buckets: ConstInt32Rows,
    bucket_starts: ConstInt64s,
    members: ConstInt32s,
    signatures: ConstUint32Rows,
    required: int,
    last_seen: Int32s,
    left: Int32s,
    right: Int32s,
    equal: Int32s,
) -> tuple[Int, Int]:
    """Find earlier rows that agree in at least ``required`` positions.

    The later rows are ``start`` to ``stop``, exclusive. Candidates share one of the buckets
    (n_bands, n). With two collections, the first of ``n_left`` rows, pairs have one row of each;
    ``n_left`` is negative otherwise. ``last_seen`` (n, all -1 at first) is private to a worker.

    Returns the first row not probed, which is below ``stop`` if the next one's pairs might not fit
    into the output, and the number of pairs.
    """
    n_pairs, room = np.int64(0), left.shape[0]
    for x in range(start, stop):
        before = n_pairs
        if x < n_left:
            continue
        for band in range(buckets.shape[0]):
            bucket = buckets[band, x]
            if bucket < 0:
                continue
            k = bucket_starts[bucket]
            while members[k] < x and (n_left < 0 or members[k] < n_left):
                y = np.int64(members[k])
                k += 1
                if last_seen[y] == x:
                    continue
                last_seen[y] = x
                n = np.int64(0)
                for i in range(signatures.shape[1]):
                    n += np.int64(signatures[x, i] == signatures[y, i])
                if n >= required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], equal[n_pairs] = y, x, n
                    n_pairs += 1
        if n_pairs > room:
            # The caller will probe x again, with more room.
            for m in range(last_seen.shape[0]):
                if last_seen[m] == x:
                    last_seen[m] = -1
            return x, before
    return stop, n_pairs
