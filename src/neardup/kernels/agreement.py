"""Equal positions of MinHash signatures, for given pairs and for all pairs that share a bucket."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import (
    ConstInt32Rows,
    ConstInt32s,
    ConstInt64s,
    ConstUint32Rows,
    Int,
    Int32s,
    Int64s,
)


@kernel
def count_equal(
    signatures: ConstUint32Rows,
    other: ConstUint32Rows,
    left: ConstInt64s,
    right: ConstInt64s,
    equal: Int64s,
) -> None:
    """Count the positions in which rows left[k] of the one and right[k] of the other are equal."""
    for k in range(left.shape[0]):
        x, y, n = left[k], right[k], np.int64(0)
        for i in range(signatures.shape[1]):
            n += np.int64(signatures[x, i] == other[y, i])
        equal[k] = n


@kernel
def probe_agreeing(
    start: int,
    stop: int,
    n_left: int,
    buckets: ConstInt32Rows,
    bucket_starts: ConstInt64s,
    members: ConstInt32s,
    signatures: ConstUint32Rows,
    required: int,
    last_seen: Int32s,
    left: Int32s,
    right: Int32s,
    equal: Int32s,
) -> tuple[Int, Int]:
    """Find the earlier rows that agree with rows ``start`` to ``stop`` in ``required`` positions.

    Rows are looked for in the buckets (n_bands, n) that both are in. With two collections, whose
    first has ``n_left`` rows, pairs are of one row of each; ``n_left`` is negative otherwise.
    ``last_seen`` (n, all -1 at first) is this worker's own.

    Returns the first row not probed, which is below ``stop`` if the next one's pairs might not fit
    into the output, and the number of pairs.
    """
    n_pairs, room = np.int64(0), left.shape[0]
    for x in range(start, stop):
        before = n_pairs
        if x < n_left:
            continue
        for band in range(buckets.shape[0]):
            bucket = buckets[band, x]
            if bucket < 0:
                continue
            k = bucket_starts[bucket]
            while members[k] < x and (n_left < 0 or members[k] < n_left):
                y = np.int64(members[k])
                k += 1
                if last_seen[y] == x:
                    continue
                last_seen[y] = x
                n = np.int64(0)
                for i in range(signatures.shape[1]):
                    n += np.int64(signatures[x, i] == signatures[y, i])
                if n >= required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], equal[n_pairs] = y, x, n
                    n_pairs += 1
        if n_pairs > room:
            # The caller will probe x again, with more room.
            for m in range(last_seen.shape[0]):
                if last_seen[m] == x:
                    last_seen[m] = -1
            return x, before
    return stop, n_pairs
