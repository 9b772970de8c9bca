"""Exact similarity join of weighted sets: all pairs at or above a threshold, none missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.join import weighted
from neardup.kernels.join.overlap import WideMatches
from neardup.kernels.join.postings import Groups, Postings
from neardup.kernels.types import sealed
from neardup.matching.join import FilterCounts, Join
from neardup.matching.measures import Measure
from neardup.matching.pieces import Columns, Tally, collect_pieces, probe_pieces
from neardup.matching.postings import group_records, index_groups
from neardup.matching.set_join import ScoredBySize
from neardup.matching.weighted_ranks import needed_weights, rank_weighted_sets
from neardup.runtime.runner import Runner
from neardup.tables import Bytes, Int64s, ScoredPairs, WeightedSets


@dataclass(frozen=True)
class WeightedJoinCounts(FilterCounts):
    """What each filter let through.

    ``hits`` postings under the tokens of probing prefixes, of two collections those of the other
    one; ``after_weight`` of those whose record weighs enough and comes first; ``after_position``
    those that leave enough weight behind them in both; ``verified`` pairs whose common weight was
    summed up to the end, ``results`` those at the threshold.
    """

    hits: int
    after_weight: int
    after_position: int
    verified: int
    results: int


@dataclass(frozen=True)
class WeightedJoin(ScoredBySize, Join):
    """Weighted sets, joined exactly; a score is a common weight."""

    sets: WeightedSets
    measure: Measure

    score_name: ClassVar[str | None] = None

    @property
    def own_scores(self) -> Int64s:
        """Total weights."""
        return self.sets.totals

    def steps(self) -> Iterator[Self]:
        """Lower the threshold."""
        for measure in self.measure.falling(int(self.sets.totals.max(initial=0))):
            yield replace(self, measure=measure)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, WeightedJoinCounts]:
        """Join by prefixes."""
        return join_weighted_sets(self.sets, self.measure, sides=sides, limit=limit, runner=runner)


def join_weighted_sets(
    sets: WeightedSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    limit: int | None = None,
    runner: Runner,
) -> tuple[ScoredPairs, WeightedJoinCounts]:
    """Find all pairs of weighted sets that reach the threshold.

    Parameters
    ----------
    sets
        n sets; one without weight is similar to nothing.
    measure
        With the threshold.
    sides
        For a join of two collections (n,): 1 for a set of the left one, 2 of the right one, 3 of
        both, 0 of neither. Only pairs of sets of different collections are found.
    limit
        Stop with an error at more pairs than this.
    runner
        Blocks of records are probed at the same time; reports those probed as stage ``join``.

    Returns
    -------
    The pairs in ascending order, left less than right, with their common weights; and what the
    filters did.

    Raises
    ------
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Memory: 32 bytes an element while they are ranked, then 12; 8 bytes a posting (the indexing
    prefixes), 16 a pair found, and for each thread 20 bytes a set. Results do not depend on the
    number of threads.
    """
    is_wanted = sets.totals > 0 if sides is None else (sets.totals > 0) & (sides > 0)
    order = np.flatnonzero(is_wanted)
    order = order[np.argsort(sets.totals[order], kind="stable")]
    records, groups, index = prepare_records(
        sets, order, measure, None if sides is None else sides[order]
    )
    tally = Tally(weighted.N_COUNTS)
    n = len(order)

    def make_scratch() -> weighted.SeenPartners:
        own_next, partner_next, touched = (np.empty(n, np.int32) for _ in range(3))
        return weighted.SeenPartners(np.zeros(n, np.int64), own_next, partner_next, touched)

    def probe(
        start: int, stop: int, scratch: weighted.SeenPartners, columns: Columns
    ) -> tuple[int, int]:
        counts: Int64s = np.zeros(weighted.N_COUNTS, np.int64)
        reached, n_pairs = weighted.probe_weighted(
            start,
            stop,
            measure.in_kernels,
            records,
            groups,
            index,
            scratch,
            WideMatches(*columns),
            counts,
        )
        tally.add(counts)
        return int(reached), int(n_pairs)

    pieces = probe_pieces(n, 3, make_scratch, probe, runner, np.int64)
    n_left_out = len(sets) - n

    def report(done: int) -> None:
        runner.report("join", n_left_out + done, len(sets))

    found = collect_pieces(pieces, n, 3, limit, report)
    tally.counts[weighted.RESULTS] = len(found[0])
    left, right = order[found[0]], order[found[1]]
    low, high = np.minimum(left, right), np.maximum(left, right)
    sequence = np.lexsort((high, low))
    pairs = ScoredPairs(low[sequence], high[sequence], found[2][sequence].astype(np.int64))
    return pairs, WeightedJoinCounts(*tally.counts.tolist())


def prepare_records(
    sets: WeightedSets, order: Int64s, measure: Measure, sides: Bytes | None
) -> tuple[weighted.WeightedRecords, Groups, Postings]:
    """Rank and index the sets; ``order`` is by total weight, ``sides`` are in the same order."""
    runs = rank_weighted_sets(sets, order)
    totals = sets.totals[order]
    probing, indexing = needed_weights(measure, totals)
    found_under = runs.prefixes(indexing)
    ranked = runs.ranked
    records = weighted.WeightedRecords(
        tokens=ranked.tokens,
        sums=runs.sums,
        starts=ranked.starts,
        lengths=ranked.sizes,
        totals=totals,
        probing=runs.prefixes(probing),
        indexing=found_under,
        first_partner=np.searchsorted(totals, probing).astype(np.int64),
    )
    groups = group_records(len(order), sides)
    return sealed(records), groups, index_groups(ranked, found_under, groups)
