"""List all compact windows of texts, by multisets or consistent weighted sampling.

The tokens of each text are numbered by kind, with the positions of each kind, and go up the
``staircase`` with their active hash values, which can be the smallest of a sub-text. The x-th copy
of a token has the hash h(t, x) = mix64(mix64(t ^ seed) + x * GOLDEN). A sub-text with f copies of
the token has all of h(t, 1) to h(t, f), so h(t, x) matters only if it is less than all before it;
about ln f of f values are.

References
----------
Zhang, Qiao, Peng, Deng (2025), Near-duplicate text alignment under weighted Jaccard similarity,
Algorithm 5.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.passage.staircase import Active, Occurrences, Steps, Windows, list_windows
from neardup.kernels.sketch.weighted import list_weighted
from neardup.kernels.types import (
    ConstFloats,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64s,
)


@kernel
def group_occurrences(
    values: ConstUint64s,
    offsets: ConstInt64s,
    slots: Int32s,
    numbers: Int32s,
    type_offsets: Int64s,
    type_hashes: Uint64s,
    type_starts: Int64s,
    positions: Int32s,
) -> Int:
    """List the distinct tokens of each text with their positions (``Occurrences``).

    ``values`` and ``offsets`` (n + 1) are token lists, ``offsets[0]`` is 0. ``type_hashes`` and
    ``numbers`` have room for every token, ``type_starts`` for one more; ``slots`` is scratch: a
    power of two, at least twice the longest text.

    Returns the number of types, which are numbered by first appearance.
    """
    n_types = np.int64(0)
    for d in range(offsets.shape[0] - 1):
        type_offsets[d] = n_types
        start, stop = offsets[d], offsets[d + 1]
        n_slots = np.int64(2)
        while n_slots < 2 * (stop - start):
            n_slots *= 2
        for k in range(n_slots):
            slots[k] = -1
        mask = n_slots - 1
        first = n_types
        for i in range(start, stop):
            value = values[i]
            slot = np.int64(value) & mask
            while slots[slot] >= 0 and type_hashes[first + slots[slot]] != value:
                slot = (slot + 1) & mask
            number = np.int64(slots[slot])
            if number < 0:
                number = n_types - first
                slots[slot] = number
                type_hashes[n_types] = value
                type_starts[n_types + 1] = 0
                n_types += 1
            numbers[i] = number
            type_starts[first + number + 1] += 1
        # Counts, held one place further on, become ends and then, filled backwards, starts.
        end = start
        for k in range(first, n_types):
            end += type_starts[k + 1]
            type_starts[k + 1] = end
        for i in range(stop - 1, start - 1, -1):
            k = first + numbers[i] + 1
            type_starts[k] -= 1
            positions[type_starts[k]] = i - start + 1
        for k in range(first, n_types):
            type_starts[k] = type_starts[k + 1]
        type_starts[n_types] = stop
    type_offsets[offsets.shape[0] - 1] = n_types
    return n_types


@inlined
def occurrence_hash(mixed: np.uint64, x: Int) -> np.uint64:
    """Hash the x-th copy of a token; ``mixed`` is mix64 of its hash and the seed."""
    return mix64(mixed + np.uint64(x) * GOLDEN)


@helper
def list_active(
    texts: Occurrences,
    text: Int,
    most_copies: Int,
    seed: np.uint64,
    high: np.uint64,
    active: Active,
) -> None:
    """List a text's active hash values below ``high``, by type and ascending copy.

    At most ``most_copies`` copies of each token count.
    """
    type_hashes, type_starts = texts.type_hashes, texts.type_starts
    _, starts, copies, orders, identities = active
    first_type, n = texts.type_offsets[text], np.int64(0)
    n_types = texts.type_offsets[text + 1] - first_type
    for k in range(n_types):
        starts[k] = n
        mixed = mix64(type_hashes[first_type + k] ^ seed)
        f = min(type_starts[first_type + k + 1] - type_starts[first_type + k], most_copies)
        best = high
        for x in range(1, f + 1):
            value = occurrence_hash(mixed, x)
            if value < best:
                best = value
                copies[n] = x
                orders[n] = value
                identities[n] = mix64(value)
                n += 1
    starts[n_types] = n


_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _first_ceiling(n_tokens: Int, min_tokens: Int) -> np.uint64:
    """Guess a ceiling below which almost all runs of ``min_tokens`` tokens have a hash.

    A run with only greater hashes has a probability below n (1 - ceiling)^min_tokens, a hundredth,
    if all tokens differ; repeats take some more. If the ceiling is close to the maximum, a second
    try would cost more than the first one saves.
    """
    share = 1.25 * np.log(100.0 * n_tokens) / min_tokens
    if share >= 0.4:
        return _LARGEST
    return np.uint64(share * 18446744073709551616.0)


@kernel
def multiset_windows(
    texts: Occurrences,
    first_text: int,
    most_copies: int,
    seed: np.uint64,
    min_tokens: int,
    active: Active,
    steps: Steps,
    windows: Windows,
) -> tuple[Int, Int]:
    """List the windows of texts from ``first_text`` on under one hash function.

    At most ``most_copies`` copies of each token count. ``active`` and ``steps`` are scratch for the
    longest text. Windows of one key in one text ascend.

    Returns the first text not done, which is below the end if its windows might not fit, and the
    number of windows.
    """
    offsets = texts.offsets
    n_windows: Int = 0
    for text in range(first_text, offsets.shape[0] - 1):
        n_before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        high = _first_ceiling(n_tokens, min_tokens)
        n_windows = -1
        while n_windows < 0:
            list_active(texts, text, most_copies, seed, high, active)
            has_all = high == _LARGEST
            n_windows = list_windows(
                texts, text, active, min_tokens, has_all, steps, n_before, windows
            )
            high = _LARGEST if high > _LARGEST >> np.uint64(2) else high * np.uint64(2)
        if n_windows > windows.keys.shape[0]:
            return text, n_before
    return np.int64(offsets.shape[0] - 1), n_windows


@kernel
def weighted_windows(
    texts: Occurrences,
    log_weights: ConstFloats,
    first_text: int,
    seed: np.uint64,
    min_tokens: int,
    active: Active,
    steps: Steps,
    windows: Windows,
) -> tuple[Int, Int]:
    """List the windows of texts from ``first_text`` on under consistent weighted sampling.

    ``log_weights`` of a type's copies are in the places of its positions. Tokens without weight
    have no key, and sub-texts of such tokens only have no window. Otherwise as
    ``multiset_windows``.
    """
    offsets = texts.offsets
    types, starts, copies, orders, identities = active
    n_windows: Int = 0
    for text in range(first_text, offsets.shape[0] - 1):
        n_before = n_windows
        n_tokens = offsets[text + 1] - offsets[text]
        if n_tokens < min_tokens or n_tokens == 0:
            continue
        first_type, end_type = texts.type_offsets[text], texts.type_offsets[text + 1]
        n_types = end_type - first_type
        n_entries = list_weighted(
            texts.type_hashes[first_type:end_type],
            texts.type_starts[first_type : end_type + 1],
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
            starts[t] = entry
            while entry < n_entries and types[entry] == t:
                entry += 1
        starts[n_types] = n_entries
        n_windows = list_windows(texts, text, active, min_tokens, True, steps, n_before, windows)
        if n_windows > windows.keys.shape[0]:
            return text, n_before
    return np.int64(offsets.shape[0] - 1), n_windows
