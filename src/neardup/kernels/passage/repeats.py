"""Runs of equal tokens, found in linear time and removed but for the first of them.

Where nothing repeats, picking samples and putting them into the table is all there is to do.

References
----------
Lee et al. (2022), Deduplicating training data makes language models better.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.common.hashing import mix64
from neardup.kernels.passage.repeat_table import (
    LONG_CHAIN,
    NEVER,
    Collection,
    Found,
    at_or_after,
    entry_at_home,
    fill_slot,
    first_row_behind,
    is_whole,
    look_up_sample,
    look_up_window,
    polynomial,
    power,
    set_removed,
    window_hash,
)
from neardup.kernels.text.shingles import POWER
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

# Samples picked at a time. The table is touched for all of them before any is looked up: so their
# waits for memory overlap.
N_PICKED = 64

FULL = -1


@helper
def _pick_samples(
    values: ConstUint64s,
    begin: Int,
    stop: Int,
    min_tokens: Int,
    gram: Int,
    ring: Uint64s,
    samples: Int64s,
    windows: Int64s,
    hashes: Uint64s,
) -> tuple[Int, Int]:
    """Pick the samples of the windows from ``begin`` on, for as many as there is room.

    ``windows`` gets the first window that each is the sample of. Returns the number of samples
    and the first window that was not seen, or ``stop``.
    """
    n_grams = min_tokens - gram + 1
    leaving = power(gram)
    mask = np.int64(ring.shape[0] - 1)
    if stop - begin < min_tokens:
        return 0, stop
    joined = np.uint64(0)
    head = np.int64(begin)
    for _ in range(gram):
        joined = joined * POWER + values[np.uint64(head)]
        head += 1
    # The k-gram whose last token is before head.
    at = np.int64(begin)
    ring[np.uint64(at & mask)] = joined
    least, least_at = joined, at
    for _ in range(n_grams - 1):
        joined = joined * POWER + values[np.uint64(head)] - leaving * values[np.uint64(at)]
        head += 1
        at += 1
        ring[np.uint64(at & mask)] = joined
        if joined <= least:
            least, least_at = joined, at
    samples[0], windows[0], hashes[0] = least_at, begin, mix64(least)
    n = np.int64(1)
    while head < stop:
        joined = joined * POWER + values[np.uint64(head)] - leaving * values[np.uint64(at)]
        at += 1
        ring[np.uint64(at & mask)] = joined
        if joined > least and least_at != at - n_grams:
            head += 1
            continue
        if n == samples.shape[0]:
            return n, head - min_tokens + 1
        if joined <= least:
            least, least_at = joined, at
        else:
            least, least_at = joined, at
            for k in range(at - 1, at - n_grams, -1):
                earlier = ring[np.uint64(k & mask)]
                if earlier < least:
                    least, least_at = earlier, np.int64(k)
        head += 1
        samples[np.uint64(n)] = least_at
        windows[np.uint64(n)] = head - min_tokens
        hashes[np.uint64(n)] = mix64(least)
        n += 1
    return n, stop


@helper
def pass_samples(
    collection: Collection,
    found: Found,
    first_row: Int,
    start: Int,
    stop: Int,
    begin: Int,
    is_searched: Int,
    is_added: Int,
    ring: Uint64s,
) -> Int:
    """Put the samples of windows from ``begin`` on into the table for as long as none repeats.

    Returns the first window that needs a closer look, ``stop`` if there is none, or ``FULL``.
    ``ring`` has a power of two places, at least one for each k-gram of a window.
    """
    samples, windows = np.empty(N_PICKED, np.int64), np.empty(N_PICKED, np.int64)
    hashes = np.empty(N_PICKED, np.uint64)
    while begin < stop:
        n_picked, begin = _pick_samples(
            collection.values,
            begin,
            stop,
            collection.min_tokens,
            collection.gram,
            ring,
            samples,
            windows,
            hashes,
        )
        touched = np.uint64(0)
        for k in range(n_picked):
            touched |= entry_at_home(found.entries, hashes[k])
        # Kept, or the loop would be left out.
        ring[0] = touched
        for k in range(n_picked):
            length, _, wait, n_entries, slot = look_up_sample(
                collection,
                found,
                first_row,
                start,
                stop,
                is_searched,
                windows[k],
                samples[k],
                samples[k] - windows[k],
                hashes[k],
            )
            if length > 0 or wait < NEVER or n_entries >= LONG_CHAIN:
                return np.int64(windows[k])
            if is_added and fill_slot(found, slot, hashes[k], samples[k]):
                return FULL
    return np.int64(stop)


DONE, TABLE_FULL, ROWS_FULL = 0, 1, 2
"""How ``remove_repeats`` ends."""

_0 = np.uint64(0)


@helper
def _write_rows(
    collection: Collection,
    found: Found,
    p: Int,
    stop: Int,
    q: Int,
    length: Int,
    until: Int,
) -> tuple[Int, Int]:
    """Write rows for a run of equal tokens, without those before ``until``.

    Returns the token behind it, -1 if there was no room, and where windows begin that end behind.
    """
    rows, removed = found.rows, collection.removed
    n_values = collection.values.shape[0]
    first_row = found.filled[1]
    begin = p
    for step in range(length):
        if step == length - collection.min_tokens + 1:
            begin = p
        if p >= until:
            row = found.filled[1] - 1
            if row >= first_row and rows[row, 1] == p and rows[row, 2] + p - rows[row, 0] == q:
                rows[row, 1] = p + 1
            elif row + 1 == rows.shape[0]:
                return -1, -1
            else:
                rows[row + 1, 0], rows[row + 1, 1], rows[row + 1, 2] = p, p + 1, q
                found.filled[1] += 1
        p = at_or_after(removed, p + 1, stop)
        q = at_or_after(removed, q + 1, n_values)
    if collection.min_tokens == 1:
        begin = p
    return p, begin


@helper
def _look(
    collection: Collection,
    found: Found,
    first_row: Int,
    start: Int,
    stop: Int,
    is_searched: Int,
    is_added: Int,
) -> Int:
    """Look through a document once: rows for what goes, entries for what stays.

    From left to right every window goes that occurs before, in what stays of the text as it was
    when the look began. Behind a run that goes, of all windows that overlap it the one is taken
    that reaches farthest, so that periodic text makes few rows.
    """
    values, removed = collection.values, collection.removed
    min_tokens, gram = collection.min_tokens, collection.gram
    n_grams = min_tokens - gram + 1
    size = np.int64(1)
    while size < n_grams:
        size <<= 1
    hashes, places = np.empty(size, np.uint64), np.empty(size, np.int64)
    mask = size - 1
    leaving, window_leaving = power(gram), power(min_tokens)

    is_cut = not is_whole(removed, start, stop)
    until: Int = np.int64(-1)
    begin: Int = at_or_after(removed, start, stop)
    while begin < stop:
        if begin > until and not is_cut:
            begin = pass_samples(
                collection, found, first_row, start, stop, begin, is_searched, is_added, hashes
            )
            if begin == FULL:
                return TABLE_FULL
        # All numbers count tokens of the text from here on.
        head, tail = begin, begin
        first: Int = begin
        n, least_at = np.int64(0), np.int64(-1)
        again: Int = np.int64(-1)
        joined, least = _0, _0
        is_new, is_dense = False, False
        window_joined, window_at = _0, np.int64(-2)
        before: Int = begin
        reach: Int = np.int64(0)
        run_at: Int = np.int64(0)
        run_first: Int = np.int64(0)
        run_kept: Int = np.int64(0)
        is_done, is_quiet = False, False
        while head < stop and not is_done:
            value = values[np.uint64(head)]
            joined = joined * POWER + value
            if n >= gram:
                joined -= leaving * values[np.uint64(tail)]
                tail = at_or_after(removed, tail + 1, stop) if is_cut else tail + 1
            head = at_or_after(removed, head + 1, stop) if is_cut else head + 1
            n += 1
            if n >= gram:
                at = n - gram
                hashes[np.uint64(at & mask)] = joined
                places[np.uint64(at & mask)] = tail
                if least_at < 0 or joined <= least:
                    least, least_at, is_new = joined, at, True
                elif least_at == at - n_grams:
                    least, least_at, is_new = joined, at, True
                    for k in range(at - 1, at - n_grams, -1):
                        if hashes[np.uint64(k & mask)] < least:
                            least, least_at = hashes[np.uint64(k & mask)], np.int64(k)
            if n < min_tokens:
                continue
            i = n - min_tokens
            if i > 0:
                before = first
                first = at_or_after(removed, first + 1, stop) if is_cut else first + 1
            if is_new or is_dense or i == again:
                length: Int = np.int64(0)
                kept: Int = np.int64(-1)
                if is_new or i == again:
                    sample, hashed = places[least_at & mask], mix64(least)
                    length, kept, wait, n_entries, slot = look_up_sample(
                        collection,
                        found,
                        first_row,
                        start,
                        stop,
                        is_searched,
                        first,
                        sample,
                        least_at - i,
                        hashed,
                    )
                    is_new = False
                    again = i + wait
                    is_dense = bool(n_entries >= LONG_CHAIN)
                    is_kept = is_added and length == 0 and sample >= until
                    if is_kept and not is_dense and fill_slot(found, slot, hashed, sample):
                        return TABLE_FULL
                if is_dense:
                    if window_at == i - 1:
                        window_joined = window_joined * POWER + value
                        window_joined -= window_leaving * values[before]
                    else:
                        window_joined = polynomial(collection, first, min_tokens, stop)
                    window_at = i
                    window = window_hash(window_joined, min_tokens)
                    window_length, window_kept, slot = look_up_window(
                        collection, found, first_row, start, stop, is_searched, first, window
                    )
                    if window_length > length:
                        length, kept = window_length, window_kept
                    is_kept = is_added and length == 0 and first >= until
                    if is_kept and fill_slot(found, slot, window, first):
                        return TABLE_FULL
                if length > 0 and i + length > reach:
                    reach, run_at, run_first, run_kept = i + length, i, first, kept
            is_done = bool(reach > 0 and first >= until)
            if not is_cut and not is_dense and again >= NEVER and reach == 0 and first > until:
                is_quiet = True
                break
        if is_quiet:
            begin = first + 1
            continue
        if reach == 0:
            return DONE
        until, begin = _write_rows(
            collection, found, run_first, stop, run_kept, reach - run_at, until
        )
        if until < 0:
            return ROWS_FULL
    return DONE


@helper
def _rename_kept(found: Found, first: Int, last: Int, start: Int, stop: Int) -> bool:
    """Have rows name what stays, where tokens that they name as kept went in the last look.

    The rows of the last look are those from ``last`` on, others of the document those from
    ``first``. A row is cut in pieces where some of its tokens are now named by those of another
    row. Returns whether there was room.
    """
    rows = found.rows
    end = found.filled[1]
    for old in range(first, last):
        p, p_stop, q = rows[old, 0], rows[old, 1], rows[old, 2]
        if not start <= q < stop:
            continue
        row = first_row_behind(rows, last, end, q)
        to = old
        while p < p_stop:
            length, kept = p_stop - p, q
            if row < end and rows[row, 0] <= q:
                length = min(length, rows[row, 1] - q)
                kept = rows[row, 2] + q - rows[row, 0]
                row += 1
            elif row < end:
                length = min(length, rows[row, 0] - q)
            if to == rows.shape[0]:
                return False
            rows[to, 0], rows[to, 1], rows[to, 2] = p, p + length, kept
            if to != old:
                found.filled[1] += 1
            to = found.filled[1]
            p += length
            q += length
    return True


@kernel
def remove_repeats(
    collection: Collection,
    found: Found,
    order: ConstInt64s,
    first: int,
    last: int,
    searched_from: int,
    added_to: int,
) -> tuple[Int, Int]:
    """Remove every window that occurs before, from the documents in order from first to last.

    Those before ``searched_from`` lose nothing more; what stays of those before ``added_to`` is
    what others lose their windows for. A document is looked through until nothing of it goes: of
    the text joined after a cut other windows may.

    Returns the first document not done and why: all are done, or table or rows are full. With more
    room one may go on from there. A table of more slots is filled anew with the documents before.
    """
    offsets, removed, rows = collection.offsets, collection.removed, found.rows
    for number in range(first, last):
        start, stop = offsets[order[number]], offsets[order[number] + 1]
        is_searched = np.int64(number >= searched_from)
        is_added = np.int64(number < added_to)
        document_row = found.filled[1]
        while True:
            first_row = found.filled[1]
            state = _look(collection, found, first_row, start, stop, is_searched, is_added)
            last_row = found.filled[1]
            if state == DONE and last_row > first_row:
                for row in range(first_row, last_row):
                    set_removed(removed, rows[row, 0], rows[row, 1], 1)
                if not _rename_kept(found, document_row, first_row, start, stop):
                    state = ROWS_FULL
            if state != DONE:
                set_removed(removed, start, stop, 0)
                found.filled[1] = document_row
                return number, state
            if last_row == first_row:
                break
    return last, DONE
