"""Cluster sketches greedily by their shared rare values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, trailing_zeros
from neardup.kernels.common.hashing import mix64
from neardup.kernels.common.ordering import order_of
from neardup.kernels.sketch.samples import SampleRows, compare_samples, sample_mask
from neardup.kernels.types import (
    ConstUint32s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint32s,
    Uint64s,
)

_0, _1, _32 = np.uint64(0), np.uint64(1), np.uint64(32)


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
    """Clusters in memory, and an index of their values.

    Cluster r is represented by ``samples[starts[r] : starts[r + 1]]``, a sketch of a set of
    ``sizes[r]`` elements and of modulus ``moduli[r]``; ``last_met`` (all -1) is the last sketch
    compared with it. An entry is a value of a cluster, its row r being the owner. Entries whose
    values have equal bits in ``mix64`` make a chain: the first is in ``heads`` (a power of two, all
    -1), and from each the next is in ``links``. ``used`` counts rows and entries.
    """

    used: Int64s
    starts: Int64s
    sizes: Int64s
    moduli: Int64s
    last_met: Int64s
    samples: Uint64s
    heads: Int32s
    links: Int32s
    owners: Int32s
    values: Uint64s


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


class Tallies(NamedTuple):
    """Counts of members per value of a cluster.

    The arrays are empty if nothing is counted. ``slots`` (a power of two, all -1) has room for
    twice the entries, and each entry has a count; ``popular`` is as long as ``samples``, ``merged``
    as two of the largest sketches, and ``floors`` has one value per row.
    """

    slots: Int32s
    counts: Int64s
    popular: Int64s
    merged: Int64s
    floors: Int64s


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


@inlined
def _add_entry(held: Held, row: Int, value: np.uint64) -> np.int64:
    entry = np.int64(held.used[1])
    head = _slot_of(value, held.heads.shape[0])
    held.values[entry] = value
    held.owners[entry] = row
    held.links[entry] = held.heads[head]
    held.heads[head] = entry
    held.used[1] = entry + 1
    return entry


@helper
def _add_cluster(sketches: SampleRows, d: Int, held: Held) -> np.int64:
    row = np.int64(held.used[0])
    held.used[0] = row + 1
    start, stop = sketches.offsets[d], sketches.offsets[d + 1]
    target = held.starts[row]
    for place in range(start, stop):
        held.samples[target + place - start] = sketches.values[place]
    held.starts[row + 1] = target + stop - start
    held.sizes[row] = sketches.sizes[d]
    held.moduli[row] = sketches.moduli[d]
    return row


@helper
def _count_values(
    sketches: SampleRows,
    start: Int,
    stop: Int,
    mask: np.uint64,
    row: Int,
    held: Held,
    tallies: Tallies,
    met: Int64s,
) -> np.int64:
    """Count a sketch's values for a cluster, returning their number.

    ``tallies.slots`` is a hash table of entries, -1 where empty, at most half full. ``met`` gets
    the entries, in the order of the values; values with a bit of the mask do not count.
    """
    slots = tallies.slots
    last = np.uint64(slots.shape[0]) - _1
    n_met = np.int64(0)
    for place in range(start, stop):
        value = sketches.values[place]
        if value & mask != _0:
            continue
        slot = mix64((np.uint64(row) << _32) ^ value) & last
        entry = np.int64(slots[slot])
        while entry >= 0 and (held.owners[entry] != row or held.values[entry] != value):
            slot = (slot + _1) & last
            entry = np.int64(slots[slot])
        if entry < 0:
            entry = _add_entry(held, row, value)
            slots[slot] = entry
            tallies.counts[entry] = 0
        tallies.counts[entry] += 1
        met[n_met] = entry
        n_met += 1
    return n_met


@helper
def _elect_values(
    values: ConstUint64s,
    tallies: Tallies,
    met: Int64s,
    n_met: Int,
    start: Int,
    stop: Int,
    floor: Int,
    samples: Uint64s,
) -> np.int64:
    """Choose the most counted values after another member joins.

    ``popular`` from ``start`` to ``stop`` has the entries chosen before, ascending by value,
    ``samples`` the values; ``floor`` is the least of their counts, and the result is the new one.
    Only these and the met values can be chosen, because all other counts are unchanged; and as
    counts grow by one, so does their least, at most.
    """
    counts, popular, merged = tallies.counts, tallies.popular, tallies.merged
    n = stop - start
    n_merged, n_above, n_far_above = np.int64(0), np.int64(0), np.int64(0)
    i, j = np.int64(start), np.int64(0)
    while i < stop or j < n_met:
        if j == n_met or (i < stop and values[popular[i]] <= values[met[j]]):
            entry = popular[i]
            j += np.int64(j < n_met and met[j] == entry)
            i += 1
        else:
            entry = met[j]
            j += 1
        merged[n_merged] = entry
        n_merged += 1
        n_above += np.int64(counts[entry] > floor)
        n_far_above += np.int64(counts[entry] > floor + 1)
    least = np.int64(floor)
    if n_above >= n:
        least += 1
        n_above = n_far_above
    n_ties = n - n_above
    chosen = np.int64(start)
    for k in range(n_merged):
        entry = merged[k]
        is_tie = counts[entry] == least
        if counts[entry] > least or (is_tie and n_ties > 0):
            n_ties -= np.int64(is_tie)
            popular[chosen] = entry
            samples[chosen] = values[entry]
            chosen += 1
    return least


@kernel
def cluster_greedily(
    sketches: SampleRows,
    begin: int,
    behind: int,
    frequencies: ConstUint32s,
    rule: Rule,
    is_popular: int,
    held: Held,
    scratch: ClusterScratch,
    tallies: Tallies,
    clusters: Int64s,
) -> None:
    """Assign sketches to the most similar cluster or new clusters.

    The sketches before ``begin`` are in clusters already, and those from there to ``behind``
    follow; ``clusters`` (n) receives the cluster of each. If ``is_popular`` is not 0, the row of a
    cluster becomes the values that most members have, as many as the first has, and clusters are
    found by the values of any member; else by the values of the first.
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
                is_it = held.values[entry] == value
                entry = np.int64(held.links[entry])
                if not is_it or held.last_met[row] == d:
                    continue
                held.last_met[row] = d
                other_start, other_stop = held.starts[row], held.starts[row + 1]
                n_other_values = other_stop - other_start
                is_whole = n_values == sizes[d] and n_other_values == held.sizes[row]
                common, union, _, _ = compare_samples(
                    values,
                    start,
                    stop,
                    held.samples,
                    other_start,
                    other_stop,
                    _0 if is_whole else sample_mask(moduli[d], held.moduli[row]),
                    n_values + n_other_values if is_whole else limit,
                )
                if common * q < p * union or not (is_whole or union >= min_samples):
                    continue
                gain = common * best_union - best_common * union
                if gain > 0 or (gain == 0 and row < best):
                    best, best_common, best_union = row, np.int64(common), np.int64(union)
        is_new = best < 0
        if is_new:
            best = np.int64(_add_cluster(sketches, d, held))
            if is_popular == 0:
                for c in range(n_chosen):
                    _add_entry(held, best, values[chosen[c]])
        clusters[d] = best
        if is_popular != 0:
            row = best
            row_start, row_stop = held.starts[row], held.starts[row + 1]
            mask = sample_mask(moduli[d], held.moduli[row])
            n_met = _count_values(sketches, start, stop, mask, row, held, tallies, chosen)
            if is_new:
                tallies.floors[row] = 1
                for k in range(n_met):
                    tallies.popular[row_start + k] = chosen[k]
            else:
                tallies.floors[row] = _elect_values(
                    held.values,
                    tallies,
                    chosen,
                    n_met,
                    row_start,
                    row_stop,
                    tallies.floors[row],
                    held.samples,
                )
