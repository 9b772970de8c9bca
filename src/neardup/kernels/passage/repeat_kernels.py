"""Remove all but the first of equal runs of tokens.

The time is linear. Without repeats, the only work is to pick samples and fill the table.

References
----------
Lee et al. (2022), Deduplicating training data makes language models better.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s
from neardup.kernels.common.hashing import mix64
from neardup.kernels.passage.repeat_table import (
    LONG_CHAIN,
    NEVER,
    RepeatTexts,
    SampleTable,
    at_or_after,
    entry_at_home,
    fill_slot,
    first_removed,
    first_row_behind,
    is_head,
    is_shared,
    is_whole,
    look_up_sample,
    look_up_window,
    polynomial,
    power,
    set_removed,
    window_hash,
)
from neardup.kernels.text.shingle_kernels import POWER

# Samples picked at a time. The table is touched for all of them before any is looked up: so their
# waits for memory overlap.
N_PICKED = 64

FULL = -1


@helper
def ring_size(gram: Int, part: Int) -> Int:
    """Return a power of two that fits a k-gram's parts."""
    size = np.int64(1)
    while size < gram - part + 1:
        size <<= 1
    return size


@inlined
def _least_before(ring: ConstUint64s, last: Int, first: Int) -> Int:
    """Return the least part's place, the last on a tie."""
    mask = np.int64(ring.shape[0] - 1)
    least, least_at = ring[np.uint64(last & mask)], np.int64(last)
    for k in range(last - 1, first - 1, -1):
        earlier = ring[np.uint64(k & mask)]
        if earlier < least:
            least, least_at = earlier, np.int64(k)
    return least_at


@helper
def _pick_samples(
    values: ConstUint64s,
    begin: Int,
    stop: Int,
    min_tokens: Int,
    gram: Int,
    part: Int,
    ring: Uint64s,
    samples: Int64s,
    windows: Int64s,
    hashes: Uint64s,
) -> tuple[Int, Int]:
    """Pick the samples of windows from ``begin`` while they fit.

    ``windows`` receives the first window of each sample. Returns the number of samples and the
    first window not seen, or ``stop``.
    """
    leaving, part_leaving = power(gram), power(part)
    mask = np.int64(ring.shape[0] - 1)
    if stop - begin < min_tokens:
        return 0, stop
    joined, joined_part = np.uint64(0), np.uint64(0)
    least, least_at = np.uint64(0), np.int64(-1)
    n = np.int64(0)
    sample_at, sample = np.int64(-1), np.uint64(0)
    window = begin - min_tokens
    for head in range(begin, stop):
        value = values[np.uint64(head)]
        joined, joined_part = joined * POWER + value, joined_part * POWER + value
        window += 1
        last = head - part + 1
        if last < begin:
            continue
        if last > begin:
            joined_part -= part_leaving * values[np.uint64(last - 1)]
        ring[np.uint64(last & mask)] = joined_part
        first = head - gram + 1
        if least_at < 0 or joined_part <= least:
            least, least_at = joined_part, np.int64(last)
        elif least_at < first:
            least_at = np.int64(_least_before(ring, last, first))
            least = ring[np.uint64(least_at & mask)]
        if first >= begin:
            if first > begin:
                joined -= leaving * values[np.uint64(first - 1)]
            if least_at == last or ring[np.uint64(first & mask)] == least:
                if window > begin and n == samples.shape[0]:
                    return n, window
                sample_at, sample = np.int64(first), joined
                if window > begin:
                    samples[np.uint64(n)], windows[np.uint64(n)] = first, window
                    hashes[np.uint64(n)] = mix64(joined)
                    n += 1
        if window == begin:
            samples[0], windows[0], hashes[0] = sample_at, begin, mix64(sample)
            n = np.int64(1)
    return n, stop


@kernel
def sample_documents(
    values: ConstUint64s,
    offsets: ConstInt64s,
    min_tokens: int,
    gram: int,
    part: int,
    hashes: Uint64s,
    documents: Int64s,
) -> int:
    """Write and count the samples of all windows of documents.

    Each has its hash and its document. There is room for one per window.
    """
    ring = np.empty(ring_size(gram, part), np.uint64)
    samples, windows = np.empty(N_PICKED, np.int64), np.empty(N_PICKED, np.int64)
    picked = np.empty(N_PICKED, np.uint64)
    n = np.int64(0)
    for document in range(offsets.shape[0] - 1):
        start, stop = offsets[document], offsets[document + 1]
        begin = start
        while begin < stop:
            n_picked, begin = _pick_samples(
                values, begin, stop, min_tokens, gram, part, ring, samples, windows, picked
            )
            for k in range(n_picked):
                hashes[n], documents[n] = picked[k], document
                n += 1
    return int(n)


@helper
def pass_samples(
    collection: RepeatTexts,
    found: SampleTable,
    first_row: Int,
    start: Int,
    stop: Int,
    begin: Int,
    gap: Int,
    is_searched: Int,
    is_added: Int,
    ring: Uint64s,
) -> Int:
    """Put samples into the table until one repeats.

    From ``begin`` to ``gap`` no token of the document is removed. Returns the first window that
    needs a closer look, or ``gap``, or ``FULL``. ``ring`` has places of ``ring_size``.
    """
    samples, windows = np.empty(N_PICKED, np.int64), np.empty(N_PICKED, np.int64)
    hashes, shared_ones = np.empty(N_PICKED, np.uint64), np.empty(N_PICKED, np.int64)
    while begin < gap:
        n_picked, begin = _pick_samples(
            collection.values,
            begin,
            gap,
            collection.min_tokens,
            collection.gram,
            collection.part,
            ring,
            samples,
            windows,
            hashes,
        )
        n_shared = np.int64(0)
        for k in range(n_picked):
            shared_ones[n_shared] = k
            n_shared += np.int64(is_shared(collection.shared, hashes[k]))
        touched = np.uint64(0)
        for i in range(n_shared):
            touched |= entry_at_home(found.entries, hashes[shared_ones[i]])
        # Kept, or the loop would be left out.
        ring[0] = touched
        for i in range(n_shared):
            k = shared_ones[i]
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
    return np.int64(gap)


@helper
def _was_there(collection: RepeatTexts, sample: Int, start: Int, stop: Int) -> bool:
    """Return whether a k-gram at a joint existed before.

    That is so if the removed text begins like the text after it, or ends like the text before it.
    Then the k-gram is unique, or already marked as shared.
    """
    values, removed, gram = collection.values, collection.removed, collection.gram
    place: Int = sample
    last: Int = sample
    is_at_first = True
    for t in range(gram):
        is_at_first &= values[np.uint64(place)] == values[np.uint64(sample + t)]
        last = place
        place = at_or_after(removed, place + 1, stop)
    first = last - gram + 1
    if is_at_first or first < start:
        return bool(is_at_first)
    place = sample
    for t in range(gram):
        if values[np.uint64(place)] != values[np.uint64(first + t)]:
            return False
        place = at_or_after(removed, place + 1, stop)
    return True


@helper
def _note_joint(found: SampleTable, hashed: np.uint64) -> bool:
    row = found.filled[2]
    if row == found.joints.shape[0]:
        return False
    found.joints[row] = hashed
    found.filled[2] += 1
    return True


DONE, TABLE_FULL, ROWS_FULL, JOINTS_FULL = 0, 1, 2, 3
"""Outcomes of ``remove_repeats``."""

_0 = np.uint64(0)


@helper
def _write_rows(
    collection: RepeatTexts,
    found: SampleTable,
    p: Int,
    stop: Int,
    q: Int,
    length: Int,
    until: Int,
) -> tuple[Int, Int, Int]:
    """Write rows for repeated tokens from ``until`` on.

    Rows begin with a character in both texts. Returns the end of the run, or -1 if full, the start
    of the first window that may end after it, and the number of tokens between.
    """
    rows, removed, heads = found.rows, collection.removed, collection.heads
    n_values = collection.values.shape[0]
    first_row = found.filled[1]
    is_written = False
    begin, left = p, length
    for step in range(length):
        if step <= length - collection.min_tokens + 1 and is_head(heads, p):
            begin, left = p, length - step
        is_written |= bool(p >= until and is_head(heads, p) and is_head(heads, q))
        if is_written:
            row = found.filled[1] - 1
            if row >= first_row and rows[row, 1] == p and rows[row, 2] + p - rows[row, 0] == q:
                rows[row, 1] = p + 1
            elif row + 1 == rows.shape[0]:
                return -1, -1, 0
            else:
                rows[row + 1, 0], rows[row + 1, 1], rows[row + 1, 2] = p, p + 1, q
                found.filled[1] += 1
        p = at_or_after(removed, p + 1, stop)
        q = at_or_after(removed, q + 1, n_values)
    if collection.min_tokens == 1:
        begin, left = p, np.int64(0)
    return p, begin, left


@helper
def _look(
    collection: RepeatTexts,
    found: SampleTable,
    first_row: Int,
    start: Int,
    stop: Int,
    is_searched: Int,
    is_added: Int,
) -> Int:
    """Write a document's repeats as rows, and index kept text.

    One pass does both. Every window is removed, from left to right, that occurs earlier in kept
    text, in the text as it was before this pass. Of the windows that overlap a removed run, the
    farthest-reaching one follows, so that periodic text makes few rows.
    """
    values, removed = collection.values, collection.removed
    min_tokens, gram, part = collection.min_tokens, collection.gram, collection.part
    ring = np.empty(ring_size(gram, part), np.uint64)
    mask = np.int64(ring.shape[0] - 1)
    leaving, part_leaving, window_leaving = power(gram), power(part), power(min_tokens)

    is_cut = not is_whole(removed, start, stop)
    # If only some windows may be removed, they are windows of the original texts.
    joins = is_cut and collection.wanted.shape[0] == 0
    until: Int = np.int64(-1)
    begin: Int = at_or_after(removed, start, stop)
    # Tokens from there to ``until``.
    passed: Int = np.int64(0)
    while begin < stop:
        gap: Int = first_removed(removed, begin, stop) if is_cut else stop
        if begin > until and gap - begin >= min_tokens:
            begin = pass_samples(
                collection, found, first_row, start, stop, begin, gap, is_searched, is_added, ring
            )
            if begin == FULL:
                return TABLE_FULL
            if begin == gap and gap < stop:
                # The first window across the gap, or after it.
                begin = at_or_after(removed, gap - min_tokens + 1, stop)
            passed = np.int64(0)
        # All numbers count tokens of the text from here on.
        head, tail, part_tail = begin, begin, begin
        first: Int = begin
        n, least_at = np.int64(0), np.int64(-1)
        again: Int = np.int64(-1)
        joined, joined_part, least = _0, _0, _0
        sample_at, sample, hashed = np.int64(0), np.int64(0), _0
        is_new, is_dense = False, False
        window_joined, window_at = _0, np.int64(-2)
        before: Int = begin
        reach: Int = passed
        run_at: Int = np.int64(0)
        run_first: Int = np.int64(0)
        run_kept: Int = np.int64(0)
        is_done, is_quiet = False, False
        while head < stop and not is_done:
            value = values[np.uint64(head)]
            joined, joined_part = joined * POWER + value, joined_part * POWER + value
            if n >= gram:
                joined -= leaving * values[np.uint64(tail)]
                tail = at_or_after(removed, tail + 1, stop) if is_cut else tail + 1
            if n >= part:
                joined_part -= part_leaving * values[np.uint64(part_tail)]
                part_tail = at_or_after(removed, part_tail + 1, stop) if is_cut else part_tail + 1
            newest = head
            head = at_or_after(removed, head + 1, stop) if is_cut else head + 1
            n += 1
            at, last = n - gram, n - part
            if last >= 0:
                ring[np.uint64(last & mask)] = joined_part
                if least_at < 0 or joined_part <= least:
                    least, least_at = joined_part, last
                elif least_at < at:
                    least_at = np.int64(_least_before(ring, last, at))
                    least = ring[np.uint64(least_at & mask)]
            if at >= 0 and (least_at == last or ring[np.uint64(at & mask)] == least):
                sample_at, sample, hashed, is_new = at, np.int64(tail), mix64(joined), True
            if n < min_tokens:
                continue
            i = n - min_tokens
            if i > 0:
                before = first
                first = at_or_after(removed, first + 1, stop) if is_cut else first + 1
            if is_new or is_dense or i == again:
                length: Int = np.int64(0)
                kept: Int = np.int64(-1)
                is_sampled, is_met = is_new or i == again, False
                if is_sampled:
                    is_met = is_shared(collection.shared, hashed)
                    if joins and not is_whole(removed, sample, sample + gram):
                        is_met = True
                        is_old = _was_there(collection, sample, start, stop)
                        if is_searched and not is_old and not _note_joint(found, hashed):
                            return JOINTS_FULL
                    is_new, is_dense, again = False, False, np.int64(-1)
                if is_met:
                    length, kept, wait, n_entries, slot = look_up_sample(
                        collection,
                        found,
                        first_row,
                        start,
                        stop,
                        is_searched,
                        first,
                        sample,
                        sample_at - i,
                        hashed,
                    )
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
                if is_dense and is_head(collection.heads, first):
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
            is_done = bool(reach > passed and first >= until)
            is_waiting = is_dense or (again > i and again < NEVER)
            is_whole_window = newest - first == min_tokens - 1
            if is_whole_window and not is_waiting and reach == passed and first > until:
                is_quiet = True
                break
        if is_quiet:
            begin, passed = at_or_after(removed, first + 1, stop), np.int64(0)
            continue
        if reach == passed:
            return DONE
        until, begin, passed = _write_rows(
            collection, found, run_first, stop, run_kept, reach - run_at, until
        )
        if until < 0:
            return ROWS_FULL
    return DONE


@helper
def _rename_kept(found: SampleTable, first: Int, last: Int, start: Int, stop: Int) -> bool:
    """Rename the kept text of rows after the last pass.

    The rows of the last pass are from ``last`` on, other rows of the document from ``first``. A row
    is split where another row now names some of its tokens. Returns whether the rows fitted.
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
    collection: RepeatTexts,
    found: SampleTable,
    order: ConstInt64s,
    first: int,
    last: int,
    searched_from: int,
    added_to: int,
) -> tuple[Int, Int]:
    """Remove repeated windows from documents in order.

    Documents before ``searched_from`` stay unchanged; kept text of documents before ``added_to``
    removes windows of other documents. Passes through a document repeat until nothing is removed,
    because cuts join text into new windows.

    Returns the first document not done and why: all are done, or table, rows or joints are full.
    With more room the caller can resume from there. A larger table is refilled with the earlier
    documents.
    """
    offsets, removed, rows = collection.offsets, collection.removed, found.rows
    for number in range(first, last):
        start, stop = offsets[order[number]], offsets[order[number] + 1]
        is_searched = np.int64(number >= searched_from)
        is_added = np.int64(number < added_to)
        document_row, document_joint = found.filled[1], found.filled[2]
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
                found.filled[1], found.filled[2] = document_row, document_joint
                return number, state
            if last_row == first_row:
                break
    return last, DONE
