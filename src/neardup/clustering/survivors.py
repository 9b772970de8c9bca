"""The rule by which documents stay: each removed one is similar to the one that stays for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels import survivors
from neardup.matching.measures import Measure
from neardup.matching.verify import sizes_of
from neardup.tables import Floats, Int32s, Int64s, KeyLists, Removals, ShingleSets, WeightedSets

# Documents decided between two calls of ``progress``, during which Ctrl-C is not noticed.
_STEP = 4096


def choose_survivors(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Go through the documents in order; remove those similar to one that already stays.

    A document is compared, exactly, with all documents that already stay and share a key with
    it, and gives way to the most similar one that reaches the threshold (the earliest on a tie).

    Parameters
    ----------
    lists
        Keys by which candidates are found; documents are numbered in keep order.
    sets
        Shingle sets of the same documents, none empty, or weighted sets.
    measure
        For one-sided measures the document that would go is x and the one that stays is y.
    n_fixed
        So many documents at the start stay in any case.
    progress
        Called with the number of documents decided so far.

    Notes
    -----
    Removed documents are never compared again, so a cluster of n copies of one document costs n
    comparisons. Documents that share a key without being similar all stay and are all compared
    with each other.
    """
    n_documents = len(sets)
    member_starts: Int64s = np.cumsum(lists.sizes) - lists.sizes
    n_members: Int64s = np.zeros(len(lists.sizes), np.int64)
    members: Int32s = np.empty(len(lists.keys), np.int32)
    last_compared: Int32s = np.full(n_documents, -1, np.int32)
    keepers: Int32s = np.empty(n_documents, np.int32)
    similarities: Floats = np.empty(n_documents, np.float64)
    counts: Int64s = np.zeros(2, np.int64)
    sizes = sizes_of(sets)
    for start in range(0, n_documents, _STEP):
        stop = min(start + _STEP, n_documents)
        survivors.choose_survivors(
            start,
            stop,
            n_fixed,
            lists.starts,
            lists.keys,
            lists.n_probed,
            member_starts,
            n_members,
            members,
            sets.values,
            sets.starts,
            sets.sizes,
            sizes.weights,
            sizes.totals,
            sizes.parities,
            measure.code,
            measure.threshold.numerator,
            measure.threshold.denominator,
            last_compared,
            keepers,
            similarities,
            counts,
        )
        if progress is not None:
            progress(stop)
    return Removals(keepers.astype(np.int64), similarities, int(counts[0]), int(counts[1]))
