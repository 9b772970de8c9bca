"""Greedy clustering: each sketch is compared with the clusters that it shares rare values with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, kernel, trailing_zeros
from neardup.kernels.common.hashing import mix64
from neardup.kernels.sketch.samples import compare_samples, sample_mask
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

_0, _1, _32 = np.uint64(0), np.uint64(1), np.uint64(32)


class RankedSketches(NamedTuple):
    """Sketches, and the order in which their values are looked up.

    Sketch d has ``values[offsets[d] : offsets[d + 1]]``, ascending, of a set of ``sizes[d]``
    elements, and the modulus ``moduli[d]``. ``numbers`` gives each place in ``values`` a number
    from 0, equal for equal values; ``order`` has the places of each sketch with the rarest values
    first, those of equal values in the same order everywhere.
    """

    values: ConstUint64s
    offsets: ConstInt64s
    sizes: ConstInt64s
    moduli: ConstInt64s
    numbers: ConstInt64s
    order: ConstInt64s


class Rule(NamedTuple):
    """A resemblance of p / q joins a cluster.

    Of samples the ``limit`` smallest values are looked at, and less than ``min_samples`` join
    nothing.
    """

    p: int
    q: int
    limit: int
    min_samples: int


class Chains(NamedTuple):
    """The clusters that have a value: their places, one after another.

    Value b's are ``heads[b]`` (-1 if none), and from each place the next is in ``links``;
    ``owners`` has the cluster of each.
    """

    heads: Int64s
    links: Int64s
    owners: Int64s


class Scratch(NamedTuple):
    """What is written over for each sketch.

    ``room`` has one place for each power of two up to the largest modulus, or one if all moduli are
    equal; ``chosen`` is as long as the largest sketch; ``last_met`` (n, all -1) marks what clusters
    were compared with.
    """

    room: Int64s
    chosen: Int64s
    last_met: Int64s


class Tallies(NamedTuple):
    """How many members of a cluster have each of its values; empty where nothing is counted.

    ``slots`` (a power of two, all -1) has room for twice the values; ``counts`` and ``popular`` are
    as long as all values, ``merged`` as two of the largest sketches and ``floors`` as n.
    """

    slots: Int64s
    counts: Int64s
    popular: Int64s
    merged: Int64s
    floors: Int64s


@helper
def _choose_prefix(
    sketches: RankedSketches, start: Int, stop: Int, p: Int, q: Int, scratch: Scratch
) -> np.int64:
    """List the values by which all that resemble a sketch by p / q find it, and give how many.

    A sketch of n values has at least ceil(n p / q) in common with one that it resembles so much, so
    that the other has one of the first n + 1 less so many, whatever order they stand in. If both
    are ordered alike, there is one among the first of both. The same holds for the values that
    remain where the other sketch has a larger modulus, 2^j for j below the length of ``room``.
    """
    values, room = sketches.values, scratch.room
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
        place = sketches.order[i]
        is_wanted = False
        for level in range(min(np.int64(trailing_zeros(values[place])), n_levels - 1) + 1):
            is_wanted |= room[level] > 0
            room[level] -= 1
        if is_wanted:
            scratch.chosen[n_chosen] = place
            n_chosen += 1
    return n_chosen


@helper
def _count_values(
    sketches: RankedSketches,
    start: Int,
    stop: Int,
    mask: np.uint64,
    cluster: Int,
    chains: Chains,
    tallies: Tallies,
    met: Int64s,
) -> np.int64:
    """Count a sketch's values for a cluster, and give how many they are.

    A value of a cluster is known by the place where it was first seen: ``tallies.slots`` is a hash
    table of these, -1 where empty, at most half full. ``met`` gets them, in the order of the
    values; those that have a bit of the mask do not count.
    """
    numbers, slots, owners = sketches.numbers, tallies.slots, chains.owners
    last = np.uint64(slots.shape[0]) - _1
    n_met = np.int64(0)
    for place in range(start, stop):
        if sketches.values[place] & mask != _0:
            continue
        number = numbers[place]
        slot = mix64((np.uint64(cluster) << _32) ^ np.uint64(number)) & last
        known = slots[slot]
        while known >= 0 and (owners[known] != cluster or numbers[known] != number):
            slot = (slot + _1) & last
            known = slots[slot]
        if known < 0:
            known = np.int64(place)
            slots[slot] = known
            tallies.counts[known] = 0
            owners[known] = cluster
            chains.links[known] = chains.heads[number]
            chains.heads[number] = known
        tallies.counts[known] += 1
        met[n_met] = known
        n_met += 1
    return n_met


@helper
def _elect_values(
    values: ConstUint64s,
    tallies: Tallies,
    met: ConstInt64s,
    n_met: Int,
    start: Int,
    stop: Int,
    floor: Int,
    samples: Uint64s,
) -> np.int64:
    """Choose a cluster's most counted values, after one was added to each of ``met``.

    ``popular`` from ``start`` to ``stop`` has the places of those chosen before, ascending by
    value, ``samples`` the values; ``floor`` is the least of their counts, and is given anew. No
    others can be chosen than these and the values met, as all counts but theirs are what they were;
    and as counts grow by one, so does their least, at most.
    """
    counts, popular, merged = tallies.counts, tallies.popular, tallies.merged
    n = stop - start
    n_merged, n_above, n_far_above = np.int64(0), np.int64(0), np.int64(0)
    i, j = np.int64(start), np.int64(0)
    while i < stop or j < n_met:
        if j == n_met or (i < stop and values[popular[i]] <= values[met[j]]):
            place = popular[i]
            j += np.int64(j < n_met and met[j] == place)
            i += 1
        else:
            place = met[j]
            j += 1
        merged[n_merged] = place
        n_merged += 1
        n_above += np.int64(counts[place] > floor)
        n_far_above += np.int64(counts[place] > floor + 1)
    least = np.int64(floor)
    if n_above >= n:
        least += 1
        n_above = n_far_above
    n_ties = n - n_above
    chosen = np.int64(start)
    for k in range(n_merged):
        place = merged[k]
        is_tie = counts[place] == least
        if counts[place] > least or (is_tie and n_ties > 0):
            n_ties -= np.int64(is_tie)
            popular[chosen] = place
            samples[chosen] = values[place]
            chosen += 1
    return least


@kernel
def cluster_greedily(
    sketches: RankedSketches,
    rule: Rule,
    is_popular: int,
    chains: Chains,
    scratch: Scratch,
    tallies: Tallies,
    samples: Uint64s,
    clusters: Int64s,
    representatives: Int64s,
) -> np.int64:
    """Put each sketch into the cluster it resembles most if the rule allows, or a new one.

    ``clusters`` (n) and ``representatives`` (n at most) are filled; returns the number of clusters.

    ``samples`` begins as a copy of the values. If ``is_popular`` is not 0, the row of a cluster's
    first member becomes the values that most members have, as many as there were, and chains lead
    to clusters of which any member has a value; else to those whose first member has it.
    """
    values, offsets, sizes, moduli = (
        sketches.values,
        sketches.offsets,
        sketches.sizes,
        sketches.moduli,
    )
    numbers, chosen, last_met = sketches.numbers, scratch.chosen, scratch.last_met
    heads, links, owners = chains
    p, q, limit, min_samples = rule
    n_clusters = np.int64(0)
    for d in range(sizes.shape[0]):
        start, stop = offsets[d], offsets[d + 1]
        n_values = stop - start
        n_chosen = _choose_prefix(sketches, start, stop, p, q, scratch)
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
                    samples,
                    other_start,
                    other_stop,
                    _0 if is_whole else sample_mask(moduli[d], moduli[other]),
                    n_values + n_other_values if is_whole else limit,
                )
                if common * q < p * union or not (is_whole or union >= min_samples):
                    continue
                gain = common * best_union - best_common * union
                if gain > 0 or (gain == 0 and cluster < best):
                    best, best_common, best_union = cluster, np.int64(common), np.int64(union)
        is_new = best < 0
        if is_new:
            best = n_clusters
            n_clusters += 1
            representatives[best] = d
        clusters[d] = best
        if is_popular != 0:
            first = representatives[best]
            first_start, first_stop = offsets[first], offsets[first + 1]
            mask = sample_mask(moduli[d], moduli[first])
            n_met = _count_values(sketches, start, stop, mask, best, chains, tallies, chosen)
            if is_new:
                tallies.floors[best] = 1
                for place in range(start, stop):
                    tallies.popular[place] = place
            else:
                floor = tallies.floors[best]
                tallies.floors[best] = _elect_values(
                    values, tallies, chosen, n_met, first_start, first_stop, floor, samples
                )
        elif is_new:
            for c in range(n_chosen):
                place = chosen[c]
                owners[place] = best
                links[place] = heads[numbers[place]]
                heads[numbers[place]] = place
    return n_clusters
