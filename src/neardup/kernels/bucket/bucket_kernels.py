"""Locality-sensitive hashing by sorting band keys into buckets.

The join of buckets gives all pairs of sets that share one and reach the threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstBools,
    ConstBytes,
    ConstInt32Rows,
    ConstInt32s,
    ConstInt64s,
    ConstUint32s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.join.overlap import (
    WEIGHTED_JACCARD,
    MeasuredSets,
    Threshold,
    WideMatches,
    common_weight,
    overlap_at_least,
    required_overlap,
)


@inlined
def _gather_equals(
    packed: Uint64s, start: int, index_mask: np.uint64, keys: ConstUint64s
) -> tuple[int, int]:
    """Move documents with the first one's key next to it.

    Returns their end and the least. ``packed`` is sorted from ``start`` on by the cut keys. A run
    of equal cut keys may hold several full keys, few unless keys are not hashes.
    """
    least = int(packed[start] & index_mask)
    key, cut = keys[least], packed[start] & ~index_mask
    stop = start + 1
    i = stop
    while i < packed.shape[0] and (packed[i] & ~index_mask) == cut:
        index = int(packed[i] & index_mask)
        if keys[index] == key:
            packed[i], packed[stop] = packed[stop], packed[i]
            stop += 1
            least = min(least, index)
        i += 1
    return stop, least


@inlined
def _is_alone(packed: Uint64s, i: int, index_mask: np.uint64) -> bool:
    """Return whether the next cut key differs."""
    return bool(i + 1 == packed.shape[0] or (packed[i] ^ packed[i + 1]) > index_mask)


@kernel
def bucket_runs(
    packed: Uint64s,
    index_mask: np.uint64,
    keys: ConstUint64s,
    first_bucket: int,
    buckets: Int32s,
    bucket_sizes: Int64s,
) -> int:
    """Assign numbers to groups of two or more equal keys.

    ``packed`` is sorted, and overwritten; each value has a document's index in the bits of
    ``index_mask`` and the upper bits of its band key in the others. ``keys`` are the full keys.
    ``buckets`` (by document) receives the bucket's number, -1 for a document alone with its key;
    ``bucket_sizes[number]`` the number of its documents. Returns the next free number.
    """
    n = packed.shape[0]
    bucket = first_bucket
    i = 0
    while i < n:
        if _is_alone(packed, i, index_mask):
            buckets[np.int64(packed[i] & index_mask)] = -1
            i += 1
            continue
        stop, _ = _gather_equals(packed, i, index_mask, keys)
        if stop - i == 1:
            buckets[np.int64(packed[i] & index_mask)] = -1
        else:
            for k in range(i, stop):
                buckets[np.int64(packed[k] & index_mask)] = bucket
            bucket_sizes[bucket] = stop - i
            bucket += 1
        i = stop
    return bucket


@kernel
def star_edges(
    packed: Uint64s,
    index_mask: np.uint64,
    keys: ConstUint64s,
    are_ignored: ConstBools,
    firsts: Int64s,
    members: Int64s,
) -> int:
    """List pairs (first document, other document) with equal keys.

    ``packed`` and ``keys`` are as for ``bucket_runs``. A group has no edges if all its documents
    ``are_ignored``, which is empty if none is. Returns the number of pairs.
    """
    n_edges = 0
    i = 0
    while i < packed.shape[0]:
        if _is_alone(packed, i, index_mask):
            i += 1
            continue
        stop, least = _gather_equals(packed, i, index_mask, keys)
        is_wanted = are_ignored.shape[0] == 0
        for k in range(i, stop):
            is_wanted = is_wanted or not are_ignored[np.int64(packed[k] & index_mask)]
        if is_wanted:
            for k in range(i, stop):
                index = int(packed[k] & index_mask)
                if index != least:
                    firsts[n_edges], members[n_edges] = least, index
                    n_edges += 1
        i = stop
    return n_edges


@kernel
def list_keys(buckets: ConstInt32Rows, starts: Int64s, keys: Int32s) -> None:
    """List each document's buckets, grouped by document.

    ``buckets`` (n_bands, n) has -1 for no bucket. ``starts`` (n + 1) receives the start of each
    document's list; ``keys`` has a place for every other entry of ``buckets``.
    """
    n_documents = buckets.shape[1]
    starts[:] = 0
    for band in range(buckets.shape[0]):
        for d in range(n_documents):
            starts[d + 1] += buckets[band, d] >= 0
    for d in range(n_documents):
        starts[d + 1] += starts[d]
    for band in range(buckets.shape[0]):
        for d in range(n_documents):
            if buckets[band, d] >= 0:
                keys[starts[d]] = buckets[band, d]
                starts[d] += 1
    # Every start has moved on to the end of its list.
    for d in range(n_documents, 0, -1):
        starts[d] = starts[d - 1]
    starts[0] = 0


# Indices of the counts.
CANDIDATES = 0
N_COUNTS = 1


class BucketLists(NamedTuple):
    """Documents by bucket: bucket b's are ``members[starts[b] :]``, ascending.

    ``numbers`` (n_bands, n) is each document's bucket in each band, -1 for none.
    """

    numbers: ConstInt32Rows
    starts: ConstInt64s
    members: ConstInt32s


@kernel
def list_members(buckets: ConstInt32Rows, next_member: Int64s, members: Int32s) -> None:
    """List the documents of each bucket, ascending.

    ``buckets`` (n_bands, n) gives each document's bucket, -1 for none; ``next_member`` starts as
    where each bucket's list starts.
    """
    for band in range(buckets.shape[0]):
        for d in range(buckets.shape[1]):
            bucket = buckets[band, d]
            if bucket >= 0:
                members[next_member[bucket]] = d
                next_member[bucket] += 1


@inlined
def _is_left_to_right(left: Int, right: Int) -> bool:
    return (left & 1) != 0 and (right & 2) != 0


@kernel
def probe_buckets(
    start: int,
    stop: int,
    buckets: BucketLists,
    sets: MeasuredSets,
    threshold: Threshold,
    is_directed: int,
    sides: ConstBytes,
    last_seen: Int32s,
    matches: WideMatches,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Compare sets with earlier sets in the same bucket.

    Overlaps of weighted sets are common weights. ``sides`` has the collections of each set (1 left,
    2 right, 3 both) and is empty for a self-join. ``last_seen`` (n, all -1 at first) is private to
    a worker. If the measure ``is_directed``, both directions are tried, and the left set is the
    contained one, else the earlier one.

    Returns the first set not probed, which is below ``stop`` if the next one's pairs might not fit
    into the output, and the number of pairs.
    """
    n_pairs = np.int64(0)
    measure, p, q = threshold
    members = buckets.members
    left, right, overlaps = matches
    room = left.shape[0]
    two_sided = sides.shape[0] > 0
    for x in range(start, stop):
        before, n_candidates = n_pairs, np.int64(0)
        for band in range(buckets.numbers.shape[0]):
            bucket = buckets.numbers[band, x]
            if bucket < 0:
                continue
            k = buckets.starts[bucket]
            while members[k] < x:
                y = np.int64(members[k])
                k += 1
                if last_seen[y] == x:
                    continue
                last_seen[y] = x
                forth = back = True
                if two_sided:
                    forth = _is_left_to_right(sides[y], sides[x])
                    back = _is_left_to_right(sides[x], sides[y])
                    if not forth and not back:
                        continue
                    # Undirected pairs have the earlier set first, wherever it is.
                    forth = forth or is_directed == 0
                n_candidates += 1
                x_size, y_size = sets.sizes[x], sets.sizes[y]
                y_required: Int = 0
                x_required: Int = 0
                if measure == WEIGHTED_JACCARD:
                    overlap = common_weight(sets, x, y, p, q)
                else:
                    y_required = required_overlap(measure, y_size, x_size, p, q)
                    x_required = required_overlap(measure, x_size, y_size, p, q)
                    required = min(x_required, y_required)
                    overlap = overlap_at_least(
                        sets.values, sets.starts[x], x_size, sets.starts[y], y_size, required
                    )
                if forth and overlap >= y_required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], overlaps[n_pairs] = y, x, overlap
                    n_pairs += 1
                if is_directed != 0 and back and overlap >= x_required:
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs], overlaps[n_pairs] = x, y, overlap
                    n_pairs += 1
        if n_pairs > room:
            # The caller will probe x again, with more room.
            for m in range(last_seen.shape[0]):
                if last_seen[m] == x:
                    last_seen[m] = -1
            return x, before
        counts[CANDIDATES] += n_candidates
    return stop, n_pairs


# Keys of buckets in an index: sorted lists of entries, each a key of 32 bits above a number of 32
# bits. Equal keys are adjacent. Lists are concatenated, and pages of at most ``PAGE`` entries start
# anew with each list; the first entries of pages lead to the entries of a key.
PAGE = 512

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


class Lists(NamedTuple):
    """List k has ``entries[starts[k] : starts[k + 1]]``.

    The first entries of its pages are ``fences[page_starts[k] : page_starts[k + 1]]``.
    """

    starts: ConstInt64s
    page_starts: ConstInt64s
    fences: ConstUint64s


class Slots(NamedTuple):
    """Lookups: ``keys[i]`` in list ``numbers[i]``, for ``owners[i]``, of 32 bits."""

    keys: ConstUint32s
    numbers: ConstInt64s
    owners: ConstInt64s


@kernel
def find_entries(
    slots: Slots,
    lists: Lists,
    entries: ConstUint64s,
    page_bounds: ConstInt64s,
    is_checked: ConstBools,
    found: Uint64s,
    unchecked: Int64s,
) -> tuple[Int, Int]:
    """Find the numbers of the entries of keys.

    Page p has ``entries[page_bounds[p] : page_bounds[p + 1]]``. Returns the number of entries and
    the number of unchecked pages in the way. ``found`` receives the entries that fit, each below
    its owner. Entries of unchecked pages are not read; ``unchecked`` receives as many page numbers
    as fit, some more than once.
    """
    keys, numbers, owners = slots
    starts, page_starts, fences = lists
    n_found = n_unchecked = np.int64(0)
    for i in range(keys.shape[0]):
        k = numbers[i]
        if starts[k] == starts[k + 1]:
            continue
        low = np.uint64(keys[i]) << _32
        first = first_at_least(fences, page_starts[k], page_starts[k + 1], low)
        stop = first
        # Equal entries may begin in the page before; few keys fill pages.
        while stop < page_starts[k + 1] and fences[stop] <= low | _LOW32:
            stop += 1
        if first > page_starts[k]:
            first -= 1
        are_checked = True
        for page in range(first, stop):
            if not is_checked[page]:
                are_checked = False
                if n_unchecked < unchecked.shape[0]:
                    unchecked[n_unchecked] = page
                n_unchecked += 1
        if not are_checked or first == stop:
            continue
        end = page_bounds[stop]
        place = first_at_least(entries, page_bounds[first], end, low)
        owner = np.uint64(owners[i]) << _32
        while place < end and entries[place] <= low | _LOW32:
            if n_found < found.shape[0]:
                found[n_found] = owner | (entries[place] & _LOW32)
            n_found += 1
            place += 1
    return n_found, n_unchecked
