"""Connected components of the verified pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.comparisons import Comparisons, Keys, MeasuredSets
from neardup.kernels.overlap import WEIGHTED_JACCARD, Threshold, overlap_at_least, required_overlap
from neardup.kernels.parities import count_ones
from neardup.kernels.types import ConstInt32s, ConstInt64s, Int, Int64s
from neardup.kernels.union_find import find_root


class Groups(NamedTuple):
    """The documents that have a key, in one group for each component seen there.

    A slot is a place among the keys of documents, and ``owners`` has each slot's document.
    ``heads[b]`` is the first slot of the first group under key b, -1 if there is none. For the
    first slot g of a group ``next_group[g]`` is the first slot of the next group and
    ``last_member[g]`` the last of its own; ``next_member[m]`` follows m within its group; -1 ends
    a list.
    """

    owners: ConstInt32s
    heads: Int64s
    next_group: Int64s
    next_member: Int64s
    last_member: Int64s


@inlined
def add_to_list(slot: Int, key: Int, groups: Groups, parents: Int64s) -> None:
    """Put a slot into its component's group, first melting the groups that have become one."""
    owners, heads, next_group, next_member, last_member = groups
    own = find_root(parents, np.int64(owners[slot]))
    home, previous = np.int64(-1), np.int64(-1)
    group = heads[key]
    while group >= 0:
        following = next_group[group]
        if find_root(parents, np.int64(owners[group])) != own:
            previous = group
        elif home < 0:
            home = group
            previous = group
        else:
            next_member[last_member[home]] = group
            last_member[home] = last_member[group]
            next_group[previous] = following
        group = following
    next_member[slot] = -1
    if home >= 0:
        next_member[last_member[home]] = slot
        last_member[home] = slot
    else:
        last_member[slot] = slot
        next_group[slot] = heads[key]
        heads[key] = slot


@inlined
def join_root(parents: Int64s, d: Int, root: Int) -> Int:
    """Join document d to the component of which ``root`` is the first, and return its first one."""
    own = find_root(parents, d)
    parents[max(own, root)] = min(own, root)
    return min(own, root)


@kernel
def join_components(
    start: int,
    stop: int,
    document_keys: Keys,
    sets: MeasuredSets,
    threshold: Threshold,
    groups: Groups,
    parents: Int64s,
    comparisons: Comparisons,
    enters: bool,
) -> None:
    """Join documents ``start`` to ``stop`` to the components of the earlier ones.

    The documents that share a key are kept in groups, one for each component seen there, so that a
    document that has already been joined to a component passes all of it at once: a cluster of n
    copies costs n comparisons, not n * n.

    ``parents`` is the union-find forest, whose roots are the first documents of components.
    Without ``enters`` the documents do not become members of groups themselves.
    """
    key_starts, keys = document_keys
    measure, p, q = threshold
    values, set_starts, set_sizes, weights, totals, parities = sets
    owners, heads, next_group, next_member, _ = groups
    last_compared, counts = comparisons
    for d in range(start, stop):
        for slot in range(key_starts[d], key_starts[d + 1]):
            group = heads[keys[slot]]
            while group >= 0:
                root = find_root(parents, np.int64(owners[group]))
                member = group
                while member >= 0 and root != find_root(parents, d):
                    other = np.int64(owners[member])
                    member = next_member[member]
                    if last_compared[other] == d:
                        continue
                    last_compared[other] = d
                    counts[0] += 1
                    x, y = totals[d], totals[other]
                    if measure == WEIGHTED_JACCARD:
                        common = common_weight(
                            values,
                            weights,
                            set_starts[d],
                            set_sizes[d],
                            x,
                            set_starts[other],
                            set_sizes[other],
                            y,
                            p,
                            q,
                        )
                        if common < 0:
                            continue
                    else:
                        # The measure may be one-sided: an edge counts in whichever direction holds.
                        required = min(
                            required_overlap(measure, x, y, p, q),
                            required_overlap(measure, y, x, p, q),
                        )
                        if count_ones(parities[d] ^ parities[other]) > x + y - 2 * required:
                            continue
                        overlap = overlap_at_least(
                            values, set_starts[d], x, set_starts[other], y, required
                        )
                        if overlap < required:
                            continue
                    counts[1] += 1
                    root = join_root(parents, d, root)
                group = next_group[group]
            if enters:
                add_to_list(slot, keys[slot], groups, parents)


@kernel
def replace_members(
    last: ConstInt64s, following: ConstInt64s, document_keys: Keys, groups: Groups, parents: Int64s
) -> None:
    """Empty the groups, whose members are the documents ``last``, and put others into them."""
    key_starts, keys = document_keys
    for d in last:
        for slot in range(key_starts[d], key_starts[d + 1]):
            groups.heads[keys[slot]] = -1
    for d in following:
        for slot in range(key_starts[d], key_starts[d + 1]):
            add_to_list(slot, keys[slot], groups, parents)
