"""List texts' compact windows, rectangles of sub-texts with one min-hash.

The x-th copy of a token back from the end j of a sub-text T[a..j] is at p_x: a sub-text has the
hash of this copy if it starts at p_x or before. So with a fixed end the min-hash never falls from
start to start: it is a staircase. The next end only adds hashes of its token: each lowers the
staircase up to its p_x where it is higher, which overwrites a run of steps. The life of a step is a
window: its starts, with all ends from the one that opened it to the last one before it was
overwritten.

This is the partition of the paper's Algorithm 4 with keys of equal hash visited from left to right,
without sorting keys: p_x ascends with the end, so memory is met in order, and most hashes are found
to be above the staircase by a look at the ceiling of the 64 starts around p_x.

A step is identified by its last start. The arrays over starts hold for each step its ``values``,
the number of its active hash (``entries``), the end that ``opened`` it, and the end of the step
``before`` it, which is -1 for other starts. A guard below all steps, 0, and one above, n + 1, cover
the starts without a hash; neither has a hash (-1).

The step that holds a start is looked for from the start onwards and from the last step backwards at
once: most texts of n tokens have about ln n steps, very repetitive ones nearly n.

Two kinds of hash values go up the staircase. The x-th copy of a token has the hash h(t, x) =
mix64(mix64(t ^ seed) + x * GOLDEN). A sub-text with f copies of the token has all of h(t, 1) to
h(t, f), so h(t, x) matters only if it is less than all before it; about ln f of f values are. Or
values come from consistent weighted sampling (``kernels.sketch.weighted_minhash``).

References
----------
Zhang, Qiao, Peng, Deng (2025), Near-duplicate text alignment under weighted Jaccard similarity,
Algorithms 4 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
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
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.sketch.weighted_minhash import list_weighted

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)

# Starts that share a ceiling.
_SHARE = 6


class Occurrences(NamedTuple):
    """The tokens of some texts by kind.

    ``offsets`` (n + 1) delimit the token lists. The types of text d are ``type_offsets[d]`` to
    ``type_offsets[d + 1]``; type k has the hash ``type_hashes[k]`` and occurs at
    ``positions[type_starts[k] : type_starts[k + 1]]``, counted from 1 in its text, ascending.
    ``numbers`` are the types of the tokens in text order, counted from the first of their text.
    """

    offsets: ConstInt64s
    type_offsets: ConstInt64s
    type_hashes: ConstUint64s
    type_starts: ConstInt64s
    positions: ConstInt32s
    numbers: ConstInt32s


class Active(NamedTuple):
    """The active hashes of a text by type and copy.

    Hashes of its t-th type are at ``starts[t]`` to ``starts[t + 1]``, ordered by ``orders``, then
    ``identities``, which are the keys of windows; ``types`` is scratch. All have a row per token.
    """

    types: Int32s
    starts: Int64s
    copies: Int32s
    orders: Uint64s
    identities: Uint64s


class Steps(NamedTuple):
    """Scratch for a text's staircase, and counts per type."""

    n_met: Int32s
    ceilings: Uint64s
    values: Uint64s
    entries: Int32s
    opened: Int32s
    before: Int32s


class WindowRoom(NamedTuple):
    """Output arrays for windows of starts a-b and ends c-d.

    ``keys`` are the identities of their hashes, ``starts`` a, counted through all texts, ``spans``
    b - a, c - b and d - c.
    """

    keys: Uint64s
    starts: Uint32s
    spans: Uint32Rows


def make_scratch(longest: int) -> tuple[Active, Steps]:
    """Allocate scratch for texts of up to ``longest`` tokens."""
    size = longest + 2
    active = Active(
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
    )
    return active, Steps(
        np.empty(size, np.int32),
        np.empty((size >> _SHARE) + 1, np.uint64),
        np.empty(size, np.uint64),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
    )


@inlined
def _reverse(first: Int, stop: Int, keys: Uint64s, starts: Uint32s, spans: Uint32Rows) -> None:
    for k in range((stop - first) >> 1):
        i, j = first + k, stop - 1 - k
        keys[i], keys[j] = keys[j], keys[i]
        starts[i], starts[j] = starts[j], starts[i]
        for m in range(3):
            spans[i, m], spans[j, m] = spans[j, m], spans[i, m]


@helper
def list_windows(
    texts: Occurrences,
    text: Int,
    active: Active,
    min_tokens: Int,
    has_all: bool,
    steps: Steps,
    n: Int,
    windows: WindowRoom,
) -> Int:
    """List a text's windows with sub-texts of ``min_tokens``.

    Returns the number of windows. Unless ``has_all``, active hashes above some value were left out:
    the result is then -1 if a sub-text of ``min_tokens`` has no hash left, else the result with all
    hashes. ``n`` windows exist already; windows that do not fit are only counted. Windows of one
    key ascend and are disjoint.
    """
    positions, type_starts, numbers = texts.positions, texts.type_starts, texts.numbers
    base, n_tokens = texts.offsets[text], texts.offsets[text + 1] - texts.offsets[text]
    first_type = texts.type_offsets[text]
    n_types = texts.type_offsets[text + 1] - first_type
    _, entry_starts, copies, orders, identities = active
    n_met, ceilings, values, entries, opened, before = steps
    keys, starts, spans = windows
    room = keys.shape[0]
    for k in range(n_types):
        n_met[k] = 0
    for k in range((n_tokens >> _SHARE) + 1):
        ceilings[k] = _LARGEST
    top = n_tokens + 1
    for k in range(1, top):
        before[k] = -1
    values[0], entries[0] = np.uint64(0), -1
    values[top], entries[top] = _LARGEST, -1
    before[top] = 0
    # The code for every hash or window is written out: inlined functions with array arguments make
    # Numba count references to them, which took longer than all other work.
    for end in range(1, n_tokens + 1):
        t = np.int64(numbers[base + end - 1])
        place = type_starts[first_type + t] + n_met[t]
        n_met[t] += 1
        for entry in range(entry_starts[t], entry_starts[t + 1]):
            if copies[entry] > n_met[t]:
                break
            value = orders[entry]
            start = np.int64(positions[place - copies[entry] + 1])
            share = start >> _SHARE
            if ceilings[share] < value:
                continue
            # The step that contains the start keeps the part after it. None of these steps was
            # created at this end, because the copy before it has lowered all starts within its
            # reach.
            onwards, holder = start, np.int64(top)
            while before[onwards] < 0 and before[holder] >= start:
                onwards, holder = onwards + 1, np.int64(before[holder])
            if before[onwards] >= 0:
                holder = onwards
            step, first_window = holder, n
            while values[step] > value or (
                values[step] == value
                and entries[step] >= 0
                and identities[entries[step]] > identities[entry]
            ):
                low, first_end = np.int64(before[step]), np.int64(opened[step])
                if end - 1 - low >= min_tokens and entries[step] >= 0:
                    last_start = min(step, start)
                    if n < room:
                        keys[n] = identities[entries[step]]
                        starts[n] = base + low
                        spans[n, 0] = last_start - low - 1
                        spans[n, 1] = first_end - last_start
                        spans[n, 2] = end - 1 - first_end
                    n += 1
                if step < start:
                    before[step] = -1
                step = low
            if step < start:
                if n > first_window + 1 and n <= room:
                    _reverse(first_window, n, keys, starts, spans)
                values[start], entries[start] = value, entry
                opened[start], before[start] = end, step
                if holder > start:
                    before[holder] = start
            elif step >> _SHARE > share:
                ceilings[share] = values[step]
        if not has_all and end - before[top] >= min_tokens:
            return np.int64(-1)
    head, first_window = np.int64(before[top]), n
    while head > 0:
        low, first_end = np.int64(before[head]), np.int64(opened[head])
        if n_tokens - low >= min_tokens:
            if n < room:
                keys[n] = identities[entries[head]]
                starts[n] = base + low
                spans[n, 0] = head - low - 1
                spans[n, 1] = first_end - head
                spans[n, 2] = n_tokens - first_end
            n += 1
        head = low
    if n > first_window + 1 and n <= room:
        _reverse(first_window, n, keys, starts, spans)
    return n


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
    """List each text's distinct tokens and positions (``Occurrences``).

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
    """Hash copy x of a token from its seeded hash."""
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
    """List a text's active hashes below ``high``.

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


@inlined
def _first_ceiling(n_tokens: Int, min_tokens: Int) -> np.uint64:
    """Guess a ceiling for the hashes of almost all runs.

    Runs have ``min_tokens`` tokens. A run with only greater hashes has a probability below n (1 -
    ceiling)^min_tokens, a hundredth, if all tokens differ; repeats take some more. If the ceiling
    is close to the maximum, a second try would cost more than the first one saves.
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
    windows: WindowRoom,
) -> tuple[Int, Int]:
    """List windows of texts under one hash function.

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
    windows: WindowRoom,
) -> tuple[Int, Int]:
    """List windows of texts under consistent weighted sampling.

    The first text is ``first_text``. ``log_weights`` of a type's copies are in the places of its
    positions. Tokens without weight have no key, and sub-texts of such tokens only have no window.
    Otherwise as ``multiset_windows``.
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
