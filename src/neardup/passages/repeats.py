"""Repeats: runs of equal tokens that documents share, and which of them go.

Every window of ``min_tokens`` tokens has a sample, and equal windows have equal ones. So documents
are first met by the samples of all texts, brought together by value, and only those that share one
are read as a whole. Across a joint, where something has gone, there are samples that no text had
before. They are compared with those of all texts afterwards; where one is met, the documents that
have it are added, and what goes is found anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.kernels.passage import repeat_table, repeats
from neardup.kernels.types import sealed
from neardup.runs.arrays import let_go
from neardup.tables import Bools, Int64s, Rows, TokenLists, Uint64s

# Documents are handed to the kernel in runs of about as many tokens, so that one may stop between.
# Of a mapped file a piece around each token that is looked at stays in memory until then, which on
# some systems is 2 MB.
_AT_A_TIME, _MAPPED_AT_A_TIME = 1 << 22, 1 << 16
_LEAST_ROOM = 1 << 10
# Tokens of a part of a sample at most: so many are seldom twice in one.
_PART = 3
# Slots of the table for each sample that is shared; some are there that only seem to be.
_SLOTS = 2
# Bits of the filter for each sample that is shared: of others it has one in so many.
_FILTER_BITS = 16
# Windows counted at a time: 32 bytes each at most.
_COUNTED_AT_A_TIME = 1 << 23


class Samples(NamedTuple):
    """Samples of windows; arrays have a row for each: its hash and its document."""

    hashes: Uint64s
    documents: Int64s

    @classmethod
    def of_none(cls) -> Samples:
        """Return no samples."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    def select(self, rows: Int64s | slice) -> Samples:
        """Return some rows."""
        return Samples(self.hashes[rows], self.documents[rows])


class Met(NamedTuple):
    """What of a part of the samples is shared: the hashes, and the documents that have them."""

    hashes: Uint64s
    documents: Int64s


T = TypeVar("T")

EachPart = Callable[[Callable[[Samples], T]], Iterable[T]]
"""Calls a function with the samples of all documents, part after part, and returns its results.

Equal hashes are in one part.
"""


def sample_windows(tokens: TokenLists, min_tokens: int) -> Samples:
    """Return the samples of all windows of ``min_tokens`` tokens, about two in so many tokens."""
    offsets = np.ascontiguousarray(tokens.offsets, np.int64)
    n_windows = int(np.maximum(np.diff(offsets) - min_tokens + 1, 0).sum())
    # Memory that is not written to is not taken.
    room = Samples(np.empty(n_windows, np.uint64), np.empty(n_windows, np.int64))
    n = repeats.sample_documents(tokens.values, offsets, min_tokens, *_lengths(min_tokens), *room)
    return room.select(slice(n))


def _lengths(min_tokens: int) -> tuple[int, int]:
    """Return how many tokens a sample has, and each of its parts: as many as go with each other."""
    part = min(max(1, min_tokens // 4), _PART)
    return (min_tokens + 1 + part) // 2, part


@dataclass(frozen=True)
class Repeats(Rows):
    """Runs of tokens that go, each with an equal one that stays; by document, then by start.

    Tokens are counted in the document, ``stops`` and ``kept_stops`` are exclusive. Runs of a
    document do not overlap.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s


def find_repeats(
    each_part: EachPart[Met],
    read: Callable[[Int64s], TokenLists],
    order: Int64s,
    min_tokens: int,
    min_documents: int = 2,
    n_against: int = 0,
) -> Repeats:
    """Find the runs of tokens that go because equal ones stay.

    Parameters
    ----------
    each_part
        Gives ``sample_windows`` of the documents, numbered from 0.
    read
        Returns the tokens of some documents, which ascend; values may be a memory map.
    order
        The numbers of all documents, those whose copy stays first.
    min_tokens
        Tokens of a run at least; at least 1.
    min_documents
        Only those windows of ``min_tokens`` tokens go that at least so many documents have, before
        anything goes. With 1 or 2 also what a document has twice, without overlap.
    n_against
        So many first documents of the order stay whole, and only what they have goes from the
        others; with 0 all documents lose what those before them have.

    Notes
    -----
    Documents are cut one after the other, by ``order``. From left to right each window of
    ``min_tokens`` tokens goes that occurs in what stays of a document before, or earlier in what
    stays of the same one without overlap. The rest is looked at again as the joined text that it
    has become, until nothing more goes: in what stays no window occurs twice without overlap. All
    runs are compared token by token. A run across a joint makes several rows. Where a later look
    takes tokens that an earlier row of the document names as kept, the row names the equal ones
    that stay for these.

    Time is linear in the number of tokens. Memory is 30 bytes for each sample that is shared, a bit
    for each token of the documents that share one, and more where shorter runs are frequent; the
    tokens of these documents, and the samples, are the caller's.
    """
    order = np.ascontiguousarray(order, np.int64)
    stays = None
    if n_against:
        stays = np.zeros(len(order), np.bool_)
        stays[order[:n_against]] = True
    meeting = _Meeting(stays, min_documents, np.empty(0, np.uint64))
    is_met: Bools = np.zeros(len(order), np.bool_)

    def marked(found: Iterable[Met]) -> Uint64s:
        hashes = [np.empty(0, np.uint64)]
        for met in found:
            is_met[met.documents] = True
            hashes.append(met.hashes)
        return np.concatenate(hashes)

    hashes = [marked(each_part(meeting.meet))]
    numbers, tokens = np.empty(0, np.int64), None
    while True:
        if is_met.sum() > len(numbers):
            # Let go of what was read before.
            del tokens
            numbers = np.flatnonzero(is_met)
            tokens = read(numbers)
        if tokens is None:
            return Repeats(*[numbers] * 6)
        places: Int64s = np.cumsum(is_met) - 1
        rows, joints = _remove(
            replace(tokens, offsets=np.ascontiguousarray(tokens.offsets, np.int64)),
            places[order[is_met[order]]],
            int(is_met[order[:n_against]].sum()),
            np.concatenate(hashes),
            min_tokens,
            min_documents,
        )
        found = _by_document(rows, tokens.offsets, numbers)
        if not len(joints):
            return found
        look = partial(meeting.meet_joints, joints=joints, filter_of_joints=_filter_of(joints))
        met = marked(each_part(look))
        if not len(met):
            return found
        meeting = replace(meeting, of_joints=np.union1d(meeting.of_joints, met))
        hashes.append(met)


@dataclass(frozen=True)
class _Meeting:
    """Tells which samples of a part are shared.

    Parameters
    ----------
    stays
        Says of each document whether it stays whole: then those are shared that are both in such a
        one and in another. None if none does: then those that are twice.
    min_documents
        In so many documents at least, where it is more than 2.
    of_joints
        Hashes that are known to be shared with a joint alone, ascending.
    """

    stays: Bools | None
    min_documents: int
    of_joints: Uint64s

    def meet(self, part: Samples) -> Met:
        """Return what is shared."""
        # Most are nowhere else, which is soon seen.
        rows: Int64s = np.empty(len(part.hashes) + 1, np.int64)
        filters = _empty_filter(len(part.hashes)), _empty_filter(len(part.hashes))
        part = part.select(rows[: repeat_table.find_repeated(part.hashes, *filters, rows)])
        part, starts, is_shared, _ = self._groups(part)
        return _met(part, starts, is_shared)

    def meet_joints(self, part: Samples, *, joints: Uint64s, filter_of_joints: Uint64s) -> Met:
        """Return what is shared with a joint alone; ``joints`` ascend."""
        rows: Int64s = np.empty(len(part.hashes) + 1, np.int64)
        n = repeat_table.filter_hashes(filter_of_joints, part.hashes, rows)
        part = part.select(rows[:n])
        at = np.minimum(np.searchsorted(joints, part.hashes), len(joints) - 1)
        part = part.select(np.flatnonzero(joints[at] == part.hashes))
        part, starts, is_shared, may_be = self._groups(part)
        is_known = np.isin(part.hashes[starts], self.of_joints)
        return _met(part, starts, may_be & ~is_shared & ~is_known)

    def _groups(self, part: Samples) -> tuple[Samples, Int64s, Bools, Bools]:
        """Sort samples by hash; return where each hash begins, and whether it is shared.

        The last is whether something may go for it.
        """
        if self.min_documents > 2:
            part = part.select(np.lexsort((part.documents, part.hashes)))
        else:
            part = part.select(np.argsort(part.hashes))
        starts = np.flatnonzero(_differs_before(part.hashes))
        sizes = np.diff(starts, append=len(part.hashes))
        is_shared, may_be = sizes > 1, np.ones(len(sizes), np.bool_)
        if self.stays is not None and len(starts):
            n_staying = np.add.reduceat(self.stays[part.documents].astype(np.int64), starts)
            may_be = n_staying > 0
            is_shared = may_be & (n_staying < sizes)
        if self.min_documents > 2 and len(starts):
            is_new = _differs_before(part.documents)
            is_new[starts] = True
            is_shared &= np.add.reduceat(is_new.astype(np.int64), starts) >= self.min_documents
        return part, starts, is_shared, may_be


def _met(part: Samples, starts: Int64s, chosen: Bools) -> Met:
    """Return some of the hashes of a part, and the documents that have one."""
    sizes = np.diff(starts, append=len(part.hashes))
    return Met(part.hashes[starts[chosen]], np.unique(part.documents[np.repeat(chosen, sizes)]))


def _differs_before(values: Uint64s | Int64s) -> Bools:
    """Tell which values differ from the one before."""
    differs: Bools = np.ones(len(values), np.bool_)
    differs[1:] = values[1:] != values[:-1]
    return differs


def _empty_filter(n_hashes: int) -> Uint64s:
    """Return a filter for so many hashes."""
    return np.zeros(1 << max(0, (_FILTER_BITS * n_hashes // 64 - 1).bit_length()), np.uint64)


def _filter_of(hashes: Uint64s) -> Uint64s:
    """Return the filter that has some hashes."""
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
    """Cut documents in order, comparing those windows of which the samples have these hashes.

    Returns a row for each run that goes, its first and last token, exclusive, and the first one
    that stays for it, counted through all documents; and the hashes of samples across joints.
    """
    values, offsets = tokens.values, tokens.offsets
    collection = sealed(
        repeat_table.Collection(
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

    # Documents that are done, and those of which the samples are in the table: fewer, when it has
    # grown and is filled anew.
    n_done = n_filled = 0
    while n_done < len(order):
        before = int(ends[n_filled - 1]) if n_filled else 0
        behind = max(n_filled + 1, int(np.searchsorted(ends, before + at_a_time)))
        behind = min(behind, n_done if n_filled < n_done else len(order))
        found = repeat_table.Found(entries, rows, joints, filled)
        stopped_at, state = repeats.remove_repeats(
            collection, found, order, n_filled, behind, max(n_against, n_done), added_to
        )
        n_filled = int(stopped_at)
        n_done = max(n_done, n_filled)
        if state == repeats.ROWS_FULL:
            rows = np.concatenate([rows, np.empty_like(rows)])
        if state == repeats.JOINTS_FULL:
            joints = np.concatenate([joints, np.empty_like(joints)])
        if state == repeats.TABLE_FULL:
            n_slots = 2 * len(entries)
            del entries, found
            entries = np.zeros(n_slots, np.uint64)
            n_filled = filled[0] = 0
        if is_mapped:
            mapped = (each for each in (values, tokens.heads) if isinstance(each, np.memmap))
            let_go(map(pa.py_buffer, mapped))
    return rows[: filled[1]], np.unique(joints[: filled[2]])


def _wanted_windows(
    tokens: TokenLists, order: Int64s, min_tokens: int, min_documents: int
) -> Uint64s:
    """Give a hash table of the windows that enough documents have; an empty one if all may go."""
    if min_documents <= 2:
        return np.zeros(0, np.uint64)
    n_windows = int(np.maximum(np.diff(tokens.offsets)[order] - min_tokens + 1, 0).sum())
    n_parts = 1 + n_windows // _COUNTED_AT_A_TIME
    # Parts are of about equal size; the table of one is never quite full.
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


def _by_document(rows: Int64s, offsets: Int64s, numbers: Int64s) -> Repeats:
    """Sort rows of tokens counted through documents of some numbers, and count them in each."""
    starts, stops, kept = rows[np.argsort(rows[:, 0])].T
    documents = np.searchsorted(offsets, starts, side="right") - 1
    kept_documents = np.searchsorted(offsets, kept, side="right") - 1
    own, other = offsets[documents], offsets[kept_documents]
    kept_starts = kept - other
    return Repeats(
        numbers[documents],
        starts - own,
        stops - own,
        numbers[kept_documents],
        kept_starts,
        kept_starts + stops - starts,
    )
