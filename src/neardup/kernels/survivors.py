"""Who stays and who goes: one pass over the documents in keep order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.comparisons import Comparisons, Keys, MeasuredSets
from neardup.kernels.overlap import (
    WEIGHTED_JACCARD,
    Threshold,
    is_closer,
    overlap_at_least,
    required_overlap,
    similarity,
)
from neardup.kernels.parities import count_ones
from neardup.kernels.types import ConstInt64s, Floats, Int, Int32s, Int64s

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
