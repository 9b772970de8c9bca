"""Choose the surviving documents in one pass in keep order.

Candidates share a bucket, or are known pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    Bools,
    ConstInt32s,
    ConstInt64s,
    Floats,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.join.overlap import (
    Comparisons,
    DocumentKeys,
    MeasuredSets,
    Threshold,
    common_at_threshold,
    is_closer,
    required_overlap,
    similarity,
)
from neardup.kernels.join.postings import count_common
from neardup.kernels.join.set_join_kernels import (
    ParityRows,
    first_distance,
    other_distance,
    read_sizes,
)

# Keeper of a document removed in any case, for a keeper outside of these documents.
KNOWN = -2


class StayingMembers(NamedTuple):
    """Documents that stay: ``documents[starts[b] :][: sizes[b]]`` have key b."""

    starts: Int64s
    sizes: Int64s
    documents: Int32s


class Decisions(NamedTuple):
    """Keepers of removed documents, and -1 for survivors.

    ``overlaps`` is the overlap of the two. Until a document is decided both describe the most
    similar keeper so far; they begin as -1 and 0. ``similarities`` has NaN for a document that
    stays, else the similarity of the two.

    A document with a known keeper outside of these documents begins with ``KNOWN``, their overlap
    and their similarity; ``known_sizes`` has the size or total of that keeper, and is empty if
    there are no such documents. It never stays: another keeper replaces the known one only if it is
    more similar.
    """

    keepers: Int32s
    overlaps: Int64s
    similarities: Floats
    known_sizes: ConstInt64s


@inlined
def _is_better(
    measure: Int,
    x: Int,
    other: Int,
    overlap: Int,
    y: Int,
    best: Int,
    best_overlap: Int,
    best_size: Int,
) -> bool:
    """Return whether ``other`` is a better keeper than ``best``.

    The document has size x, ``other`` size y. -1 is no keeper; the earlier one wins a tie.
    """
    if best == -1:
        return True
    if is_closer(measure, x, best_overlap, best_size, overlap, y):
        return False
    return bool(other < best or is_closer(measure, x, overlap, y, best_overlap, best_size))


@kernel
def choose_survivors(
    start: int,
    stop: int,
    n_fixed: int,
    document_keys: DocumentKeys,
    n_probed: ConstInt64s,
    members: StayingMembers,
    sets: MeasuredSets,
    threshold: Threshold,
    decisions: Decisions,
    comparisons: Comparisons,
    decides: bool,
) -> None:
    """Decide documents ``start`` to ``stop``, after all earlier ones.

    See ``matching.survivors.choose_survivors``. The first ``n_fixed`` documents stay in any case. A
    ``KNOWN`` keeper wins all ties. Document d looks under the first ``n_probed[d]`` of its keys.
    Members begin with room for all documents that have a key, and with sizes of 0. If members are
    shown in parts, all parts except the last run without ``decides``: documents only record the
    most similar keeper so far.
    """
    key_starts, keys = document_keys
    member_starts, n_members, documents = members
    measure, totals = threshold.measure, sets.totals
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
                    overlap = common_at_threshold(sets, threshold, d, other, False)
                    if overlap < 0:
                        continue
                    x, y = totals[d], totals[other]
                    counts[1] += 1
                    if _is_better(measure, x, other, overlap, y, best, best_overlap, best_size):
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


class RankedSets(NamedTuple):
    """Sets of some documents, their elements ranked by rarity.

    Set k belongs to ``documents[k]``, in ascending order. It has ``sizes[k]`` elements; the
    elements that another set has too are ``tokens[starts[k] :][: lengths[k]]``, ascending. Two sets
    at the threshold share an element of the first ``short[k]`` of one run and the first ``long[k]``
    of the other; long prefixes are not shorter than short ones.
    """

    documents: ConstInt64s
    tokens: ConstInt32s
    starts: ConstInt64s
    lengths: ConstInt64s
    sizes: ConstInt64s
    short: ConstInt64s
    long: ConstInt64s


@inlined
def share_key(document_keys: DocumentKeys, d: Int, n_probed: Int, other: Int) -> bool:
    """Return whether ``other`` has one of d's first ``n_probed`` keys."""
    starts, keys = document_keys
    i, stop = starts[d], starts[d] + n_probed
    j, other_stop = starts[other], starts[other + 1]
    while i < stop and j < other_stop:
        if keys[i] == keys[j]:
            return True
        is_less = keys[i] < keys[j]
        i += np.int64(is_less)
        j += np.int64(not is_less)
    return False


@inlined
def common_of_ranked(
    ranked: RankedSets,
    parities: ParityRows,
    threshold: Threshold,
    k: Int,
    o: Int,
    either_way: bool,
) -> Int:
    """Return the overlap of two ranked sets as ``common_at_threshold``."""
    measure, p, q = threshold
    x, x_length = ranked.sizes[k], ranked.lengths[k]
    y, y_length = read_sizes(parities, o)
    required = required_overlap(measure, x, y, p, q)
    if either_way:
        required = min(required, required_overlap(measure, y, x, p, q))
    if required > x_length or required > y_length:
        return np.int64(-1)
    # Most sets that share an element differ in too many others.
    limit: Int = x_length + y_length - 2 * required
    limit -= first_distance(parities, k, o)
    if limit < 0 or other_distance(parities, k, o, limit) > limit:
        return np.int64(-1)
    x_start, y_start = ranked.starts[k], ranked.starts[o]
    overlap = count_common(
        ranked.tokens, x_start, x_start + x_length, y_start, y_start + y_length, required
    )
    return np.int64(overlap if overlap >= required else -1)


@kernel
def choose_by_prefixes(
    start: int,
    stop: int,
    n_shown: int,
    n_fixed: int,
    ranked: RankedSets,
    parities: ParityRows,
    found: StayingMembers,
    document_keys: DocumentKeys,
    n_probed: ConstInt64s,
    members: StayingMembers,
    totals: ConstInt64s,
    threshold: Threshold,
    decisions: Decisions,
    comparisons: Comparisons,
    decides: bool,
) -> None:
    """Decide the sets ``start`` to ``stop`` as ``choose_survivors`` does.

    The first ``n_shown`` sets are of documents that stay, for comparison. Candidates share rare
    elements, and a similar pair must also share a key. ``found`` has the documents that stay:
    element t is under key 2 t if it is in the short prefix, and under 2 t + 1 if it is only in the
    long one; it begins with sizes of 0. ``totals`` has the set sizes of all compared documents.
    Only similar pairs are counted, as compared ones, too.
    """
    documents, tokens, starts, _, sizes, short, long = ranked
    found_starts, n_found, found_sets = found
    key_starts, keys = document_keys
    measure = threshold.measure
    keepers, overlaps, similarities, known_sizes = decisions
    last_compared, counts = comparisons
    for k in range(start, stop):
        d = documents[k]
        x, x_start = sizes[k], starts[k]
        best = np.int64(-1)
        if k >= n_shown:
            best, best_overlap = np.int64(keepers[d]), overlaps[d]
            best_size = known_sizes[d] if best == KNOWN else np.int64(0)
            if best >= 0:
                best_size = totals[best]
            for i in range(long[k] if d >= n_fixed else 0):
                first_key = 2 * np.int64(tokens[x_start + i])
                for key in range(first_key, first_key + (2 if i < short[k] else 1)):
                    for m in range(found_starts[key], found_starts[key] + n_found[key]):
                        o = np.int64(found_sets[m])
                        if last_compared[o] == k:
                            continue
                        last_compared[o] = k
                        overlap = common_of_ranked(ranked, parities, threshold, k, o, False)
                        other = documents[o]
                        if overlap < 0:
                            continue
                        if not share_key(document_keys, d, n_probed[d], other):
                            continue
                        counts[0] += 1
                        counts[1] += 1
                        y = sizes[o]
                        if _is_better(measure, x, other, overlap, y, best, best_overlap, best_size):
                            best, best_overlap, best_size = other, np.int64(overlap), y
            keepers[d], overlaps[d] = best, best_overlap
            if not decides:
                continue
            if best >= 0:
                similarities[d] = similarity(measure, best_overlap, x, best_size)
            if best != -1:
                continue
            similarities[d] = np.nan
            for i in range(key_starts[d], key_starts[d + 1]):
                members.documents[members.starts[keys[i]] + members.sizes[keys[i]]] = d
                members.sizes[keys[i]] += 1
        for i in range(long[k]):
            entered = 2 * np.int64(tokens[x_start + i]) + np.int64(i >= short[k])
            found_sets[found_starts[entered] + n_found[entered]] = k
            n_found[entered] += 1


@kernel
def list_members(
    keys: ConstInt64s, members: StayingMembers, mark: int, marks: Int32s, listed: Int32s
) -> Int:
    """List the survivors under some keys, each once, unordered.

    ``listed`` and ``marks`` have a place for every document. ``mark`` is new. Returns their number.
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
def show_next(keys: ConstInt64s, ends: ConstInt64s, stop: int, members: StayingMembers) -> None:
    """Show the next members of keys up to document ``stop``.

    All members under ``keys[i]``, in ascending order, end before ``ends[i]``.
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
def match_in_order(
    order: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    is_taken: Bools,
    stays: Bools,
) -> None:
    """Select pairs without a common document, in order.

    ``is_taken``, of documents, and ``stays``, of pairs, begin as false and become true.
    """
    for k in range(order.shape[0]):
        pair = order[k]
        a, b = left[pair], right[pair]
        if not is_taken[a] and not is_taken[b]:
            is_taken[a] = is_taken[b] = True
            stays[pair] = True
