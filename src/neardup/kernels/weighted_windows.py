"""All compact windows of texts under consistent weighted sampling; see ``kernels.staircase``."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.consistent import list_weighted
from neardup.kernels.staircase import list_windows
from neardup.kernels.types import (
    ConstFloats,
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


@kernel
def weighted_windows(
    offsets: ConstInt64s,
    type_offsets: ConstInt64s,
    type_hashes: ConstUint64s,
    type_starts: ConstInt64s,
    positions: ConstInt32s,
    numbers: ConstInt32s,
    log_weights: ConstFloats,
    first_text: int,
    seed: np.uint64,
    min_tokens: int,
    types: Int32s,
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
    """List the windows of texts from ``first_text`` on under consistent weighted sampling.

    ``log_weights`` of a type's copies are in the places of its positions. Tokens that weigh nothing
    are in no key; sub-texts of such tokens only are in no window. ``types`` is more scratch, the
    rest is as in ``multiset_windows``.
    """
    n_windows: Int = 0
    for text in range(first_text, offsets.shape[0] - 1):
        n_before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type, end_type = type_offsets[text], type_offsets[text + 1]
        n_types = end_type - first_type
        n_entries = list_weighted(
            type_hashes[first_type:end_type],
            type_starts[first_type : end_type + 1],
            n_types,
            log_weights,
            seed,
            orders,
            identities,
            types,
            copies,
        )
        entry = np.int64(0)
        for t in range(n_types):
            entry_starts[t] = entry
            while entry < n_entries and types[entry] == t:
                entry += 1
        entry_starts[n_types] = n_entries
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
            True,
            n_met,
            bits,
            words,
            blocks,
            ceilings,
            values,
            entries,
            opened,
            before,
            n_windows,
            keys,
            starts,
            spans,
        )
        if n_windows > keys.shape[0]:
            return text, n_before
    return np.int64(offsets.shape[0] - 1), n_windows
