"""Locality-sensitive hashing by sorting: documents with equal band keys share a bucket."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import (
    ConstBools,
    ConstInt32Rows,
    ConstUint64s,
    Int32s,
    Int64s,
    Uint64s,
)


@inlined
def _gather_equals(
    packed: Uint64s, start: int, index_mask: np.uint64, keys: ConstUint64s
) -> tuple[int, int]:
    """Move the documents with the key of the first one behind it; returns stop and least of them.

    ``packed`` is sorted from ``start`` on as far as the cut keys go. A run of equal ones may hold
    several keys, few unless keys are no hashes; of these the others are put behind the stop.
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
    """Whether the next cut key is another; then the key itself need not be looked up."""
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
    """Give numbers to the groups of two or more equal keys; return the next free number.

    ``packed`` is sorted, and used up; each value has a document's index in the bits of
    ``index_mask`` and its band key, as far as there is room, in the others. ``keys`` are the whole
    keys. ``buckets`` (by document) receives the bucket's number, -1 for a document alone with its
    key; ``bucket_sizes[number]`` the number of its documents.
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
def count_repeats(packed: ConstUint64s, index_mask: np.uint64) -> int:
    """Count the cut keys that are equal to the one before; there are no more edges than these."""
    n_repeats = 0
    for i in range(1, packed.shape[0]):
        n_repeats += int((packed[i - 1] ^ packed[i]) <= index_mask)
    return n_repeats


@kernel
def star_edges(
    packed: Uint64s,
    index_mask: np.uint64,
    keys: ConstUint64s,
    are_ignored: ConstBools,
    firsts: Int64s,
    members: Int64s,
) -> int:
    """List (first document, other document) for the groups of equal keys; returns their number.

    ``packed`` and ``keys`` are those of ``bucket_runs``. A group has no edges if all its documents
    ``are_ignored``, which is empty if none is.
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
    """List each document's buckets, those of one document together.

    ``buckets`` (n_bands, n) has -1 for none. ``starts`` (n + 1) receives where each document's list
    starts; ``keys`` has a place for every entry of ``buckets`` that is not -1.
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
