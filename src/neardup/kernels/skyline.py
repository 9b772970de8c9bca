"""All compact windows of texts: for every sub-text its min-hash, in few rectangles.

A key (p, q) is a range of a text that starts and ends with the same token and holds x copies of it;
its hash is that of the token's x-th copy. The min-hash of T[i..j] is the least hash among the keys
inside i..j. Keys are visited by ascending hash; those visited so far, without the ones that hold
another, are the skyline, ascending on both sides. Between two neighbours (u, y_u) and (s, y_s) of
the skyline lies a gap: the sub-texts that start after u and end before y_s hold no key yet. A new
key claims what is left of them that holds it: a window for each gap that it reaches into.

Gaps without a sub-text of ``min_tokens`` are closed: no window of them is wanted, and keys that
start in one and do not reach beyond are passed over. When no gap is open the text is done.

References
----------
Zhang, Qiao, Peng, Deng (2025), Near-duplicate text alignment under weighted Jaccard similarity,
Algorithms 4 and 5.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined
from neardup.kernels.ordered_set import clear, first_from, insert, last_to, remove
from neardup.kernels.types import (
    ConstInt32s,
    Int,
    Int32s,
    Uint32Rows,
    Uint32s,
    Uint64s,
)

# Keys visited before the longest gap is looked for, which is done again when twice as many were.
FIRST_LOOK = 512


@inlined
def open_text(n_tokens: Int, bits: Uint64s, words: Uint64s, blocks: Uint64s, ends: Int32s) -> None:
    """Start a text: the skyline has its two guards, and one gap between them."""
    clear(bits, words, blocks, n_tokens + 2)
    insert(bits, words, blocks, np.int64(0))
    insert(bits, words, blocks, n_tokens + 1)
    ends[0], ends[n_tokens + 1] = 0, n_tokens + 1


@helper
def longest_gap(bits: Uint64s, words: Uint64s, blocks: Uint64s, ends: Int32s, n_tokens: Int) -> Int:
    """Give the number of tokens of the longest gap."""
    longest, u = np.int64(0), np.int64(0)
    while u <= n_tokens:
        s = first_from(bits, words, blocks, u + 1)
        longest = max(longest, np.int64(ends[s]) - 1 - u)
        u = np.int64(s)
    return longest


@inlined
def _next_after(positions: ConstInt32s, i: Int, stop: Int, x: Int) -> Int:
    """First place in [i, stop) of ascending positions that is greater than x; positions[i] <= x."""
    step = np.int64(1)
    while i + step < stop and positions[i + step] <= x:
        i += step
        step *= 2
    high = min(i + step, stop)
    i += 1
    while i < high:
        middle = (i + high) >> 1
        if positions[middle] <= x:
            i = middle + 1
        else:
            high = middle
    return i


@inlined
def _reverse(first: Int, stop: Int, starts: Uint32s, spans: Uint32Rows) -> None:
    """Turn the order of some windows round."""
    for k in range((stop - first) >> 1):
        i, j = first + k, stop - 1 - k
        starts[i], starts[j] = starts[j], starts[i]
        for m in range(3):
            spans[i, m], spans[j, m] = spans[j, m], spans[i, m]


@helper
def claim(
    key: np.uint64,
    places: ConstInt32s,
    start: Int,
    stop: Int,
    x: Int,
    min_tokens: Int,
    longest: Int,
    base: Int,
    bits: Uint64s,
    words: Uint64s,
    blocks: Uint64s,
    ends: Int32s,
    n_open: Int,
    n: Int,
    keys: Uint64s,
    starts: Uint32s,
    spans: Uint32Rows,
) -> tuple[Int, Int]:
    """Visit the keys of x copies of a token that stands at ``places[start:stop]``.

    No gap has more than ``longest`` tokens.
    Gives the numbers of open gaps and of windows; the latter goes on counting where the windows do
    not fit.
    """
    room = keys.shape[0]
    i = start
    last = stop - x + 1
    while i < last:
        p, q = np.int64(places[i]), np.int64(places[i + x - 1])
        if q - p >= longest:
            # No gap is so long, so it holds a key.
            i += 1
            continue
        s = first_from(bits, words, blocks, p)
        end = np.int64(ends[s])
        if end <= q:
            # (s, end) lies inside (p, q), and inside all further keys that start up to s.
            i = _next_after(places, i, last, s)
            continue
        u = last_to(bits, words, blocks, p - 1)
        if end - 1 - u < min_tokens and ends[u] <= q:
            # A closed gap; further keys in it are of no use either, or hold (s, end).
            i = _next_after(places, i, last, s)
            continue
        first_window = n
        top, right = end - np.int64(1), np.int64(p)
        n_open -= np.int64(top - u >= min_tokens)
        if s != p:
            # Otherwise the new key takes the place of one that starts where it does.
            n_open += np.int64(top - p >= min_tokens)
        while True:
            if top >= q and top - u >= min_tokens:
                if n < room:
                    keys[n] = key
                    starts[n] = base + u
                    spans[n, 0] = right - u - 1
                    spans[n, 1] = q - right
                    spans[n, 2] = top - q
                n += 1
            if ends[u] < q:
                break
            # Its range holds the new one.
            remove(bits, words, blocks, u)
            top, right = np.int64(ends[u]) - 1, np.int64(u)
            u = last_to(bits, words, blocks, u - 1)
            n_open -= np.int64(top - u >= min_tokens)
        n_open += np.int64(q - 1 - u >= min_tokens)
        ends[p] = q
        insert(bits, words, blocks, p)
        if n > first_window + 1 and n <= room:
            # Leftmost first, so that all windows of one key ascend.
            _reverse(first_window, n, starts, spans)
        i += 1
    return n_open, n
