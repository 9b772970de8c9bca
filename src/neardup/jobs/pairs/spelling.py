"""Convert pairs of distinct records to pairs of their documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from neardup.tables import Int64s, ScoredPairs


@dataclass(frozen=True)
class Members:
    """Documents of each record: record r has ``documents[starts[r] :][: counts[r]]``, ascending."""

    documents: Int64s
    starts: Int64s
    counts: Int64s

    @classmethod
    def of(cls, records_of_documents: Int64s, n_records: int, first: int = 0) -> Members:
        """List the documents of every record; they are numbered from ``first``."""
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
        """Spell out pairs of records as pairs of documents, of these members and of ``other``.

        They come in parts or all at once, each with the number of its pair of records.
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


@dataclass(frozen=True)
class Speller:
    """Spell out pairs of records, and pairs of documents with the same record.

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
        """Prepare for ``documents`` (the record of each, -1 for none), the left ones first.

        ``n_left`` is the number of left ones, None for a self-join. ``numbers`` of the documents
        ascend; None numbers them from 0.
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
        """Return the speller without pairs of documents with the same record."""
        return replace(self, twins=self.twins[:0])

    def first(self, most: int) -> Speller:
        """Return the speller with the first ``most`` documents of each record."""
        return replace(self, left=self.left.first(most), right=self.right.first(most))

    def crossings(self, joined: ScoredPairs) -> ScoredPairs:
        """Return all pairs of records to spell out, including pairs of a record with itself."""
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
        """Spell out crossings in order, about ``n_at_once`` pairs of documents at a time.

        Yields the pairs, the earlier document first unless the measure is directed, and the number
        of each pair's crossing.
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
