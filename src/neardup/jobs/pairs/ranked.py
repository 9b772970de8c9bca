"""Pairs with their ranks, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.jobs.pairs.spelling import join_pairs
from neardup.matching.join import Join
from neardup.matching.ranks import rank_fractions
from neardup.tables import Bools, Int64s, ScoredPairs


@dataclass(frozen=True)
class RankedPairs:
    """Pairs and the rank of each, 0 for the most similar."""

    pairs: ScoredPairs
    ranks: Int64s

    def __len__(self) -> int:
        return len(self.ranks)

    @classmethod
    def none(cls) -> RankedPairs:
        """Return no pairs."""
        return cls(join_pairs([]), np.empty(0, np.int64))

    @classmethod
    def of(cls, pairs: ScoredPairs, join: Join) -> RankedPairs:
        """Rank pairs of records, exactly."""
        return cls(pairs, rank_fractions(*join.fractions(pairs)))

    def take(self, rows: Int64s | Bools) -> RankedPairs:
        """Return some of the pairs: those at these places, or those marked."""
        return RankedPairs(self.pairs.take(rows), self.ranks[rows])

    def plus(self, other: RankedPairs) -> RankedPairs:
        """Return these pairs and others."""
        return RankedPairs(
            join_pairs([self.pairs, other.pairs]), np.concatenate([self.ranks, other.ranks])
        )

    def by_rank(self) -> RankedPairs:
        """Return the pairs, the most similar first; ties stay in their order."""
        return self.take(np.argsort(self.ranks, kind="stable"))

    def best(self, most: int) -> RankedPairs:
        """Return so many pairs, the most similar first, ties ascending."""
        order = np.lexsort((self.pairs.right, self.pairs.left, self.ranks))
        return self.take(order[:most])

    def by_left(self) -> RankedPairs:
        """Return the pairs by their left side, for each the most similar first, ties ascending."""
        return self.take(np.lexsort((self.pairs.right, self.ranks, self.pairs.left)))

    def best_of_each(self, most: int) -> RankedPairs:
        """Return so many pairs for each left side, in the order of ``by_left``."""
        pairs = self.by_left()
        left = pairs.pairs.left
        n_before = np.arange(len(left)) - np.searchsorted(left, left)
        return pairs.take(n_before < most)

    def weight_of_better(self, weights: Int64s) -> Int64s:
        """Add up for each pair the weights of the pairs of its left side that have better ranks.

        For pairs in the order of ``by_left``.
        """
        left = self.pairs.left
        if not len(left):
            return left
        sums = np.concatenate([[0], np.cumsum(weights)])
        is_first = np.concatenate([[True], (np.diff(left) != 0) | (np.diff(self.ranks) != 0)])
        same = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        better: Int64s = sums[same] - sums[np.searchsorted(left, left)]
        return better
