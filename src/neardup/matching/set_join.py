"""Join sets exactly: all pairs at a threshold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.join import set_join
from neardup.kernels.join import set_join as parity_rows
from neardup.kernels.join.overlap import Matches
from neardup.kernels.join.postings import Groups, Postings
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.types import sealed
from neardup.matching.join import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    Columns,
    Compared,
    Costs,
    FilterCounts,
    PartedJoin,
    Scored,
    Tally,
    check_limit,
    choose_algorithm,
    collect_pieces,
    count_words,
    have_sides,
    may_pair,
    probe_pieces,
    tell_apart,
)
from neardup.matching.measures import Hamming, Measure
from neardup.matching.postings import RankedRecords, group_records, index_groups, rank_sets
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import Bytes, Floats, Int32s, Int64s, ScoredPairs, ShingleSets, Uint64s


@dataclass(frozen=True)
class JoinCounts(FilterCounts):
    """Count the pairs after each filter.

    ``hits`` counts postings of the tokens of probing prefixes in the other collection;
    ``after_size`` hits whose record has a fitting size and comes first; ``after_parity``,
    ``after_position`` and ``after_suffix`` postings, in PPJoin+ pairs, that pass the three filters
    (0 for All-Pairs; parities for PPJoin); ``verified`` pairs whose overlap was counted to the end,
    ``results`` pairs at the threshold.
    """

    hits: int
    after_size: int
    after_parity: int
    after_position: int
    after_suffix: int
    verified: int
    results: int


class ScoredBySize(Scored):
    """Sets of shingles; a measure scores pairs by overlap and sizes."""

    measure: Measure
    score_name: ClassVar[str | None] = "overlap"

    @property
    @abstractmethod
    def own_scores(self) -> Int64s:
        """Sizes."""

    @property
    def is_directed(self) -> bool:
        """Whether the measure is."""
        return self.measure.is_directed

    @property
    def twins(self) -> Int64s:
        """Sets that reach the threshold with themselves."""
        return self.measure.twins(self.own_scores)

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the values of the measure."""
        sizes = self.own_scores
        return self.measure.similarities(pairs.scores, sizes[pairs.left], sizes[pairs.right])

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return numerators and denominators that rank pairs."""
        sizes = self.own_scores
        return self.measure.fractions(pairs.scores, sizes[pairs.left], sizes[pairs.right])


@dataclass(frozen=True)
class SetSizes(ScoredBySize):
    """Sets known by their sizes only, as after a join."""

    sizes: Int64s
    measure: Measure

    @property
    def own_scores(self) -> Int64s:
        """Sizes."""
        return self.sizes


# Of sets joined by prefixes.
_COSTS = Costs(130, 20, 50)


def _may_meet(measure: Measure, smaller: int, larger: int) -> bool:
    sizes = np.array([smaller, larger], np.int64)
    first, stop = measure.partner_ranges(sizes, measure.size_bounds(sizes).least)
    return bool(first[1] == 0 < stop[1] or first[0] <= 1 < stop[0])


@dataclass(frozen=True)
class SetJoin(ScoredBySize, PartedJoin):
    """Sets of shingles, joined exactly."""

    sets: ShingleSets
    measure: Measure
    algorithm: Algorithm
    counted: ClassVar[type[FilterCounts]] = JoinCounts
    costs: ClassVar[Costs] = _COSTS

    @property
    def own_scores(self) -> Int64s:
        """Sizes."""
        return self.sets.sizes

    def steps(self) -> Iterator[Self]:
        """Lower the threshold."""
        for measure in self.measure.falling(int(self.sets.sizes.max(initial=0))):
            yield replace(self, measure=measure)

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other sets."""
        assert isinstance(records, ShingleSets)
        return replace(self, sets=records)

    def may_meet(self, smaller: int, larger: int) -> bool:
        """Return whether the measure allows these sizes."""
        return _may_meet(self.measure, smaller, larger)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, JoinCounts]:
        """Join by prefixes."""
        return join_sets(
            self.sets,
            self.measure,
            sides=sides,
            algorithm=self.algorithm,
            limit=limit,
            runner=runner,
        )


def join_sets(
    sets: ShingleSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    algorithm: Algorithm = DEFAULT_ALGORITHM,
    limit: int | None = None,
    runner: Runner,
) -> tuple[ScoredPairs, JoinCounts]:
    """Find all pairs of sets that reach the threshold.

    Parameters
    ----------
    sets
        n sets; an empty one is similar to nothing.
    measure
        A measure of plain sets; for ``containment`` the first of a pair lies in the second.
    sides
        As ``Join.run`` takes them.
    algorithm
        ``allpairs`` filters by prefix and size, ``ppjoin`` also by position, ``ppjoin+`` also by
        parities and suffix. It runs as ``allpairs`` if prefixes share too little, or if candidates
        of a sample are so often similar that filters cost more than they save. ``auto`` chooses by
        the sizes of the sets. All find the same pairs.
    limit
        Stop with an error at more pairs than this.
    runner
        Blocks of records are probed at the same time; reports those probed as stage ``join``.

    Returns
    -------
    The pairs in ascending order, and the counts of the filters. Left is less than right, except for
    directed measures: both (a, b) and (b, a) may be pairs.

    Notes
    -----
    Memory: 12 bytes per element during ranking, then 4; 8 bytes per posting of the indexing
    prefixes, 16 with parities (``ppjoin+`` of small sets); 8 per distinct element of several sets
    (24 in a join of two collections); 12 per pair found; 8 per set and thread. Parities
    (``ppjoin+``) take 16 bytes per set, and up to half a byte per element of sets above 32. Results
    do not depend on the number of threads.
    """
    order = np.flatnonzero(have_sides(sides, sets.sizes > 0))
    order = order[np.argsort(sets.sizes[order], kind="stable")]
    if algorithm == "auto":
        algorithm = choose_algorithm(sets.sizes[order], measure)
    sides_in_order = None if sides is None else sides[order]
    prepared = _prepare(sets, order, measure, sides_in_order, algorithm)
    tally = Tally(set_join.N_COUNTS)
    n = len(order)

    def make_scratch() -> tuple[Int32s, Int32s]:
        return np.zeros(n, np.int32), np.empty(n, np.int32)

    def probe(
        start: int, stop: int, scratch: tuple[Int32s, Int32s], columns: Columns
    ) -> tuple[int, int]:
        counts: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
        reached, n_pairs = set_join.probe_records(
            start,
            stop,
            prepared.algorithm,
            measure.in_kernels,
            prepared.records,
            prepared.groups,
            prepared.index,
            prepared.parities,
            *scratch,
            Matches(*columns),
            counts,
        )
        tally.add(counts)
        return int(reached), int(n_pairs)

    pieces = probe_pieces(n, 3, make_scratch, probe, runner)
    found = collect_pieces(pieces, n, 3, limit, lambda done: runner.report("join", done, len(sets)))
    tally.counts[set_join.RESULTS] = len(found[0])
    pairs = _pairs(found, order, is_directed=measure.is_directed)
    return pairs, JoinCounts(*tally.counts.tolist())


# Postings to look at, per element, from which parities are made.
_LEAST_MEETINGS = 1

# Runs of records probed as a sample, and unlike pairs per posting from which parities are made:
# 0.03 to 0.1 if All-Pairs is faster, on licences and 3-grams of words, and 0.5 to 0.8 if parities
# are.
_SAMPLED_RUNS, _RUN = 64, 8
_LEAST_UNLIKE = 0.25


@dataclass(frozen=True)
class _Prepared:
    """Sets in order of size for the kernel, with ranked and indexed tokens."""

    algorithm: int
    records: set_join.Records
    groups: Groups
    index: Postings
    parities: ParityRows


def _prepare(
    sets: ShingleSets,
    order: Int64s,
    measure: Measure,
    sides: Bytes | None,
    algorithm: Algorithm,
) -> _Prepared:
    ranked = rank_sets(sets, order)
    sizes = sets.sizes[order]
    bounds = measure.size_bounds(sizes)
    first_partner, last_partner = measure.partner_ranges(sizes, bounds.least)
    # Prefixes start with the tokens that no other record has, which are not in the runs.
    probing, indexing = (ranked.shorten(p, sizes) for p in (bounds.probing, bounds.indexing))
    records = sealed(
        set_join.Records(
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
    # Of a directed pair the first one looks.
    groups = group_records(len(order), sides, is_directed=measure.is_directed)
    index = index_groups(ranked, indexing, groups)
    without = _Prepared(
        ALGORITHMS["allpairs"],
        records,
        groups,
        index,
        make_parities(ranked, sizes, 0),
    )
    if algorithm == "ppjoin+" and (
        # Parities would take longer than to look at so few postings.
        _n_meetings(index) < _LEAST_MEETINGS * len(ranked.tokens)
        or _share_unlike(without, measure) < _LEAST_UNLIKE
    ):
        return without
    if algorithm != "ppjoin+":
        return replace(without, algorithm=ALGORITHMS[algorithm])
    is_folded = tell_apart(sizes, measure, 64)
    n_words = count_words(ranked.sizes)
    parities = make_parities(ranked, sizes, n_words)
    if is_folded:
        folded: Uint64s = np.empty(len(index.records), np.uint64)
        parity_rows.fold_postings(parities, index.records, folded)
        parities = sealed(parities._replace(of_postings=folded))
    return replace(without, algorithm=ALGORITHMS[algorithm], parities=parities)


def _n_meetings(index: Postings) -> int:
    """Estimate the number of postings to look at."""
    lengths = np.diff(index.starts)
    return int((lengths * lengths).sum())


def _share_unlike(prepared: _Prepared, measure: Measure) -> float:
    """Estimate the unlike pairs that All-Pairs verifies per posting.

    Parities are checked at every posting, and save little if pairs share many elements and are
    similar.
    """
    n = len(prepared.records.sizes)
    stride = n // _SAMPLED_RUNS
    if stride < 2 * _RUN:
        return 1.0
    counts: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
    shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    columns = tuple(np.empty(n, np.int32) for _ in range(3))
    n_similar = 0
    for start in range(stride // 2, n - _RUN, stride):
        _, n_pairs = set_join.probe_records(
            start,
            start + _RUN,
            prepared.algorithm,
            measure.in_kernels,
            prepared.records,
            prepared.groups,
            prepared.index,
            prepared.parities,
            shared,
            touched,
            Matches(*columns),
            counts,
        )
        n_similar += int(n_pairs)
    n_met = int(counts[set_join.AFTER_SIZE])
    return (int(counts[set_join.VERIFIED]) - n_similar) / n_met if n_met else 1.0


def make_parities(ranked: RankedRecords, sizes: Int64s, n_words: int) -> ParityRows:
    """Return the parities of all records, without postings; empty for 0 words."""
    n = len(sizes) if n_words else 0
    firsts: Uint64s = np.empty(2 * n, np.uint64)
    others: Uint64s = np.empty(n * max(n_words - 1, 0), np.uint64)
    if n_words:
        parity_rows.fill_parity_rows(
            ranked.tokens, ranked.starts, ranked.sizes, sizes, n_words, firsts, others
        )
    return sealed(ParityRows(firsts, others, n_words, np.empty(0, np.uint64)))


def _pairs(columns: Columns, order: Int64s, *, is_directed: bool) -> ScoredPairs:
    """Convert pairs to input numbers, and sort them."""
    left, right, overlaps = columns
    # The record that looked is the right one; it is the first of a directed pair.
    low, high = order[right], order[left]
    if not is_directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    pairs = ScoredPairs(low, high, overlaps.astype(np.int64))
    return pairs.take(pairs.ascending())


# Exact join of sets by Hamming distance: a join by overlaps, and small sets without one.

# Pairs of small sets that are made at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class HammingJoin(PartedJoin):
    """Join sets by the number of elements not common to both; a score is a distance.

    With ``keys``, which salt the elements, only pairs of sets of equal keys are found.
    """

    sets: ShingleSets
    measure: Hamming
    algorithm: Algorithm
    keys: Uint64s | None = None

    score_name: ClassVar[str | None] = "distance"
    counted: ClassVar[type[FilterCounts]] = JoinCounts
    costs: ClassVar[Costs] = _COSTS

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other sets."""
        assert isinstance(records, ShingleSets)
        return replace(self, sets=records, keys=keys)

    def may_meet(self, smaller: int, larger: int) -> bool:
        """Return whether the difference of sizes is within the distance."""
        return larger - smaller <= self.measure.max_distance

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
        """Return numerators and denominators that rank pairs, the nearest highest."""
        return self.measure.fractions(*self._overlaps(pairs))

    def steps(self) -> Iterator[Self]:
        """Raise the distance."""
        for measure in self.measure.falling(0):
            yield replace(self, measure=measure)

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, JoinCounts]:
        """Join sets with a common element by prefixes, then add pairs without one.

        Sets of sizes x and y at distance d have (x + y - d) / 2 common elements, at least one
        unless x + y <= d. In that case any two sets are within d.
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
        parts = [ScoredPairs(joined.left, joined.right, distances)]
        known = _numbers(joined, len(sizes))
        n_found = len(joined)
        for pairs in _small_pairs(sizes, sides, self.measure.max_distance):
            if self.keys is not None:
                pairs = pairs.take(self.keys[pairs.left] == self.keys[pairs.right])
            apart = pairs.take(~np.isin(_numbers(pairs, len(sizes)), known))
            n_found += len(apart)
            check_limit(limit, n_found)
            parts.append(apart)
        every = ScoredPairs.joined(parts)
        n_more = n_found - len(joined)
        counts = replace(counts, verified=counts.verified + n_more, results=n_found)
        return every.take(every.ascending()), counts

    def _overlaps(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s, Int64s]:
        x, y = (self.sets.sizes[side] for side in (pairs.left, pairs.right))
        return (x + y - pairs.scores) // 2, x, y


def _numbers(pairs: ScoredPairs, n: int) -> Int64s:
    return pairs.left * n + pairs.right


def _small_pairs(sizes: Int64s, sides: Bytes | None, max_distance: int) -> Iterator[ScoredPairs]:
    """Yield in blocks all pairs of sets of ``max_distance`` elements together, without overlaps."""
    order = np.flatnonzero(have_sides(sides, (sizes > 0) & (sizes < max_distance)))
    order = order[np.argsort(sizes[order], kind="stable")]
    own = sizes[order]
    # Each with the earlier sets that are small enough.
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
            are_apart = may_pair(sides[x], sides[y])
            x, y, earlier, later = x[are_apart], y[are_apart], earlier[are_apart], later[are_apart]
        yield ScoredPairs(np.minimum(x, y), np.maximum(x, y), own[earlier] + own[later])
        start = stop
