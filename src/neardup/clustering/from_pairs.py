"""Survivors and components of documents whose similar pairs are known; nothing is compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.clustering.components import find_roots
from neardup.kernels.bucket import survivors
from neardup.kernels.common import union_find
from neardup.tables import Bools, Floats, Int32s, Int64s, Removals

# Pairs that are joined at a time, as 64-bit numbers.
_STEP = 1 << 20


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of documents, which are numbered in keep order.

    Where ``are_directed``, only ``left`` may go for ``right``; else either for the other. A pair
    may come more than once, and may be of a document with itself, which says nothing.
    """

    left: Int32s
    right: Int32s
    similarities: Floats
    are_directed: bool = False

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: Bools) -> SimilarPairs:
        """Return the marked pairs."""
        return SimilarPairs(
            self.left[rows], self.right[rows], self.similarities[rows], self.are_directed
        )

    def reaching(self, threshold: float) -> SimilarPairs:
        """Return the pairs at a threshold."""
        reached = self.similarities >= threshold
        return self if reached.all() else self.take(reached)

    def by_order(self) -> SimilarPairs:
        """Return the pairs by which a document may go: it is the left one, and the later."""
        if self.are_directed:
            is_later = self.left > self.right
            return self if is_later.all() else self.take(is_later)
        pairs = self.take(self.left != self.right)
        later, earlier = np.maximum(pairs.left, pairs.right), np.minimum(pairs.left, pairs.right)
        return SimilarPairs(later, earlier, pairs.similarities, are_directed=True)


def choose_from_pairs(pairs: SimilarPairs, n_documents: int, threshold: float) -> Removals:
    """Go through the documents in order; remove those similar to one that already stays.

    The rule of ``choose_survivors`` where all pairs of similar documents are given: a document goes
    for the most similar one that stays, the earliest on a tie. Counts have all pairs as compared.

    Notes
    -----
    Time linear in pairs and documents. Memory up to 44 bytes a pair beside those given, and 28 a
    document.
    """
    similar = pairs.reaching(threshold)
    ordered = similar.by_order()
    counts = np.bincount(ordered.left, minlength=n_documents)
    ends: Int64s = (np.cumsum(counts) - counts).astype(np.int64)
    partners: Int32s = np.empty(len(ordered), np.int32)
    scores: Floats = np.empty(len(ordered), np.float64)
    survivors.group_pairs(ordered.left, ordered.right, ordered.similarities, ends, partners, scores)
    keepers: Int32s = np.full(n_documents, -1, np.int32)
    similarities: Floats = np.empty(n_documents, np.float64)
    survivors.choose_from_pairs(ends, partners, scores, keepers, similarities)
    return Removals(keepers.astype(np.int64), similarities, len(pairs), len(similar))


def join_from_pairs(pairs: SimilarPairs, n_documents: int, threshold: float) -> Removals:
    """Remove all documents of a component but the first, whether similar to it or not.

    As ``join_components``; but how similar a document is to the one that stays for it is known only
    if they are a pair, at the threshold or below it. Else it is NaN.
    """
    similar = pairs.reaching(threshold)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    for start in range(0, len(similar), _STEP):
        step = slice(start, start + _STEP)
        union_find.union_edges(
            parents, similar.left[step].astype(np.int64), similar.right[step].astype(np.int64)
        )
    keepers = find_roots(parents)
    keepers[keepers == np.arange(n_documents)] = -1
    ordered = pairs.by_order()
    of_keepers = keepers[ordered.left] == ordered.right
    similarities: Floats = np.full(n_documents, np.nan)
    similarities[ordered.left[of_keepers]] = ordered.similarities[of_keepers]
    return Removals(keepers, similarities, len(pairs), len(similar))
