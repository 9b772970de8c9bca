"""Join weighted sets exactly: all pairs at or above a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.common.wide import MARGIN
from neardup.kernels.join import postings, weighted
from neardup.kernels.join.overlap import WideMatches
from neardup.kernels.join.postings import Groups, Postings
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.join import (
    Columns,
    Compared,
    Costs,
    FilterCounts,
    PartedJoin,
    Tally,
    collect_pieces,
    have_sides,
    probe_pieces,
)
from neardup.matching.measures import Measure
from neardup.matching.postings import (
    RankedRecords,
    group_records,
    index_groups,
    number_values,
    rank_numbers,
)
from neardup.matching.set_join import ScoredBySize
from neardup.runs.runner import Runner
from neardup.tables import Bytes, Floats, Int64s, ScoredPairs, Uint64s, WeightedSets

# Weighted sets as runs of token ranks and their weights, and prefixes by weight.


@dataclass(frozen=True)
class WeightedRuns:
    """Runs of token ranks, and running sums of their weights.

    Token k of all runs weighs ``sums[k + 1] - sums[k]``; sums may wrap around, differences do not.
    """

    ranked: RankedRecords
    sums: Int64s

    def prefixes(self, needed: Floats) -> Int64s:
        """Count the tokens of each run before the rest weighs less than needed.

        Two sets that share the needed weight also share one of these tokens, whatever the order of
        all tokens.
        """
        lengths: Int64s = np.empty(len(needed), np.int64)
        weighted.weight_prefixes(self.ranked.starts, self.ranked.sizes, self.sums, needed, lengths)
        return lengths


def needed_weights(measure: Measure, totals: Int64s) -> tuple[Floats, Floats]:
    """Return the least common weights at the threshold, rounded down.

    The first is for any partner at the threshold, the second for one of at least the same weight.
    """
    # c / (x + y - c) >= t and c <= y: c >= t * x. Of y >= x: c >= 2 * t * x / (1 + t).
    share = float(measure.threshold)
    with_any: Floats = totals.astype(np.float64) * (share * MARGIN)
    return with_any, with_any * (2 / (1 + share))


def rank_weighted_sets(sets: WeightedSets, order: Int64s) -> WeightedRuns:
    """Sort the elements of weighted sets by rarity.

    Elements of a single set are left out. The weight of an element is capped at its second largest
    weight in any set, because no two sets share more.

    Notes
    -----
    Memory 28 bytes per element and up to 50 per distinct one while it works, then 16 per element of
    several sets.
    """
    sizes = sets.sizes[order]
    starts: Int64s = np.cumsum(sizes) - sizes
    n_elements = int(sizes.sum())
    values: Uint64s = np.empty(n_elements, np.uint64)
    weights: Int64s = np.empty(n_elements, np.int64)
    own_starts = sets.starts[order]
    shingles.copy_sets(sets.values, own_starts, sizes, values, starts)
    shingles.copy_sets(
        sets.weights.view(np.uint64), own_starts, sizes, weights.view(np.uint64), starts
    )
    numbers, frequencies = number_values(values)
    del values
    n_left = weighted.keep_shared(numbers, frequencies, weights)
    weights = weights[:n_left].copy()
    lengths: Int64s = np.empty(len(sizes), np.int64)
    postings.leave_out_unique(numbers, frequencies, starts, sizes, lengths)
    numbers = numbers[:n_left].copy()
    ranked = rank_numbers(numbers, frequencies, np.cumsum(lengths) - lengths, lengths)
    del numbers
    sums: Int64s = np.zeros(n_left + 1, np.int64)
    weighted.order_weights(weights, ranked.places, ranked.starts, lengths, sums[1:])
    heaviest, second = (np.zeros(ranked.n_tokens, np.int64) for _ in range(2))
    weighted.cap_weights(ranked.tokens, heaviest, second, sums[1:])
    return WeightedRuns(ranked, np.cumsum(sums, out=sums))


@dataclass(frozen=True)
class WeightedJoinCounts(FilterCounts):
    """Count the pairs after each filter.

    ``hits`` counts postings of the tokens of probing prefixes in the other collection;
    ``after_weight`` hits whose record weighs enough and comes first; ``after_position`` hits with
    enough weight after them in both records; ``verified`` pairs whose common weight was summed up
    to the end, ``results`` pairs at the threshold.
    """

    hits: int
    after_weight: int
    after_position: int
    verified: int
    results: int


@dataclass(frozen=True)
class WeightedJoin(ScoredBySize, PartedJoin):
    """Join weighted sets exactly; a score is a common weight."""

    sets: WeightedSets
    measure: Measure

    score_name: ClassVar[str | None] = None
    counted: ClassVar[type[FilterCounts]] = WeightedJoinCounts
    costs: ClassVar[Costs] = Costs(160, 48, 50)

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other sets."""
        assert isinstance(records, WeightedSets)
        return replace(self, sets=records)

    def may_meet(self, smaller: int, larger: int) -> bool:
        """Return whether the lesser weight may be enough for the greater one."""
        return bool(needed_weights(self.measure, np.array([larger]))[0][0] <= smaller)

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
        n sets; an empty one is similar to nothing.
    measure
        With the threshold.
    sides
        As ``Join.run`` takes them.
    limit
        Stop with an error at more pairs than this.
    runner
        Blocks of records are probed at the same time; reports those probed as stage ``join``.

    Returns
    -------
    The pairs in ascending order, left less than right, with their common weights, and the counts of
    the filters.

    Notes
    -----
    Memory: 32 bytes per element during ranking, then 12; 8 bytes per posting of the indexing
    prefixes, 16 per pair found, and 20 bytes per set and thread. Results do not depend on the
    number of threads.
    """
    order = np.flatnonzero(have_sides(sides, sets.totals > 0))
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
    pairs = ScoredPairs(low, high, found[2].astype(np.int64))
    return pairs.take(pairs.ascending()), WeightedJoinCounts(*tally.counts.tolist())


def prepare_records(
    sets: WeightedSets, order: Int64s, measure: Measure, sides: Bytes | None
) -> tuple[weighted.WeightedRecords, Groups, Postings]:
    """Rank and index the sets; ``order`` is by total weight, ``sides`` in the same order."""
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
