"""Locality-sensitive hashing by sorting: documents with equal band keys share a bucket."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import ConstInt32Rows, ConstUint64s, Int32s, Int64s


@kernel
def bucket_runs(
    packed: ConstUint64s,
    index_mask: np.uint64,
    first_bucket: int,
    buckets: Int32s,
    bucket_sizes: Int64s,
) -> int:
    """Give numbers to the runs of two or more equal keys; return the next free number.

    ``packed`` is sorted; each value has a document's index in the bits of ``index_mask`` and its
    band key in the others. ``buckets`` (by document) receives the bucket's number, -1 for a
    document alone with its key; ``bucket_sizes[number]`` the number of its documents.
    """
    n = packed.shape[0]
    bucket = first_bucket
    i = np.int64(0)
    while i < n:
        key = packed[i] & ~index_mask
        j = i + 1
        while j < n and (packed[j] & ~index_mask) == key:
            j += 1
        if j - i == 1:
            buckets[np.int64(packed[i] & index_mask)] = -1
        else:
            for k in range(i, j):
                buckets[np.int64(packed[k] & index_mask)] = bucket
            bucket_sizes[bucket] = j - i
            bucket += 1
        i = j
    return bucket


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
