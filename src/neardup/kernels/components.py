"""Connected components of the verified pairs."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.overlap import overlap_at_least, required_overlap
from neardup.kernels.types import (
    ConstInt32Rows,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32Rows,
    Int32s,
    Int64s,
)


@inlined
def _find(parents: Int64s, d: Int) -> Int:
    """First document of the component of d, halving the path to it."""
    while parents[d] != d:
        parents[d] = parents[parents[d]]
        d = parents[d]
    return d


@inlined
def _add_to_bucket(
    d: Int,
    bucket: Int,
    band: Int,
    parents: Int64s,
    bucket_heads: Int32s,
    next_group: Int32Rows,
    next_member: Int32Rows,
    last_member: Int32Rows,
) -> None:
    """Put d into its component's group, first melting the groups that have become one."""
    own = _find(parents, d)
    home, previous = np.int64(-1), np.int64(-1)
    group = np.int64(bucket_heads[bucket])
    while group >= 0:
        following = np.int64(next_group[band, group])
        if _find(parents, group) != own:
            previous = group
        elif home < 0:
            home = group
            previous = group
        else:
            next_member[band, last_member[band, home]] = group
            last_member[band, home] = last_member[band, group]
            next_group[band, previous] = following
        group = following
    next_member[band, d] = -1
    if home >= 0:
        next_member[band, last_member[band, home]] = d
        last_member[band, home] = d
    else:
        last_member[band, d] = d
        next_group[band, d] = bucket_heads[bucket]
        bucket_heads[bucket] = d


@kernel
def join_components(
    start: int,
    stop: int,
    buckets: ConstInt32Rows,
    values: ConstUint64s,
    set_starts: ConstInt64s,
    set_sizes: ConstInt64s,
    measure: int,
    p: int,
    q: int,
    last_compared: Int32s,
    parents: Int64s,
    bucket_heads: Int32s,
    next_group: Int32Rows,
    next_member: Int32Rows,
    last_member: Int32Rows,
    counts: Int64s,
) -> None:
    """Join documents ``start`` to ``stop`` to the components of the earlier ones.

    The documents of a bucket are kept in groups, one for each component seen there, so that a
    document that has already been joined to a component passes all of it at once: a cluster of n
    copies costs n comparisons, not n * n.

    ``bucket_heads[b]`` is the first document of the bucket's first group, -1 if it is empty. In
    row ``band`` of the (n_bands, n) link tables, for the first document g of a group:
    ``next_group[band, g]`` is the first document of the next group and ``last_member[band, g]``
    the last of its own; ``next_member[band, m]`` follows m within its group; -1 ends a list.
    ``last_compared`` (n, all -1 at first) marks what d has been compared with.
    ``parents`` is the union-find forest, whose roots are the first documents of components.
    ``counts`` adds up comparisons and pairs that reached p / q.
    """
    n_bands = buckets.shape[0]
    for d in range(start, stop):
        for band in range(n_bands):
            bucket = buckets[band, d]
            if bucket < 0:
                continue
            group = np.int64(bucket_heads[bucket])
            while group >= 0:
                root = _find(parents, group)
                member = group
                while member >= 0 and root != _find(parents, d):
                    if last_compared[member] == d:
                        member = np.int64(next_member[band, member])
                        continue
                    last_compared[member] = d
                    counts[0] += 1
                    x, y = set_sizes[d], set_sizes[member]
                    # The measure may be one-sided: an edge counts in whichever direction holds.
                    required = min(
                        required_overlap(measure, x, y, p, q), required_overlap(measure, y, x, p, q)
                    )
                    overlap = overlap_at_least(
                        values, set_starts[d], x, set_starts[member], y, required
                    )
                    if overlap >= required:
                        counts[1] += 1
                        own = _find(parents, d)
                        parents[max(own, root)] = min(own, root)
                        root = min(own, root)
                    member = np.int64(next_member[band, member])
                group = np.int64(next_group[band, group])
            _add_to_bucket(
                d, bucket, band, parents, bucket_heads, next_group, next_member, last_member
            )
