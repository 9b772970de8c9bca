"""The rule by which documents stay: each removed one is similar to the one that stays for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels import survivors
from neardup.kernels.comparisons import Comparisons, Keys
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.matching.verify import measure_sets
from neardup.tables import KeyLists, Removals, ShingleSets, WeightedSets

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
    keys = sealed(Keys(lists.starts, lists.keys))
    members = _no_members(lists)
    measured = measure_sets(sets)
    decisions = survivors.Decisions(
        keepers=np.empty(n_documents, np.int32), similarities=np.empty(n_documents, np.float64)
    )
    comparisons = Comparisons(np.full(n_documents, -1, np.int32), np.zeros(2, np.int64))
    for start in range(0, n_documents, _STEP):
        stop = min(start + _STEP, n_documents)
        survivors.choose_survivors(
            start,
            stop,
            n_fixed,
            keys,
            lists.n_probed,
            members,
            measured,
            measure.in_kernels,
            decisions,
            comparisons,
        )
        if progress is not None:
            progress(stop)
    n_compared, n_verified = comparisons.counts.tolist()
    keepers = decisions.keepers.astype(np.int64)
    return Removals(keepers, decisions.similarities, n_compared, n_verified)


def _no_members(lists: KeyLists) -> survivors.Members:
    """Make room under each key for all documents that have it."""
    members = survivors.Members(
        starts=np.cumsum(lists.sizes) - lists.sizes,
        sizes=np.zeros(len(lists.sizes), np.int64),
        documents=np.empty(len(lists.keys), np.int32),
    )
    return sealed(members)
