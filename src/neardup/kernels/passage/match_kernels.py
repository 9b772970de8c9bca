"""Compare queries with sub-texts exactly, and choose passages.

Candidates are cells: row i holds the sub-texts that start at token i, by their last token. A walk
goes from cell to cell, along one row to the right and along the next to the left, so that each step
adds or takes away a single token. The similarity of multisets is a fraction of two integers: the
weight that query and sub-text share over the weight that either has.

For containment, a share of the query, sub-texts may weigh ``times`` times as much as the query. Any
longer sub-text contains as much, so that the greatest Tversky index decides: with weights s shared,
v of the query and w of the sub-text it is s / (v + (w - s) / times). It is the Jaccard similarity
if ``times`` is 1, and an end moves outwards while the added tokens share more than a times-th of
the index.

All totals of weights must stay below 2**62.

A region of a text is made ready for comparison with numbers for its tokens and possible ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstFloats,
    ConstInt32s,
    ConstInt64Rows,
    ConstInt64s,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)
from neardup.kernels.common.bits import compare_products
from neardup.kernels.passage.lookups import QueryTokens, count_tokens, weigh_tokens
from neardup.kernels.passage.narrowing import note_entries
from neardup.kernels.passage.segment_kernels import SegmentTexts
from neardup.kernels.sketch.weighted_minhash import scaled_weight


@kernel
def number_region(
    tokens: ConstInt32s, n_query_types: int, known: Int32s, numbers: Int32s, types: Int32s
) -> Int:
    """Assign numbers to a region's tokens after the query's tokens.

    ``known`` has the query's number of each entry of the vocabulary, or -1, and is left so.
    ``types`` receives the entry of each further number. Returns the count of numbers.
    """
    n = np.int64(n_query_types)
    for i in range(tokens.shape[0]):
        token = tokens[i]
        if known[token] < 0:
            known[token] = n
            types[n - n_query_types] = token
            n += 1
        numbers[i] = known[token]
    for k in range(n - n_query_types):
        known[types[k]] = -1
    return n


@kernel
def narrow_rows(
    tokens: ConstInt32s,
    term_weights: ConstFloats,
    type_weights: ConstFloats,
    query_total: int,
    p: int,
    q: int,
    times: int,
    counts: Int32s,
    lows: Int64s,
    highs: Int64s,
) -> None:
    """Remove sub-text ends too light or heavy for similarity.

    Of two texts that weigh v and w, the similarity is at most min(v, w) / max(v, w). If ``times``
    is not 0, p / q is a share of the query, and sub-texts may be ``times`` times as heavy.
    ``counts`` (n types) is zero, and zero again afterwards.
    """
    # The upper limit as a share of the query's weight.
    too_much, of_it = (q, p) if times == 0 else (times, 1)
    # First the lower ends, below which sub-texts are too light, then the upper ends.
    for is_upper in range(2):
        behind, total = np.int64(0), np.int64(0)
        for row in range(lows.shape[0]):
            while behind < tokens.shape[0]:
                if is_upper == 0 and compare_products(total, q, query_total, p) >= 0:
                    break
                token = tokens[behind]
                weight = type_weights[token]
                more = total - scaled_weight(term_weights[counts[token]], weight)
                more += scaled_weight(term_weights[counts[token] + 1], weight)
                if is_upper == 1 and compare_products(more, of_it, query_total, too_much) > 0:
                    break
                counts[token] += 1
                total = more
                behind += 1
            if is_upper == 1:
                highs[row] = min(highs[row], behind - 1)
            elif compare_products(total, q, query_total, p) < 0:
                # Neither this start nor a later one leaves enough.
                for k in range(row, lows.shape[0]):
                    lows[k], highs[k] = np.int64(1), np.int64(0)
                break
            else:
                lows[row] = max(lows[row], behind - 1)
            if behind > row:
                token = tokens[row]
                weight = type_weights[token]
                total -= scaled_weight(term_weights[counts[token]], weight)
                counts[token] -= 1
                total += scaled_weight(term_weights[counts[token]], weight)
            else:
                behind = np.int64(row + 1)
        for k in range(counts.shape[0]):
            counts[k] = 0


class _Walk(NamedTuple):
    """Arguments of the kernels, and counts of each type."""

    tokens: npt.NDArray[np.int32]
    lows: npt.NDArray[np.int64]
    highs: npt.NDArray[np.int64]
    min_tokens: Int
    term_weights: npt.NDArray[np.float64]
    type_weights: npt.NDArray[np.float64]
    query_weights: npt.NDArray[np.int64]
    query_total: Int
    p: Int
    q: Int
    times: Int
    counts: npt.NDArray[np.int32]


@inlined
def _turn(place: Int, change: Int, total: Int, shared: Int, search: _Walk) -> tuple[Int, Int]:
    """Add (1) or remove (-1) a token, returning both weights."""
    token = search.tokens[place]
    count = np.int64(search.counts[token])
    weight, wanted = search.type_weights[token], search.query_weights[token]
    before = scaled_weight(search.term_weights[count], weight)
    count += np.int64(change)
    after = scaled_weight(search.term_weights[count], weight)
    search.counts[token] = count
    return total + after - before, shared + min(after, wanted) - min(before, wanted)


@helper
def _measure_rows(
    start: Int,
    stop: Int,
    limit: Int,
    search: _Walk,
    ends: Int64s,
    overlaps: Int64s,
    unions: Int64s,
) -> None:
    """Find the best cells of rows that reach p/q.

    Only rows with ``ends`` beyond ``limit`` are processed, and only their cells up to it. The best
    is the most similar sub-text, the longest on a tie. For a share of the query it has the greatest
    index, the shortest on a tie. A row's ``ends`` becomes the last token of its best, or -1, and
    ``overlaps`` over ``unions`` its similarity, or index.
    """
    counts, tokens = search.counts, search.tokens
    is_share, times = search.times > 0, max(search.times, np.int64(1))
    whole = times * search.query_total
    # The state describes tokens[first:behind].
    first: Int = 0
    behind: Int = 0
    total: Int = 0
    shared: Int = 0
    for row in range(start, stop):
        if ends[row] <= limit:
            continue
        ends[row] = -1
        # The shortest one begins with something shared.
        if is_share and search.query_weights[tokens[row]] == 0:
            continue
        low = max(search.lows[row], row + search.min_tokens - 1)
        high = min(search.highs[row], limit)
        if low > high:
            continue
        # Begin at the end of the row that is nearer to where the row before was left, or anew if
        # that takes fewer steps: then the row lies to the right, and so does its walk.
        rightwards = abs(low + 1 - behind) <= abs(high + 1 - behind)
        target = low + 1 if rightwards else high + 1
        if row - first + abs(target - behind) > behind - first + low + 1 - row:
            for k in range(first, behind):
                counts[tokens[k]] = 0
            first = behind = np.int64(row)
            total = shared = np.int64(0)
        while behind < target:
            total, shared = _turn(behind, 1, total, shared, search)
            behind += 1
        while behind > target:
            behind -= 1
            total, shared = _turn(behind, -1, total, shared, search)
        while first < row:
            total, shared = _turn(first, -1, total, shared, search)
            first += 1

        # Threshold that the next best cell must reach, or exceed.
        end: Int = -1
        overlap, union = search.p, search.q
        if is_share:
            overlap, union = np.int64(0), np.int64(1)
        for step in range(high - low + 1):
            if step > 0 and rightwards:
                total, shared = _turn(behind, 1, total, shared, search)
                behind += 1
            elif step > 0:
                behind -= 1
                total, shared = _turn(behind, -1, total, shared, search)
            enough = shared > 0
            if is_share:
                enough &= compare_products(shared, search.q, search.query_total, search.p) >= 0
            if not rightwards:
                # Shorter sub-texts share no more, and the union has all of the query.
                order = compare_products(times * shared, union, overlap, whole)
                if not enough or order < 0 or (order == 0 and end >= 0 and not is_share):
                    break
            either = total + whole - shared
            order = compare_products(times * shared, union, overlap, either)
            if not enough or order < 0:
                continue
            if order == 0 and end >= 0 and (behind - 1 < end) != is_share:
                continue
            end, overlaps[row], unions[row] = behind - 1, times * shared, either
            overlap, union = overlaps[row], either
        ends[row] = end
    for k in range(first, behind):
        counts[tokens[k]] = 0


@inlined
def _better_row(
    a: Int, b: Int, is_share: bool, ends: Int64s, overlaps: Int64s, unions: Int64s
) -> Int:
    """Return the row with the better best cell.

    The more similar wins, then the longer (shorter for a share of the query), then the earlier.
    """
    if ends[a] < 0 or ends[b] < 0:
        return b if ends[a] < 0 else a
    order = compare_products(overlaps[a], unions[b], overlaps[b], unions[a])
    if order == 0:
        order = np.int64((ends[a] - a) - (ends[b] - b))
        if is_share:
            order = -order
    if order == 0:
        order = np.int64(b - a)
    return a if order > 0 else b


@helper
def _write_passages(ends: Int64s, overlaps: Int64s, unions: Int64s, passages: Int64Rows) -> Int:
    """Write rows with an end, and count all of them."""
    n_passages = np.int64(0)
    for row in range(ends.shape[0]):
        if ends[row] < 0:
            continue
        if n_passages < passages.shape[0]:
            passages[n_passages, 0] = row
            passages[n_passages, 1] = ends[row]
            passages[n_passages, 2] = overlaps[row]
            passages[n_passages, 3] = unions[row]
        n_passages += 1
    return n_passages


@kernel
def pick_passages(
    apart: int,
    tokens: ConstInt32s,
    lows: ConstInt64s,
    highs: ConstInt64s,
    min_tokens: int,
    term_weights: ConstFloats,
    type_weights: ConstFloats,
    query_weights: ConstInt64s,
    query_total: int,
    p: int,
    q: int,
    times: int,
    counts: Int32s,
    passages: Int64Rows,
) -> Int:
    """Choose disjoint sub-texts, the most similar remaining one each time.

    The longest wins a tie, then the first. If ``times`` is not 0, each contains a share of p / q of
    the query and weighs at most ``times`` times as much, and the greatest index is chosen, the
    shortest on a tie. Two are ``apart`` tokens or more apart.

    Candidates are the sub-texts tokens[i], ..., tokens[j] of at least ``min_tokens`` tokens with
    ``lows[i] <= j <= highs[i]``; there may be fewer rows than tokens. A type that is f times in a
    sub-text weighs ``scaled_weight(term_weights[f], type_weights[type])`` there, and
    ``query_weights[type]`` in the query, whose tokens weigh ``query_total`` together.
    ``term_weights[0]`` is 0, and the table goes as far as any count of a type in ``tokens``.
    ``counts`` (one for each type) is zero, and zero again afterwards. ``p`` is positive,
    ``min_tokens`` not negative; empty sub-texts are never found.

    Rows of ``passages`` get i, j, and the weights of intersection and union, by ascending i.
    Returns the number of passages; passages that do not fit are only counted. Memory 48 to 88 bytes
    per row. Cost, in addition to one walk over all cells: rows that begin left of a passage and
    reach into it are measured again up to it.
    """
    n_rows, n_tokens = lows.shape[0], tokens.shape[0]
    search = _Walk(
        tokens,
        lows,
        highs,
        min_tokens,
        term_weights,
        type_weights,
        query_weights,
        query_total,
        p,
        q,
        times,
        counts,
    )
    is_share = times > 0
    n_leaves = np.int64(1)
    while n_leaves < n_rows:
        n_leaves <<= 1
    ends = np.full(n_leaves, -1, np.int64)
    ends[:n_rows] = n_tokens
    overlaps = np.zeros(n_leaves, np.int64)
    unions = np.ones(n_leaves, np.int64)
    _measure_rows(0, n_rows, n_tokens - 1, search, ends, overlaps, unions)
    longest = np.int64(1)
    for row in range(n_rows):
        longest = max(longest, ends[row] - row + 1)

    # A tournament of rows: each node holds the winner of its subtree.
    winners = np.empty(2 * n_leaves, np.int64)
    for row in range(n_leaves):
        winners[n_leaves + row] = row
    for node in range(n_leaves - 1, 0, -1):
        winners[node] = _better_row(
            winners[2 * node], winners[2 * node + 1], is_share, ends, overlaps, unions
        )
    picked_ends = np.full(n_rows, -1, np.int64)
    while ends[winners[1]] >= 0:
        start = winners[1]
        end = ends[start]
        picked_ends[start] = end
        first = max(start - apart, np.int64(0))
        left, right = max(first - longest + 1, np.int64(0)), min(end + apart, np.int64(n_rows - 1))
        for row in range(first, right + 1):
            ends[row] = -1
        _measure_rows(left, first, start - apart - 1, search, ends, overlaps, unions)
        left += n_leaves
        right += n_leaves
        while left > 1:
            left >>= 1
            right >>= 1
            for node in range(left, right + 1):
                winners[node] = _better_row(
                    winners[2 * node], winners[2 * node + 1], is_share, ends, overlaps, unions
                )
    return _write_passages(picked_ends, overlaps, unions, passages)


_ROOM = 1 << 6


class PassageChoice(NamedTuple):
    """Choice of passages: least tokens, and least similarity p/q.

    ``times`` is as in ``Limits``. Chosen passages are ``apart`` tokens or more apart.
    """

    min_tokens: int
    p: int
    q: int
    times: int
    apart: int


@kernel
def compare_regions(
    wanted: QueryTokens,
    first_query: int,
    entries: ConstInt32s,
    documents: SegmentTexts,
    choice: PassageChoice,
    known: Int32s,
    regions: ConstInt64Rows,
    first_region: int,
    lows: Int64s,
    highs: Int64s,
    found: Int64Rows,
) -> tuple[Int, Int]:
    """Find passages in regions that are similar to their queries.

    The arguments are as for ``narrowing.narrow_buckets``, and the results of
    ``sweep.outline_regions`` or ``narrowing.join_ranges``, from ``first_region`` on; ``lows`` and
    ``highs`` are narrowed. Rows of ``found`` receive query, first token, end, the weight of the
    intersection, and the weight of the union, or of the query for a share of it.

    Returns the first region not done, which is below the end if its passages do not fit, and the
    number of passages.
    """
    tokens, inverses, term_weights = documents.tokens, documents.inverses, documents.term_weights
    p, q, times, least = choice.p, choice.q, choice.times, choice.min_tokens
    longest = wanted.longest
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
        narrow_rows(
            numbers, term_weights, type_weights, total, p, q, times, counts, own_lows, own_highs
        )
        n: Int = passages.shape[0] + 1
        while n > passages.shape[0]:
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
                times,
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
            if times > 0:
                found[n_found, 3], found[n_found, 4] = passages[i, 2] // times, total
            n_found += 1
    note_entries(types, n_types, entries, False, known)
    return done, n_found
