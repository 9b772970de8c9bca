"""The most similar pairs, and the most similar partners of each document, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.jobs.pairs.spelling import Members, Speller
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Join
from neardup.matching.measures import rank_fractions
from neardup.runs.runner import Runner
from neardup.tables import Bools, Bytes, Int64s, ScoredPairs


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
        return cls(ScoredPairs.of_none(), np.empty(0, np.int64))

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

    def by_rank(self) -> RankedPairs:
        """Return the pairs, the most similar first; ties stay in their order."""
        return self.take(np.argsort(self.ranks, kind="stable"))

    def best(self, most: int) -> RankedPairs:
        """Return ``most`` pairs, the most similar first, ties ascending."""
        order = np.lexsort((self.pairs.right, self.pairs.left, self.ranks))
        return self.take(order[:most])

    def by_left(self) -> RankedPairs:
        """Return the pairs by left side, the most similar first within each."""
        return self.take(np.lexsort((self.pairs.right, self.ranks, self.pairs.left)))

    def best_of_each(self, most: int) -> RankedPairs:
        """Return ``most`` pairs for each left side, in the order of ``by_left``."""
        pairs = self.by_left()
        left = pairs.pairs.left
        n_before = np.arange(len(left)) - np.searchsorted(left, left)
        return pairs.take(n_before < most)

    def weight_of_better(self, weights: Int64s) -> Int64s:
        """Return per pair the total weight of better-ranked pairs of its left side.

        Pairs are in the order of ``by_left``.
        """
        left = self.pairs.left
        if not len(left):
            return left
        sums = np.concatenate([[0], np.cumsum(weights)])
        is_first = np.concatenate([[True], (np.diff(left) != 0) | (np.diff(self.ranks) != 0)])
        same = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        better: Int64s = sums[same] - sums[np.searchsorted(left, left)]
        return better


# Pairs of documents spelled out at a time to keep only the best.
_AT_ONCE = 1 << 22

# Partners are sought for records of the left collection.
_LOOKS = LEFT


# Maximum pairs of records that are compared without steps of higher thresholds, because a step
# costs more.
_FEW_PAIRS = 1 << 17


def _steps(join: Join, sides: Bytes | None) -> Sequence[Join]:
    """Return the joins to try one after another, with falling thresholds."""
    n = len(join.own_scores)
    n_pairs = n * n // 2
    if sides is not None:
        n_pairs = int(((sides & LEFT) != 0).sum()) * int(((sides & RIGHT) != 0).sum())
    steps = list(join.steps())
    return steps[-1:] if n_pairs <= _FEW_PAIRS else steps


def most_similar_pairs(
    join: Join, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar pairs of documents, the most similar first, ties ascending.

    Thresholds fall step by step until there are enough pairs, so that the remaining pairs are never
    compared. The list has the filter counts of each step.
    """
    step_counts = []
    for step in _steps(join, sides):
        joined, counts = step.run(sides, None, runner)
        step_counts.append(counts)
        speller = replace(speller, twins=step.twins)
        if speller.count(joined) >= most:
            break
    crossings = RankedPairs.of(speller.crossings(joined), step).by_rank()
    # A record's later documents come only in pairs after this many others.
    few = speller.first(most + 1)
    best = RankedPairs.none()
    for pairs, crossing in few.spell_in_parts(crossings.pairs, _AT_ONCE):
        ranks = crossings.ranks[crossing]
        if len(best) == most and len(ranks) and ranks[0] > best.ranks[-1]:
            break
        best = best.plus(RankedPairs(pairs, ranks)).best(most)
    return best.pairs, step_counts


def most_similar_partners(
    join: Join, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar partners of each left document, the most similar first.

    Thresholds fall step by step; a record with enough partners stops. The list has the filter
    counts of each step.
    """
    n_records = len(join.own_scores)
    base: Bytes = np.full(n_records, LEFT | RIGHT, np.uint8) if sides is None else sides
    looking = (base & _LOOKS) != 0
    found: list[ScoredPairs] = []
    step_counts = []
    steps = _steps(join, sides)
    for step in steps:
        sides_now = np.where(looking, base, base & ~np.uint8(_LOOKS))
        joined, counts = step.run(sides_now, None, runner)
        step_counts.append(counts)
        rows = _partner_rows(joined, step, speller)
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
        RankedPairs.of(ScoredPairs.joined(found), join), speller, most
    ), step_counts


def _partner_rows(joined: ScoredPairs, step: Join, speller: Speller) -> ScoredPairs:
    """Return each record with each of its partners, itself included."""
    twins = ScoredPairs(step.twins, step.twins, step.own_scores[step.twins])
    parts = [joined, twins] if step.is_directed else [joined, joined.turned(), twins]
    rows = ScoredPairs.joined(parts)
    return rows.take((speller.left.counts[rows.left] > 0) & (speller.right.counts[rows.right] > 0))


def _best_of_each(rows: RankedPairs, speller: Speller, most: int) -> ScoredPairs:
    """Spell out the best partners of every record for each of its documents."""
    # One more than requested, because a document may find itself.
    enough = most + 1
    partners = speller.right.first(enough)
    rows = rows.by_left()
    n_better = rows.weight_of_better(partners.counts[rows.pairs.right])
    rows = rows.take(n_better < enough)
    candidates = _spell_partners(rows, partners).best_of_each(enough)
    return _spell_lookers(candidates, speller.left).best_of_each(most).pairs


def _spell_partners(rows: RankedPairs, partners: Members) -> RankedPairs:
    """Pair each record with the documents of its partners."""
    records = Members.single(len(partners.counts))
    pairs, row = _cross(records, partners, rows.pairs)
    return RankedPairs(pairs, rows.ranks[row])


def _spell_lookers(candidates: RankedPairs, lookers: Members) -> RankedPairs:
    """Pair each document of a record with the record's candidates, itself excluded."""
    records, documents = candidates.pairs.left, candidates.pairs.right
    # The right side of the crossed pairs is a row of candidates.
    numbered = ScoredPairs(records, np.arange(len(candidates)), candidates.pairs.scores)
    crossed, row = _cross(lookers, Members.single(len(candidates)), numbered)
    pairs = ScoredPairs(crossed.left, documents[row], crossed.scores)
    found = RankedPairs(pairs, candidates.ranks[row])
    return found.take(pairs.left != pairs.right)


def _cross(left: Members, right: Members, pairs: ScoredPairs) -> tuple[ScoredPairs, Int64s]:
    for spelled in left.cross(right, pairs):
        return spelled
    return ScoredPairs.of_none(), np.empty(0, np.int64)
