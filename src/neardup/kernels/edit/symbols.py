"""Signatures with few symbols in common, compared by where these symbols stand.

They align by blocks, runs of symbols that both have.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, leading_zeros
from neardup.kernels.types import ConstInt64s, ConstUint32s, Int, Int32s, Int64Rows, Int64s

# Odd; the highest bits of a product with it are the place of a symbol in the table.
_SPREAD = np.uint32(0x9E3779B1)
# A table has so many places for each symbol that few of other symbols find one taken: 4 bits.
_ROOM_BITS = np.int64(4)
_32, _64 = np.int64(32), np.int64(64)

# Places of the table's lists that are looked at for a pair: so many, and so many for each symbol.
# Nearly all pairs take less than one each; those of few different symbols would take the square.
_LEAST_STEPS, _STEPS = np.int64(4096), np.int64(4)

# Distances are found from so many matches at most: their work grows with the square.
MOST_MATCHES = 64
# What becomes of the distance of a pair with more of them.
UNKNOWN = -1


@inlined
def _place(symbol: np.uint32, shift: np.uint32) -> np.uint64:
    return np.uint64(np.uint32(symbol * _SPREAD) >> shift)


@helper
def list_matches(
    symbols: ConstUint32s,
    left_start: Int,
    left_stop: Int,
    right_start: Int,
    right_stop: Int,
    table_start: Int,
    shift: np.uint32,
    heads: Int32s,
    following: Int32s,
    candidates: Int64s,
    lefts: Int64s,
    rights: Int64s,
) -> np.int64:
    """List where symbols of two stretches are equal; gives their number, or one too many.

    One too many also where there may be fewer, but it would take long to find them. They are in
    ascending order of the right places; of equal ones the left places descend. Both are counted
    from the beginnings of the stretches, places in the table from 1 at ``table_start``.
    """
    n_candidates = np.int64(0)
    for j in range(np.uint64(right_start), np.uint64(right_stop)):
        # Written in any case, and kept or written over: no branch to be guessed wrong.
        candidates[np.uint64(n_candidates)] = np.int64(j)
        n_candidates += np.int64(heads[_place(symbols[j], shift)] != 0)
    n, left_steps = np.int64(0), _LEAST_STEPS + _STEPS * (right_stop - right_start)
    for c in range(n_candidates):
        j = candidates[c]
        number = np.int64(heads[_place(symbols[j], shift)])
        while number != 0:
            if left_steps == 0:
                return np.int64(MOST_MATCHES + 1)
            left_steps -= 1
            i = table_start + number - 1
            if left_start <= i < left_stop and symbols[i] == symbols[j]:
                if n == MOST_MATCHES:
                    return n + 1
                lefts[n], rights[n] = i - left_start, j - right_start
                n += 1
            number = np.int64(following[number])
    return n


@helper
def _distance_by_matches(
    lefts: Int64s, rights: Int64s, n: Int, left_size: Int, right_size: Int, costs: Int64s
) -> np.int64:
    """Find the fewest edits, given the n places where symbols are equal.

    An alignment keeps some of them, ascending in both texts. Between two that follow each other
    are a symbols of one and b of the other, which take max(a, b) edits.
    """
    least = np.int64(max(left_size, right_size))
    for k in range(n):
        i, j = lefts[k], rights[k]
        cost = max(i, j)
        for earlier in range(k):
            a, b = i - lefts[earlier] - 1, j - rights[earlier] - 1
            if a >= 0 and b >= 0:
                cost = min(cost, costs[earlier] + max(a, b))
        costs[k] = cost
        least = min(least, cost + max(left_size - i - 1, right_size - j - 1))
    return least


@inlined
def common_ends(
    symbols: ConstUint32s, start: Int, stop: Int, other_start: Int, other_stop: Int
) -> tuple[np.int64, np.int64]:
    """Count the symbols that two signatures begin with alike, and those that the rests end with."""
    most = np.int64(min(stop - start, other_stop - other_start))
    ahead, behind = np.int64(0), np.int64(0)
    while ahead < most and symbols[start + ahead] == symbols[other_start + ahead]:
        ahead += 1
    while behind < most - ahead and symbols[stop - 1 - behind] == symbols[other_stop - 1 - behind]:
        behind += 1
    return ahead, behind


@inlined
def room_bits(size: Int) -> np.int64:
    """Give the binary logarithm of the places of a table for so many symbols."""
    return _64 - np.int64(leading_zeros(np.uint64(size))) + _ROOM_BITS


@inlined
def table_shift(size: Int) -> np.uint32:
    """Give how many bits of a product with a symbol are not of its place in the table."""
    return np.uint32(_32 - room_bits(size))


@inlined
def longest_of(offsets: ConstInt64s) -> np.int64:
    """Give the length of the longest signature."""
    longest = np.int64(0)
    for row in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@helper
def fill_table(
    symbols: ConstUint32s, start: Int, size: Int, shift: np.uint32, heads: Int32s, following: Int32s
) -> None:
    """Enter the places of a signature's symbols; those of equal places are lists, last first."""
    for i in range(size):
        place = _place(symbols[start + i], shift)
        following[i + 1] = heads[place]
        heads[place] = np.int32(i + 1)


@helper
def clear_table(
    symbols: ConstUint32s, start: Int, size: Int, shift: np.uint32, heads: Int32s
) -> None:
    """Take the places of a signature's symbols out of the table."""
    for i in range(size):
        heads[_place(symbols[start + i], shift)] = 0


@kernel
def signature_distances(
    symbols: ConstUint32s,
    offsets: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    distances: Int64s,
) -> None:
    """Count the edits between the signatures of pairs, or give UNKNOWN where many symbols match.

    It takes least time where pairs of the same left signature follow each other.
    """
    longest = longest_of(offsets)
    heads = np.zeros(np.int64(1) << room_bits(longest), np.int32)
    following = np.empty(longest + 1, np.int32)
    candidates = np.empty(longest + 1, np.int64)
    lefts = np.empty(MOST_MATCHES, np.int64)
    rights = np.empty(MOST_MATCHES, np.int64)
    costs = np.empty(MOST_MATCHES, np.int64)
    held, base, size = np.int64(-1), np.int64(0), np.int64(0)
    shift = np.uint32(0)
    for pair in range(left.shape[0]):
        if left[pair] != held:
            clear_table(symbols, base, size, shift, heads)
            held = left[pair]
            base, size = offsets[held], offsets[held + 1] - offsets[held]
            shift = table_shift(size)
            fill_table(symbols, base, size, shift, heads, following)
        first, end = offsets[right[pair]], offsets[right[pair] + 1]
        ahead, behind = common_ends(symbols, base, base + size, first, end)
        start, stop = base + ahead, base + size - behind
        first += ahead
        end -= behind
        n = list_matches(
            symbols,
            start,
            stop,
            first,
            end,
            base,
            shift,
            heads,
            following,
            candidates,
            lefts,
            rights,
        )
        distances[pair] = UNKNOWN
        if n <= MOST_MATCHES:
            distances[pair] = _distance_by_matches(
                lefts, rights, n, stop - start, end - first, costs
            )


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
