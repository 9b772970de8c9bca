"""AllAlign, the partition that MonoActive was made to replace: the baseline for windows of texts.

A region is all sub-texts that start from l to m and end up to r. The least hash value of T[l..r]
splits it: a window for each place where the sub-texts that hold its key begin, and smaller regions
for those that do not. The authors look up the least value in a tree over all keys. Here the tree is
given the active keys alone, and keeps of each node only those that can be the least of a range: a
node's keys by where they end, each less than all that end before. That is kinder to AllAlign than
its own code: fewer keys than windows, O(n) memory, and a few comparisons for each of O(log n)
nodes.

The hash functions and the windows are those of ``neardup.kernels.passage.window_kernels``.

References
----------
Feng, Deng (2021), Allign: aligning all-pair near-duplicate passages in long texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt

from neardup.kernels.common.hashing import mix64
from neardup.kernels.passage.window_kernels import occurrence_hash

if TYPE_CHECKING:
    from neardup.kernels.passage.window_kernels import Occurrences

LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)

compiled = numba.njit(nogil=True)


@compiled
def _longer(array: Any) -> Any:
    """Copy an array into one of twice the length."""
    longer = np.empty(2 * array.shape[0], array.dtype)
    longer[: array.shape[0]] = array
    return longer


@compiled
def _list_active(hashes: Any, starts: Any, first: int, stop: int, seed: np.uint64) -> Any:
    """List the active values of types ``first`` to ``stop``: values, copies, and where each type's
    begin."""
    n = starts[stop] - starts[first]
    values, copies = np.empty(n, np.uint64), np.empty(n, np.int32)
    offsets = np.empty(stop - first + 1, np.int32)
    found = 0
    for k in range(first, stop):
        offsets[k - first] = found
        mixed = mix64(hashes[k] ^ seed)
        best = LARGEST
        for x in range(1, starts[k + 1] - starts[k] + 1):
            value = occurrence_hash(mixed, x)
            if value < best:
                best = value
                values[found], copies[found] = value, x
                found += 1
    offsets[stop - first] = found
    return values, copies, offsets


@compiled
def _grow_tree(
    values: Any, copies: Any, offsets: Any, starts: Any, positions: Any, first: int, n_tokens: int
) -> Any:
    """Make the tree over the places where keys start (from 1 on); leaves come last.

    Node v has entries ``begins[v]`` to ``stops[v]``: where a key ends, ascending, and its number
    among the active values, whose values descend.
    """
    n_leaves = 1
    while n_leaves < n_tokens + 1:
        n_leaves *= 2
    begins = np.zeros(2 * n_leaves, np.int64)
    stops = np.zeros(2 * n_leaves, np.int64)
    types = np.empty(n_tokens + 1, np.int32)
    turns = np.empty(n_tokens + 1, np.int32)
    for k in range(offsets.shape[0] - 1):
        for i in range(starts[first + k], starts[first + k + 1]):
            types[positions[i]] = k
            turns[positions[i]] = i
    ends, numbers = np.empty(4 * n_tokens + 64, np.int32), np.empty(4 * n_tokens + 64, np.int32)
    n = 0
    for p in range(1, n_tokens + 1):
        begins[n_leaves + p] = n
        k, i = types[p], turns[p]
        for a in range(offsets[k], offsets[k + 1]):
            last = i + copies[a] - 1
            if last >= starts[first + k + 1]:
                break
            if n == ends.shape[0]:
                ends, numbers = _longer(ends), _longer(numbers)
            ends[n], numbers[n] = positions[last], a
            n += 1
        stops[n_leaves + p] = n
    for node in range(n_leaves - 1, 0, -1):
        begins[node] = n
        i, i_stop = begins[2 * node], stops[2 * node]
        j, j_stop = begins[2 * node + 1], stops[2 * node + 1]
        least = LARGEST
        while i < i_stop or j < j_stop:
            if j == j_stop or (i < i_stop and ends[i] <= ends[j]):
                end, number = ends[i], numbers[i]
                i += 1
            else:
                end, number = ends[j], numbers[j]
                j += 1
            if values[number] < least:
                least = values[number]
                if n == ends.shape[0]:
                    ends, numbers = _longer(ends), _longer(numbers)
                ends[n], numbers[n] = end, number
                n += 1
        stops[node] = n
    return begins, stops, ends, numbers, n_leaves


@compiled
def _least_in_node(
    node: int, r: int, best: int, values: Any, begins: Any, stops: Any, ends: Any, numbers: Any
) -> int:
    low, high = begins[node], stops[node]
    if low == high or (best >= 0 and values[numbers[high - 1]] >= values[best]):
        return best
    begin = low
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= r:
            low = middle + 1
        else:
            high = middle
    if low > begin and (best < 0 or values[numbers[low - 1]] < values[best]):
        return numbers[low - 1]
    return best


@compiled
def _least(
    first: int, r: int, values: Any, begins: Any, stops: Any, ends: Any, numbers: Any, n_leaves: int
) -> int:
    """Find the number of the least active value with a key in T[first..r]."""
    best = -1
    left, right = first + n_leaves, r + 1 + n_leaves
    while left < right:
        if left & 1:
            best = _least_in_node(left, r, best, values, begins, stops, ends, numbers)
            left += 1
        if right & 1:
            right -= 1
            best = _least_in_node(right, r, best, values, begins, stops, ends, numbers)
        left >>= 1
        right >>= 1
    return best


@compiled
def _first_from(positions: Any, low: int, high: int, x: int) -> int:
    while low < high:
        middle = (low + high) >> 1
        if positions[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _split_regions(
    hashes: Any,
    starts: Any,
    positions: Any,
    first_type: int,
    stop_type: int,
    n_tokens: int,
    base: int,
    seed: np.uint64,
    min_tokens: int,
) -> Any:
    """Partition one text."""
    values, copies, offsets = _list_active(hashes, starts, first_type, stop_type, seed)
    tree = _grow_tree(values, copies, offsets, starts, positions, first_type, n_tokens)
    begins, stops, ends, numbers, n_leaves = tree
    type_of = np.empty(values.shape[0], np.int32)
    for k in range(offsets.shape[0] - 1):
        type_of[offsets[k] : offsets[k + 1]] = first_type + k
    keys = np.empty(2 * n_tokens + 64, np.uint64)
    corners = np.empty((2 * n_tokens + 64, 4), np.uint32)
    stack = np.empty((1024, 3), np.int32)
    stack[0, 0], stack[0, 1], stack[0, 2] = 1, n_tokens, n_tokens
    n, depth = 0, 1
    while depth > 0:
        depth -= 1
        left, most, right = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if most < left or right - left + 1 < max(1, min_tokens):
            continue
        number = _least(left, right, values, begins, stops, ends, numbers, n_leaves)
        k, x = type_of[number], copies[number]
        key = mix64(values[number])
        stop = starts[k + 1]
        i = _first_from(positions, starts[k], stop, left)
        a = left
        while True:
            if depth + 2 > stack.shape[0]:
                longer = np.empty((2 * stack.shape[0], 3), np.int32)
                longer[:depth] = stack[:depth]
                stack = longer
            if a > most:
                break
            if i + x > stop or positions[i + x - 1] > right:
                # What starts behind the last key is left.
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = a, most, right
                depth += 1
                break
            here, c = positions[i], positions[i + x - 1]
            b = min(here, most)
            if right - a + 1 >= min_tokens:
                if n == keys.shape[0]:
                    keys = _longer(keys)
                    wider = np.empty((2 * n, 4), np.uint32)
                    wider[:n] = corners
                    corners = wider
                keys[n] = key
                corners[n, 0], corners[n, 1] = base + a - 1, b - a
                corners[n, 2], corners[n, 3] = c - b, right - c
                n += 1
            # With one copy, no sub-text that starts at it is left.
            stack[depth, 0], stack[depth, 2] = a, c - 1
            stack[depth, 1] = b - 1 if x == 1 and b == here else b
            depth += 1
            a = here + 1
            i += 1
    return keys[:n].copy(), corners[:n].copy()


Windows = tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


def allalign_windows(texts: Occurrences, seed: int, min_tokens: int) -> Windows:
    """List all windows under one hash function of multisets, in no order.

    Returns keys, and for each where it starts in the token stream (a), b - a, c - b and d - c.
    """
    parts = [
        _split_regions(
            texts.type_hashes,
            texts.type_starts,
            texts.positions,
            int(texts.type_offsets[text]),
            int(texts.type_offsets[text + 1]),
            int(texts.offsets[text + 1] - texts.offsets[text]),
            int(texts.offsets[text]),
            np.uint64(seed),
            min_tokens,
        )
        for text in range(len(texts.offsets) - 1)
    ]
    keys, corners = zip(*parts, strict=True)
    return np.concatenate(keys), np.concatenate(corners)
