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

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.active import list_active
from neardup.kernels.consistent import list_weighted
from neardup.kernels.hashing import mix64
from neardup.kernels.ordered_set import clear, first_from, insert, last_to, remove
from neardup.kernels.types import (
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Uint32Rows,
    Uint32s,
    Uint64s,
)

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


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


@helper
def _sort_active(
    values: Uint64s,
    n: Int,
    low: np.uint64,
    high: np.uint64,
    bucket_starts: Int32s,
    sorted_values: Uint64s,
    order: Int32s,
) -> None:
    """Sort hash values, which spread evenly over [low, high), by buckets and insertion."""
    scale = np.float64(n) / (np.float64(high - low) * 1.0000001)
    bucket_starts[: n + 1] = 0
    for i in range(n):
        bucket_starts[np.int64(np.float64(values[i] - low) * scale) + 1] += 1
    for b in range(n):
        bucket_starts[b + 1] += bucket_starts[b]
    for i in range(n):
        b = np.int64(np.float64(values[i] - low) * scale)
        to = bucket_starts[b]
        bucket_starts[b] += 1
        sorted_values[to] = values[i]
        order[to] = i
    for i in range(1, n):
        value, number = sorted_values[i], order[i]
        j = i
        while j > 0 and sorted_values[j - 1] > value:
            sorted_values[j] = sorted_values[j - 1]
            order[j] = order[j - 1]
            j -= 1
        sorted_values[j], order[j] = value, number


@helper
def _claim(
    key: np.uint64,
    places: ConstInt32s,
    start: Int,
    stop: Int,
    x: Int,
    min_tokens: Int,
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

    Gives the numbers of open gaps and of windows; the latter goes on counting where the windows do
    not fit.
    """
    room = keys.shape[0]
    i = start
    last = stop - x + 1
    while i < last:
        p, q = np.int64(places[i]), np.int64(places[i + x - 1])
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
        top, right = end - 1, p
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
            top, right = np.int64(ends[u]) - 1, u
            u = last_to(bits, words, blocks, u - 1)
            n_open -= np.int64(top - u >= min_tokens)
        n_open += np.int64(q - 1 - u >= min_tokens)
        ends[p] = q
        insert(bits, words, blocks, p)
        if n > first_window + 1 and n <= room:
            # Leftmost first, so that all windows of one key ascend.
            starts[first_window:n] = starts[first_window:n][::-1].copy()
            spans[first_window:n] = spans[first_window:n][::-1].copy()
        i += 1
    return n_open, n


@inlined
def _open_text(n_tokens: Int, bits: Uint64s, words: Uint64s, blocks: Uint64s, ends: Int32s) -> None:
    """Start a text: the skyline has its two guards, and one gap between them."""
    clear(bits, words, blocks, n_tokens + 2)
    insert(bits, words, blocks, np.int64(0))
    insert(bits, words, blocks, n_tokens + 1)
    ends[0], ends[n_tokens + 1] = 0, n_tokens + 1


@inlined
def _first_ceiling(n_tokens: Int, min_tokens: Int) -> np.uint64:
    """Guess a hash value up to which the keys close all gaps of a text, in most cases.

    That some min_tokens tokens in a row all have greater values has a probability of less than
    n (1 - ceiling)^min_tokens, a hundredth here.
    """
    share = np.log(100.0 * n_tokens) / min_tokens
    if share >= 0.5:
        return _LARGEST
    return np.uint64(share * 18446744073709551616.0)


@kernel
def multiset_windows(
    offsets: ConstInt64s,
    type_offsets: ConstInt64s,
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    positions: ConstInt32s,
    first_text: int,
    most_copies: int,
    seed: np.uint64,
    min_tokens: int,
    values: Uint64s,
    sorted_values: Uint64s,
    types: Int32s,
    copies: Int32s,
    order: Int32s,
    bucket_starts: Int32s,
    bits: Uint64s,
    words: Uint64s,
    blocks: Uint64s,
    ends: Int32s,
    keys: Uint64s,
    starts: Uint32s,
    spans: Uint32Rows,
) -> tuple[Int, Int]:
    """List the windows of texts from ``first_text`` on under one hash function.

    The texts are those of ``group_occurrences``; of each token ``most_copies`` copies count.
    ``values`` to ``bucket_starts`` are scratch for as many tokens as the longest text has, and two
    more; ``bits``, ``words`` and ``blocks`` that of an ordered set of these, ``ends`` likewise.

    ``keys`` receives the identity of each window's hash, ``starts`` where it starts in the token
    stream (a), ``spans`` b - a, c - b and d - c: it stands for all sub-texts that start from a to
    b and end from c to d. Windows of one key in one text ascend.

    Returns the first text not done, which is below the end if its windows might not fit, and the
    number of windows.
    """
    n_windows = np.int64(0)
    for text in range(first_text, offsets.shape[0] - 1):
        before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type = type_offsets[text]
        n_types = type_offsets[text + 1] - first_type
        _open_text(n_tokens, bits, words, blocks, ends)
        n_open = np.int64(1)
        low, high = np.uint64(0), _first_ceiling(n_tokens, min_tokens)
        while n_open > 0:
            n = list_active(
                type_hashes,
                type_starts,
                first_type,
                n_types,
                most_copies,
                seed,
                low,
                high,
                values,
                types,
                copies,
            )
            _sort_active(values, n, low, high, bucket_starts, sorted_values, order)
            for rank in range(n):
                k = first_type + types[order[rank]]
                n_open, n_windows = _claim(
                    mix64(sorted_values[rank]),
                    positions,
                    type_starts[k],
                    type_starts[k + 1],
                    np.int64(copies[order[rank]]),
                    min_tokens,
                    offsets[text],
                    bits,
                    words,
                    blocks,
                    ends,
                    n_open,
                    n_windows,
                    keys,
                    starts,
                    spans,
                )
                if n_open == 0:
                    break
            if high == _LARGEST:
                break
            low = high
            high = _LARGEST if high > _LARGEST >> np.uint64(2) else high * np.uint64(2)
        if n_windows > keys.shape[0]:
            return text, before
    return np.int64(offsets.shape[0] - 1), n_windows


@kernel
def weighted_windows(
    offsets: ConstInt64s,
    type_offsets: ConstInt64s,
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    positions: ConstInt32s,
    log_weights: ConstFloats,
    first_text: int,
    seed: np.uint64,
    min_tokens: int,
    orders: Uint64s,
    identities: Uint64s,
    types: Int32s,
    copies: Int32s,
    bits: Uint64s,
    words: Uint64s,
    blocks: Uint64s,
    ends: Int32s,
    keys: Uint64s,
    starts: Uint32s,
    spans: Uint32Rows,
) -> tuple[Int, Int]:
    """List the windows of texts from ``first_text`` on under consistent weighted sampling.

    ``log_weights`` of a type's copies are in the places of its positions. Tokens that weigh nothing
    are in no key; sub-texts of such tokens only are in no window. The rest is as in
    ``multiset_windows``.
    """
    n_windows = np.int64(0)
    for text in range(first_text, offsets.shape[0] - 1):
        before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type, end_type = type_offsets[text], type_offsets[text + 1]
        n = list_weighted(
            type_hashes[first_type:end_type],
            type_starts[first_type : end_type + 1],
            end_type - first_type,
            log_weights,
            seed,
            orders,
            identities,
            types,
            copies,
        )
        order = np.argsort(orders[:n])
        # Equal orders are rare; their identities decide.
        for i in range(1, n):
            number = order[i]
            j = i
            while (
                j > 0
                and orders[order[j - 1]] == orders[number]
                and identities[order[j - 1]] > identities[number]
            ):
                order[j] = order[j - 1]
                j -= 1
            order[j] = number
        _open_text(n_tokens, bits, words, blocks, ends)
        n_open = np.int64(1)
        for rank in range(n):
            k = first_type + types[order[rank]]
            n_open, n_windows = _claim(
                identities[order[rank]],
                positions,
                type_starts[k],
                type_starts[k + 1],
                np.int64(copies[order[rank]]),
                min_tokens,
                offsets[text],
                bits,
                words,
                blocks,
                ends,
                n_open,
                n_windows,
                keys,
                starts,
                spans,
            )
            if n_open == 0:
                break
        if n_windows > keys.shape[0]:
            return text, before
    return np.int64(offsets.shape[0] - 1), n_windows
