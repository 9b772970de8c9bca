"""All compact windows of texts under a hash function of multisets; see ``kernels.staircase``."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.active import list_active
from neardup.kernels.staircase import list_windows
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint32Rows,
    Uint32s,
    Uint64s,
)

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _first_ceiling(n_tokens: Int, min_tokens: Int) -> np.uint64:
    """Guess a hash value below which every ``min_tokens`` tokens of a text have one, mostly.

    That some tokens in a row all have greater ones has a probability of less than
    n (1 - ceiling)^min_tokens, a hundredth, were they all different; repeats take some more. Where
    that is not far below all hashes, a second try would cost more than the first one saves.
    """
    share = 1.25 * np.log(100.0 * n_tokens) / min_tokens
    if share >= 0.4:
        return _LARGEST
    return np.uint64(share * 18446744073709551616.0)


@kernel
def multiset_windows(
    offsets: ConstInt64s,
    type_offsets: ConstInt64s,
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    positions: ConstInt32s,
    numbers: ConstInt32s,
    first_text: int,
    most_copies: int,
    seed: np.uint64,
    min_tokens: int,
    entry_starts: Int64s,
    copies: Int32s,
    orders: Uint64s,
    identities: Uint64s,
    n_met: Int32s,
    bits: Uint64s,
    words: Uint64s,
    blocks: Uint64s,
    ceilings: Uint64s,
    values: Uint64s,
    entries: Int32s,
    opened: Int32s,
    before: Int32s,
    keys: Uint64s,
    starts: Uint32s,
    spans: Uint32Rows,
) -> tuple[Int, Int]:
    """List the windows of texts from ``first_text`` on under one hash function.

    The texts are those of ``group_occurrences``; of each token ``most_copies`` copies count.
    ``entry_starts`` to ``before`` are scratch for as many tokens as the longest text has, and one
    more; ``bits``, ``words`` and ``blocks`` that of an ordered set of these.

    ``keys`` receives the identity of each window's hash, ``starts`` where it starts in the token
    stream (a), ``spans`` b - a, c - b and d - c: it stands for all sub-texts that start from a to
    b and end from c to d. Windows of one key in one text ascend.

    Returns the first text not done, which is below the end if its windows might not fit, and the
    number of windows.
    """
    n_windows: Int = 0
    for text in range(first_text, offsets.shape[0] - 1):
        n_before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type = type_offsets[text]
        n_types = type_offsets[text + 1] - first_type
        high = _first_ceiling(n_tokens, min_tokens)
        n_windows = -1
        while n_windows < 0:
            list_active(
                type_hashes,
                type_starts,
                first_type,
                n_types,
                most_copies,
                seed,
                high,
                entry_starts,
                copies,
                orders,
                identities,
            )
            n_windows = list_windows(
                numbers,
                positions,
                type_starts,
                first_type,
                n_types,
                offsets[text],
                n_tokens,
                entry_starts,
                copies,
                orders,
                identities,
                min_tokens,
                high == _LARGEST,
                n_met,
                bits,
                words,
                blocks,
                ceilings,
                values,
                entries,
                opened,
                before,
                n_before,
                keys,
                starts,
                spans,
            )
            high = _LARGEST if high > _LARGEST >> np.uint64(2) else high * np.uint64(2)
        if n_windows > keys.shape[0]:
            return text, n_before
    return np.int64(offsets.shape[0] - 1), n_windows
