"""Joins through buckets: all pairs at the threshold among sets that share a band key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from neardup.kernels import bucket_join
from neardup.matching.measures import Measure
from neardup.matching.pieces import Columns, check_limit, join_columns, probe_pieces
from neardup.tables import Buckets, Bytes, Int32s, Int64s, ScoredPairs, ShingleSets


@dataclass(frozen=True)
class BucketJoinCounts:
    """``verified`` pairs share a bucket and were compared; ``results`` reach the threshold."""

    verified: int
    results: int


def join_buckets(
    buckets: Buckets,
    sets: ShingleSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    workers: int = 1,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[ScoredPairs, BucketJoinCounts]:
    """Find the pairs of sets that share a bucket and reach the threshold.

    Parameters, results and errors as those of ``join_sets``, to which this is what sketches are to
    sets: every pair found is right, but pairs that share no bucket are missed. Sets are not empty.

    Notes
    -----
    Time is that of comparing all sets of a bucket with each other. Memory 4 bytes for each set in
    each bucket, and for each worker 4 bytes a set.
    """
    n = len(sets)
    starts: Int64s = np.zeros(len(buckets.sizes), np.int64)
    np.cumsum(buckets.sizes[:-1], out=starts[1:])
    members: Int32s = np.empty(int(buckets.sizes.sum()), np.int32)
    bucket_join.list_members(buckets.numbers, starts.copy(), members)
    own_sides: Bytes = np.empty(0, np.uint8) if sides is None else sides
    counts: Int64s = np.zeros(bucket_join.N_COUNTS, np.int64)
    lock = Lock()

    def probe(start: int, stop: int, last_seen: Int32s, columns: Columns) -> tuple[int, int]:
        left, right, overlaps = columns
        more: Int64s = np.zeros(bucket_join.N_COUNTS, np.int64)
        reached, n_pairs = bucket_join.probe_buckets(
            start,
            stop,
            buckets.numbers,
            starts,
            members,
            sets.values,
            sets.starts,
            sets.sizes,
            measure.code,
            measure.threshold.numerator,
            measure.threshold.denominator,
            own_sides,
            last_seen,
            left,
            right,
            overlaps,
            more,
        )
        with lock:
            counts[:] += more
        return int(reached), int(n_pairs)

    found: list[Columns] = []
    n_results = 0
    for stop, columns in probe_pieces(n, 3, lambda: np.full(n, -1, np.int32), probe, workers):
        found.append(columns)
        n_results += len(columns[0])
        check_limit(limit, n_results, stop / n)
        if progress is not None:
            progress(stop)
    left, right, overlaps = (column.astype(np.int64) for column in join_columns(found, 3))
    order = np.lexsort((right, left))
    pairs = ScoredPairs(left[order], right[order], overlaps[order])
    return pairs, BucketJoinCounts(int(counts[bucket_join.CANDIDATES]), n_results)
