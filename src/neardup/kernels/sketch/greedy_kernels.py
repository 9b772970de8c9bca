"""Cluster sketches greedily by their shared rare values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, trailing_zeros
from neardup.kernels.arrays import (
    ConstUint32s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint32s,
)
from neardup.kernels.common.hashing import mix64
from neardup.kernels.common.ordering import order_of
from neardup.kernels.sketch.sample_kernels import SampleRows, compare_samples, sample_mask

_0, _1 = np.uint64(0), np.uint64(1)


class Rule(NamedTuple):
    """A resemblance of p / q joins a cluster.

    Samples are compared by the ``limit`` smallest values, and less than ``min_samples`` join
    nothing.
    """

    p: int
    q: int
    limit: int
    min_samples: int


class Held(NamedTuple):
    """Clusters in memory, and an index of values of their first members.

    Sketch ``firsts[r]`` represents cluster r; ``last_met`` (all -1) is the last sketch compared
    with it. An entry is a place among all values, of cluster ``owners[e]``. Entries whose values
    have equal bits in ``mix64`` make a chain: the first is in ``heads`` (a power of two, all -1),
    and from each the next is in ``links``. ``used`` counts clusters and entries.
    """

    used: Int64s
    firsts: Int64s
    last_met: Int64s
    heads: Int32s
    links: Int32s
    owners: Int32s
    places: Int64s


class ClusterScratch(NamedTuple):
    """Scratch memory for each sketch.

    ``room`` has one place for each power of two up to the largest modulus, or one if all moduli are
    equal; the other arrays are as long as the largest sketch.
    """

    room: Int64s
    counts: Int64s
    order: Int64s
    moved: Int64s
    chosen: Int64s


@inlined
def _slot_of(value: np.uint64, n_slots: Int) -> np.int64:
    return np.int64(mix64(value) & (np.uint64(n_slots) - _1))


@kernel
def count_values(values: ConstUint64s, frequencies: Uint32s) -> None:
    """Count values by some bits of their ``mix64``."""
    for place in range(values.shape[0]):
        frequencies[_slot_of(values[place], frequencies.shape[0])] += np.uint32(1)


@helper
def _choose_prefix(
    sketches: SampleRows,
    frequencies: ConstUint32s,
    start: Int,
    stop: Int,
    p: Int,
    q: Int,
    scratch: ClusterScratch,
) -> np.int64:
    """List the places of a sketch's rare prefix values.

    A sketch of n values has at least ceil(n p / q) in common with a sketch that it resembles by p /
    q. So the other has one of the first n + 1 - ceil(n p / q), in any order. If both are ordered
    alike, one value is among the first of both. The same holds for the values that remain if the
    other sketch has a larger modulus, 2^j for j below the length of ``room``. The rarest come
    first, so that few clusters are compared; the smaller of equally rare ones.
    """
    values, room = sketches.values, scratch.room
    n_levels, n = room.shape[0], stop - start
    room[:] = 0
    for i in range(n):
        value = values[start + i]
        scratch.counts[i] = np.int64(frequencies[_slot_of(value, frequencies.shape[0])])
        room[min(np.int64(trailing_zeros(value)), n_levels - 1)] += 1
    for level in range(n_levels - 1, 0, -1):
        room[level - 1] += room[level]
    for level in range(n_levels):
        room[level] += 1 - (room[level] * p + q - 1) // q
    order_of(scratch.counts[:n], scratch.order, scratch.moved)
    n_chosen = np.int64(0)
    for i in range(n):
        place = start + scratch.order[i]
        is_wanted = False
        for level in range(min(np.int64(trailing_zeros(values[place])), n_levels - 1) + 1):
            is_wanted |= room[level] > 0
            room[level] -= 1
        if is_wanted:
            scratch.chosen[n_chosen] = place
            n_chosen += 1
    return n_chosen


@kernel
def cluster_greedily(
    sketches: SampleRows,
    begin: int,
    behind: int,
    frequencies: ConstUint32s,
    rule: Rule,
    held: Held,
    scratch: ClusterScratch,
    clusters: Int64s,
) -> None:
    """Assign sketches to the most similar cluster or new clusters.

    The sketches before ``begin`` are in clusters already, and those from there to ``behind``
    follow; ``clusters`` (n) receives the cluster of each.
    """
    values, offsets, sizes, moduli = (
        sketches.values,
        sketches.offsets,
        sketches.sizes,
        sketches.moduli,
    )
    p, q, limit, min_samples = rule
    chosen = scratch.chosen
    for d in range(begin, behind):
        start, stop = offsets[d], offsets[d + 1]
        n_values = stop - start
        n_chosen = _choose_prefix(sketches, frequencies, start, stop, p, q, scratch)
        best, best_common, best_union = np.int64(-1), np.int64(0), np.int64(1)
        for c in range(n_chosen):
            value = values[chosen[c]]
            entry = np.int64(held.heads[_slot_of(value, held.heads.shape[0])])
            while entry >= 0:
                row = np.int64(held.owners[entry])
                is_it = values[held.places[entry]] == value
                entry = np.int64(held.links[entry])
                if not is_it or held.last_met[row] == d:
                    continue
                held.last_met[row] = d
                other = held.firsts[row]
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
                    _0 if is_whole else sample_mask(moduli[d], moduli[other]),
                    n_values + n_other_values if is_whole else limit,
                )
                if common * q < p * union or not (is_whole or union >= min_samples):
                    continue
                gain = common * best_union - best_common * union
                if gain > 0 or (gain == 0 and row < best):
                    best, best_common, best_union = row, np.int64(common), np.int64(union)
        if best < 0:
            best = held.used[0]
            held.used[0] = best + 1
            held.firsts[best] = d
            for c in range(n_chosen):
                entry = held.used[1]
                head = _slot_of(values[chosen[c]], held.heads.shape[0])
                held.places[entry] = chosen[c]
                held.owners[entry] = best
                held.links[entry] = held.heads[head]
                held.heads[head] = entry
                held.used[1] = entry + 1
        clusters[d] = best
