"""Find the most similar pairs, or partners of each document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.jobs.pairs.exact import BlockedJoin
from neardup.jobs.pairs.rows import Members, Speller
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Join, Scored
from neardup.matching.measures import rank_fractions
from neardup.tables import Bools, Floats, Int64s, ScoredPairs


@dataclass(frozen=True)
class RankedPairs:
    """Pairs and their ranks, 0 for the most similar."""

    pairs: ScoredPairs
    ranks: Int64s

    def __len__(self) -> int:
        return len(self.ranks)

    @classmethod
    def of(cls, pairs: ScoredPairs, join: Join) -> RankedPairs:
        """Rank pairs of records, exactly."""
        return cls(pairs, rank_fractions(*join.fractions(pairs)))

    def take(self, rows: Int64s | Bools) -> RankedPairs:
        """Return pairs by position or mask."""
        return RankedPairs(self.pairs.take(rows), self.ranks[rows])

    def plus(self, other: RankedPairs) -> RankedPairs:
        """Return these pairs and others."""
        return RankedPairs(
            ScoredPairs.joined([self.pairs, other.pairs]), np.concatenate([self.ranks, other.ranks])
        )

    def best(self, most: int) -> RankedPairs:
        """Return ``most`` pairs, the most similar first, ties ascending."""
        order = np.lexsort((self.pairs.right, self.pairs.left, self.ranks))
        return self.take(order[:most])

    def by_left(self) -> RankedPairs:
        """Return the pairs by left side, most similar first."""
        return self.take(np.lexsort((self.pairs.right, self.ranks, self.pairs.left)))

    def best_of_each(self, most: int) -> RankedPairs:
        """Return ``most`` pairs of each left side, in ``by_left`` order."""
        pairs = self.by_left()
        left = pairs.pairs.left
        n_before = np.arange(len(left)) - np.searchsorted(left, left)
        return pairs.take(n_before < most)

    def weight_of_better(self, weights: Int64s) -> Int64s:
        """Return the weight of better pairs of the left side, in ``by_left`` order."""
        left = self.pairs.left
        if not len(left):
            return left
        sums = np.concatenate([[0], np.cumsum(weights)])
        is_first = np.concatenate([[True], (np.diff(left) != 0) | (np.diff(self.ranks) != 0)])
        same = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        better: Int64s = sums[same] - sums[np.searchsorted(left, left)]
        return better


# Pairs of documents spelled out at a time to keep only the best.
_SPELLED_AT_ONCE = 1 << 22

# Pairs whose similarities are computed at a time.
_AT_ONCE = 1 << 16

# Maximum pairs of records compared without steps of higher thresholds, because a step costs more.
_FEW_PAIRS = 1 << 17


def _steps(join: BlockedJoin) -> Sequence[BlockedJoin]:
    """Return the joins to try in turn, with falling thresholds."""
    n, sides = len(join.whole.own_scores), join.sides
    n_pairs = n * n // 2
    if sides is not None:
        n_pairs = int(((sides & LEFT) != 0).sum()) * int(((sides & RIGHT) != 0).sum())
    steps = list(join.steps())
    return steps[-1:] if n_pairs * join.whole.pair_cost <= _FEW_PAIRS else steps


def most_similar_pairs(
    join: BlockedJoin, speller: Speller, most: int
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar pairs of documents, ties ascending.

    The most similar pair is first. Thresholds fall step by step until there are enough pairs, so
    that the remaining ones are never compared. The list has the filter counts of each step.
    """
    step_counts = []
    for step in _steps(join):
        joined, counts = step.run()
        step_counts.append(counts)
        speller = replace(speller, records=step.whole)
        found = speller.crossings(joined)
        if speller.count(found) >= most:
            break
    crossings = RankedPairs.of(found, step.whole)
    crossings = crossings.take(np.argsort(crossings.ranks, kind="stable"))
    # A record's later documents come only in pairs after this many others.
    few = speller.first(most + 1)
    best = RankedPairs(ScoredPairs.of_none(), np.empty(0, np.int64))
    for pairs, crossing in few.spell_in_parts(crossings.pairs, _SPELLED_AT_ONCE):
        ranks = crossings.ranks[crossing]
        if len(best) == most and len(ranks) and ranks[0] > best.ranks[-1]:
            break
        best = best.plus(RankedPairs(pairs, ranks)).best(most)
    return best.pairs, step_counts


def most_similar_partners(
    join: BlockedJoin, speller: Speller, most: int
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar partners of each left document.

    The most similar partner is first. Thresholds fall step by step; a record with enough partners
    stops. The list has the filter counts of each step.
    """
    n_records, base = len(join.whole.own_scores), join.sides
    if base is None:
        base = np.full(n_records, LEFT | RIGHT, np.uint8)
    looking = (base & LEFT) != 0
    found: list[ScoredPairs] = []
    step_counts = []
    steps = _steps(join)
    for step in steps:
        sides = np.where(looking, base, base & ~np.uint8(LEFT))
        joined, counts = replace(step, sides=sides).run()
        step_counts.append(counts)
        rows = _partner_rows(joined, step.whole, speller)
        n_documents = speller.right.counts[rows.right]
        if speller.is_self_join:
            n_documents = n_documents - (rows.left == rows.right)
        n_partners = np.bincount(rows.left, n_documents, n_records)
        is_done = looking if step is steps[-1] else looking & (n_partners >= most)
        found.append(rows.take(is_done[rows.left]))
        looking = looking & ~is_done
        if not looking.any():
            break
    return _best_of_each(
        RankedPairs.of(ScoredPairs.joined(found), join.whole), speller, most
    ), step_counts


def _partner_rows(joined: ScoredPairs, step: Scored, speller: Speller) -> ScoredPairs:
    """Return each record with each of its partners, itself included."""
    twins = ScoredPairs(step.twins, step.twins, step.own_scores[step.twins])
    parts = [joined, twins] if step.is_directed else [joined, joined.turned(), twins]
    rows = ScoredPairs.joined(parts)
    return rows.take((speller.left.counts[rows.left] > 0) & (speller.right.counts[rows.right] > 0))


def _best_of_each(rows: RankedPairs, speller: Speller, most: int) -> ScoredPairs:
    # One more than requested, because a document may find itself.
    enough = most + 1
    partners = speller.right.first(enough)
    rows = rows.by_left()
    rows = rows.take(rows.weight_of_better(partners.counts[rows.pairs.right]) < enough)
    # Each record with the documents of its partners.
    pairs, row = Members.single(len(partners.counts)).cross_all(partners, rows.pairs)
    best = RankedPairs(pairs, rows.ranks[row]).best_of_each(enough)
    # Each document of a record with these documents, by their rows, and without itself.
    numbered = ScoredPairs(best.pairs.left, np.arange(len(best)), best.pairs.scores)
    crossed, row = speller.left.cross_all(Members.single(len(best)), numbered)
    pairs = ScoredPairs(crossed.left, best.pairs.right[row], crossed.scores)
    spelled = RankedPairs(pairs, best.ranks[row])
    return spelled.take(pairs.left != pairs.right).best_of_each(most).pairs


def similarities_of(pairs: ScoredPairs, of_documents: Int64s, join: Join) -> Floats:
    """Return the similarity of pairs of documents, with little extra memory."""
    similarities: Floats = np.empty(len(pairs), np.float64)
    for start in range(0, len(pairs), _AT_ONCE):
        own = slice(start, start + _AT_ONCE)
        left, right = of_documents[pairs.left[own]], of_documents[pairs.right[own]]
        similarities[own] = join.similarities(ScoredPairs(left, right, pairs.scores[own]))
    return similarities
