"""Regions of texts compared with queries exactly, many at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.narrowing import note_entries
from neardup.kernels.passages import maximal_passages, pick_passages
from neardup.kernels.query_keys import Wanted, count_tokens, weigh_tokens
from neardup.kernels.regions import narrow_rows, number_region
from neardup.kernels.segments import Documents
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64Rows,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)

_ROOM = 1 << 6


class Choice(NamedTuple):
    """Which passages are told: with at least so many tokens, and a similarity of p/q or more.

    Those that are part of no other such one if ``is_maximal``, else the most similar ones that have
    ``apart`` tokens or more between them.
    """

    min_tokens: int
    p: int
    q: int
    is_maximal: bool
    apart: int


@kernel
def compare_regions(
    wanted: Wanted,
    first_query: int,
    entries: ConstInt32s,
    documents: Documents,
    choice: Choice,
    known: Int32s,
    regions: ConstInt64Rows,
    first_region: int,
    lows: Int64s,
    highs: Int64s,
    found: Int64Rows,
) -> tuple[Int, Int]:
    """Find the passages of regions that are similar to their queries.

    The arguments are those of ``narrowing.narrow_buckets``, and what ``outlines.outline_regions``
    gives, from ``first_region`` on; ``lows`` and ``highs`` are narrowed. Rows of ``found`` receive
    query, first token, the one behind the last, and the weight that is shared, and that of either.

    Returns the first region not done, which is below the end if its passages do not fit, and how
    many passages there are.
    """
    tokens, inverses, term_weights = documents.tokens, documents.inverses, documents.term_weights
    p, q, least = choice.p, choice.q, choice.min_tokens
    longest = np.int64(1)
    for k in range(first_region, regions.shape[0]):
        query = first_query + regions[k, 0]
        longest = max(longest, wanted.stops[query] - wanted.starts[query])
    of_numbers = np.zeros(wanted.hashes.shape[0], np.int32)
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    weights = np.empty(longest, np.int64)
    passages = np.empty((_ROOM, 4), np.int64)
    n_found, n_types, total = 0, 0, 0
    query = np.int64(-1)
    done = np.int64(regions.shape[0])
    for k in range(first_region, regions.shape[0]):
        if regions[k, 0] != query:
            note_entries(types, n_types, entries, False, known)
            query = regions[k, 0]
            start, stop = wanted.starts[first_query + query], wanted.stops[first_query + query]
            n_types = count_tokens(wanted.numbers, start, stop, of_numbers, types, copies)
            total = weigh_tokens(
                types, copies, n_types, wanted.inverses, wanted.term_weights, weights
            )
            note_entries(types, n_types, entries, True, known)
        origin, end = regions[k, 1], regions[k, 2]
        region = tokens[origin:end]
        numbers, others = np.empty(end - origin, np.int32), np.empty(end - origin, np.int32)
        n_numbers = number_region(region, n_types, known, numbers, others)
        query_weights = np.zeros(n_numbers, np.int64)
        type_weights = np.ones(n_numbers, np.float64)
        for t in range(n_types):
            query_weights[t] = weights[t]
            type_weights[t] = wanted.inverses[types[t]]
        if inverses.shape[0] > 0:
            for t in range(n_types, n_numbers):
                type_weights[t] = inverses[others[t - n_types]]
        counts = np.zeros(n_numbers, np.int32)
        own_lows = lows[regions[k, 3] : regions[k, 4]]
        own_highs = highs[regions[k, 3] : regions[k, 4]]
        narrow_rows(numbers, term_weights, type_weights, total, p, q, counts, own_lows, own_highs)
        n: Int = passages.shape[0] + 1
        while n > passages.shape[0]:
            if choice.is_maximal:
                n = maximal_passages(
                    numbers,
                    own_lows,
                    own_highs,
                    least,
                    term_weights,
                    type_weights,
                    query_weights,
                    total,
                    p,
                    q,
                    counts,
                    passages,
                )
            else:
                n = pick_passages(
                    choice.apart,
                    numbers,
                    own_lows,
                    own_highs,
                    least,
                    term_weights,
                    type_weights,
                    query_weights,
                    total,
                    p,
                    q,
                    counts,
                    passages,
                )
            if n > passages.shape[0]:
                passages = np.empty((2 * n, 4), np.int64)
                n = passages.shape[0] + 1
        if n_found + n > found.shape[0]:
            done = np.int64(k)
            break
        for i in range(n):
            found[n_found, 0] = query
            found[n_found, 1] = passages[i, 0] + origin
            found[n_found, 2] = passages[i, 1] + origin + 1
            found[n_found, 3], found[n_found, 4] = passages[i, 2], passages[i, 3]
            n_found += 1
    note_entries(types, n_types, entries, False, known)
    return done, n_found
