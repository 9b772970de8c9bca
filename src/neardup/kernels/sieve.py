"""Components without the pairs that filters prove to be below the threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.components import Groups, add_to_list, join_root
from neardup.kernels.filters import may_reach
from neardup.kernels.hashing import GOLDEN
from neardup.kernels.overlap import Threshold
from neardup.kernels.types import (
    ConstBools,
    ConstInt64s,
    ConstUint64Rows,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.union_find import find_root


class Candidates(NamedTuple):
    """Documents in keep order, of which those that share a key of a band may be similar.

    ``keys`` has shape (n, n_bands). Document d has the filter
    ``words[offsets[d] : offsets[d + 1]]`` and ``sizes[d]`` distinct shingles; those that
    ``are_fixed`` stay in any case.
    """

    keys: ConstUint64Rows
    words: ConstUint64s
    offsets: ConstInt64s
    sizes: ConstInt64s
    are_fixed: ConstBools


class Rules(NamedTuple):
    """Which pairs count, and which components are worth the work.

    ``either_way``: a pair may be similar in either direction; else the later document is the first.
    ``with_fixed``: pairs of two fixed documents count. Components of more than ``most_documents``,
    or with more than ``most_pairs`` a document in all buckets together, stay whole.
    """

    either_way: int
    with_fixed: int
    most_documents: int
    most_pairs: int


class Room(NamedTuple):
    """Room for a component of n documents with b bands; it is written anew for each.

    A place is where a band has one of its keys. ``n_members`` and ``first_members`` are for places,
    as many as a power of two from 2 n on for each band, like the heads of ``groups``; ``places``,
    and the lists of ``groups``, whose owners are the documents in their order, for n b slots;
    ``parents`` and ``last_compared`` for documents.
    """

    first_members: Int32s
    n_members: Int32s
    places: Int64s
    groups: Groups
    parents: Int64s
    last_compared: Int32s


@inlined
def _put_into_places(documents: ConstInt64s, keys: ConstUint64Rows, room: Room) -> Int:
    """Give each key of each document its place; returns the number of pairs that share one."""
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
    documents: ConstInt64s, candidates: Candidates, threshold: Threshold, rules: Rules, room: Room
) -> None:
    """Join the documents of a component that filters leave as candidates, in ``room.parents``."""
    keys, words, offsets, sizes, are_fixed = candidates
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
                    if may_reach(
                        words,
                        offsets[x],
                        offsets[x + 1],
                        sizes[x],
                        offsets[y],
                        offsets[y + 1],
                        sizes[y],
                        threshold.measure,
                        threshold.p,
                        threshold.q,
                        rules.either_way,
                    ):
                        root = join_root(parents, d, root)
                group = next_group[group]
            add_to_list(slot, place, groups, parents)


@kernel
def sieve_components(
    documents: ConstInt64s,
    starts: ConstInt64s,
    candidates: Candidates,
    threshold: Threshold,
    rules: Rules,
    room: Room,
    firsts: Int64s,
) -> None:
    """Split components by the pairs of candidates that filters do not rule out.

    Component c has ``documents[starts[c] : starts[c + 1]]``, ascending; ``firsts[d]`` receives the
    first document of what d is still connected with. As in ``join_components`` pairs that are
    connected already are passed over, which changes nothing of that.
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
