"""All compact windows of texts under consistent weighted sampling; see ``kernels.skyline``."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.consistent import list_weighted
from neardup.kernels.skyline import FIRST_LOOK, claim, longest_gap, open_text
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
    n_windows: Int = 0
    n_open: Int
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
        open_text(n_tokens, bits, words, blocks, ends)
        n_open = 1
        longest, n_visited, next_look = np.int64(n_tokens), np.int64(0), np.int64(FIRST_LOOK)
        for rank in range(n):
            k = first_type + types[order[rank]]
            n_visited += type_starts[k + 1] - type_starts[k]
            if n_visited >= next_look:
                longest = np.int64(longest_gap(bits, words, blocks, ends, n_tokens))
                next_look = 2 * n_visited
            n_open, n_windows = claim(
                identities[order[rank]],
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
        if n_windows > keys.shape[0]:
            return text, before
    return np.int64(offsets.shape[0] - 1), n_windows
