"""Convert pairs of distinct records to pairs of their documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.jobs.pairs.blocked import BlockedJoin
from neardup.matching.join import LEFT, RIGHT, FilterCounts, Join, Scored
from neardup.matching.measures import rank_fractions
from neardup.runs.runner import Runner
from neardup.tables import Bools, Bytes, Int64s, ScoredPairs


@dataclass(frozen=True)
class Members:
    """Ascending documents of record r: ``documents[starts[r] :][: counts[r]]``."""

    documents: Int64s
    starts: Int64s
    counts: Int64s

    @classmethod
    def of(cls, records_of_documents: Int64s, n_records: int, first: int = 0) -> Members:
        """List the documents of every record, numbered from ``first``."""
        filled = np.flatnonzero(records_of_documents >= 0)
        numbers = records_of_documents[filled]
        order = np.argsort(numbers, kind="stable")
        counts: Int64s = np.bincount(numbers, minlength=n_records).astype(np.int64)
        return cls(filled[order] + first, np.cumsum(counts) - counts, counts)

    @classmethod
    def single(cls, n_records: int) -> Members:
        """Assign one document to every record, with the same number."""
        numbers: Int64s = np.arange(n_records, dtype=np.int64)
        return cls(numbers, numbers, np.ones(n_records, np.int64))

    def first(self, most: int) -> Members:
        """Return the first ``most`` documents of each record."""
        return Members(self.documents, self.starts, np.minimum(self.counts, most))

    def count(self, other: Members, pairs: ScoredPairs) -> int:
        """Count the pairs that ``cross`` yields."""
        return int((self.counts[pairs.left] * other.counts[pairs.right]).sum())

    def cross(
        self, other: Members, pairs: ScoredPairs, n_at_once: int | None = None
    ) -> Iterator[tuple[ScoredPairs, Int64s]]:
        """Pair these members with ``other`` by pairs of their records.

        Document pairs come in parts or all at once, each with the number of its record pair.
        """
        widths = other.counts[pairs.right]
        n_each = self.counts[pairs.left] * widths
        ends = np.cumsum(n_each)
        total = int(ends[-1]) if len(ends) else 0
        step = n_at_once or max(total, 1)
        for start in range(0, total, step):
            stop = min(start + step, total)
            first, last = np.searchsorted(ends, [start, stop - 1], side="right")
            here = np.arange(first, last + 1)
            begins = ends[here] - n_each[here]
            pair = np.repeat(here, np.minimum(ends[here], stop) - np.maximum(begins, start))
            within = np.arange(start, stop, dtype=np.int64) - begins[pair - first]
            i, j = np.divmod(within, widths[pair])
            spelled = ScoredPairs(
                self.documents[self.starts[pairs.left[pair]] + i],
                other.documents[other.starts[pairs.right[pair]] + j],
                pairs.scores[pair],
            )
            yield spelled, pair

    def cross_all(self, other: Members, pairs: ScoredPairs) -> tuple[ScoredPairs, Int64s]:
        """Spell out all pairs at once, as ``cross`` does."""
        return next(self.cross(other, pairs), (ScoredPairs.of_none(), np.empty(0, np.int64)))


@dataclass(frozen=True)
class Speller:
    """Converter of record pairs and twins to pairs of documents.

    ``left`` and ``right`` are the documents of the two collections, equal for a self-join.
    ``own_scores`` is the score of each record with itself, ``twins`` the records that reach the
    threshold with themselves. A directed measure distinguishes (a, b) from (b, a).
    """

    left: Members
    right: Members
    own_scores: Int64s
    twins: Int64s
    is_self_join: bool
    is_directed: bool

    @classmethod
    def of(
        cls,
        documents: Int64s,
        own_scores: Int64s,
        twins: Int64s,
        *,
        n_left: int | None,
        is_directed: bool,
        numbers: Int64s | None = None,
    ) -> Speller:
        """Prepare for ``documents``: the record of each, or -1.

        The left documents come first. ``n_left`` is their number, None for a self-join. ``numbers``
        of the documents ascend; None numbers them from 0.
        """
        n_records = len(own_scores)
        if n_left is None:
            left = right = Members.of(documents, n_records)
        else:
            left = Members.of(documents[:n_left], n_records)
            right = Members.of(documents[n_left:], n_records, n_left)
        if numbers is not None:
            is_self_join = left is right
            left = replace(left, documents=numbers[left.documents])
            right = left if is_self_join else replace(right, documents=numbers[right.documents])
        return cls(left, right, own_scores, twins, n_left is None, is_directed)

    def without_twins(self) -> Speller:
        """Return the speller without pairs within a record."""
        return replace(self, twins=self.twins[:0])

    def first(self, most: int) -> Speller:
        """Return the speller with ``most`` first documents of each record."""
        return replace(self, left=self.left.first(most), right=self.right.first(most))

    def crossings(self, joined: ScoredPairs) -> ScoredPairs:
        """Return all pairs of records, including twins, to spell out."""
        twins = self.twins
        if self.is_self_join:
            twins = twins[self.left.counts[twins] > 1]
        parts = [joined, ScoredPairs(twins, twins, self.own_scores[twins])]
        if not (self.is_self_join or self.is_directed):
            parts.append(joined.turned())
        return ScoredPairs.joined(parts)

    def count(self, joined: ScoredPairs) -> int:
        """Count the pairs of documents."""
        crossings = self.crossings(joined)
        total = self.left.count(self.right, crossings)
        if self.is_self_join:
            # A record's documents are crossed with themselves: pairs of a document with itself are
            # dropped, all others come in both directions.
            sizes = self.left.counts[crossings.left[crossings.left == crossings.right]]
            unlike = int((sizes * (sizes - 1)).sum())
            total += (unlike if self.is_directed else unlike // 2) - int((sizes * sizes).sum())
        return total

    def spell_in_parts(
        self, crossings: ScoredPairs, n_at_once: int | None
    ) -> Iterator[tuple[ScoredPairs, Int64s]]:
        """Spell out crossings in order, ``n_at_once`` document pairs per part.

        The number is approximate. Yields the pairs, the earlier document first unless the measure
        is directed, and the number of each pair's crossing.
        """
        for spelled, crossing in self.left.cross(self.right, crossings, n_at_once):
            if not self.is_self_join:
                yield spelled, crossing
                continue
            # Pairs of a document with itself are dropped; pairs within a record come in both
            # directions.
            if self.is_directed:
                kept = spelled.left != spelled.right
            else:
                is_twin = crossings.left[crossing] == crossings.right[crossing]
                kept = ~is_twin | (spelled.left < spelled.right)
            pairs = spelled.take(kept)
            if not self.is_directed:
                low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
                pairs = ScoredPairs(low, high, pairs.scores)
            yield pairs, crossing[kept]


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
        """Return the weight of better pairs of the left side.

        It is a total per pair; pairs are in the order of ``by_left``.
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
_SPELLED_AT_ONCE = 1 << 22

# Maximum pairs of records that are compared without steps of higher thresholds, because a step
# costs more.
_FEW_PAIRS = 1 << 17


def _steps(join: BlockedJoin, sides: Bytes | None) -> Sequence[BlockedJoin]:
    """Return the joins to try in turn, with falling thresholds."""
    n = len(join.whole.own_scores)
    n_pairs = n * n // 2
    if sides is not None:
        n_pairs = int(((sides & LEFT) != 0).sum()) * int(((sides & RIGHT) != 0).sum())
    steps = list(join.steps())
    return steps[-1:] if n_pairs <= _FEW_PAIRS else steps


def most_similar_pairs(
    join: BlockedJoin, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar pairs of documents, ties ascending.

    The most similar pair is first. Thresholds fall step by step until there are enough pairs, so
    that the remaining pairs are never compared. The list has the filter counts of each step.
    """
    step_counts = []
    for step in _steps(join, sides):
        joined, counts = step.run(sides, None, runner)
        step_counts.append(counts)
        speller = replace(speller, twins=step.whole.twins)
        if speller.count(joined) >= most:
            break
    crossings = RankedPairs.of(speller.crossings(joined), step.whole)
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
    join: BlockedJoin, speller: Speller, sides: Bytes | None, most: int, runner: Runner
) -> tuple[ScoredPairs, list[FilterCounts]]:
    """Find the ``most`` most similar partners of each left document.

    The most similar partner is first. Thresholds fall step by step; a record with enough partners
    stops. The list has the filter counts of each step.
    """
    n_records = len(join.whole.own_scores)
    base: Bytes = np.full(n_records, LEFT | RIGHT, np.uint8) if sides is None else sides
    looking = (base & LEFT) != 0
    found: list[ScoredPairs] = []
    step_counts = []
    steps = _steps(join, sides)
    for step in steps:
        sides_now = np.where(looking, base, base & ~np.uint8(LEFT))
        joined, counts = step.run(sides_now, None, runner)
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
    """Spell out the best partners of records for each document."""
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
