"""Narrow the starts of similar passages by nearby tokens.

First ``lookups`` finds buckets of starts. The tokens there bound the similarity of a sub-text to a
query from above. Every place of a text adds at most some weight to the intersection of sub-text and
query, and at least some weight to the sub-text; both differ for repeated tokens. These sums never
underestimate the similarity. First sums for all starts of a range are computed, in two passes over
the tokens after it, then sums for each start.

All sub-texts that begin there can be compared with the query, so that no similar one is missed, or
only the candidates of min-hashes (``candidates``, ``sweep``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.arrays import (
    ConstFloats,
    ConstInt32s,
    ConstInt64Rows,
    Floats,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.passage.lookups import QueryTokens, count_tokens, weigh_tokens
from neardup.kernels.passage.segment_kernels import Limits, SearchScratch, SegmentTexts
from neardup.kernels.sketch.weighted_minhash import MOST_WEIGHT, SCALE

_SCALE, _MOST = np.float64(SCALE), np.float64(MOST_WEIGHT)

# Error of sums of weights, as a share of the query's weight, and per token.
_SHARE, _UNITS = 1e-6, 2.0

# Starts for which bounds are taken together, at least.
_LEAST = 16


class QueryShares(NamedTuple):
    """A query's weight, and bounds on tokens' contributions to intersections.

    ``once`` bounds the contribution of the first copy, ``again`` of a later one; a copy that the
    query does not have adds nothing. Type t has row t + 1; row 0, of tokens that are not in the
    query, has 0.
    """

    once: Floats
    again: Floats
    total: np.float64


@helper
def largest_shares(
    types: ConstInt32s,
    copies: ConstInt32s,
    n_types: Int,
    inverses: ConstFloats,
    term_weights: ConstFloats,
    once: Floats,
    again: Floats,
) -> None:
    """Fill ``once`` and ``again`` of ``QueryShares``."""
    once[0], again[0] = 0.0, 0.0
    for t in range(n_types):
        weight = inverses[types[t]] * _SCALE
        once[t + 1] = min(term_weights[1] * weight, _MOST)
        more = 0.0
        for x in range(2, copies[t] + 1):
            more = max(more, (term_weights[x] - term_weights[x - 1]) * weight)
        again[t + 1] = min(more, _MOST)


@helper
def _may_reach(
    start: Int,
    stop: Int,
    least: Int,
    needed: np.float64,
    before: Int64s,
    firsts: Floats,
    laters: Floats,
) -> bool:
    """Return whether a sub-text from ``start`` may reach ``needed``.

    Sub-texts have ``least`` tokens or more and end before ``stop``. A place adds its value in
    ``laters`` if the token occurs ``before`` in the sub-text, else in ``firsts``.
    """
    reached = 0.0
    for place in range(start, min(start + least - 1, stop)):
        reached += firsts[place] if before[place] < start else laters[place]
    for place in range(start + least - 1, stop):
        reached += firsts[place] if before[place] < start else laters[place]
        if reached >= needed:
            return True
    return False


@helper
def possible_starts(
    first: Int,
    last: Int,
    end: Int,
    shares: QueryShares,
    heaviest: np.float64,
    limits: Limits,
    documents: SegmentTexts,
    scratch: SearchScratch,
) -> tuple[Int, Int, Int]:
    """Narrow a range to starts of possibly similar sub-texts.

    Sub-texts have the least tokens of ``limits`` or more, weigh ``heaviest`` or less and end before
    ``end``. ``scratch.known`` has the number of each entry of the vocabulary in the query, or -1.

    Returns the first and the last start, the first greater if there is none, and the end of all
    sub-texts from there that are not too heavy.
    """
    once, again, total = shares
    tokens, weights, later_weights = documents.tokens, documents.once, documents.again
    known, seen, before = scratch.known, scratch.seen, scratch.before
    firsts, laters, sums = scratch.firsts, scratch.laters, scratch.sums
    min_tokens, threshold = limits.min_tokens, limits.threshold
    least = max(min_tokens, 1)
    most, enough = total / threshold, threshold * total
    slack = _SHARE * total
    # Tokens outside of the query count nothing for a share of the query.
    gain, price = 1.0 + threshold, threshold
    if limits.times > 0:
        most = total * np.float64(limits.times)
        gain, price = np.float64(1.0), np.float64(0.0)
    most = min(most, heaviest)
    sum_, behind_last = 0.0, 0.0
    sums[0] = 0.0
    # Up to the end of the lightest sub-text that is not too heavy.
    n = np.int64(0)
    size = end - first
    while n < size and behind_last <= most + slack + _UNITS * n:
        # Few of these choices can be predicted, and none of them compiles to a jump as written.
        # Unsigned indexes need no check for negative values.
        token, m = np.uint64(tokens[np.uint64(first + n)]), np.uint64(n)
        number = np.uint64(known[token] + 1)
        weight, later_weight = np.float64(weights[token]), np.float64(later_weights[token])
        shared = gain * once[number] - price * weight
        later_shared = gain * again[number] - price * later_weight
        place = seen[token] - first
        place = np.int64(-1) if place >= n else place
        seen[token] = first + n
        before[m], firsts[m], laters[m] = place, shared, later_shared
        # For any start: the token's first copy, a later one, or either.
        either = max(shared, later_shared)
        either = later_shared if first + place >= last else either
        sum_ += shared if place < 0 else either
        heavier = weight if place < 0 else later_weight
        behind_last += heavier if first + n >= last else 0.0
        n += 1
        sums[np.uint64(n)] = sum_
    slack += _UNITS * gain * n
    needed = enough - slack
    low, high = np.int64(size), np.int64(-1)
    # From right to left the greatest sum up to an end, for comparison with the sum before the
    # start.
    best, behind = -np.inf, n
    for start in range(min(last - first, n - least), -1, -1):
        while behind >= start + least:
            best = max(best, sums[behind])
            behind -= 1
        if best - sums[start] < needed:
            continue
        if high < 0:
            if not _may_reach(start, n, least, needed, before, firsts, laters):
                continue
            high = np.int64(start)
        low = np.int64(start)
    while low < high and not _may_reach(low, n, least, needed, before, firsts, laters):
        low += 1
    return first + low, first + high, first + n


@helper
def note_entries(
    types: ConstInt32s, n_types: Int, entries: ConstInt32s, is_noted: bool, known: Int32s
) -> None:
    """Record or remove a query's token numbers by vocabulary entry."""
    for t in range(n_types):
        if entries[types[t]] >= 0:
            known[entries[types[t]]] = t if is_noted else -1


@kernel
def narrow_buckets(
    wanted: QueryTokens,
    first_query: int,
    entries: ConstInt32s,
    documents: SegmentTexts,
    limits: Limits,
    scratch: SearchScratch,
    buckets: ConstInt64Rows,
    heaviest: ConstFloats,
    first_bucket: int,
    ranges: Int64Rows,
) -> tuple[Int, Int]:
    """Find ranges of starts of passages possibly similar to queries.

    ``buckets``, from ``first_bucket`` on, are from ``lookups.find_buckets``, with query
    ``first_query + k`` as k; they are grouped by query, ascending and disjoint. ``heaviest[k]``
    bounds the weight of its passages. ``entries`` has for each number of a query's token
    the entry of the vocabulary, or -1. Rows of ``ranges`` receive k, document, first and last
    start, and the token before which passages end.

    Returns the first bucket not done, which is below the end if the ranges of its query do not fit,
    and the number of ranges.
    """
    tokens, offsets = documents.tokens, documents.offsets
    known = scratch.known
    longest = wanted.longest
    of_numbers = np.zeros(wanted.hashes.shape[0], np.int32)
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    weights = np.empty(longest, np.int64)
    once, again = np.empty(longest + 1, np.float64), np.empty(longest + 1, np.float64)
    n_ranges: Int = np.int64(0)
    i: Int = np.int64(first_bucket)
    while i < buckets.shape[0]:
        k, start, first_own = buckets[i, 0], i, n_ranges
        query = first_query + k
        n_types = count_tokens(
            wanted.numbers, wanted.starts[query], wanted.stops[query], of_numbers, types, copies
        )
        total = weigh_tokens(types, copies, n_types, wanted.inverses, wanted.term_weights, weights)
        largest_shares(types, copies, n_types, wanted.inverses, wanted.term_weights, once, again)
        shares = QueryShares(once, again, np.float64(total))
        note_entries(types, n_types, entries, True, known)
        # Bounds of a few starts are sharper, bounds of many are cheaper if passages are long.
        together = max(limits.min_tokens, _LEAST)
        together = max(together, limits.times * (wanted.stops[query] - wanted.starts[query]) // 2)
        first_of_document, document, fits = n_ranges, np.int64(0), True
        while i < buckets.shape[0] and buckets[i, 0] == k and fits:
            first, stop = buckets[i, 1], min(buckets[i, 2], tokens.shape[0])
            # The range may span several documents.
            while first < stop and fits:
                if offsets[document + 1] <= first:
                    behind_it = first_at_least(offsets, document, offsets.shape[0], first + 1)
                    document = np.int64(behind_it - 1)
                    first_of_document = n_ranges
                end = offsets[document + 1]
                behind = min(min(stop, end), first + together)
                low, high, most = possible_starts(
                    first, behind - 1, end, shares, heaviest[k], limits, documents, scratch
                )
                if low <= high:
                    if n_ranges > first_of_document and ranges[n_ranges - 1, 3] + 1 == low:
                        ranges[n_ranges - 1, 3] = high
                        ranges[n_ranges - 1, 4] = max(ranges[n_ranges - 1, 4], most)
                    elif n_ranges < ranges.shape[0]:
                        ranges[n_ranges, 0], ranges[n_ranges, 1] = k, document
                        ranges[n_ranges, 2], ranges[n_ranges, 3] = low, high
                        ranges[n_ranges, 4] = most
                        n_ranges += 1
                    else:
                        fits = False
                first = behind
            i += 1
        note_entries(types, n_types, entries, False, known)
        if not fits:
            return start, first_own
    return i, n_ranges


@kernel
def join_ranges(
    ranges: ConstInt64Rows,
    first_range: int,
    min_tokens: int,
    apart: int,
    regions: Int64Rows,
    lows: Int64s,
    highs: Int64s,
) -> tuple[Int, Int]:
    """Join sub-texts from adjacent ranges to regions.

    ``ranges``, from ``first_range`` on, are from ``narrow_buckets``; sub-texts have ``min_tokens``
    or more. Sub-texts of one document are adjacent if less than ``apart`` tokens lie between them.
    ``regions``, ``lows`` and ``highs`` are as in ``sweep.outline_regions``.

    Returns the first range not done, which is below the end if the next region does not fit, and
    the number of regions.
    """
    least = np.int64(max(min_tokens, 1))
    n_regions, n_rows, k = np.int64(0), np.int64(0), np.int64(first_range)
    while k < ranges.shape[0] and n_regions < regions.shape[0]:
        origin, end, behind = ranges[k, 2], ranges[k, 4], k + 1
        while (
            behind < ranges.shape[0]
            and ranges[behind, 0] == ranges[k, 0]
            and ranges[behind, 1] == ranges[k, 1]
            and ranges[behind, 2] < end + apart
        ):
            end = max(end, ranges[behind, 4])
            behind += 1
        n_starts = ranges[behind - 1, 3] + 1 - origin
        if n_rows + n_starts > lows.shape[0]:
            break
        regions[n_regions, 0] = ranges[k, 0]
        regions[n_regions, 1], regions[n_regions, 2] = origin, end
        regions[n_regions, 3], regions[n_regions, 4] = n_rows, n_rows + n_starts
        for row in range(n_rows, n_rows + n_starts):
            lows[row], highs[row] = np.int64(1), np.int64(0)
        while k < behind:
            for start in range(ranges[k, 2] - origin, ranges[k, 3] + 1 - origin):
                lows[n_rows + start] = start + least - 1
                highs[n_rows + start] = ranges[k, 4] - origin - 1
            k += 1
        n_regions += 1
        n_rows += n_starts
    return k, n_regions
