"""Connected components: documents linked by any chain of verified pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels import components
from neardup.kernels.comparisons import Comparisons, Keys
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.matching.verify import measure_sets, score_pairs
from neardup.tables import Int64s, KeyLists, Removals, ShingleSets, WeightedSets

_STEP = 4096


def join_components(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Remove all documents of a component but the first, whether similar to it or not.

    Arguments as for ``choose_survivors``, but that documents look under all their keys; the first
    ``n_fixed`` stay in any case. The similarity given for a removed document is that to the
    document which stays for it, and may be below the threshold, even zero.
    """
    n_documents = len(sets)
    keys = sealed(Keys(lists.starts, lists.keys))
    measured = measure_sets(sets)
    groups = _no_groups(lists)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    comparisons = Comparisons(np.full(n_documents, -1, np.int32), np.zeros(2, np.int64))
    for start in range(0, n_documents, _STEP):
        stop = min(start + _STEP, n_documents)
        components.join_components(
            start, stop, keys, measured, measure.in_kernels, groups, parents, comparisons
        )
        if progress is not None:
            progress(stop)
    keepers = _roots(parents)
    keepers[keepers == np.arange(n_documents)] = -1
    keepers[:n_fixed] = -1
    removed = np.flatnonzero(keepers >= 0)
    similarities = np.full(n_documents, np.nan)
    similarities[removed] = score_pairs(sets, removed, keepers[removed], measure)
    return Removals(keepers, similarities, *comparisons.counts.tolist())


def _no_groups(lists: KeyLists) -> components.Groups:
    """Make room for the groups of each key, of which there is none yet."""
    documents = np.arange(len(lists.starts) - 1, dtype=np.int32)
    next_group, next_member, last_member = np.full((3, len(lists.keys)), -1, np.int64)
    groups = components.Groups(
        owners=np.repeat(documents, np.diff(lists.starts)),
        heads=np.full(len(lists.sizes), -1, np.int64),
        next_group=next_group,
        next_member=next_member,
        last_member=last_member,
    )
    return sealed(groups)


def _roots(parents: Int64s) -> Int64s:
    """Follow every document's chain of parents to its end, all at once."""
    roots = parents
    while not np.array_equal(roots, roots[roots]):
        roots = roots[roots]
    return roots.copy()
