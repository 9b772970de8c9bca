"""Distinct sets that share a bucket, joined: all at once, or block by block if they are many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.matching.bucket_join import join_buckets
from neardup.matching.buckets import bucket_documents
from neardup.matching.measures import Measure
from neardup.matching.set_join import SetSizes
from neardup.reading.copies import ContentTable
from neardup.runtime.runner import Runner
from neardup.tables import (
    Buckets,
    Bytes,
    Digests,
    Int64s,
    ScoredPairs,
    ShingleSets,
    Uint64s,
    WeightedSets,
)
from neardup.text.shingles import digest_sets
from neardup.text.weighted_sets import digest_weighted_sets

# Second half of what stands for the digest of an empty set.
_NO_DIGEST = np.uint64(2**64 - 1)

# Returns the sets of contents at these places, which ascend.
SetReader = Callable[[Int64s], ShingleSets | WeightedSets]


@dataclass(frozen=True)
class JoinedRecords:
    """Pairs of records, each of which is a set that differs from all others.

    ``of_contents`` has the record of each content, ``sizes`` those of the records, of weighted ones
    their total weights. ``n_verified`` pairs of records share a bucket and were compared.
    """

    of_contents: Int64s
    sizes: Int64s
    pairs: ScoredPairs
    n_verified: int

    def scored_by(self, measure: Measure) -> SetSizes:
        """Return how similar records are, of which only the sizes are still there."""
        return SetSizes(self.sizes, measure)


@dataclass(frozen=True)
class RecordJoin:
    """Contents whose sets are joined, if two share a bucket.

    Parameters
    ----------
    keys
        Band keys of the contents, of shape (n, n_bands).
    costs
        Bytes that each takes in memory when it is compared.
    read_sets
        Returns the sets of some contents.
    find_sides
        Returns the sides of the records, given the record of each content and their number.
    measure
        Whose threshold pairs reach.
    limit
        Most pairs.
    """

    keys: Uint64s
    costs: Int64s
    read_sets: SetReader
    find_sides: Callable[[Int64s, int], Bytes | None]
    measure: Measure
    limit: int | None

    def run(self, room: int | None, runner: Runner, report: Callable[[int], None]) -> JoinedRecords:
        """Find all pairs, with sets of so many bytes in memory at once; None for all.

        Raises
        ------
        ResultLimitError
            At more pairs than the limit.
        """
        everything = np.arange(len(self.costs))
        if room is None or int(self.costs.sum()) <= room:
            sets = self.read_sets(everything)
            firsts, of_contents = find_equal(digest_of(sets), sets.sizes)
            sets = sets.take(firsts)
            buckets, sides = self._meet(firsts, of_contents, runner)
            pairs, counts = join_buckets(
                buckets,
                sets,
                self.measure,
                sides=sides,
                limit=self.limit,
                runner=runner,
                report=report,
            )
            return JoinedRecords(of_contents, _sizes_of(sets), pairs, counts.verified)
        return self._run_in_blocks(room // 2, runner, report)

    def _run_in_blocks(
        self, room: int, runner: Runner, report: Callable[[int], None]
    ) -> JoinedRecords:
        """Join each block with itself, and with each block before it."""
        digests, sizes = [], []
        for start, stop in pairwise(_cut(self.costs, room)):
            sets = self.read_sets(np.arange(start, stop))
            digests.append(digest_of(sets))
            sizes.append(_sizes_of(sets))
        own_sizes = np.concatenate(sizes)
        firsts, of_contents = find_equal(np.concatenate(digests), own_sizes)
        buckets, sides = self._meet(firsts, of_contents, runner)
        found: list[ScoredPairs] = []

        def join(records: Int64s) -> tuple[ScoredPairs, int]:
            pairs, counts = join_buckets(
                Buckets(buckets.numbers.take(records, axis=1), buckets.sizes),
                self.read_sets(firsts[records]),
                self.measure,
                sides=None if sides is None else sides[records],
                limit=self.limit,
                runner=runner,
                report=lambda _: None,
            )
            return (
                ScoredPairs(records[pairs.left], records[pairs.right], pairs.scores),
                counts.verified,
            )

        n_verified, within = 0, []
        bounds = _cut(self.costs[firsts], room)
        blocks = [np.arange(start, stop) for start, stop in pairwise(bounds)]
        for block, own in enumerate(blocks):
            pairs, n_own = join(own)
            found.append(pairs)
            within.append(n_own)
            n_verified += n_own
            for earlier, n_earlier in zip(blocks[:block], within[:block], strict=True):
                pairs, n_both = join(np.concatenate([earlier, own]))
                # Both blocks are joined with themselves once more, which is the smaller part.
                found.append(pairs.take((pairs.left < own[0]) != (pairs.right < own[0])))
                n_verified += n_both - n_own - n_earlier
            report(int(own[-1]) + 1)
        parts = ("left", "right", "scores")
        joined = ScoredPairs(*(np.concatenate([getattr(p, c) for p in found]) for c in parts))
        joined = joined.take(np.lexsort((joined.right, joined.left)))
        return JoinedRecords(of_contents, own_sizes[firsts], joined, n_verified)

    def _meet(
        self, firsts: Int64s, of_contents: Int64s, runner: Runner
    ) -> tuple[Buckets, Bytes | None]:
        """Return the buckets and the sides of the records."""
        n_bands = self.keys.shape[1]
        buckets = bucket_documents(
            lambda band: self.keys[firsts, band], n_bands, len(firsts), runner
        )
        return buckets, self.find_sides(of_contents, len(firsts))


def digest_of(sets: ShingleSets | WeightedSets) -> Uint64s:
    """Digest each set, as ``digest_sets``."""
    if isinstance(sets, ShingleSets):
        return digest_sets(sets)
    return digest_weighted_sets(sets)


def _sizes_of(sets: ShingleSets | WeightedSets) -> Int64s:
    return sets.sizes if isinstance(sets, ShingleSets) else sets.totals


def find_equal(digests: Uint64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and for each set the number of its first among those.

    An empty set, of shingles that weigh nothing, equals no other.
    """
    empty = np.flatnonzero(sizes == 0)
    digests[empty, 0], digests[empty, 1] = empty, _NO_DIGEST
    table = ContentTable()
    numbered = table.number(Digests(digests, np.ones(len(digests), np.bool_)))
    return np.flatnonzero(numbered.is_first), numbered.numbers


def _cut(costs: Int64s, room: int) -> list[int]:
    """Cut documents into runs of so many bytes, one document at least."""
    ends = np.cumsum(costs)
    bounds = [0]
    while bounds[-1] < len(costs):
        before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        stop = int(np.searchsorted(ends, before + room, side="right"))
        bounds.append(max(stop, bounds[-1] + 1))
    return bounds
