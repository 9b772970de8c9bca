"""Find equal token runs of documents and choose the removals.

Equal windows of ``min_tokens`` tokens have equal samples. So documents are first matched by the
samples of all texts, grouped by value, and only documents with a shared sample are read completely.
Windows across the joint of a removal have new samples, compared with all texts' samples afterwards;
on a match, the documents with that sample are added, and the removal is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.index.segments import release
from neardup.kernels.arrays import sealed
from neardup.kernels.passage import repeat_kernels, repeat_table
from neardup.tables import Bools, CutSpans, Int64s, TokenLists, Uint64s, starts_of_runs

# Documents are passed to the kernel in runs of about this many tokens, so that it can be cancelled
# between them. Of a mapped file, a page around each accessed token stays in memory until then,
# which on some systems is 2 MB.
_AT_A_TIME, _MAPPED_AT_A_TIME = 1 << 22, 1 << 16
_LEAST_ROOM = 1 << 10
# Maximum tokens of a part of a sample: this many rarely occur twice in one.
_PART = 3
# Slots of the table per shared sample; some samples are false positives.
_SLOTS = 2
# Bits of the filter per shared sample; also its inverse false positive rate.
_FILTER_BITS = 16
# Windows counted at a time: up to 32 bytes each.
_COUNTED_AT_A_TIME = 1 << 23


class WindowSamples(NamedTuple):
    """Window samples, one row each, with hashes and documents."""

    hashes: Uint64s
    documents: Int64s

    @classmethod
    def of_none(cls) -> WindowSamples:
        """Return window samples without rows."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    def select(self, rows: Int64s | slice) -> WindowSamples:
        """Return the samples of some rows."""
        return WindowSamples(self.hashes[rows], self.documents[rows])


class SharedSamples(NamedTuple):
    """Hashes of shared samples, and all documents that have one of them."""

    hashes: Uint64s
    documents: Int64s


T = TypeVar("T")

EachPart = Callable[[Callable[[WindowSamples], T]], Iterable[T]]
"""Calls a function with the samples of all documents, part by part, and returns its results.

Equal hashes are in one part.
"""


def sample_windows(tokens: TokenLists, min_tokens: int) -> WindowSamples:
    """Return window samples, about two per ``min_tokens`` tokens."""
    offsets = np.ascontiguousarray(tokens.offsets, np.int64)
    n_windows = int(np.maximum(np.diff(offsets) - min_tokens + 1, 0).sum())
    # Unwritten memory is not allocated.
    room = WindowSamples(np.empty(n_windows, np.uint64), np.empty(n_windows, np.int64))
    n = repeat_kernels.sample_documents(
        tokens.values, offsets, min_tokens, *_lengths(min_tokens), *room
    )
    return room.select(slice(n))


def _lengths(min_tokens: int) -> tuple[int, int]:
    """Return the token counts of a sample and its parts."""
    part = min(max(1, min_tokens // 4), _PART)
    return (min_tokens + 1 + part) // 2, part


def find_repeats(
    each_part: EachPart[SharedSamples],
    read: Callable[[Int64s], TokenLists],
    order: Int64s,
    min_tokens: int,
    min_documents: int = 2,
    n_against: int = 0,
) -> CutSpans:
    """Find the repeated runs to remove, without overlaps.

    ``each_part`` yields ``sample_windows`` of the documents, numbered from 0, and ``read`` the
    tokens of documents in ascending order; values may be a memory map. ``order`` has the numbers of
    all documents; the first copy in this order stays. A run has ``min_tokens`` or more. Only
    windows that at least ``min_documents`` have before any removal are removed; with 1 or 2, also
    repeats within a document. The first ``n_against`` documents of the order stay whole, and only
    their windows are removed from the others; with 0, all documents lose earlier windows.

    Documents are cut in ``order``. From left to right, a window of ``min_tokens`` tokens is removed
    if it occurs in the remainder of an earlier document, or earlier in the remainder of the same
    document without overlap. The joined remainder is scanned again until no window of it occurs
    twice without overlap. All runs are compared token by token. A run across a joint makes several
    rows. If a later scan removes tokens that an earlier row of the document names as kept, that row
    names their kept copies instead.

    Time is linear in the number of tokens. Memory is 30 bytes per shared sample, a bit per token of
    the documents that share one, and more if shorter runs are frequent; the caller holds the tokens
    of these documents and the samples.
    """
    order = np.ascontiguousarray(order, np.int64)
    stays = None
    if n_against:
        stays = np.zeros(len(order), np.bool_)
        stays[order[:n_against]] = True
    # The documents that have to be read.
    has_shared: Bools = np.zeros(len(order), np.bool_)

    def collect(find: Callable[[WindowSamples], SharedSamples]) -> Uint64s:
        hashes = [np.empty(0, np.uint64)]
        for shared in each_part(find):
            has_shared[shared.documents] = True
            hashes.append(shared.hashes)
        return np.concatenate(hashes)

    hashes = collect(partial(_find_shared, stays, min_documents))
    # Samples that other texts share only with joints, found so far.
    of_joints, numbers, tokens = np.empty(0, np.uint64), np.empty(0, np.int64), None
    while True:
        if has_shared.sum() > len(numbers):
            # Free the previous tokens.
            del tokens
            numbers = np.flatnonzero(has_shared)
            tokens = read(numbers)
        if tokens is None:
            return CutSpans.of_none()
        places: Int64s = np.cumsum(has_shared) - 1
        rows, joints = _remove(
            replace(tokens, offsets=np.ascontiguousarray(tokens.offsets, np.int64)),
            places[order[has_shared[order]]],
            int(has_shared[order[:n_against]].sum()),
            np.concatenate([hashes, of_joints]),
            min_tokens,
            min_documents,
        )
        new = of_joints[:0]
        if len(joints):
            new = collect(partial(_find_joints, stays, min_documents, joints, of_joints))
        if not len(new):
            return _by_document(rows, tokens.offsets, numbers)
        of_joints = np.union1d(of_joints, new)


def _find_shared(stays: Bools | None, min_documents: int, part: WindowSamples) -> SharedSamples:
    """Find the shared samples of a part.

    A sample is shared if it is in a document that ``stays`` and in another, or twice if ``stays``
    is None, and in ``min_documents``, if more than 2.
    """
    # Most samples are unique, which is detected quickly.
    rows: Int64s = np.empty(len(part.hashes) + 1, np.int64)
    filters = _empty_filter(len(part.hashes)), _empty_filter(len(part.hashes))
    part = part.select(rows[: repeat_table.find_repeated(part.hashes, *filters, rows)])
    part, starts, is_shared, _ = _groups(stays, min_documents, part)
    return _choose(part, starts, is_shared)


def _find_joints(
    stays: Bools | None, min_documents: int, joints: Uint64s, known: Uint64s, part: WindowSamples
) -> SharedSamples:
    """Find the samples shared only with ascending ``joints``, without known ones."""
    rows: Int64s = np.empty(len(part.hashes) + 1, np.int64)
    n = repeat_table.filter_hashes(_filter_of(joints), part.hashes, rows)
    part = part.select(rows[:n])
    at = np.minimum(np.searchsorted(joints, part.hashes), len(joints) - 1)
    part = part.select(np.flatnonzero(joints[at] == part.hashes))
    part, starts, is_shared, may_be = _groups(stays, min_documents, part)
    is_known = np.isin(part.hashes[starts], known)
    return _choose(part, starts, may_be & ~is_shared & ~is_known)


def _groups(
    stays: Bools | None, min_documents: int, part: WindowSamples
) -> tuple[WindowSamples, Int64s, Bools, Bools]:
    """Return samples by hash, group starts, shared and removable masks."""
    counts_documents = min_documents > 2
    keys = (part.documents, part.hashes)
    part = part.select(np.lexsort(keys) if counts_documents else np.argsort(part.hashes))
    starts = starts_of_runs(part.hashes)
    sizes = np.diff(starts, append=len(part.hashes))
    is_shared, may_be = sizes > 1, np.ones(len(sizes), np.bool_)
    if stays is not None and len(starts):
        n_staying = np.add.reduceat(stays[part.documents].astype(np.int64), starts)
        may_be = n_staying > 0
        is_shared = may_be & (n_staying < sizes)
    if counts_documents and len(starts):
        is_new = np.zeros(len(part.hashes), np.bool_)
        is_new[starts], is_new[starts_of_runs(part.documents)] = True, True
        is_shared &= np.add.reduceat(is_new.astype(np.int64), starts) >= min_documents
    return part, starts, is_shared, may_be


def _choose(part: WindowSamples, starts: Int64s, chosen: Bools) -> SharedSamples:
    sizes = np.diff(starts, append=len(part.hashes))
    return SharedSamples(
        part.hashes[starts[chosen]], np.unique(part.documents[np.repeat(chosen, sizes)])
    )


def _empty_filter(n_hashes: int) -> Uint64s:
    return np.zeros(1 << max(0, (_FILTER_BITS * n_hashes // 64 - 1).bit_length()), np.uint64)


def _filter_of(hashes: Uint64s) -> Uint64s:
    shared = _empty_filter(len(hashes))
    repeat_table.fill_filter(hashes, shared)
    return shared


def _remove(
    tokens: TokenLists,
    order: Int64s,
    n_against: int,
    hashes: Uint64s,
    min_tokens: int,
    min_documents: int,
) -> tuple[Int64s, Uint64s]:
    """Cut documents in order, comparing windows with these sample hashes.

    Returns rows of first token, last token (exclusive) and first kept token of each removed run,
    counted through all documents; and the hashes of samples across joints.
    """
    values, offsets = tokens.values, tokens.offsets
    collection = sealed(
        repeat_table.RepeatTexts(
            values,
            tokens.heads,
            offsets,
            np.zeros((len(values) >> 6) + 1, np.uint64),
            _wanted_windows(tokens, order, min_tokens, min_documents),
            _filter_of(hashes),
            min_tokens,
            *_lengths(min_tokens),
        )
    )
    ends = np.cumsum(np.diff(offsets)[order])
    entries = np.zeros(_LEAST_ROOM + int(_SLOTS * len(hashes)), np.uint64)
    rows, filled = np.empty((_LEAST_ROOM, 3), np.int64), np.zeros(3, np.int64)
    joints = np.empty(_LEAST_ROOM, np.uint64)
    added_to = n_against or len(order)
    is_mapped = isinstance(values, np.memmap)
    at_a_time = _MAPPED_AT_A_TIME if is_mapped else _AT_A_TIME

    # Documents that are done, and documents with samples in the table; the second number drops when
    # the table grows and is refilled.
    n_done = n_filled = 0
    while n_done < len(order):
        before = int(ends[n_filled - 1]) if n_filled else 0
        behind = max(n_filled + 1, int(np.searchsorted(ends, before + at_a_time)))
        behind = min(behind, n_done if n_filled < n_done else len(order))
        found = repeat_table.SampleTable(entries, rows, joints, filled)
        stopped_at, state = repeat_kernels.remove_repeats(
            collection, found, order, n_filled, behind, max(n_against, n_done), added_to
        )
        n_filled = int(stopped_at)
        n_done = max(n_done, n_filled)
        if state == repeat_kernels.ROWS_FULL:
            rows = np.concatenate([rows, np.empty_like(rows)])
        if state == repeat_kernels.JOINTS_FULL:
            joints = np.concatenate([joints, np.empty_like(joints)])
        if state == repeat_kernels.TABLE_FULL:
            n_slots = 2 * len(entries)
            del entries, found
            entries = np.zeros(n_slots, np.uint64)
            n_filled = filled[0] = 0
        if is_mapped:
            for each in (values, tokens.heads):
                if isinstance(each, np.memmap):
                    release(pa.py_buffer(each))
    return rows[: filled[1]], np.unique(joints[: filled[2]])


def _wanted_windows(
    tokens: TokenLists, order: Int64s, min_tokens: int, min_documents: int
) -> Uint64s:
    """Return a hash table of the windows in enough documents."""
    if min_documents <= 2:
        return np.zeros(0, np.uint64)
    n_windows = int(np.maximum(np.diff(tokens.offsets)[order] - min_tokens + 1, 0).sum())
    n_parts = 1 + n_windows // _COUNTED_AT_A_TIME
    # Parts are of about equal size; a table is never quite full.
    n_slots = 1 << (2 * n_windows // n_parts + 64).bit_length()
    kept = []
    for part in range(n_parts):
        hashes, counts = np.zeros(n_slots, np.uint64), np.zeros(n_slots, np.int32)
        last_seen = np.zeros(n_slots, np.int32)
        repeat_table.count_documents(
            tokens.values,
            tokens.offsets,
            order,
            min_tokens,
            part,
            n_parts,
            hashes,
            counts,
            last_seen,
        )
        kept.append(hashes[counts >= min_documents])
    wanted = np.concatenate(kept)
    table = np.zeros(1 << (2 * len(wanted)).bit_length(), np.uint64)
    repeat_table.fill_table(wanted, table)
    return table


def _by_document(rows: Int64s, offsets: Int64s, numbers: Int64s) -> CutSpans:
    """Sort rows by document, with positions within the document."""
    starts, stops, kept = rows[np.argsort(rows[:, 0])].T
    documents = np.searchsorted(offsets, starts, side="right") - 1
    kept_documents = np.searchsorted(offsets, kept, side="right") - 1
    own, other = offsets[documents], offsets[kept_documents]
    kept_starts = kept - other
    return CutSpans(
        numbers[documents],
        starts - own,
        stops - own,
        numbers[kept_documents],
        kept_starts,
        kept_starts + stops - starts,
        np.ones(len(rows)),
    )
