"""From pairs of distinct sets to pairs of the documents that have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import ResultLimitError
from neardup.tables import Bools, Int64s, ScoredPairs

if TYPE_CHECKING:
    from neardup.matching.measures import Measure
    from neardup.tables import ShingleSets


@dataclass(frozen=True)
class _Members:
    """Documents of each set: set s has ``documents[starts[s] :][: counts[s]]``, ascending."""

    documents: Int64s
    starts: Int64s
    counts: Int64s

    @classmethod
    def of(cls, sets_of_documents: Int64s, n_sets: int, first: int = 0) -> _Members:
        """List the documents of every set; they are numbered from ``first``."""
        filled = np.flatnonzero(sets_of_documents >= 0)
        numbers = sets_of_documents[filled]
        order = np.argsort(numbers, kind="stable")
        counts: Int64s = np.bincount(numbers, minlength=n_sets).astype(np.int64)
        return cls(filled[order] + first, np.cumsum(counts) - counts, counts)

    def cross(self, other: _Members, pairs: ScoredPairs) -> ScoredPairs:
        """Spell out pairs of sets as pairs of documents, of these members and of ``other``."""
        widths = other.counts[pairs.right]
        n_each = self.counts[pairs.left] * widths
        pair = np.repeat(np.arange(len(pairs)), n_each)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
        i, j = np.divmod(within, widths[pair])
        return ScoredPairs(
            self.documents[self.starts[pairs.left[pair]] + i],
            other.documents[other.starts[pairs.right[pair]] + j],
            pairs.overlaps[pair],
        )

    def count(self, other: _Members, pairs: ScoredPairs) -> int:
        """Count the pairs that ``cross`` gives."""
        return int((self.counts[pairs.left] * other.counts[pairs.right]).sum())


def spell_out(
    joined: ScoredPairs,
    sets: ShingleSets,
    documents: Int64s,
    measure: Measure,
    *,
    n_left: int | None,
    limit: int | None,
) -> ScoredPairs:
    """Turn pairs of sets into pairs of documents, and add those of documents with equal sets.

    Parameters
    ----------
    joined
        Pairs of sets.
    sets
        The sets, all different.
    documents
        Number of each document's set, -1 for none; those of the left collection come first.
    measure
        By which they were joined.
    n_left
        Documents of the left collection; None for a self-join.
    limit
        Most pairs that are wanted.

    Raises
    ------
    ResultLimitError
        If there are more.
    """
    n_sets = len(sets)
    is_directed = measure.name == "containment"
    equal = np.arange(n_sets)
    if measure.name == "overlap":
        equal = equal[sets.sizes >= int(measure.threshold)]
    twins = ScoredPairs(equal, equal, sets.sizes[equal])
    turned = ScoredPairs(joined.right, joined.left, joined.overlaps)
    if n_left is None:
        members = other = _Members.of(documents, n_sets)
        twins = _only(twins, members.counts[equal] > 1)
        crossings = [joined, twins]
    else:
        members = _Members.of(documents[:n_left], n_sets)
        other = _Members.of(documents[n_left:], n_sets, n_left)
        crossings = [joined, twins] if is_directed else [joined, turned, twins]
    total = sum(members.count(other, pairs) for pairs in crossings)
    if n_left is None:
        # A set's documents are crossed with themselves: none makes a pair with itself, and all
        # others come in both directions.
        itself = members.count(other, twins)
        pairs_of_twins = itself - int(members.counts[twins.left].sum())
        total += (pairs_of_twins if is_directed else pairs_of_twins // 2) - itself
    if limit is not None and total > limit:
        raise ResultLimitError(limit, total, 1.0)
    parts = [members.cross(other, pairs) for pairs in crossings]
    left, right, overlaps = (
        np.concatenate([getattr(part, column) for part in parts])
        for column in ("left", "right", "overlaps")
    )
    if n_left is None and not is_directed:
        left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((right, left))
        # Twins come once in each direction, and with themselves.
        order = order[_is_first(left[order], right[order]) & (left < right)[order]]
    else:
        order = np.lexsort((right, left))
        order = order[(left != right)[order]]
    return ScoredPairs(left[order], right[order], overlaps[order])


def _only(pairs: ScoredPairs, mask: Bools) -> ScoredPairs:
    return ScoredPairs(pairs.left[mask], pairs.right[mask], pairs.overlaps[mask])


def _is_first(left: Int64s, right: Int64s) -> Bools:
    """Mark the first of equal neighbours in sorted pairs."""
    differs = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return np.concatenate([np.ones(min(len(left), 1), np.bool_), differs])
