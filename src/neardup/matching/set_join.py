"""Join plain and weighted sets exactly at a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.arrays import Int, sealed
from neardup.kernels.common.bits import MARGIN
from neardup.kernels.join import postings, set_join_kernels, weighted_join
from neardup.kernels.join.overlap import NarrowMatches, WideMatches
from neardup.kernels.join.postings import Postings, RecordGroups
from neardup.kernels.join.set_join_kernels import ParityRows
from neardup.matching.join import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    NARROW,
    WIDE,
    Columns,
    Compared,
    Costs,
    FilterCounts,
    Join,
    RankedRecords,
    Scored,
    collect_pairs,
    count_words,
    group_records,
    index_groups,
    number_values,
    order_by_size,
    probe_pieces,
    rank_numbers,
    rank_sets,
)
from neardup.matching.measures import Measure
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import (
    Bytes,
    Floats,
    Int32s,
    Int64s,
    ScoredPairs,
    ShingleSets,
    Uint64s,
    WeightedSets,
)
from neardup.text.shingles import take_ranges


@dataclass(frozen=True)
class JoinCounts(FilterCounts):
    """Count the candidates after each filter.

    ``hits`` counts postings of the tokens of probing prefixes in the other collection, and
    ``after_size`` hits whose record has a fitting size and comes first. ``after_parity``,
    ``after_position`` and ``after_suffix`` count candidates that pass these filters of PPJoin+:
    pairs. PPJoin counts postings, and no parities (0); for All-Pairs all three are 0. ``verified``
    counts pairs whose overlap was counted to the end.
    """

    hits: int
    after_size: int
    after_parity: int
    after_position: int
    after_suffix: int
    verified: int
    results: int


class ScoredBySize(Scored):
    """Sets of shingles, compared by overlap and by sizes, which are their ``own_scores``."""

    measure: Measure
    score_name: ClassVar[str | None] = "overlap"

    @property
    def is_directed(self) -> bool:
        """Return whether the measure is directed."""
        return self.measure.is_directed

    @property
    def twins(self) -> Int64s:
        """Sets that reach the threshold with themselves."""
        return self.measure.twins(self.own_scores)

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the values of the measure."""
        sizes = self.own_scores
        return self.measure.similarities(pairs.scores, sizes[pairs.left], sizes[pairs.right])


@dataclass(frozen=True)
class SetSizes(ScoredBySize):
    """Sets known by their sizes only, as after a join."""

    sizes: Int64s
    measure: Measure

    @property
    def own_scores(self) -> Int64s:
        """Return the size of each set."""
        return self.sizes


@dataclass(frozen=True)
class SetJoin(ScoredBySize, Join):
    """Exact join of sets of shingles.

    An empty set is similar to nothing. For ``containment`` the first of a pair lies in the second.
    ``allpairs`` filters by prefix and size, ``ppjoin`` also by position, ``ppjoin+`` also by
    parities and suffix. All find the same pairs.

    Memory: 12 bytes per element during ranking, then 4; 8 bytes per posting of the indexing
    prefixes; 8 per distinct element of several sets (24 in a join of two collections); 12 per pair
    found; 8 per set and thread. Parities (``ppjoin+``) take 16 bytes per set, and up to half a byte
    per element of sets above 32.
    """

    sets: ShingleSets
    measure: Measure
    algorithm: Algorithm = DEFAULT_ALGORITHM
    counted: ClassVar[type[FilterCounts]] = JoinCounts
    costs: ClassVar[Costs] = Costs(130, 20, 50)

    @property
    def own_scores(self) -> Int64s:
        """Return the size of each set."""
        return self.sets.sizes

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other sets."""
        assert isinstance(records, ShingleSets)
        return replace(self, sets=records)

    def may_match(self, smaller: int, larger: int) -> bool:
        """Return whether the measure allows these sizes."""
        sizes = np.array([smaller, larger], np.int64)
        first, stop = self.measure.partner_ranges(sizes, self.measure.size_bounds(sizes).least)
        larger_finds_smaller = first[1] <= 0 < stop[1]
        smaller_finds_larger = first[0] <= 1 < stop[0]
        return bool(larger_finds_smaller or smaller_finds_larger)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, JoinCounts]:
        """Join sets by prefixes and count the filtered pairs."""
        sets, measure = self.sets, self.measure
        order = order_by_size(sets.sizes, sides)
        n, sizes = len(order), sets.sizes[order]
        ranked = rank_sets(sets, order)
        bounds = measure.size_bounds(sizes)
        first_partner, last_partner = measure.partner_ranges(sizes, bounds.least)
        # Prefixes start with the tokens that no other record has, which are not in the runs.
        probing, indexing = (ranked.shorten(p, sizes) for p in (bounds.probing, bounds.indexing))
        records = sealed(
            set_join_kernels.SizedRecords(
                tokens=ranked.tokens,
                starts=ranked.starts,
                sizes=sizes,
                lengths=ranked.sizes,
                probing=probing,
                indexing=indexing,
                first_partner=first_partner,
                last_partner=last_partner,
            )
        )
        # The first record of a directed pair looks up the second.
        own_sides = None if sides is None else sides[order]
        groups = group_records(n, own_sides, is_directed=measure.is_directed)
        index = index_groups(ranked, indexing, groups)
        n_words = count_words(ranked.sizes) if self.algorithm == "ppjoin+" else 0
        parities = make_parities(ranked, sizes, n_words)

        def make_scratch() -> tuple[Int32s, Int32s]:
            return np.zeros(n, np.int32), np.empty(n, np.int32)

        def probe(
            start: int,
            stop: int,
            scratch: tuple[Int32s, Int32s],
            columns: Columns,
            own_counts: Int64s,
        ) -> tuple[Int, Int]:
            return set_join_kernels.probe_records(
                start,
                stop,
                ALGORITHMS[self.algorithm],
                measure.in_kernels,
                records,
                groups,
                index,
                parities,
                *scratch,
                NarrowMatches(*columns),
                own_counts,
            )

        counts: Int64s = np.zeros(set_join_kernels.N_COUNTS, np.int64)
        pieces = probe_pieces(n, NARROW, make_scratch, probe, counts, runner)
        pairs = collect_pairs(pieces, order, limit, runner, is_directed=measure.is_directed)
        counts[set_join_kernels.RESULTS] = len(pairs)
        return pairs, JoinCounts(*counts.tolist())


def make_parities(ranked: RankedRecords, sizes: Int64s, n_words: int) -> ParityRows:
    """Return the parities of all records, empty for 0 words."""
    n = len(sizes) if n_words else 0
    firsts: Uint64s = np.empty(2 * n, np.uint64)
    others: Uint64s = np.empty(n * max(n_words - 1, 0), np.uint64)
    if n_words:
        set_join_kernels.fill_parity_rows(
            ranked.tokens, ranked.starts, ranked.sizes, sizes, n_words, firsts, others
        )
    return sealed(ParityRows(firsts, others, n_words))


def weight_prefixes(ranked: RankedRecords, sums: Int64s, needed: Floats) -> Int64s:
    """Count the tokens before the rest weighs less than needed.

    ``sums`` as of ``rank_weighted_sets``. Two sets that share the needed weight share one of these
    tokens, whatever the order of all tokens.
    """
    lengths: Int64s = np.empty(len(needed), np.int64)
    weighted_join.weight_prefixes(ranked.starts, ranked.sizes, sums, needed, lengths)
    return lengths


def needed_weights(measure: Measure, totals: Int64s) -> tuple[Floats, Floats]:
    """Return the least common weights at the threshold, rounded down.

    The first is for any partner, the second for one of at least the same weight.
    """
    # c / (x + y - c) >= t and c <= y: c >= t * x. Of y >= x: c >= 2 * t * x / (1 + t).
    share = float(measure.threshold)
    with_any: Floats = totals.astype(np.float64) * (share * MARGIN)
    return with_any, with_any * (2 / (1 + share))


def rank_weighted_sets(sets: WeightedSets, order: Int64s) -> tuple[RankedRecords, Int64s]:
    """Sort elements of weighted sets by rarity and sum weights.

    Token k of all runs weighs ``sums[k + 1] - sums[k]``; sums may wrap around, differences do not.
    Elements of a single set are left out. The weight of an element is capped at its second largest
    weight in any set, because no two sets share more. Memory 28 bytes per element and up to 50 per
    distinct one while it works, then 16 per element of several sets.
    """
    sizes = sets.sizes[order]
    starts: Int64s = np.cumsum(sizes) - sizes
    ranges = sets.starts[order], sets.starts[order] + sizes
    numbers, frequencies = number_values(take_ranges(sets.values, *ranges).values)
    weights = take_ranges(sets.weights.view(np.uint64), *ranges).values.view(np.int64)
    n_left = weighted_join.keep_shared(numbers, frequencies, weights)
    weights = weights[:n_left].copy()
    lengths: Int64s = np.empty(len(sizes), np.int64)
    postings.leave_out_unique(numbers, frequencies, starts, sizes, lengths)
    numbers = numbers[:n_left].copy()
    ranked = rank_numbers(numbers, frequencies, np.cumsum(lengths) - lengths, lengths)
    del numbers
    sums: Int64s = np.zeros(n_left + 1, np.int64)
    weighted_join.order_weights(weights, ranked.places, ranked.starts, lengths, sums[1:])
    heaviest, second = (np.zeros(ranked.n_tokens, np.int64) for _ in range(2))
    weighted_join.cap_weights(ranked.tokens, heaviest, second, sums[1:])
    return ranked, np.cumsum(sums, out=sums)


@dataclass(frozen=True)
class WeightedJoinCounts(FilterCounts):
    """Count the pairs after each filter.

    ``hits`` counts postings of the tokens of probing prefixes in the other collection;
    ``after_weight`` hits whose record weighs enough and comes first; ``after_position`` hits with
    enough weight after them in both records; ``verified`` pairs whose weight was summed to the end.
    """

    hits: int
    after_weight: int
    after_position: int
    verified: int
    results: int


@dataclass(frozen=True)
class WeightedJoin(ScoredBySize, Join):
    """Exact join of weighted sets with common weights as scores.

    Memory: 32 bytes per element during ranking, then 12; 8 bytes per posting of the indexing
    prefixes, 16 per pair found, and 20 bytes per set and thread.
    """

    sets: WeightedSets
    measure: Measure

    score_name: ClassVar[str | None] = None
    counted: ClassVar[type[FilterCounts]] = WeightedJoinCounts
    costs: ClassVar[Costs] = Costs(160, 48, 50)

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other sets."""
        assert isinstance(records, WeightedSets)
        return replace(self, sets=records)

    def may_match(self, smaller: int, larger: int) -> bool:
        """Return whether the lesser total weight may be enough."""
        return bool(needed_weights(self.measure, np.array([larger]))[0][0] <= smaller)

    @property
    def own_scores(self) -> Int64s:
        """Return the total weight of each set."""
        return self.sets.totals

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, WeightedJoinCounts]:
        """Join sets by prefixes and count the filtered pairs."""
        sets, threshold = self.sets, self.measure.in_kernels
        order = order_by_size(sets.totals, sides)
        own_sides = None if sides is None else sides[order]
        prepared = prepare_weighted(sets, order, self.measure, own_sides)
        counts: Int64s = np.zeros(weighted_join.N_COUNTS, np.int64)
        n = len(order)

        def make_scratch() -> weighted_join.SeenPartners:
            own_next, partner_next, touched = (np.empty(n, np.int32) for _ in range(3))
            return weighted_join.SeenPartners(
                np.zeros(n, np.int64), own_next, partner_next, touched
            )

        def probe(
            start: int,
            stop: int,
            scratch: weighted_join.SeenPartners,
            columns: Columns,
            own_counts: Int64s,
        ) -> tuple[Int, Int]:
            matches = WideMatches(*columns)
            return weighted_join.probe_weighted(
                start, stop, threshold, *prepared, scratch, matches, own_counts
            )

        pieces = probe_pieces(n, WIDE, make_scratch, probe, counts, runner)
        pairs = collect_pairs(pieces, order, limit, runner)
        counts[weighted_join.RESULTS] = len(pairs)
        return pairs, WeightedJoinCounts(*counts.tolist())


def prepare_weighted(
    sets: WeightedSets, order: Int64s, measure: Measure, sides: Bytes | None
) -> tuple[weighted_join.WeightedRecords, RecordGroups, Postings]:
    """Rank and index the sets in ``order`` of total weight."""
    ranked, sums = rank_weighted_sets(sets, order)
    totals = sets.totals[order]
    probing, indexing = needed_weights(measure, totals)
    found_under = weight_prefixes(ranked, sums, indexing)
    records = weighted_join.WeightedRecords(
        tokens=ranked.tokens,
        sums=sums,
        starts=ranked.starts,
        lengths=ranked.sizes,
        totals=totals,
        probing=weight_prefixes(ranked, sums, probing),
        indexing=found_under,
        first_partner=np.searchsorted(totals, probing).astype(np.int64),
    )
    groups = group_records(len(order), sides)
    return sealed(records), groups, index_groups(ranked, found_under, groups)
