"""Prefix tokens as keys: by them every pair at the threshold meets, and none is missed."""

from __future__ import annotations

import numpy as np

from neardup.kernels import postings, set_join
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
        For ``containment`` the set that looks is the one that lies in the other; looking under all
        keys, sets meet in either direction.

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
    sizes, of_size = np.unique(sets.sizes, return_inverse=True)
    least, probing, indexing = (np.empty(len(sizes), np.int64) for _ in range(3))
    p, q = measure.threshold.numerator, measure.threshold.denominator
    set_join.prefix_lengths(sizes, measure.code, p, q, least, probing, indexing)
    looks: Int64s = probing[of_size]
    found = looks
    if measure.name in ("containment", "max-containment"):
        found = sets.sizes
        if measure.name == "max-containment":
            looks = found
    looks, found = (records.shorten(prefixes, sets.sizes) for prefixes in (looks, found))
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
