"""Find the pairs at the threshold that share a band key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from neardup.kernels.bucket import buckets as bucket_join
from neardup.kernels.join.overlap import MeasuredSets, WideMatches
from neardup.kernels.types import sealed
from neardup.matching.join import Columns, FilterCounts, Tally, collect_pieces, probe_pieces
from neardup.matching.measures import Measure
from neardup.runs.runner import Runner
from neardup.tables import Buckets, Bytes, Int32s, Int64s, ScoredPairs, ShingleSets, WeightedSets


@dataclass(frozen=True)
class BucketJoinCounts(FilterCounts):
    """Count pairs of a join through buckets.

    ``verified`` pairs share a bucket and were compared, ``results`` reach the threshold.
    """

    verified: int
    results: int


def join_buckets(
    buckets: Buckets,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    limit: int | None = None,
    runner: Runner,
    report: Callable[[int], None] | None = None,
) -> tuple[ScoredPairs, BucketJoinCounts]:
    """Find the pairs of sets that share a bucket and reach the threshold.

    Parameters, results and errors as in ``join_sets``. Every pair found is right, but pairs that
    share no bucket are missed. Plain sets are not empty; scores of weighted ones are common
    weights. ``report`` is called with the number of sets that were probed; None reports them as a
    stage.

    Notes
    -----
    All sets of a bucket are compared with each other. Memory 4 bytes per set and bucket, and 4
    bytes per set and thread.
    """
    n = len(sets)
    lists = list_members(buckets)
    table = _in_kernels(sets)
    own_sides: Bytes = np.empty(0, np.uint8) if sides is None else sides
    tally = Tally(bucket_join.N_COUNTS)

    def probe(start: int, stop: int, last_seen: Int32s, columns: Columns) -> tuple[int, int]:
        counts: Int64s = np.zeros(bucket_join.N_COUNTS, np.int64)
        reached, n_pairs = bucket_join.probe_buckets(
            start,
            stop,
            lists,
            table,
            measure.in_kernels,
            int(measure.is_directed),
            own_sides,
            last_seen,
            WideMatches(*columns),
            counts,
        )
        tally.add(counts)
        return int(reached), int(n_pairs)

    pieces = probe_pieces(n, 3, lambda: np.full(n, -1, np.int32), probe, runner, np.int64)
    if report is None:
        report = partial(_report, runner, n)
    found = collect_pieces(pieces, n, 3, limit, report)
    pairs = ScoredPairs(*(column.astype(np.int64) for column in found))
    pairs = pairs.take(pairs.ascending())
    return pairs, BucketJoinCounts(int(tally.counts[bucket_join.CANDIDATES]), len(pairs))


def _in_kernels(sets: ShingleSets | WeightedSets) -> MeasuredSets:
    weights, totals = np.empty(0, np.int64), sets.sizes
    if isinstance(sets, WeightedSets):
        weights, totals = sets.weights, sets.totals
    parities = np.empty(0, np.uint64)
    return sealed(MeasuredSets(sets.values, sets.starts, sets.sizes, weights, totals, parities))


def _report(runner: Runner, n: int, done: int) -> None:
    runner.report("join", done, n)


def list_members(buckets: Buckets) -> bucket_join.BucketLists:
    """List the documents of each bucket, as kernels take them."""
    starts: Int64s = np.cumsum(buckets.sizes) - buckets.sizes
    members: Int32s = np.empty(int(buckets.sizes.sum()), np.int32)
    bucket_join.list_members(buckets.numbers, starts.copy(), members)
    return sealed(bucket_join.BucketLists(buckets.numbers, starts, members))
