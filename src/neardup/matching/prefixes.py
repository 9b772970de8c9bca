"""Prefix tokens as keys: by them every pair at the threshold meets, and none is missed."""

from __future__ import annotations

import numpy as np

from neardup.kernels import postings
from neardup.matching.measures import Measure
from neardup.matching.postings import rank_sets
from neardup.tables import Int32s, Int64s, KeyLists, ShingleSets


def list_prefixes(sets: ShingleSets, measure: Measure) -> KeyLists:
    """Give each set's rarest elements as keys, so many that no pair at the threshold lacks one.

    Parameters
    ----------
    sets
        n sets, none empty.
    measure
        For a directed one the set that looks is the first of a pair; looking under all keys, sets
        meet in either direction.

    Notes
    -----
    Of two sets at the threshold each has an element of the other among its prefix, the
    ``n - least overlap + 1`` rarest. Of containments only the contained set's size is bounded, so
    all elements of the other are keys. Elements that no other set has are left out. Memory 8 bytes
    an element while it works, and 4 bytes a key.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 3.
    """
    n = len(sets)
    records = rank_sets(sets, np.arange(n))
    prefixes = measure.prefixes(sets.sizes)
    looks, found = (records.shorten(prefix, sets.sizes) for prefix in prefixes)
    frequencies: Int64s = np.zeros(records.n_tokens + 1, np.int64)
    postings.count_postings(records.tokens, records.starts, found, frequencies)
    shared = np.diff(frequencies) > 1
    numbers: Int32s = np.where(shared, np.cumsum(shared) - 1, -1).astype(np.int32)
    n_keys = np.diff(frequencies)[shared]
    starts: Int64s = np.empty(n + 1, np.int64)
    keys: Int32s = np.empty(int(n_keys.sum()), np.int32)
    n_probed: Int64s = np.empty(n, np.int64)
    postings.list_shared(
        records.tokens, records.starts, found, looks, numbers, starts, keys, n_probed
    )
    return KeyLists(starts, keys, n_probed, n_keys)
