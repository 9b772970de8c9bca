"""Table of samples for finding earlier copies of windows.

A k-gram is a sample if the least of its parts, s-grams, is the first or the last of them. The
sample of a window of ``min_tokens`` tokens is the last one in it; a window with k - s k-grams has
one. Equal windows have equal samples at equal places, so a table of the samples of kept text finds
all windows that occur there. The text around a k-gram does not affect whether it is a sample. So a
sample that occurs only once in all texts stays unique after any cut, and is left out: a filter with
a bit per hash marks the repeated ones. Frequent k-grams in varying text would make long chains:
after ``LONG_CHAIN`` entries of one hash the windows themselves go into the table. Entries are
always compared token by token.

Texts are walked without their removed tokens: bit ``p & 63`` of word ``p >> 6`` is set if token p
is removed. Documents per window are counted by 64-bit hashes.

Where a character is several tokens, equal tokens may begin or end inside it. A run that is removed
begins and ends with a character, both in the text that loses it and in the one that keeps it.

References
----------
Edgar (2021), Syncmers are more sensitive than minimizers for selecting conserved k-mers: samples
are its closed syncmers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, leading_zeros, trailing_zeros
from neardup.kernels.arrays import (
    ConstBools,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.hashing import GOLDEN, mix64
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.text.shingle_kernels import POWER

_0, _1, _6, _32, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(32), np.uint64(63)


@inlined
def is_removed(removed: ConstUint64s, place: Int) -> bool:
    """Return whether a token is removed."""
    return bool((removed[np.uint64(place >> 6)] >> np.uint64(place & 63)) & _1)


@inlined
def is_head(heads: ConstBools, place: Int) -> bool:
    """Return whether a character begins, or tokens end, at ``place``."""
    return bool(place >= heads.shape[0] or heads[np.uint64(place)])


@inlined
def is_whole(removed: ConstUint64s, start: Int, stop: Int) -> bool:
    """Return whether no token in [start, stop) is removed."""
    if start == stop:
        return True
    first, last = start >> 6, (stop - 1) >> 6
    for word in range(first, last + 1):
        rest = removed[np.uint64(word)]
        if word == first:
            rest = (rest >> np.uint64(start & 63)) << np.uint64(start & 63)
        if word == last:
            unused = _63 - np.uint64((stop - 1) & 63)
            rest = (rest << unused) >> unused
        if rest != _0:
            return False
    return True


@inlined
def at_or_after(removed: ConstUint64s, place: Int, stop: Int) -> Int:
    """Return the first remaining token from ``place``, or ``stop``."""
    while place < stop:
        rest = ~removed[np.uint64(place >> 6)] >> np.uint64(place & 63)
        if rest != _0:
            return min(np.int64(stop), np.int64(place) + np.int64(trailing_zeros(rest)))
        place = ((place >> 6) + 1) << 6
    return stop


@inlined
def first_removed(removed: ConstUint64s, place: Int, stop: Int) -> Int:
    """Return the first removed token from ``place``, or ``stop``."""
    while place < stop:
        rest = removed[np.uint64(place >> 6)] >> np.uint64(place & 63)
        if rest != _0:
            return min(np.int64(stop), np.int64(place) + np.int64(trailing_zeros(rest)))
        place = ((place >> 6) + 1) << 6
    return stop


@inlined
def at_or_before(removed: ConstUint64s, place: Int, start: Int) -> Int:
    """Return the last remaining token to ``place``, or ``start-1``."""
    while place >= start:
        rest = ~removed[np.uint64(place >> 6)] << (_63 - np.uint64(place & 63))
        if rest != _0:
            return max(np.int64(start) - 1, np.int64(place) - np.int64(leading_zeros(rest)))
        place = ((place >> 6) << 6) - 1
    return start - 1


@helper
def set_removed(removed: Uint64s, start: Int, stop: Int, value: Int) -> None:
    """Set or clear removal bits of tokens in [start, stop)."""
    for place in range(start, stop):
        word, bit = np.uint64(place >> 6), _1 << np.uint64(place & 63)
        if value:
            removed[word] |= bit
        else:
            removed[word] &= ~bit


@inlined
def window_hash(polynomial: np.uint64, length: Int) -> np.uint64:
    """Return a window's hash from its polynomial, never 0."""
    return mix64(polynomial + np.uint64(length) * GOLDEN) | _1


@inlined
def slot_of(table: ConstUint64s, hashed: np.uint64) -> np.uint64:
    """Return the slot of a hash, or a free one.

    The table is open, with a power of two slots. Free slots are 0.
    """
    mask = np.uint64(table.shape[0] - 1)
    # The lowest bit is always set.
    slot = (hashed >> _1) & mask
    while table[slot] != _0 and table[slot] != hashed:
        slot = (slot + _1) & mask
    return slot


@inlined
def is_shared(shared: ConstUint64s, hashed: np.uint64) -> bool:
    """Return whether a filter has a hash, with false positives."""
    bit = hashed & np.uint64((shared.shape[0] << 6) - 1)
    return bool((shared[bit >> _6] >> (bit & _63)) & _1)


@kernel
def fill_filter(hashes: ConstUint64s, shared: Uint64s) -> None:
    """Put hashes into a filter."""
    for hashed in hashes:
        bit = hashed & np.uint64((shared.shape[0] << 6) - 1)
        shared[bit >> _6] |= _1 << (bit & _63)


@kernel
def find_repeated(hashes: ConstUint64s, once: Uint64s, twice: Uint64s, found: Int64s) -> int:
    """List repeated hashes, ascending, with few false positives.

    ``once`` and ``twice`` are empty filters of one size. ``found`` has room for all and one more.
    """
    for hashed in hashes:
        bit = hashed & np.uint64((once.shape[0] << 6) - 1)
        word, mark = bit >> _6, _1 << (bit & _63)
        twice[word] |= once[word] & mark
        once[word] |= mark
    return filter_hashes(twice, hashes, found)


@kernel
def filter_hashes(shared: ConstUint64s, hashes: ConstUint64s, found: Int64s) -> int:
    """List the hashes in a filter, ascending.

    ``found`` has room for all and one more. Returns their number.
    """
    n = np.int64(0)
    for i in range(hashes.shape[0]):
        found[n] = i
        n += np.int64(is_shared(shared, hashes[i]))
    return int(n)


@kernel
def count_documents(
    values: ConstUint64s,
    offsets: ConstInt64s,
    order: ConstInt64s,
    min_tokens: int,
    part: int,
    n_parts: int,
    hashes: Uint64s,
    counts: Int32s,
    last_seen: Int32s,
) -> None:
    """Count the documents with each window.

    Windows have ``min_tokens`` tokens, and hashes in one of ``n_parts`` ranges of equal size.
    ``hashes`` is a table of ``slot_of`` with a free slot at least; by its slots ``counts`` gets the
    numbers, and ``last_seen`` the place of the last document in the order, plus one.
    """
    leaving = _1
    for _ in range(min_tokens):
        leaving *= POWER
    for number in range(order.shape[0]):
        start, stop = offsets[order[number]], offsets[order[number] + 1]
        joined = _0
        for i in range(start, stop):
            joined = joined * POWER + values[np.uint64(i)]
            if i - start >= min_tokens:
                joined -= leaving * values[np.uint64(i - min_tokens)]
            if i - start + 1 < min_tokens:
                continue
            hashed = window_hash(joined, min_tokens)
            if np.int64(((hashed >> _32) * np.uint64(n_parts)) >> _32) != part:
                continue
            slot = slot_of(hashes, hashed)
            hashes[slot] = hashed
            if last_seen[slot] != number + 1:
                last_seen[slot] = number + 1
                counts[slot] += 1


@kernel
def fill_table(hashes: ConstUint64s, table: Uint64s) -> None:
    """Insert distinct hashes into an empty table of ``slot_of``."""
    for hashed in hashes:
        table[slot_of(table, hashed)] = hashed


# Entries of equal hash before windows go into the table instead of samples.
LONG_CHAIN = 4
# An entry is a tag of its hash above its place plus one; 0 is free.
_PLACES = np.uint64((1 << 40) - 1)
_LOW_32 = np.uint64(0xFFFFFFFF)
NEVER = 1 << 62


class RepeatTexts(NamedTuple):
    """Tokens, removal bits, and removable windows of all documents.

    ``heads`` are the tokens that begin a character; all do if it is empty. Windows with hashes in
    ``wanted``, a table of ``slot_of``, are removable; all are if it has no slots. ``shared`` is the
    filter of samples that are looked up and go into the table.
    """

    values: ConstUint64s
    heads: ConstBools
    offsets: ConstInt64s
    removed: Uint64s
    wanted: ConstUint64s
    shared: ConstUint64s
    min_tokens: int
    gram: int
    part: int


class SampleTable(NamedTuple):
    """Table of samples, and rows of repeated tokens.

    A row has the first and last token, exclusive, and the first kept token. Tokens are counted
    through all documents. ``joints`` are the hashes of samples across a joint, which may occur
    elsewhere without a mark in ``shared``. ``filled`` counts entries, rows and joints.
    """

    entries: Uint64s
    rows: Int64Rows
    joints: Uint64s
    filled: Int64s


@inlined
def _home(hashed: np.uint64, n_slots: Int) -> Int:
    return np.int64(((hashed & _LOW_32) * np.uint64(n_slots)) >> _32)


@inlined
def entry_at_home(entries: ConstUint64s, hashed: np.uint64) -> np.uint64:
    """Return the entry in a hash's first slot."""
    return np.uint64(entries[np.uint64(_home(hashed, entries.shape[0]))])


@inlined
def _find_slot(entries: ConstUint64s, slot: Int, tag: np.uint64) -> Int:
    """Return the next slot that is free or has ``tag``."""
    n_slots = entries.shape[0]
    if slot == n_slots:
        slot = np.int64(0)
    while True:
        entry = entries[np.uint64(slot)]
        if entry == _0 or (entry & ~_PLACES) == tag:
            return slot
        slot += 1
        if slot == n_slots:
            slot = np.int64(0)


@inlined
def _place(entry: np.uint64) -> Int:
    return np.int64(entry & _PLACES) - 1


@inlined
def _is_wanted(wanted: ConstUint64s, hashed: np.uint64) -> bool:
    return bool(wanted[slot_of(wanted, hashed)] == hashed)


@helper
def power(exponent: Int) -> np.uint64:
    """Return a power of ``POWER``."""
    product = _1
    for _ in range(exponent):
        product *= POWER
    return product


@helper
def polynomial(collection: RepeatTexts, place: Int, length: Int, stop: Int) -> np.uint64:
    """Join tokens of the text from a place on."""
    joined = _0
    for _ in range(length):
        joined = joined * POWER + collection.values[place]
        place = at_or_after(collection.removed, place + 1, stop)
    return joined


@helper
def first_row_behind(rows: Int64Rows, first: Int, last: Int, place: Int) -> Int:
    """Return the first row that covers ``place`` or later tokens."""
    while first < last:
        middle = (first + last) >> 1
        if rows[middle, 1] <= place:
            first = middle + 1
        else:
            last = middle
    return first


@helper
def _bounds(
    collection: RepeatTexts, found: SampleTable, first_row: Int, start: Int, stop: Int, place: Int
) -> tuple[Int, Int]:
    """Return the kept range around a token, empty if removed.

    It lies in the document from ``start`` to ``stop``, between the rows of this pass.
    """
    offsets, rows = collection.offsets, found.rows
    if start <= place < stop:
        last_row = found.filled[1]
        row = first_row_behind(rows, first_row, last_row, place)
        low = rows[row - 1, 1] if row > first_row else np.int64(start)
        high = rows[row, 0] if row < last_row else np.int64(stop)
        return low, high
    document = first_at_least(offsets, 0, offsets.shape[0], place + 1) - 1
    return offsets[document], offsets[document + 1]


@helper
def _first_run(
    collection: RepeatTexts, p: Int, p_stop: Int, q: Int, q_stop: Int, is_own: bool, most: Int
) -> tuple[Int, Int]:
    """Find the first removable run among equal tokens.

    Returns the number of tokens before it, at most ``most``, or ``NEVER``, and its length, inexact
    if tokens come before it. In the own text a run ends before its next occurrence.
    """
    values, removed, heads = collection.values, collection.removed, collection.heads
    min_tokens = collection.min_tokens
    is_choosy = collection.wanted.shape[0] > 0
    leaving = power(min_tokens) if is_choosy else _0
    joined, tail = _0, p
    n = np.int64(0)
    # The run is from first to last; it begins at token ``begin``, if at all.
    first: Int = np.int64(-1)
    last: Int = np.int64(0)
    begin: Int = p_stop
    while True:
        if is_head(heads, p) and is_head(heads, q):
            if first < 0:
                first, begin = n, p
            last = n
        if (n if first < 0 else first) > most:
            return NEVER, 0
        if is_own and q >= begin:
            if last - first >= min_tokens:
                break
            # A run that begins later may also end later.
            first, begin = first + 1, at_or_after(removed, begin + 1, p_stop)
        if p >= p_stop or q >= q_stop:
            break
        value = values[np.uint64(p)]
        if value != values[np.uint64(q)]:
            break
        if is_choosy:
            joined = joined * POWER + value
            if n >= min_tokens:
                joined -= leaving * values[np.uint64(tail)]
                tail = at_or_after(removed, tail + 1, p_stop)
            window = n + 1 - min_tokens
            if window >= first >= 0 and not _is_wanted(
                collection.wanted, window_hash(joined, min_tokens)
            ):
                if last - first >= min_tokens:
                    break
                first, begin = window + 1, at_or_after(removed, tail + 1, p_stop)
        n += 1
        p, q = at_or_after(removed, p + 1, p_stop), at_or_after(removed, q + 1, q_stop)
    if first < 0 or last - first < min_tokens:
        return NEVER, 0
    return first, last - first


@helper
def look_up_sample(
    collection: RepeatTexts,
    found: SampleTable,
    first_row: Int,
    start: Int,
    stop: Int,
    is_searched: Int,
    first: Int,
    sample: Int,
    n_before: Int,
    hashed: np.uint64,
) -> tuple[Int, Int, Int, Int, Int]:
    """Find the window's longest repeated run that contains its sample.

    ``n_before`` tokens of the window are before the sample. Returns the run's length, or 0, its
    kept place, the number of windows until a run that needs another look, the number of entries of
    this hash, and the sample's slot or a free one.
    """
    values, removed, entries = collection.values, collection.removed, found.entries
    best: Int = np.int64(0)
    kept: Int = np.int64(-1)
    wait: Int = np.int64(NEVER)
    own_slot: Int = np.int64(-1)
    n_entries = np.int64(0)
    tag = hashed & ~_PLACES
    slot = _find_slot(entries, _home(hashed, entries.shape[0]), tag)
    while entries[np.uint64(slot)] != _0:
        place = _place(entries[np.uint64(slot)])
        n_entries += 1
        if place == sample:
            own_slot = slot
        elif is_searched and not is_removed(removed, place):
            low, high = _bounds(collection, found, first_row, start, stop, place)
            p, q, n_left = sample, place, n_before
            while n_left > 0 and low <= q < high:
                before = at_or_before(removed, q - 1, low)
                p_before = at_or_before(removed, p - 1, start)
                if before < low or values[before] != values[p_before]:
                    break
                p, q, n_left = p_before, before, n_left - 1
            if low <= q < high:
                is_own = bool(start <= q < stop)
                most = n_before - n_left
                before_run, n = _first_run(collection, p, stop, q, high, is_own, most)
                if n_left + before_run > 0:
                    wait = min(wait, n_left + before_run)
                elif n > best:
                    best, kept = n, q
        slot = _find_slot(entries, slot + 1, tag)
    return best, kept, wait, n_entries, own_slot if own_slot >= 0 else slot


@helper
def look_up_window(
    collection: RepeatTexts,
    found: SampleTable,
    first_row: Int,
    start: Int,
    stop: Int,
    is_searched: Int,
    first: Int,
    hashed: np.uint64,
) -> tuple[Int, Int, Int]:
    """Find a run that begins at a tabled window.

    Returns its length, or 0, its kept place, and the slot of an equal window or a free one.
    """
    values, removed, entries = collection.values, collection.removed, found.entries
    heads, min_tokens = collection.heads, collection.min_tokens
    best: Int = np.int64(0)
    kept: Int = np.int64(-1)
    equal_slot: Int = np.int64(-1)
    tag = hashed & ~_PLACES
    slot = _find_slot(entries, _home(hashed, entries.shape[0]), tag)
    while entries[np.uint64(slot)] != _0:
        q = _place(entries[np.uint64(slot)])
        if q == first:
            equal_slot = slot
        elif not is_removed(removed, q):
            is_own = bool(start <= q < stop)
            _, high = _bounds(collection, found, first_row, start, stop, q)
            # Windows of one text that overlap are equal too, but only the first is of use.
            p, k = first, q
            n: Int = np.int64(0)
            # Windows are equal up to the end of one that begins with the next character: a longer
            # run is found from there.
            least: Int = np.int64(NEVER)
            is_equal = True
            while (n < least or not is_head(heads, p)) and p < stop and k < high:
                if values[p] != values[k]:
                    break
                n += 1
                p = at_or_after(removed, p + 1, stop)
                k = at_or_after(removed, k + 1, high)
                if is_head(heads, p):
                    is_equal &= is_head(heads, k)
                    least = min(least, n - 1 + min_tokens)
            if n >= min_tokens and (not is_own or q < first):
                if is_equal and is_head(heads, p) and (n >= least or p == stop):
                    equal_slot = slot
                if is_searched:
                    _, n = _first_run(collection, first, stop, q, high, is_own, 0)
                    if n > best:
                        best, kept = n, q
        slot = _find_slot(entries, slot + 1, tag)
    return best, kept, equal_slot if equal_slot >= 0 else slot


@inlined
def fill_slot(found: SampleTable, slot: Int, hashed: np.uint64, place: Int) -> bool:
    """Fill a free slot, returning whether the table is full."""
    if found.entries[np.uint64(slot)] == _0:
        found.entries[np.uint64(slot)] = hashed & ~_PLACES | np.uint64(place + 1)
        found.filled[0] += 1
    return bool(found.filled[0] * 5 >= found.entries.shape[0] * 4)
