"""Joins of MinHash signatures: all pairs whose estimate reaches a threshold, and no others."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from neardup.kernels.bucket import buckets as bucket_join
from neardup.kernels.sketch import minhash
from neardup.kernels.sketch import minhash as minhash_kernels
from neardup.matching.buckets import bucket_documents
from neardup.matching.pieces import Columns, check_limit, join_columns, probe_pieces
from neardup.runtime.runner import Runner
from neardup.tables import Int32s, Int64s, ScoredPairs, Signatures, Uint64s


def join_signatures(
    signatures: Signatures,
    threshold: Fraction,
    *,
    n_left: int | None = None,
    limit: int | None = None,
    runner: Runner,
) -> ScoredPairs:
    """Find all pairs of signatures that agree in at least a share of their positions.

    Parameters
    ----------
    signatures
        n signatures of one scheme; rows of empty sets agree with none.
    threshold
        The share, in (0, 1].
    n_left
        So many rows at the start are the first of two collections, of which pairs have one each.
    limit
        Most pairs.
    runner
        Runs the work, and reports it as the stage ``join``.

    Returns
    -------
    Pairs of rows in ascending order; ``scores`` are numbers of equal positions.

    Raises
    ------
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    None is missed: of k positions at most d = k - ceil(k * threshold) differ, so that of d + 1
    bands one is equal. Time is that of comparing all rows that share a band; the lower the
    threshold, the fewer rows has a band, down to one below a half. Memory 12 bytes a row and band.
    """
    n, num_perm = signatures.values.shape
    required = math.ceil(threshold * num_perm)
    bands = num_perm - required + 1
    keys: Uint64s = np.empty((n, bands), np.uint64)
    minhash_kernels.band_keys(signatures.values, bands, num_perm // bands, keys)
    filled = np.flatnonzero(signatures.sizes != 0)
    places: Int64s = filled.astype(np.int64)
    buckets = bucket_documents(lambda band: keys[places, band], bands, len(places), runner)
    starts: Int64s = np.zeros(len(buckets.sizes) + 1, np.int64)
    np.cumsum(buckets.sizes, out=starts[1:])
    members: Int32s = np.empty(int(starts[-1]), np.int32)
    bucket_join.list_members(buckets.numbers, starts[:-1].copy(), members)
    n_first = -1 if n_left is None else int(np.searchsorted(places, n_left))
    chosen = np.ascontiguousarray(signatures.values[places])

    def probe(start: int, stop: int, last_seen: Int32s, columns: Columns) -> tuple[int, int]:
        reached, n_pairs = minhash.probe_agreeing(
            start,
            stop,
            n_first,
            buckets.numbers,
            starts[:-1],
            members,
            chosen,
            required,
            last_seen,
            *columns,
        )
        return int(reached), int(n_pairs)

    found: list[Columns] = []
    n_results = 0
    pieces = probe_pieces(len(places), 3, lambda: np.full(len(places), -1, np.int32), probe, runner)
    for stop, columns in pieces:
        found.append(columns)
        n_results += len(columns[0])
        check_limit(limit, n_results, stop / len(places))
        runner.report("join", stop, n)
    left, right, equal = (column.astype(np.int64) for column in join_columns(found, 3))
    order = np.lexsort((right, left))
    return ScoredPairs(places[left[order]], places[right[order]], equal[order])
