"""Samples of texts from which nothing is removed, many at a time.

Where nothing repeats, picking samples and putting them into the table is all there is to do.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper
from neardup.kernels.hashing import mix64
from neardup.kernels.repeat_table import (
    LONG_CHAIN,
    NEVER,
    Collection,
    Found,
    entry_at_home,
    fill_slot,
    look_up_sample,
    power,
)
from neardup.kernels.shingles import POWER
from neardup.kernels.types import ConstUint64s, Int, Int64s, Uint64s

# Samples picked at a time. The table is touched for all of them before any is looked up: so their
# waits for memory overlap.
N_PICKED = 64

FULL = -1


@helper
def _pick_samples(
    values: ConstUint64s,
    begin: Int,
    stop: Int,
    min_tokens: Int,
    gram: Int,
    ring: Uint64s,
    samples: Int64s,
    windows: Int64s,
    hashes: Uint64s,
) -> tuple[Int, Int]:
    """Pick the samples of the windows from ``begin`` on, for as many as there is room.

    ``windows`` gets the first window that each is the sample of. Returns the number of samples
    and the first window that was not seen, or ``stop``.
    """
    n_grams = min_tokens - gram + 1
    leaving = power(gram)
    mask = np.int64(ring.shape[0] - 1)
    if stop - begin < min_tokens:
        return 0, stop
    joined = np.uint64(0)
    head = np.int64(begin)
    for _ in range(gram):
        joined = joined * POWER + values[np.uint64(head)]
        head += 1
    # The k-gram whose last token is before head.
    at = np.int64(begin)
    ring[np.uint64(at & mask)] = joined
    least, least_at = joined, at
    for _ in range(n_grams - 1):
        joined = joined * POWER + values[np.uint64(head)] - leaving * values[np.uint64(at)]
        head += 1
        at += 1
        ring[np.uint64(at & mask)] = joined
        if joined <= least:
            least, least_at = joined, at
    samples[0], windows[0], hashes[0] = least_at, begin, mix64(least)
    n = np.int64(1)
    while head < stop:
        joined = joined * POWER + values[np.uint64(head)] - leaving * values[np.uint64(at)]
        at += 1
        ring[np.uint64(at & mask)] = joined
        if joined > least and least_at != at - n_grams:
            head += 1
            continue
        if n == samples.shape[0]:
            return n, head - min_tokens + 1
        if joined <= least:
            least, least_at = joined, at
        else:
            least, least_at = joined, at
            for k in range(at - 1, at - n_grams, -1):
                earlier = ring[np.uint64(k & mask)]
                if earlier < least:
                    least, least_at = earlier, np.int64(k)
        head += 1
        samples[np.uint64(n)] = least_at
        windows[np.uint64(n)] = head - min_tokens
        hashes[np.uint64(n)] = mix64(least)
        n += 1
    return n, stop


@helper
def pass_samples(
    collection: Collection,
    found: Found,
    first_row: Int,
    start: Int,
    stop: Int,
    begin: Int,
    is_searched: Int,
    is_added: Int,
    ring: Uint64s,
) -> Int:
    """Put the samples of windows from ``begin`` on into the table for as long as none repeats.

    Returns the first window that needs a closer look, ``stop`` if there is none, or ``FULL``.
    ``ring`` has a power of two places, at least one for each k-gram of a window.
    """
    samples, windows = np.empty(N_PICKED, np.int64), np.empty(N_PICKED, np.int64)
    hashes = np.empty(N_PICKED, np.uint64)
    while begin < stop:
        n_picked, begin = _pick_samples(
            collection.values,
            begin,
            stop,
            collection.min_tokens,
            collection.gram,
            ring,
            samples,
            windows,
            hashes,
        )
        touched = np.uint64(0)
        for k in range(n_picked):
            touched |= entry_at_home(found.entries, hashes[k])
        # Kept, or the loop would be left out.
        ring[0] = touched
        for k in range(n_picked):
            length, _, wait, n_entries, slot = look_up_sample(
                collection,
                found,
                first_row,
                start,
                stop,
                is_searched,
                windows[k],
                samples[k],
                samples[k] - windows[k],
                hashes[k],
            )
            if length > 0 or wait < NEVER or n_entries >= LONG_CHAIN:
                return np.int64(windows[k])
            if is_added and fill_slot(found, slot, hashes[k], samples[k]):
                return FULL
    return np.int64(stop)
