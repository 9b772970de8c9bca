"""All compact windows of texts under a hash function of multisets; see ``kernels.skyline``."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.active import list_active
from neardup.kernels.hashing import mix64
from neardup.kernels.skyline import FIRST_LOOK, claim, longest_gap, open_text
from neardup.kernels.types import (
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
    for k in range(n + 1):
        bucket_starts[k] = 0
    for i in range(n):
        bucket_starts[np.int64(np.float64(values[i] - low) * scale) + 1] += 1
    for k in range(n):
        bucket_starts[k + 1] += bucket_starts[k]
    for i in range(n):
        b = np.int64(np.float64(values[i] - low) * scale)
        to = bucket_starts[b]
        bucket_starts[b] += 1
        sorted_values[to] = values[i]
        order[to] = i
    for i in range(1, n):
        value, number = sorted_values[i], order[i]
        j = np.int64(i)
        while j > 0 and sorted_values[j - 1] > value:
            sorted_values[j] = sorted_values[j - 1]
            order[j] = order[j - 1]
            j -= 1
        sorted_values[j], order[j] = value, number


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
    n_windows: Int = 0
    n_open: Int
    for text in range(first_text, offsets.shape[0] - 1):
        before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type = type_offsets[text]
        n_types = type_offsets[text + 1] - first_type
        open_text(n_tokens, bits, words, blocks, ends)
        n_open = 1
        longest, n_visited, next_look = np.int64(n_tokens), np.int64(0), np.int64(FIRST_LOOK)
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
                n_visited += type_starts[k + 1] - type_starts[k]
                if n_visited >= next_look and most_copies > 1:
                    longest = np.int64(longest_gap(bits, words, blocks, ends, n_tokens))
                    next_look = 2 * n_visited
                n_open, n_windows = claim(
                    mix64(sorted_values[rank]),
                    positions,
                    type_starts[k],
                    type_starts[k + 1],
                    np.int64(copies[order[rank]]),
                    min_tokens,
                    longest,
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
