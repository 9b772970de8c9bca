"""Connected components: documents linked by any chain of verified pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels import components
from neardup.matching.measures import Measure
from neardup.matching.verify import score_pairs
from neardup.tables import Buckets, Int32s, Int64s, Removals, ShingleSets

_STEP = 4096


def join_components(
    buckets: Buckets,
    sets: ShingleSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Remove all documents of a component but the first, whether similar to it or not.

    Arguments as for ``choose_survivors``; the first ``n_fixed`` documents stay in any case. The
    similarity given for a removed document is that to the document which stays for it, and may be
    below the threshold, even zero.
    """
    n_documents = len(sets)
    n_bands = len(buckets.numbers)
    last_compared: Int32s = np.full(n_documents, -1, np.int32)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    bucket_heads: Int32s = np.full(len(buckets.sizes), -1, np.int32)
    links: Int32s = np.full((3, n_bands, n_documents), -1, np.int32)
    counts: Int64s = np.zeros(2, np.int64)
    for start in range(0, n_documents, _STEP):
        stop = min(start + _STEP, n_documents)
        components.join_components(
            start,
            stop,
            buckets.numbers,
            sets.values,
            sets.starts,
            sets.sizes,
            measure.code,
            measure.threshold.numerator,
            measure.threshold.denominator,
            last_compared,
            parents,
            bucket_heads,
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
