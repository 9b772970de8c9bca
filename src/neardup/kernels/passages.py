"""Exact similarity of a query and sub-texts, and which of these are told as passages.

Candidates are cells: row i holds the sub-texts that start at token i, by the place of their last
token. A walk goes from cell to cell, along one row to the right and along the next to the left, so
that each step adds or takes away a single token. The similarity of multisets is a fraction of two
integers: the weight that query and sub-text share over the weight that either has.

All totals of weights must stay below 2**62.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.types import (
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
)
from neardup.kernels.weights import scaled_weight
from neardup.kernels.wide import compare_products


class _Search(NamedTuple):
    """The arguments of the kernels, and in ``counts`` how often the walk now has each type."""

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
    counts: npt.NDArray[np.int32]


@inlined
def _turn(place: Int, change: Int, total: Int, shared: Int, search: _Search) -> tuple[Int, Int]:
    """Add a token (1) or take it away (-1); gives the sub-text's weight and what it shares."""
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
    is_maximal: bool,
    search: _Search,
    ends: Int64s,
    overlaps: Int64s,
    unions: Int64s,
) -> None:
    """Find the best cell that reaches p/q of each row ``start`` to ``stop``, exclusive.

    Only rows whose ``ends`` are beyond ``limit`` are looked at, and of them the cells up to it. The
    best is the most similar sub-text, of several the longest; with ``is_maximal`` it is the longest
    one, unless a row before reaches as far. A row's ``ends`` becomes the last token of its best, or
    -1, and ``overlaps`` over ``unions`` its similarity.
    """
    counts, tokens = search.counts, search.tokens
    # The state is that of tokens[first:behind].
    first: Int = 0
    behind: Int = 0
    total: Int = 0
    shared: Int = 0
    reached: Int = -1
    for row in range(start, stop):
        if ends[row] <= limit:
            continue
        ends[row] = -1
        low = max(search.lows[row], row + search.min_tokens - 1)
        if is_maximal:
            low = max(low, reached + 1)
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

        # What the next best cell must reach, or surpass.
        end: Int = -1
        overlap, union = search.p, search.q
        for step in range(high - low + 1):
            if step > 0 and rightwards:
                total, shared = _turn(behind, 1, total, shared, search)
                behind += 1
            elif step > 0:
                behind -= 1
                total, shared = _turn(behind, -1, total, shared, search)
            if not rightwards:
                # Shorter sub-texts share no more, and the union has all of the query.
                order = compare_products(shared, union, overlap, search.query_total)
                if order < 0 or (order == 0 and end >= 0):
                    break
            either = total + search.query_total - shared
            order = compare_products(shared, union, overlap, either)
            if shared == 0 or order < 0 or (order == 0 and behind - 1 < end):
                continue
            end, overlaps[row], unions[row] = behind - 1, shared, either
            if not is_maximal:
                overlap, union = shared, either
            elif not rightwards:
                break
        ends[row] = end
        reached = max(reached, end)
    for k in range(first, behind):
        counts[tokens[k]] = 0


@inlined
def _better_row(a: Int, b: Int, ends: Int64s, overlaps: Int64s, unions: Int64s) -> Int:
    """Tell which row's best cell is more similar, or longer, or earlier; rows without one lose."""
    if ends[a] < 0 or ends[b] < 0:
        return b if ends[a] < 0 else a
    order = compare_products(overlaps[a], unions[b], overlaps[b], unions[a])
    if order == 0:
        order = np.int64((ends[a] - a) - (ends[b] - b))
    if order == 0:
        order = np.int64(b - a)
    return a if order > 0 else b


@helper
def _write_passages(ends: Int64s, overlaps: Int64s, unions: Int64s, passages: Int64Rows) -> Int:
    """Write the rows that have an end; those without room are only counted."""
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
    counts: Int32s,
    passages: Int64Rows,
) -> Int:
    """Choose sub-texts that do not overlap: each time the most similar one of those left.

    Of several the longest is chosen, and of those the first. Between two there are ``apart`` tokens
    or more; the other arguments are those of ``maximal_passages``. Memory
    48 to 88 bytes a row. Cost, beyond one walk over all cells: those that begin left of a passage
    and reach into it are looked at again, without those that do.
    """
    n_rows, n_tokens = lows.shape[0], tokens.shape[0]
    search = _Search(
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
        counts,
    )
    n_leaves = np.int64(1)
    while n_leaves < n_rows:
        n_leaves <<= 1
    ends = np.full(n_leaves, -1, np.int64)
    ends[:n_rows] = n_tokens
    overlaps = np.zeros(n_leaves, np.int64)
    unions = np.ones(n_leaves, np.int64)
    _measure_rows(0, n_rows, n_tokens - 1, False, search, ends, overlaps, unions)
    longest = np.int64(1)
    for row in range(n_rows):
        longest = max(longest, ends[row] - row + 1)

    # A tournament of rows: each node knows the better one of those below it.
    winners = np.empty(2 * n_leaves, np.int64)
    for row in range(n_leaves):
        winners[n_leaves + row] = row
    for node in range(n_leaves - 1, 0, -1):
        winners[node] = _better_row(
            winners[2 * node], winners[2 * node + 1], ends, overlaps, unions
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
        _measure_rows(left, first, start - apart - 1, False, search, ends, overlaps, unions)
        left += n_leaves
        right += n_leaves
        while left > 1:
            left >>= 1
            right >>= 1
            for node in range(left, right + 1):
                winners[node] = _better_row(
                    winners[2 * node], winners[2 * node + 1], ends, overlaps, unions
                )
    return _write_passages(picked_ends, overlaps, unions, passages)


@kernel
def maximal_passages(
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
    counts: Int32s,
    passages: Int64Rows,
) -> Int:
    """Find the candidates that reach similarity p/q and are part of no other one that does.

    Candidates are the sub-texts tokens[i], ..., tokens[j] of at least ``min_tokens`` tokens with
    ``lows[i] <= j <= highs[i]``; there may be fewer rows than tokens. A type that is f times in a
    sub-text weighs ``scaled_weight(term_weights[f], type_weights[type])`` there, and
    ``query_weights[type]`` in the query, whose tokens weigh ``query_total`` together.
    ``term_weights[0]`` is 0, and the table goes as far as any count of a type in ``tokens``.
    ``counts`` (one for each type) is zero, and zero again afterwards. ``p`` is positive,
    ``min_tokens`` not negative; empty sub-texts are never found.

    Rows of ``passages`` get i, j, and the shared weight and that of the union, by ascending i.
    Returns the number of passages; those that do not fit are only counted.
    """
    n_rows, n_tokens = lows.shape[0], tokens.shape[0]
    search = _Search(
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
        counts,
    )
    ends = np.full(n_rows, n_tokens, np.int64)
    overlaps = np.zeros(n_rows, np.int64)
    unions = np.ones(n_rows, np.int64)
    _measure_rows(0, n_rows, n_tokens - 1, True, search, ends, overlaps, unions)
    return _write_passages(ends, overlaps, unions, passages)
