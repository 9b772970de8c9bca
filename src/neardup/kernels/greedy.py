"""Greedy clustering: each sketch is compared with the clusters that it shares rare values with."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel, trailing_zeros
from neardup.kernels.broder import compare_samples, sample_mask
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s


@helper
def _choose_prefix(
    values: ConstUint64s,
    order: ConstInt64s,
    start: Int,
    stop: Int,
    p: int,
    q: int,
    room: Int64s,
    chosen: Int64s,
) -> np.int64:
    """List the values by which all that resemble a sketch by p / q find it, and give how many.

    A sketch of n values has at least ceil(n p / q) in common with one that it resembles so much, so
    that the other has one of the first n + 1 less so many, whatever order they stand in. If both
    are ordered alike, there is one among the first of both. The same holds for the values that
    remain where the other sketch has a larger modulus, 2^j for j below the length of ``room``.
    """
    n_levels = room.shape[0]
    room[:] = 0
    for i in range(start, stop):
        room[min(np.int64(trailing_zeros(values[i])), n_levels - 1)] += 1
    for level in range(n_levels - 1, 0, -1):
        room[level - 1] += room[level]
    for level in range(n_levels):
        room[level] += 1 - (room[level] * p + q - 1) // q
    n_chosen = np.int64(0)
    for i in range(start, stop):
        place = order[i]
        is_wanted = False
        for level in range(min(np.int64(trailing_zeros(values[place])), n_levels - 1) + 1):
            is_wanted |= room[level] > 0
            room[level] -= 1
        if is_wanted:
            chosen[n_chosen] = place
            n_chosen += 1
    return n_chosen


@kernel
def cluster_greedily(
    values: ConstUint64s,
    offsets: ConstInt64s,
    sizes: ConstInt64s,
    moduli: ConstInt64s,
    numbers: ConstInt64s,
    order: ConstInt64s,
    limit: int,
    min_samples: int,
    p: int,
    q: int,
    room: Int64s,
    heads: Int64s,
    links: Int64s,
    owners: Int64s,
    chosen: Int64s,
    last_met: Int64s,
    clusters: Int64s,
    representatives: Int64s,
) -> np.int64:
    """Put each sketch into the cluster it resembles most if that is p / q or more, or a new one.

    ``numbers`` gives each place in ``values`` a number from 0, equal for equal values, ``order``
    has the places of each sketch with the rarest values first, those of equal values in the same
    order everywhere. ``room`` has one place for each power of two up to the largest modulus, or one
    if all moduli are equal. Places of value b in representatives are ``heads[b]`` (-1 if none), and
    from each the next is in ``links``; ``owners`` has the cluster of each. ``chosen`` is as long as
    the largest sketch, ``last_met`` (n, all -1) marks what clusters were compared with.
    ``clusters`` (n) and ``representatives`` (n at most) are filled; gives the number of clusters.
    """
    n_clusters = np.int64(0)
    for d in range(sizes.shape[0]):
        start, stop = offsets[d], offsets[d + 1]
        n_values = stop - start
        n_chosen = _choose_prefix(values, order, start, stop, p, q, room, chosen)
        best, best_common, best_union = np.int64(-1), np.int64(0), np.int64(1)
        for c in range(n_chosen):
            place = heads[numbers[chosen[c]]]
            while place >= 0:
                cluster = owners[place]
                place = links[place]
                if last_met[cluster] == d:
                    continue
                last_met[cluster] = d
                other = representatives[cluster]
                other_start, other_stop = offsets[other], offsets[other + 1]
                n_other_values = other_stop - other_start
                is_whole = n_values == sizes[d] and n_other_values == sizes[other]
                common, union, _, _ = compare_samples(
                    values,
                    start,
                    stop,
                    values,
                    other_start,
                    other_stop,
                    np.uint64(0) if is_whole else sample_mask(moduli[d], moduli[other]),
                    n_values + n_other_values if is_whole else limit,
                )
                if common * q < p * union or not (is_whole or union >= min_samples):
                    continue
                gain = common * best_union - best_common * union
                if gain > 0 or (gain == 0 and cluster < best):
                    best, best_common, best_union = cluster, np.int64(common), np.int64(union)
        if best < 0:
            best = n_clusters
            n_clusters += 1
            representatives[best] = d
            for c in range(n_chosen):
                place = chosen[c]
                owners[place] = best
                links[place] = heads[numbers[place]]
                heads[numbers[place]] = place
        clusters[d] = best
    return n_clusters
