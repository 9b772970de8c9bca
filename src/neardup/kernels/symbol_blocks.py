"""Alignments of signatures with few symbols in common: the blocks that both have."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.symbol_matches import (
    MOST_MATCHES,
    UNKNOWN,
    clear_table,
    common_ends,
    fill_table,
    list_matches,
    longest_of,
    room_bits,
    table_shift,
)
from neardup.kernels.types import ConstInt64s, ConstUint32s, Int, Int64Rows, Int64s

# Blocks of a pair at most: ends, matches, and the empty one behind them.
MOST_BLOCKS = MOST_MATCHES + 3


@helper
def _keep_matches(
    lefts: Int64s,
    rights: Int64s,
    n: Int,
    thresholds: Int64Rows,
    sizes: Int64s,
    places: Int64s,
) -> np.int64:
    """Keep as many of n matches as can be kept in order, in front; the last one first.

    Row r of ``thresholds`` has the least left places at which 1, 2, ... matches can end among those
    of the first r right places that have any (Hunt and Szymanski). Of alignments that keep as
    many the one is taken that RapidFuzz takes.
    """
    n_rows = np.int64(0)
    sizes[0] = 0
    k = np.int64(0)
    while k < n:
        size = sizes[n_rows]
        for column in range(size):
            thresholds[n_rows + 1, column] = thresholds[n_rows, column]
        n_rows += 1
        places[n_rows] = rights[k]
        while k < n and rights[k] == places[n_rows]:
            at = np.int64(0)
            while at < size and thresholds[n_rows, at] < lefts[k]:
                at += 1
            thresholds[n_rows, at] = lefts[k]
            size = max(size, at + 1)
            k += 1
        sizes[n_rows] = size
    n_kept = np.int64(0)
    row, at = n_rows, np.int64(sizes[n_rows] - 1)
    while at >= 0:
        i = thresholds[row, at]
        is_in_row_above = True
        while is_in_row_above:
            row -= 1
            is_in_row_above = False
            for above in range(sizes[row]):
                is_in_row_above |= thresholds[row, above] == i
        lefts[n_kept], rights[n_kept] = i, places[row + 1]
        n_kept += 1
        at = np.int64(sizes[row] - 1)
        while at >= 0 and thresholds[row, at] >= i:
            at -= 1
    return n_kept


@inlined
def _add_block(blocks: Int64Rows, row: Int, pair: Int, i: Int, j: Int, size: Int) -> None:
    blocks[row, 0], blocks[row, 1], blocks[row, 2], blocks[row, 3] = pair, i, j, size


@kernel
def common_blocks(
    symbols: ConstUint32s,
    offsets: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    pair: int,
    blocks: Int64Rows,
    n_blocks: Int64s,
) -> int:
    """Align the signatures of pairs, from number ``pair`` on, as long as there is room for more.

    A block is a row of ``blocks``: the pair, where it begins in either signature, and how many
    symbols they have in common there; the last one of a pair is at both ends and has none. A pair
    takes MOST_BLOCKS of them at most. ``n_blocks`` takes their number, or UNKNOWN for a pair
    that is left out as too many symbols match. Gives the number of the next pair.
    """
    longest = longest_of(offsets)
    heads = np.zeros(np.int64(1) << room_bits(longest), np.int32)
    following = np.empty(longest + 1, np.int32)
    candidates = np.empty(longest + 1, np.int64)
    lefts = np.empty(MOST_MATCHES, np.int64)
    rights = np.empty(MOST_MATCHES, np.int64)
    thresholds = np.empty((MOST_MATCHES + 1, MOST_MATCHES), np.int64)
    sizes = np.empty(MOST_MATCHES + 1, np.int64)
    places = np.empty(MOST_MATCHES + 1, np.int64)
    count = np.int64(0)
    while pair < left.shape[0] and count + MOST_BLOCKS <= blocks.shape[0]:
        base, stop = offsets[left[pair]], offsets[left[pair] + 1]
        origin, end = offsets[right[pair]], offsets[right[pair] + 1]
        size, other_size = stop - base, end - origin
        ahead, behind = common_ends(symbols, base, stop, origin, end)
        shift = table_shift(size)
        fill_table(symbols, base, size, shift, heads, following)
        n = list_matches(
            symbols,
            base + ahead,
            stop - behind,
            origin + ahead,
            end - behind,
            base,
            shift,
            heads,
            following,
            candidates,
            lefts,
            rights,
        )
        clear_table(symbols, base, size, shift, heads)
        n_blocks[pair] = UNKNOWN
        if n <= MOST_MATCHES:
            first = count
            if ahead > 0:
                _add_block(blocks, count, pair, 0, 0, ahead)
                count += 1
            n_kept = _keep_matches(lefts, rights, n, thresholds, sizes, places)
            for k in range(n_kept - 1, -1, -1):
                i, j = ahead + lefts[k], ahead + rights[k]
                last = count - 1
                if (
                    k < n_kept - 1
                    and blocks[last, 1] + blocks[last, 3] == i
                    and blocks[last, 2] + blocks[last, 3] == j
                ):
                    blocks[last, 3] += 1
                else:
                    _add_block(blocks, count, pair, i, j, 1)
                    count += 1
            if behind > 0:
                _add_block(blocks, count, pair, size - behind, other_size - behind, behind)
                count += 1
            _add_block(blocks, count, pair, size, other_size, 0)
            count += 1
            n_blocks[pair] = count - first
        pair += 1
    return pair
