"""Connected components of the verified pairs."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.overlap import WEIGHTED_JACCARD, overlap_at_least, required_overlap
from neardup.kernels.parities import count_ones
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
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
def _add_to_list(
    slot: Int,
    key: Int,
    owners: ConstInt32s,
    parents: Int64s,
    heads: Int64s,
    next_group: Int64s,
    next_member: Int64s,
    last_member: Int64s,
) -> None:
    """Put a slot into its component's group, first melting the groups that have become one."""
    own = _find(parents, np.int64(owners[slot]))
    home, previous = np.int64(-1), np.int64(-1)
    group = heads[key]
    while group >= 0:
        following = next_group[group]
        if _find(parents, np.int64(owners[group])) != own:
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


@kernel
def join_components(
    start: int,
    stop: int,
    key_starts: ConstInt64s,
    keys: ConstInt32s,
    owners: ConstInt32s,
    values: ConstUint64s,
    set_starts: ConstInt64s,
    set_sizes: ConstInt64s,
    weights: ConstInt64s,
    totals: ConstInt64s,
    parities: ConstUint64s,
    measure: int,
    p: int,
    q: int,
    last_compared: Int32s,
    parents: Int64s,
    heads: Int64s,
    next_group: Int64s,
    next_member: Int64s,
    last_member: Int64s,
    counts: Int64s,
) -> None:
    """Join documents ``start`` to ``stop`` to the components of the earlier ones.

    The documents that share a key are kept in groups, one for each component seen there, so that a
    document that has already been joined to a component passes all of it at once: a cluster of n
    copies costs n comparisons, not n * n.

    A slot is a place in ``keys``: document d has slots ``key_starts[d]`` to ``key_starts[d + 1]``,
    and ``owners`` gives each slot's document. ``heads[b]`` is the first slot of the first group
    under key b, -1 if there is none. For the first slot g of a group ``next_group[g]`` is the first
    slot of the next group and ``last_member[g]`` the last of its own; ``next_member[m]`` follows m
    within its group; -1 ends a list. Sets, ``weights``, ``totals`` and ``parities`` are as in
    ``choose_survivors``.
    ``last_compared`` (n, all -1 at first) marks what d has been compared with.
    ``parents`` is the union-find forest, whose roots are the first documents of components.
    ``counts`` adds up comparisons and pairs that reached p / q.
    """
    for d in range(start, stop):
        for slot in range(key_starts[d], key_starts[d + 1]):
            group = heads[keys[slot]]
            while group >= 0:
                root = _find(parents, np.int64(owners[group]))
                member = group
                while member >= 0 and root != _find(parents, d):
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
                        if common >= 0:
                            counts[1] += 1
                            own = _find(parents, d)
                            parents[max(own, root)] = min(own, root)
                            root = min(own, root)
                        continue
                    # The measure may be one-sided: an edge counts in whichever direction holds.
                    required = min(
                        required_overlap(measure, x, y, p, q), required_overlap(measure, y, x, p, q)
                    )
                    if count_ones(parities[d] ^ parities[other]) > x + y - 2 * required:
                        continue
                    overlap = overlap_at_least(
                        values, set_starts[d], x, set_starts[other], y, required
                    )
                    if overlap >= required:
                        counts[1] += 1
                        own = _find(parents, d)
                        parents[max(own, root)] = min(own, root)
                        root = min(own, root)
                group = next_group[group]
            _add_to_list(
                slot, keys[slot], owners, parents, heads, next_group, next_member, last_member
            )
