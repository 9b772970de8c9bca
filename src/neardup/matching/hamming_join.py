"""Exact join of sets by Hamming distance: a join by overlaps, and sets too small to need any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.matching.join import LEFT, RIGHT, Join
from neardup.matching.measures import Hamming
from neardup.matching.pieces import check_limit
from neardup.matching.set_join import JoinCounts, join_sets
from neardup.options.choices import Algorithm
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Bytes, Floats, Int64s, ScoredPairs, ShingleSets, Uint64s

# Pairs of small sets that are made at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class HammingJoin(Join):
    """Sets, joined by the number of elements that only one of two has; a score is a distance.

    With ``keys``, by which the elements are salted, only pairs of sets of equal keys are found.
    """

    sets: ShingleSets
    measure: Hamming
    algorithm: Algorithm
    keys: Uint64s | None = None

    score_name: ClassVar[str | None] = "distance"

    @property
    def is_directed(self) -> bool:
        """A distance is the same in either direction."""
        return False

    @property
    def own_scores(self) -> Int64s:
        """Zeros."""
        return np.zeros(len(self.sets), np.int64)

    @property
    def twins(self) -> Int64s:
        """All sets."""
        return np.arange(len(self.sets))

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the Jaccard similarities."""
        return self.measure.similarities(*self._overlaps(pairs))

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return what pairs are ranked by: the nearest highest."""
        return self.measure.fractions(*self._overlaps(pairs))

    def steps(self) -> Iterator[Self]:
        """Raise the distance."""
        for measure in self.measure.falling(0):
            yield replace(self, measure=measure)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, JoinCounts]:
        """Join by prefixes what shares an element, then add what shares none.

        Sets of sizes x and y at distance d have (x + y - d) / 2 elements in common, which is one at
        least unless x + y <= d; and then they are within d whatever they have.
        """
        joined, counts = join_sets(
            self.sets,
            self.measure,
            sides=sides,
            algorithm=self.algorithm,
            limit=limit,
            runner=runner,
        )
        sizes = self.sets.sizes
        distances = sizes[joined.left] + sizes[joined.right] - 2 * joined.scores
        found = [ScoredPairs(joined.left, joined.right, distances)]
        known = _numbers(joined, len(sizes))
        n_found = len(joined)
        for pairs in _small_pairs(sizes, sides, self.measure.max_distance):
            if self.keys is not None:
                pairs = pairs.take(self.keys[pairs.left] == self.keys[pairs.right])
            apart = pairs.take(~np.isin(_numbers(pairs, len(sizes)), known))
            n_found += len(apart)
            check_limit(limit, n_found)
            found.append(apart)
        columns = ("left", "right", "scores")
        every = ScoredPairs(*(np.concatenate([getattr(p, c) for p in found]) for c in columns))
        n_more = n_found - len(joined)
        counts = replace(counts, verified=counts.verified + n_more, results=n_found)
        return every.take(np.lexsort((every.right, every.left))), counts

    def _overlaps(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s, Int64s]:
        x, y = (self.sets.sizes[side] for side in (pairs.left, pairs.right))
        return (x + y - pairs.scores) // 2, x, y


def _numbers(pairs: ScoredPairs, n: int) -> Int64s:
    """Return a number for each pair of n sets, another for each."""
    return pairs.left * n + pairs.right


def _small_pairs(sizes: Int64s, sides: Bytes | None, max_distance: int) -> Iterator[ScoredPairs]:
    """Yield all pairs of sets that together have so many elements at most, as if they shared none.

    Some at a time; of two collections those of different ones.
    """
    are_wanted: Bools = np.ones(len(sizes), np.bool_) if sides is None else sides > 0
    order = np.flatnonzero(are_wanted & (sizes > 0) & (sizes < max_distance))
    order = order[np.argsort(sizes[order], kind="stable")]
    own = sizes[order]
    # Each with those before it that leave room for it.
    n_partners = np.minimum(np.searchsorted(own, max_distance - own, "right"), np.arange(len(own)))
    ends = np.cumsum(n_partners)
    start = 0
    while start < len(order):
        before = ends[start] - n_partners[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, "right")))
        counts = n_partners[start:stop]
        later = np.repeat(np.arange(start, stop), counts)
        earlier = np.arange(before, ends[stop - 1]) - np.repeat(ends[start:stop] - counts, counts)
        x, y = order[earlier], order[later]
        if sides is not None:
            are_apart = _may_pair(sides[x], sides[y])
            x, y, earlier, later = x[are_apart], y[are_apart], earlier[are_apart], later[are_apart]
        yield ScoredPairs(np.minimum(x, y), np.maximum(x, y), own[earlier] + own[later])
        start = stop


def _may_pair(x: Bytes, y: Bytes) -> Bools:
    """Return whether one of two sets is of the left collection and the other of the right one."""
    forth: Bools = (x & LEFT != 0) & (y & RIGHT != 0)
    back: Bools = (y & LEFT != 0) & (x & RIGHT != 0)
    return forth | back
