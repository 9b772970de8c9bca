"""Buckets of starts narrowed to those from which a passage may be similar enough to its query.

First by the tokens that stand there (``kernels.bounds``), then by the windows of all lists.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.bounds import largest_shares, possible_starts
from neardup.kernels.candidates import sift_ranges
from neardup.kernels.query_keys import Wanted, count_tokens, weigh_tokens
from neardup.kernels.segments import Documents, Limits, Scratch, Windows
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64Rows,
    ConstInt64s,
    Int,
    Int32s,
    Int64Rows,
)


@helper
def _document_of(offsets: ConstInt64s, low: Int, token: Int) -> np.int64:
    """Give the document of a token, which is not before document ``low``."""
    low, high = np.int64(low), np.int64(offsets.shape[0] - 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if offsets[middle] <= token:
            low = middle
        else:
            high = middle
    return low


@helper
def _append_range(ranges: Int64Rows, n: Int, least: Int, first: Int, last: Int) -> np.int64:
    """Append a range of starts, to the one before it if it begins right behind that.

    Ranges before ``least`` are those of other documents.
    """
    if n > least and ranges[n - 1, 1] + 1 == first:
        ranges[n - 1, 1] = last
        return np.int64(n)
    ranges[n, 0], ranges[n, 1] = first, last
    return np.int64(n + 1)


@helper
def note_entries(
    types: ConstInt32s, n_types: Int, entries: ConstInt32s, is_noted: bool, known: Int32s
) -> None:
    """Note the numbers of a query's tokens at their entries of the vocabulary, or take them out."""
    for t in range(n_types):
        if entries[types[t]] >= 0:
            known[entries[types[t]]] = t if is_noted else -1


@kernel
def narrow_buckets(
    wanted: Wanted,
    first_query: int,
    entries: ConstInt32s,
    first_tokens: ConstInt64s,
    windows: Windows,
    documents: Documents,
    limits: Limits,
    scratch: Scratch,
    lists: Int64Rows,
    n_functions: int,
    buckets: ConstInt64Rows,
    first_bucket: int,
    ranges: Int64Rows,
) -> tuple[Int, Int]:
    """Find the ranges of starts of passages that may be similar enough to queries.

    ``lists`` and ``buckets``, from ``first_bucket`` on, are those of ``lookups.find_buckets``; its
    query k is ``first_query + k``. ``entries`` has for each number of a query's token the entry of
    the vocabulary, or -1. Rows of ``ranges`` receive k, document, first and last start.

    Returns the first bucket not done, which is below the end if the ranges of its query do not fit,
    and how many ranges there are.
    """
    tokens, offsets = documents.tokens, documents.offsets
    known, bits = scratch.known, limits.bucket_bits
    longest = np.int64(1)
    for i in range(first_bucket, buckets.shape[0]):
        query = first_query + buckets[i, 0]
        longest = max(longest, wanted.stops[query] - wanted.starts[query])
    of_numbers = np.zeros(wanted.hashes.shape[0], np.int32)
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    weights = np.empty(longest, np.int64)
    once, again = np.empty(longest, np.float64), np.empty(longest, np.float64)
    own = np.empty((64, 2), np.int64)
    n_ranges, start = np.int64(0), np.int64(first_bucket)
    while start < buckets.shape[0]:
        k = buckets[start, 0]
        query = first_query + k
        stop = start
        while stop < buckets.shape[0] and buckets[stop, 0] == k:
            stop += 1
        n_types = count_tokens(
            wanted.numbers, wanted.starts[query], wanted.stops[query], of_numbers, types, copies
        )
        total = weigh_tokens(types, copies, n_types, wanted.inverses, wanted.term_weights, weights)
        largest_shares(types, copies, n_types, wanted.inverses, wanted.term_weights, once, again)
        note_entries(types, n_types, entries, True, known)
        n_own, first_own, document = np.int64(0), np.int64(0), np.int64(0)
        for i in range(start, stop):
            first = max(buckets[i, 1] << bits, first_tokens[k])
            behind = min((buckets[i, 1] + 1) << bits, tokens.shape[0])
            # A bucket may have tokens of several documents.
            while first < behind:
                if offsets[document + 1] <= first:
                    document, first_own = _document_of(offsets, document, first), n_own
                end = offsets[document + 1]
                low, high = possible_starts(
                    first,
                    min(behind, end) - 1,
                    end,
                    limits.min_tokens,
                    limits.threshold,
                    np.float64(total),
                    tokens,
                    known,
                    once,
                    again,
                    documents.inverses,
                    documents.term_weights[1],
                    documents.least_step,
                    scratch.seen,
                    scratch.before,
                    scratch.firsts,
                    scratch.laters,
                    scratch.sums,
                )
                if low <= high:
                    if n_own == own.shape[0]:
                        larger = np.empty((2 * n_own, 2), np.int64)
                        for r in range(n_own):
                            larger[r, 0], larger[r, 1] = own[r, 0], own[r, 1]
                        own = larger
                    n_own = _append_range(own, n_own, first_own, low, high)
                first = end
        note_entries(types, n_types, entries, False, known)
        n_kept = sift_ranges(
            lists[k * n_functions : (k + 1) * n_functions],
            limits.hits,
            limits.min_tokens,
            windows.starts,
            windows.spans,
            windows.wide_rows,
            windows.wide_spans,
            own[:n_own],
        )
        if n_ranges + n_kept > ranges.shape[0]:
            return start, n_ranges
        document = np.int64(0)
        for i in range(n_kept):
            document = _document_of(offsets, document, own[i, 0])
            ranges[n_ranges, 0], ranges[n_ranges, 1] = k, document
            ranges[n_ranges, 2], ranges[n_ranges, 3] = own[i, 0], own[i, 1]
            n_ranges += 1
        start = stop
    return start, n_ranges
