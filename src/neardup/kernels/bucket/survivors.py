"""Who stays and who goes, in one pass over the documents in keep order.

Similar documents are found among those that share a bucket, or are pairs that are known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.common.parities import count_ones
from neardup.kernels.join.overlap import (
    WEIGHTED_JACCARD,
    Comparisons,
    Keys,
    MeasuredSets,
    Threshold,
    is_closer,
    overlap_at_least,
    required_overlap,
    similarity,
)
from neardup.kernels.join.weighted import common_weight
from neardup.kernels.types import (
    Bools,
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    Floats,
    Int,
    Int32s,
    Int64s,
)

# Keeper of a document that goes in any case, for one that is not among those which are decided.
KNOWN = -2


class Members(NamedTuple):
    """Documents that stay: those with key b are ``documents[starts[b] :][: sizes[b]]``."""

    starts: Int64s
    sizes: Int64s
    documents: Int32s


class Decisions(NamedTuple):
    """Who goes: ``keepers`` has -1 for who stays, else the document that stays for this one.

    ``overlaps`` is what the two have in common. Until a document is decided both are of the most
    similar one so far; they begin as -1 and 0. ``similarities`` has NaN for who stays, else how
    similar the two are.

    A document for which one is known that stays, though it is not among these, begins with
    ``KNOWN``, their overlap and their similarity, and with the size of that one, or its total, in
    ``known_sizes``, which is empty if there is no such document. It never stays: it goes for that
    one unless another is more similar.
    """

    keepers: Int32s
    overlaps: Int64s
    similarities: Floats
    known_sizes: ConstInt64s


@kernel
def choose_survivors(
    start: int,
    stop: int,
    n_fixed: int,
    document_keys: Keys,
    n_probed: ConstInt64s,
    members: Members,
    sets: MeasuredSets,
    threshold: Threshold,
    decisions: Decisions,
    comparisons: Comparisons,
    decides: bool,
) -> None:
    """Decide documents ``start`` to ``stop``, all earlier ones being decided.

    A document stays unless it is verified similar to one that already stays and shares a key with
    it; then it goes in favour of the most similar such document, the earlier one on a tie. So
    a document is compared with survivors only, never with what has been removed, and a cluster of
    n copies costs n comparisons. The first ``n_fixed`` documents stay in any case. One that is
    ``KNOWN`` to be similar to a document stands before all others on a tie.

    Document d looks under the first ``n_probed[d]`` of its keys. Members begin with room for all
    documents that have a key, and with sizes of 0.

    Where not all members are shown at once, documents go through all parts but the last without
    ``decides``: they only note the most similar one so far.
    """
    key_starts, keys = document_keys
    member_starts, n_members, documents = members
    measure, p, q = threshold
    values, set_starts, set_sizes, weights, totals, parities = sets
    keepers, overlaps, similarities, known_sizes = decisions
    last_compared, counts = comparisons
    for d in range(start, stop):
        best, best_overlap = np.int64(keepers[d]), overlaps[d]
        best_size = known_sizes[d] if best == KNOWN else np.int64(0)
        if best >= 0:
            best_size = totals[best]
        if d >= n_fixed:
            for k in range(key_starts[d], key_starts[d] + n_probed[d]):
                first = member_starts[keys[k]]
                for m in range(first, first + n_members[keys[k]]):
                    other = np.int64(documents[m])
                    if last_compared[other] == d:
                        continue
                    last_compared[other] = d
                    counts[0] += 1
                    x, y = totals[d], totals[other]
                    if measure == WEIGHTED_JACCARD:
                        overlap = common_weight(
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
                        if overlap < 0:
                            continue
                    else:
                        required = required_overlap(measure, x, y, p, q)
                        # Most candidates that share but a key differ too much in their parities.
                        if count_ones(parities[d] ^ parities[other]) > x + y - 2 * required:
                            continue
                        overlap = overlap_at_least(
                            values, set_starts[d], x, set_starts[other], y, required
                        )
                        if overlap < required:
                            continue
                    counts[1] += 1
                    if best != -1:
                        if is_closer(measure, x, best_overlap, best_size, overlap, y):
                            continue
                        is_tie = not is_closer(measure, x, overlap, y, best_overlap, best_size)
                        if is_tie and best < other:
                            continue
                    best, best_overlap, best_size = other, np.int64(overlap), y
        keepers[d], overlaps[d] = best, best_overlap
        if not decides:
            continue
        if best >= 0:
            similarities[d] = similarity(measure, best_overlap, totals[d], best_size)
        if best != -1:
            continue
        similarities[d] = np.nan
        for k in range(key_starts[d], key_starts[d + 1]):
            documents[member_starts[keys[k]] + n_members[keys[k]]] = d
            n_members[keys[k]] += 1


@kernel
def list_members(
    keys: ConstInt64s, members: Members, mark: int, marks: Int32s, listed: Int32s
) -> Int:
    """List the documents that stay under some keys, each once, in any order; give their number.

    ``listed`` and ``marks`` have a place for every document, and no mark is this one yet.
    """
    starts, sizes, documents = members
    n_listed = np.int64(0)
    for key in keys:
        for m in range(starts[key], starts[key] + sizes[key]):
            document = documents[m]
            if marks[document] != mark:
                marks[document] = mark
                listed[n_listed] = document
                n_listed += 1
    return n_listed


@kernel
def show_next(keys: ConstInt64s, ends: ConstInt64s, stop: int, members: Members) -> None:
    """Show under some keys the members behind those shown so far, up to document ``stop``.

    All members under ``keys[i]``, in ascending order, end in front of ``ends[i]``.
    """
    starts, sizes, documents = members
    for i in range(keys.shape[0]):
        key = keys[i]
        first = starts[key] + sizes[key]
        m = first
        while m < ends[i] and documents[m] < stop:
            m += 1
        starts[key] = first
        sizes[key] = m - first


@kernel
def group_pairs(
    later: ConstInt32s,
    earlier: ConstInt32s,
    similarities: ConstFloats,
    ends: Int64s,
    partners: Int32s,
    scores: Floats,
) -> None:
    """List for each document its earlier partners, and how similar they are to it.

    ``ends[d]`` begins as the number of pairs whose later document is before d, and becomes the end
    of d's partners.
    """
    for k in range(later.shape[0]):
        place = ends[later[k]]
        ends[later[k]] = place + 1
        partners[place], scores[place] = earlier[k], similarities[k]


@kernel
def choose_from_pairs(
    ends: ConstInt64s,
    partners: ConstInt32s,
    scores: ConstFloats,
    keepers: Int32s,
    similarities: Floats,
) -> None:
    """Go through the documents in keep order; one stays unless a partner of it does.

    It goes for the partner of the highest score that stays, the earliest on a tie. ``keepers``
    becomes -1 for a document that stays, ``similarities`` NaN.
    """
    start = np.int64(0)
    for d in range(ends.shape[0]):
        best, best_score = np.int64(-1), np.nan
        for k in range(start, ends[d]):
            other = np.int64(partners[k])
            if keepers[other] >= 0:
                continue
            is_tie = best >= 0 and scores[k] == best_score and other < best
            if best < 0 or scores[k] > best_score or is_tie:
                best, best_score = other, scores[k]
        keepers[d], similarities[d] = best, best_score
        start = ends[d]


@kernel
def match_in_order(
    order: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    is_taken: Bools,
    stays: Bools,
) -> None:
    """Go through pairs in an order; one stays if neither of its documents is in one that does.

    ``is_taken``, of documents, and ``stays``, of pairs, begin as false and become true.
    """
    for k in range(order.shape[0]):
        pair = order[k]
        a, b = left[pair], right[pair]
        if not is_taken[a] and not is_taken[b]:
            is_taken[a] = is_taken[b] = True
            stays[pair] = True
