"""Connected components: documents linked by any chain of verified pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels import components
from neardup.matching.measures import Measure
from neardup.matching.verify import score_pairs, sizes_of
from neardup.tables import Int32s, Int64s, KeyLists, Removals, ShingleSets, WeightedSets

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
    last_compared: Int32s = np.full(n_documents, -1, np.int32)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    owners: Int32s = np.repeat(np.arange(n_documents, dtype=np.int32), np.diff(lists.starts))
    heads: Int64s = np.full(len(lists.sizes), -1, np.int64)
    links: Int64s = np.full((3, len(lists.keys)), -1, np.int64)
    counts: Int64s = np.zeros(2, np.int64)
    sizes = sizes_of(sets)
    for start in range(0, n_documents, _STEP):
        stop = min(start + _STEP, n_documents)
        components.join_components(
            start,
            stop,
            lists.starts,
            lists.keys,
            owners,
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
            parents,
            heads,
            links[0],
            links[1],
            links[2],
            counts,
        )
        if progress is not None:
            progress(stop)
    keepers = _roots(parents)
    keepers[keepers == np.arange(n_documents)] = -1
    keepers[:n_fixed] = -1
    removed = np.flatnonzero(keepers >= 0)
    similarities = np.full(n_documents, np.nan)
    similarities[removed] = score_pairs(sets, removed, keepers[removed], measure)
    return Removals(keepers, similarities, int(counts[0]), int(counts[1]))


def _roots(parents: Int64s) -> Int64s:
    """Follow every document's chain of parents to its end, all at once."""
    roots = parents
    while not np.array_equal(roots, roots[roots]):
        roots = roots[roots]
    return roots.copy()
