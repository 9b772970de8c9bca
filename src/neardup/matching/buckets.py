"""The stage buckets: documents that share a band key (locality-sensitive hashing)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels import buckets as kernel
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Buckets, Int32s, Int64s, KeyLists, Uint64s

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
    A key is cut to the bits that a document's index leaves free in 64, and both are sorted as one
    number. At 2^30 documents 34 bits of key remain; an accidental agreement only adds a candidate
    pair, which verification rejects. Time O(n_bands * n log n), memory 12 bytes a document and
    band sorted at the same time, 4 bytes a document and band in the result.
    """
    if n_documents > _MOST:
        raise InvalidParameterError(_TOO_MANY)
    index_bits = max(1, int(n_documents - 1).bit_length())
    index_mask = np.uint64((1 << index_bits) - 1)
    indices = np.arange(n_documents, dtype=np.uint64)
    numbers: Int32s = np.empty((n_bands, n_documents), np.int32)

    def sort_band(band: int) -> Int64s:
        packed = (band_key(band) & ~index_mask) | indices
        packed.sort()
        sizes: Int64s = np.empty(n_documents // 2, np.int64)
        n_buckets = kernel.bucket_runs(packed, index_mask, 0, numbers[band], sizes)
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


def list_keys(buckets: Buckets) -> KeyLists:
    """Give each document's buckets as keys; 4 bytes each, and 24 bytes a document."""
    starts: Int64s = np.empty(buckets.numbers.shape[1] + 1, np.int64)
    keys: Int32s = np.empty(int((buckets.numbers >= 0).sum()), np.int32)
    kernel.list_keys(buckets.numbers, starts, keys)
    sizes: Int64s = np.bincount(keys, minlength=len(buckets.sizes)).astype(np.int64)
    return KeyLists(starts, keys, np.diff(starts), sizes)
