"""Connected components: documents linked by any chain of verified pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels.bucket import components
from neardup.kernels.common import union_find
from neardup.kernels.join.overlap import Comparisons, Keys, MeasuredSets
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
    joining = Joining(lists, measure, np.arange(n_documents, dtype=np.int64))
    joining.go_through(0, n_documents, measure_sets(sets), progress=progress)
    keepers = joining.keepers(n_fixed)
    removed = np.flatnonzero(keepers >= 0)
    similarities = np.full(n_documents, np.nan)
    similarities[removed] = score_pairs(sets, removed, keepers[removed], measure)
    return Removals(keepers, similarities, *joining.counts)


class Joining:
    """Components, as far as documents have been joined to them.

    ``parents`` has for each document an earlier one of its component, or itself.
    """

    def __init__(self, lists: KeyLists, measure: Measure, parents: Int64s) -> None:
        self._parents = parents
        self._keys = sealed(Keys(lists.starts, lists.keys))
        self._threshold = measure.in_kernels
        self._groups = _no_groups(lists)
        self._comparisons = Comparisons(np.full(len(parents), -1, np.int32), np.zeros(2, np.int64))

    def go_through(
        self,
        start: int,
        stop: int,
        sets: MeasuredSets,
        *,
        enters: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Compare documents ``start`` to ``stop`` with those in groups, and put them there, too.

        Without ``enters`` they are only compared.
        """
        for first in range(start, stop, _STEP):
            last = min(first + _STEP, stop)
            components.join_components(
                first,
                last,
                self._keys,
                sets,
                self._threshold,
                self._groups,
                self._parents,
                self._comparisons,
                enters,
            )
            if progress is not None:
                progress(last)

    def replace_members(self, last: Int64s, following: Int64s) -> None:
        """Take the documents ``last``, which are all that are in groups, out; put others there."""
        components.replace_members(last, following, self._keys, self._groups, self._parents)

    def keepers(self, n_fixed: int) -> Int64s:
        """Return the first of each document's component; -1 for that one and the fixed ones."""
        keepers = find_roots(self._parents)
        keepers[keepers == np.arange(len(keepers))] = -1
        keepers[:n_fixed] = -1
        return keepers

    @property
    def counts(self) -> list[int]:
        """How many pairs were compared, and how many of them are similar."""
        counts: list[int] = self._comparisons.counts.tolist()
        return counts


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


def find_roots(parents: Int64s) -> Int64s:
    """Return the first document of each one's component."""
    roots = parents.copy()
    union_find.find_roots(roots)
    return roots
