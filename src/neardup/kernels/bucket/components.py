"""Join pairs and filtered candidates to connected components.

Components are union-find forests: each root is the first document of its component.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstBools,
    ConstInt32s,
    ConstInt64s,
    ConstUint64Rows,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.bucket.survivor_kernels import RankedSets, common_of_ranked, share_key
from neardup.kernels.common.hashing import GOLDEN
from neardup.kernels.join.filters import FilterRows, may_reach
from neardup.kernels.join.overlap import (
    Comparisons,
    DocumentKeys,
    MeasuredSets,
    Threshold,
    common_at_threshold,
)
from neardup.kernels.join.set_join_kernels import (
    ParityRows,
)


@inlined
def find_root(parents: Int64s, d: Int) -> Int:
    """Return the first document of a component, halving the path."""
    while parents[d] != d:
        parents[d] = parents[parents[d]]
        d = parents[d]
    return d


@kernel
def union_edges(parents: Int64s, first: ConstInt64s, second: ConstInt64s) -> None:
    """Join the components of ``first[k]`` and ``second[k]``, for each k."""
    for k in range(first.shape[0]):
        a, b = find_root(parents, first[k]), find_root(parents, second[k])
        parents[max(a, b)] = min(a, b)


@kernel
def find_roots(parents: Int64s) -> None:
    """Point every document at the first one of its component."""
    # No parent comes after its child, so that earlier documents point at their roots already.
    for d in range(parents.shape[0]):
        parents[d] = parents[parents[d]]


class ComponentGroups(NamedTuple):
    """Documents per key, grouped by component.

    A slot is a position among the keys of documents, and ``owners`` has each slot's document.
    ``heads[b]`` is the first slot of the first group under key b, or -1. For the first slot g of a
    group ``next_group[g]`` is the first slot of the next group and ``last_member[g]`` the last of
    its own; ``next_member[m]`` follows m within its group; -1 ends a list.
    """

    owners: ConstInt32s
    heads: Int64s
    next_group: Int64s
    next_member: Int64s
    last_member: Int64s


@inlined
def add_to_list(slot: Int, key: Int, groups: ComponentGroups, parents: Int64s) -> None:
    """Add a slot to its component's group, merging groups."""
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
    """Join document d to ``root`` and return the new root."""
    own = find_root(parents, d)
    parents[max(own, root)] = min(own, root)
    return min(own, root)


@kernel
def join_components(
    start: int,
    stop: int,
    document_keys: DocumentKeys,
    sets: MeasuredSets,
    threshold: Threshold,
    groups: ComponentGroups,
    parents: Int64s,
    comparisons: Comparisons,
    enters: bool,
) -> None:
    """Join documents to the components of earlier ones.

    The documents are ``start`` to ``stop``, exclusive. Documents that share a key are kept in
    groups by component, so that a document passes all of its own component at once: a cluster of n
    copies costs n comparisons. ``parents`` is the union-find forest, whose roots are the first
    documents of components. Without ``enters`` the documents do not become members of groups
    themselves.
    """
    key_starts, keys = document_keys
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
                    if common_at_threshold(sets, threshold, d, other, True) < 0:
                        continue
                    counts[1] += 1
                    root = join_root(parents, d, root)
                group = next_group[group]
            if enters:
                add_to_list(slot, keys[slot], groups, parents)


@kernel
def join_by_prefixes(
    start: int,
    stop: int,
    n_shown: int,
    ranked: RankedSets,
    parity_rows: ParityRows,
    document_keys: DocumentKeys,
    threshold: Threshold,
    groups: ComponentGroups,
    places: Int32s,
    parents: Int64s,
    comparisons: Comparisons,
    enters: bool,
) -> None:
    """Join sets to the components of all earlier sets.

    As ``join_components``, for sets ``start`` to ``stop``. The first ``n_shown`` are only entered.
    Documents are found by their rare elements: under key 2 t for element t in the short prefix of
    the group's document, and under 2 t + 1 if only in the long one. Slots of groups are positions
    in the concatenated long prefixes. ``places`` has the rank order of each ranked document.
    """
    documents, tokens, starts, _, _, short, long = ranked
    owners, heads, next_group, next_member, _ = groups
    last_compared, counts = comparisons
    key_starts = document_keys.starts
    slot = np.int64(0)
    for k in range(start):
        slot += long[k]
    for k in range(start, stop):
        d = documents[k]
        for i in range(long[k] if k >= n_shown else 0):
            first_key = 2 * np.int64(tokens[starts[k] + i])
            for key in range(first_key, first_key + (2 if i < short[k] else 1)):
                group = heads[key]
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
                        o = np.int64(places[other])
                        if common_of_ranked(ranked, parity_rows, threshold, k, o, True) < 0:
                            continue
                        n_keys = key_starts[d + 1] - key_starts[d]
                        if share_key(document_keys, d, n_keys, other):
                            counts[1] += 1
                            root = join_root(parents, d, root)
                    group = next_group[group]
        if enters or k < n_shown:
            for i in range(long[k]):
                entered = 2 * np.int64(tokens[starts[k] + i]) + np.int64(i >= short[k])
                add_to_list(slot + i, entered, groups, parents)
        slot += long[k]


@kernel
def replace_members(
    last: ConstInt64s,
    following: ConstInt64s,
    document_keys: DocumentKeys,
    groups: ComponentGroups,
    parents: Int64s,
) -> None:
    """Empty the groups of documents ``last`` and insert ``following``."""
    key_starts, keys = document_keys
    for d in last:
        for slot in range(key_starts[d], key_starts[d + 1]):
            groups.heads[keys[slot]] = -1
    for d in following:
        for slot in range(key_starts[d], key_starts[d + 1]):
            add_to_list(slot, keys[slot], groups, parents)


class SievedDocuments(NamedTuple):
    """Documents in keep order, similar only with common band keys.

    ``keys`` has shape (n, n_bands); ``are_fixed`` documents stay in any case.
    """

    keys: ConstUint64Rows
    filters: FilterRows
    are_fixed: ConstBools


class Rules(NamedTuple):
    """Rules for pairs that count, and for components to split.

    ``either_way``: a pair may be similar in either direction; else the later document is the first.
    ``with_fixed``: pairs of two fixed documents count. Components of more than ``most_documents``,
    or with more than ``most_pairs`` per document in all buckets together, stay whole.
    """

    either_way: int
    with_fixed: int
    most_documents: int
    most_pairs: int


class Room(NamedTuple):
    """Scratch memory for n documents with b bands.

    A place is one key of one band. ``n_members`` and ``first_members`` are per place, a power of
    two from 2 n on for each band, like the heads of ``groups``; ``places``, and the lists of
    ``groups``, whose owners are the documents in order, have n b slots; ``parents`` and
    ``last_compared`` are per document.
    """

    first_members: Int32s
    n_members: Int32s
    places: Int64s
    groups: ComponentGroups
    parents: Int64s
    last_compared: Int32s


@inlined
def _put_into_places(documents: ConstInt64s, keys: ConstUint64Rows, room: Room) -> Int:
    """Assign places to keys and count pairs that share one."""
    first_members, n_members, places, groups, _, _ = room
    heads = groups.heads
    n, n_bands = np.int64(documents.shape[0]), np.int64(keys.shape[1])
    n_bits = np.int64(1)
    while (np.int64(1) << n_bits) < 2 * n:
        n_bits += 1
    width = np.int64(1) << n_bits
    first_members[: width * n_bands] = -1
    n_members[: width * n_bands] = 0
    heads[: width * n_bands] = -1
    n_pairs = np.int64(0)
    for d in range(n):
        for band in range(n_bands):
            key = keys[documents[d], band]
            place = np.int64((key * GOLDEN) >> np.uint64(64 - n_bits))
            here = band * width + place
            while first_members[here] >= 0 and keys[documents[first_members[here]], band] != key:
                place = (place + 1) & (width - 1)
                here = band * width + place
            if first_members[here] < 0:
                first_members[here] = d
            n_pairs += n_members[here]
            n_members[here] += 1
            places[d * n_bands + band] = here
    return n_pairs


@inlined
def _join_candidates(
    documents: ConstInt64s,
    candidates: SievedDocuments,
    threshold: Threshold,
    rules: Rules,
    room: Room,
) -> None:
    """Join candidates of a component in ``room.parents``."""
    keys, filters, are_fixed = candidates
    _, n_members, places, groups, parents, last_compared = room
    owners, heads, next_group, next_member, _ = groups
    n_bands = np.int64(keys.shape[1])
    for d in range(documents.shape[0]):
        parents[d] = d
        last_compared[d] = -1
    for d in range(documents.shape[0]):
        x = documents[d]
        for slot in range(d * n_bands, (d + 1) * n_bands):
            place = places[slot]
            if n_members[place] == 1:
                continue
            group = heads[place]
            while group >= 0:
                root = find_root(parents, np.int64(owners[group]))
                member = group
                while member >= 0 and root != find_root(parents, d):
                    other = np.int64(owners[member])
                    member = next_member[member]
                    if last_compared[other] == d:
                        continue
                    last_compared[other] = d
                    y = documents[other]
                    if are_fixed[x] and are_fixed[y] and not rules.with_fixed:
                        continue
                    if may_reach(filters, x, y, threshold, rules.either_way):
                        root = join_root(parents, d, root)
                group = next_group[group]
            add_to_list(slot, place, groups, parents)


@kernel
def sieve_components(
    documents: ConstInt64s,
    starts: ConstInt64s,
    candidates: SievedDocuments,
    threshold: Threshold,
    rules: Rules,
    room: Room,
    firsts: Int64s,
) -> None:
    """Split components by the candidate pairs that pass filters.

    Component c has ``documents[starts[c] : starts[c + 1]]``, ascending; ``firsts[d]`` receives the
    first document of the new component of d. As in ``join_components`` pairs that are connected
    already are skipped, without any effect on the result.
    """
    for c in range(starts.shape[0] - 1):
        own = documents[starts[c] : starts[c + 1]]
        n = np.int64(own.shape[0])
        is_whole = n > rules.most_documents
        if not is_whole:
            is_whole = _put_into_places(own, candidates.keys, room) > rules.most_pairs * n
        if is_whole:
            for d in range(n):
                firsts[own[d]] = own[0]
            continue
        _join_candidates(own, candidates, threshold, rules, room)
        for d in range(n):
            firsts[own[d]] = own[find_root(room.parents, d)]
