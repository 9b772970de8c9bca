"""All pairs of sets that share a bucket and reach the threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.comparisons import MeasuredSets
from neardup.kernels.overlap import (
    WEIGHTED_JACCARD,
    Threshold,
    WideMatches,
    overlap_at_least,
    required_overlap,
)
from neardup.kernels.types import (
    ConstBytes,
    ConstInt32Rows,
    ConstInt32s,
    ConstInt64s,
    Int,
    Int32s,
    Int64s,
)

# What is counted.
CANDIDATES = 0
N_COUNTS = 1


class BucketLists(NamedTuple):
    """Documents by bucket: bucket b's are ``members[starts[b] :]``, ascending.

    ``numbers`` (n_bands, n) is each document's bucket in each band, -1 for none.
    """

    numbers: ConstInt32Rows
    starts: ConstInt64s
    members: ConstInt32s


@kernel
def list_members(buckets: ConstInt32Rows, next_member: Int64s, members: Int32s) -> None:
    """List the documents of each bucket, ascending.

    ``buckets`` (n_bands, n) gives each document's bucket, -1 for none; ``next_member`` starts as
    where each bucket's list starts.
    """
    for band in range(buckets.shape[0]):
        for d in range(buckets.shape[1]):
            bucket = buckets[band, d]
            if bucket >= 0:
                members[next_member[bucket]] = d
                next_member[bucket] += 1


@inlined
def _is_left_to_right(left: Int, right: Int) -> bool:
    """Whether the first side has the left collection and the second the right one."""
    return (left & 1) != 0 and (right & 2) != 0


@kernel
def probe_buckets(
    start: int,
    stop: int,
    buckets: BucketLists,
    sets: MeasuredSets,
    threshold: Threshold,
    is_directed: int,
    sides: ConstBytes,
    last_seen: Int32s,
    matches: WideMatches,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Compare sets ``start`` to ``stop`` with the earlier ones that share a bucket with each.

    Of weighted sets overlaps are common weights. ``sides`` tells where two collections are joined
    (1 left, 2 right, 3 both), it is empty for a self-join. ``last_seen`` (n, all -1 at first) is
    this worker's own. Where the measure ``is_directed``, both directions are tried; the left one is
    then the contained set, else the earlier one.

    Returns the first set not probed, which is below ``stop`` if the next one's pairs might not fit
    into the output, and the number of pairs.
    """
    n_pairs = np.int64(0)
    measure, p, q = threshold
    members = buckets.members
    left, right, overlaps = matches
    room = left.shape[0]
    two_sided = sides.shape[0] > 0
    for x in range(start, stop):
        before, n_candidates = n_pairs, np.int64(0)
        for band in range(buckets.numbers.shape[0]):
            bucket = buckets.numbers[band, x]
            if bucket < 0:
                continue
            k = buckets.starts[bucket]
            while members[k] < x:
                y = np.int64(members[k])
                k += 1
                if last_seen[y] == x:
                    continue
                last_seen[y] = x
                forth = back = True
                if two_sided:
                    forth = _is_left_to_right(sides[y], sides[x])
                    back = _is_left_to_right(sides[x], sides[y])
                    if not forth and not back:
                        continue
                    # Undirected pairs have the earlier set first, wherever it is.
                    forth = forth or is_directed == 0
                n_candidates += 1
                x_size, y_size = sets.sizes[x], sets.sizes[y]
                y_required: Int = 0
                x_required: Int = 0
                if measure == WEIGHTED_JACCARD:
                    overlap = common_weight(
                        sets.values,
                        sets.weights,
                        sets.starts[x],
                        x_size,
                        sets.totals[x],
                        sets.starts[y],
                        y_size,
                        sets.totals[y],
                        p,
                        q,
                    )
                else:
                    y_required = required_overlap(measure, y_size, x_size, p, q)
                    x_required = required_overlap(measure, x_size, y_size, p, q)
                    required = min(x_required, y_required)
                    overlap = overlap_at_least(
                        sets.values, sets.starts[x], x_size, sets.starts[y], y_size, required
                    )
                if forth and overlap >= y_required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], overlaps[n_pairs] = y, x, overlap
                    n_pairs += 1
                if is_directed != 0 and back and overlap >= x_required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], overlaps[n_pairs] = x, y, overlap
                    n_pairs += 1
        if n_pairs > room:
            # The caller will probe x again, with more room.
            for m in range(last_seen.shape[0]):
                if last_seen[m] == x:
                    last_seen[m] = -1
            return x, before
        counts[CANDIDATES] += n_candidates
    return stop, n_pairs
