"""The rule by which documents stay: each removed one is similar to the one that stays for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels.bucket import survivors
from neardup.kernels.join.overlap import Comparisons, Keys, MeasuredSets
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.matching.verify import measure_sets
from neardup.tables import EarlierKeepers, KeyLists, Removals, ShingleSets, WeightedSets

# Documents decided between two calls of ``progress``, during which Ctrl-C is not noticed.
_STEP = 4096


def choose_survivors(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    earlier: EarlierKeepers | None = None,
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
    earlier
        What some of the documents go for in any case, unless one that stays is more similar; the
        others have none.
    progress
        Called with the number of documents decided so far.

    Notes
    -----
    Removed documents are never compared again, so a cluster of n copies of one document costs n
    comparisons. Documents that share a key without being similar all stay and are all compared
    with each other.
    """
    choice = Choice(lists, measure, n_fixed, earlier)
    choice.go_through(0, len(sets), measure_sets(sets), progress=progress)
    return choice.removals


class Choice:
    """Who stays, as far as it is decided.

    Attributes
    ----------
    members
        Documents that stay, by key; those of them that later documents are to be compared with.
    """

    def __init__(
        self,
        lists: KeyLists,
        measure: Measure,
        n_fixed: int,
        earlier: EarlierKeepers | None = None,
    ) -> None:
        n_documents = len(lists.starts) - 1
        self.members = survivors.Members(
            starts=np.cumsum(lists.sizes) - lists.sizes,
            sizes=np.zeros(len(lists.sizes), np.int64),
            documents=np.empty(len(lists.keys), np.int32),
        )
        self._keys = sealed(Keys(lists.starts, lists.keys))
        self._n_probed = lists.n_probed
        self._threshold = measure.in_kernels
        self._n_fixed = n_fixed
        self._decisions = _begin(n_documents, earlier)
        self._comparisons = Comparisons(np.full(n_documents, -1, np.int32), np.zeros(2, np.int64))

    def go_through(
        self,
        start: int,
        stop: int,
        sets: MeasuredSets,
        *,
        decides: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Compare documents ``start`` to ``stop`` with the members, and decide who stays.

        Without ``decides`` they only note who is most similar to them so far.
        """
        for first in range(start, stop, _STEP):
            last = min(first + _STEP, stop)
            survivors.choose_survivors(
                first,
                last,
                self._n_fixed,
                self._keys,
                self._n_probed,
                self.members,
                sets,
                self._threshold,
                self._decisions,
                self._comparisons,
                decides,
            )
            if progress is not None:
                progress(last)

    @property
    def removals(self) -> Removals:
        """What was decided; all documents are."""
        n_compared, n_verified = self._comparisons.counts.tolist()
        keepers = self._decisions.keepers.astype(np.int64)
        return Removals(keepers, self._decisions.similarities, n_compared, n_verified)


def _begin(n_documents: int, earlier: EarlierKeepers | None) -> survivors.Decisions:
    """Return what is known of documents before the first one is decided."""
    decisions = survivors.Decisions(
        keepers=np.full(n_documents, -1, np.int32),
        overlaps=np.zeros(n_documents, np.int64),
        similarities=np.empty(n_documents, np.float64),
        known_sizes=np.empty(0, np.int64),
    )
    if earlier is not None:
        rows = np.flatnonzero(earlier.documents >= 0)
        decisions.keepers[rows] = survivors.KNOWN
        decisions.overlaps[rows] = earlier.overlaps[rows]
        decisions.similarities[rows] = earlier.similarities[rows]
        decisions = decisions._replace(known_sizes=earlier.sizes)
    return sealed(decisions)
