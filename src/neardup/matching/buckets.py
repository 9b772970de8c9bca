"""The stage buckets: documents that share a band key (locality-sensitive hashing)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels import buckets as kernel
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Bools, Buckets, Int32s, Int64s, KeyLists, Uint64s

_MOST = 2**31 - 1
_TOO_MANY = (
    f"more than {_MOST:,} distinct texts or buckets; use fewer bands (a lower recall) or cut the "
    "collection into parts and join them with --against"
)


def bucket_documents(
    band_key: Callable[[int], Uint64s], n_bands: int, n_documents: int, runner: Runner
) -> Buckets:
    """Put documents with equal band keys into the same bucket, one band at a time, by sorting.

    Parameters
    ----------
    band_key
        Gives the keys of all documents in one band, shape (n_documents,).
    n_bands, n_documents
        Their numbers.
    runner
        A band is a block of its work.

    Raises
    ------
    InvalidParameterError
        For 2^31 documents or buckets, or more; buckets get numbers of 32 bits.

    Notes
    -----
    Whole keys of 64 bits are compared. Time O(n_bands * n log n), memory 20 bytes a document and
    band sorted at the same time, 4 bytes a document and band in the result.
    """
    if n_documents > _MOST:
        raise InvalidParameterError(_TOO_MANY)
    numbers: Int32s = np.empty((n_bands, n_documents), np.int32)

    def sort_band(band: int) -> Int64s:
        keys = np.ascontiguousarray(band_key(band))
        packed, index_mask = _sort_keys(keys)
        sizes: Int64s = np.empty(n_documents // 2, np.int64)
        n_buckets = kernel.bucket_runs(packed, index_mask, keys, 0, numbers[band], sizes)
        return sizes[:n_buckets].copy()

    sizes_of_bands = []
    n_buckets = 0
    for band, sizes in enumerate(runner.map(sort_band, range(n_bands))):
        row = numbers[band]
        row[row >= 0] += n_buckets
        n_buckets += len(sizes)
        if n_buckets > _MOST:
            raise InvalidParameterError(_TOO_MANY)
        sizes_of_bands.append(sizes)
        runner.report("bucket", band + 1, n_bands)
    return Buckets(
        numbers, np.concatenate(sizes_of_bands) if sizes_of_bands else np.empty(0, np.int64)
    )


def bucket_keys(band_keys: BandKeys, order: Int64s, n_bands: int, runner: Runner) -> Buckets:
    """Put contents into buckets as ``bucket_documents``, by keys that are used up.

    Document d of the result is content ``order[d]``.
    """
    keys: Uint64s = np.empty((len(order), n_bands), np.uint64)
    stop = len(order)
    while band_keys.parts:
        part = band_keys.parts.pop()
        keys[stop - len(part) : stop] = part
        stop -= len(part)
    return bucket_documents(lambda band: keys[order, band], n_bands, len(order), runner)


def star_edges(keys: Uint64s, *, are_ignored: Bools | None = None) -> tuple[Int64s, Int64s]:
    """List which documents have equal keys in one band, as edges from the first of each group.

    Parameters
    ----------
    keys
        64-bit keys of up to 2^32 documents, which are known by their places here.
    are_ignored
        Marks documents that need not meet each other: a group of only such has no edges.

    Returns
    -------
    For each group of n documents with equal keys n - 1 edges: the first document of the group, and
    each of the others.

    Notes
    -----
    Time O(n log n). Memory 16 bytes a document beside the keys, and 16 bytes an edge.
    """
    keys = np.ascontiguousarray(keys)
    packed, index_mask = _sort_keys(keys)
    most = kernel.count_repeats(packed, index_mask)
    firsts: Int64s = np.empty(most, np.int64)
    members: Int64s = np.empty(most, np.int64)
    ignored = np.empty(0, np.bool_) if are_ignored is None else are_ignored
    n_edges = kernel.star_edges(packed, index_mask, keys, ignored, firsts, members)
    return firsts[:n_edges], members[:n_edges]


def _sort_keys(keys: Uint64s) -> tuple[Uint64s, np.uint64]:
    """Sort documents by their keys; returns numbers in order, and the mask of the index in them.

    A key is cut to the bits that a document's index leaves free in 64, and both are one number, the
    fastest to sort. At 2^30 documents 34 bits of key remain, and kernels tell apart what is equal
    as far as these go.
    """
    index_bits = max(1, int(len(keys) - 1).bit_length())
    index_mask = np.uint64((1 << index_bits) - 1)
    packed: Uint64s = keys & ~index_mask
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    return packed, index_mask


def list_keys(buckets: Buckets) -> KeyLists:
    """Give each document's buckets as keys; 4 bytes each, and 24 bytes a document."""
    starts: Int64s = np.empty(buckets.numbers.shape[1] + 1, np.int64)
    keys: Int32s = np.empty(int((buckets.numbers >= 0).sum()), np.int32)
    kernel.list_keys(buckets.numbers, starts, keys)
    sizes: Int64s = np.bincount(keys, minlength=len(buckets.sizes)).astype(np.int64)
    return KeyLists(starts, keys, np.diff(starts), sizes)
