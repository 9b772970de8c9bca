"""Return prefix tokens as keys, which every pair at the threshold shares."""

from __future__ import annotations

import numpy as np

from neardup.kernels.join import postings
from neardup.matching.measures import Measure
from neardup.matching.postings import RankedRecords, rank_sets
from neardup.tables import Int32s, Int64s, KeyLists, ShingleSets, WeightedSets


def list_prefixes(sets: ShingleSets | WeightedSets, measure: Measure) -> KeyLists:
    """List each set's prefix tokens as keys.

    Parameters
    ----------
    sets
        n sets; plain sets are not empty.
    measure
        In a directed measure the first set of a pair looks for the second. Sets that look under all
        keys find partners in either direction.

    Notes
    -----
    Of two sets at the threshold each has an element of the other in its prefix, the ``n - least
    overlap + 1`` rarest elements. Containment bounds only the size of the contained set, so all
    elements of the other set are keys. A weighted set's prefix ends when the rest weighs less than
    needed. Elements of a single set are left out. Memory 20 bytes per element while it works, 32
    per weighted one, and 4 bytes per key.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 3.
    """
    n = len(sets)
    records, probing, indexing = _ranked_prefixes(sets, measure)
    frequencies: Int64s = np.zeros(records.n_tokens + 1, np.int64)
    postings.count_postings(records.tokens, records.starts, indexing, frequencies)
    shared = np.diff(frequencies) > 1
    numbers: Int32s = np.where(shared, np.cumsum(shared) - 1, -1).astype(np.int32)
    n_keys = np.diff(frequencies)[shared]
    starts: Int64s = np.empty(n + 1, np.int64)
    keys: Int32s = np.empty(int(n_keys.sum()), np.int32)
    n_probed: Int64s = np.empty(n, np.int64)
    postings.list_shared(
        records.tokens, records.starts, indexing, probing, numbers, starts, keys, n_probed
    )
    return KeyLists(starts, keys, n_probed, n_keys)


def _ranked_prefixes(
    sets: ShingleSets | WeightedSets, measure: Measure
) -> tuple[RankedRecords, Int64s, Int64s]:
    """Rank the elements of all sets; count the keys to look under, and to be found under."""
    everything = np.arange(len(sets))
    if isinstance(sets, ShingleSets):
        records = rank_sets(sets, everything)
        probing, indexing = measure.prefixes(sets.sizes)
        return records, records.shorten(probing, sets.sizes), records.shorten(indexing, sets.sizes)
    # Its kernels are for few jobs.
    from neardup.matching.weighted_join import needed_weights, rank_weighted_sets

    runs = rank_weighted_sets(sets, everything)
    prefixes = runs.prefixes(needed_weights(measure, sets.totals)[0])
    return runs.ranked, prefixes, prefixes
