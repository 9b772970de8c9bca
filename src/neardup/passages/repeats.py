"""Repeats: runs of equal tokens that documents share, and which of them go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.passage import repeat_table, repeats
from neardup.kernels.passage import repeat_table as window_counts
from neardup.kernels.types import sealed
from neardup.tables import Int64s, TokenLists, Uint64s

# Documents are handed to the kernel in runs of about as many tokens, so that one may stop between.
_AT_A_TIME = 1 << 22
_LEAST_ROOM = 1 << 10
# Slots for two samples: of random tokens there are 2 in min_tokens - gram + 2 on average.
_SLOTS = 3
# Windows counted at a time: 32 bytes each at most.
_COUNTED_AT_A_TIME = 1 << 23


@dataclass(frozen=True)
class Repeats:
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

    def __len__(self) -> int:
        return len(self.documents)


def find_repeats(
    tokens: TokenLists,
    order: Int64s,
    min_tokens: int,
    min_documents: int = 2,
    n_against: int = 0,
) -> Repeats:
    """Find the runs of tokens that go because equal ones stay.

    Parameters
    ----------
    tokens
        Of all documents; values may be a memory map.
    order
        Numbers of documents, each at most once, those whose copy stays first. Others are not
        looked at.
    min_tokens
        Tokens of a run at least; at least 1.
    min_documents
        Only those windows of ``min_tokens`` tokens go that at least so many documents of the order
        have, before anything goes. With 1 or 2 also what a document has twice, without overlap.
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

    Time is linear in the number of tokens. Besides the tokens it takes some 20 bytes for each
    ``min_tokens`` of them, and more where shorter runs are frequent.
    """
    values, offsets = tokens.values, np.ascontiguousarray(tokens.offsets, np.int64)
    order = np.ascontiguousarray(order, np.int64)
    gram = max(min_tokens // 2, 1)
    collection = sealed(
        repeat_table.Collection(
            values,
            offsets,
            np.zeros((len(values) >> 6) + 1, np.uint64),
            _wanted_windows(tokens, order, min_tokens, min_documents),
            min_tokens,
            gram,
        )
    )
    sizes = np.diff(offsets)[order]
    ends = np.cumsum(sizes)
    n_tokens = int(ends[-1]) if len(ends) else 0
    n_slots = _LEAST_ROOM + _SLOTS * n_tokens // (min_tokens - gram + 2)
    rows, filled = np.empty((_LEAST_ROOM, 3), np.int64), np.zeros(2, np.int64)
    entries = np.zeros(n_slots, np.uint64)
    searched_from, added_to = n_against, n_against or len(order)

    first = 0
    while first < len(order):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + _AT_A_TIME)))
        last = min(last, len(order))
        found = repeat_table.Found(entries, rows, filled)
        stopped_at, state = repeats.remove_repeats(
            collection, found, order, first, last, searched_from, added_to
        )
        first = int(stopped_at)
        if state == repeats.ROWS_FULL:
            rows = np.concatenate([rows, np.empty_like(rows)])
        while state == repeats.TABLE_FULL:
            n_slots *= 2
            del entries, found
            entries = np.zeros(n_slots, np.uint64)
            filled[0] = 0
            found = repeat_table.Found(entries, rows, filled)
            _, state = repeats.remove_repeats(
                collection, found, order, 0, first, first, min(first, added_to)
            )
    return _by_document(rows[: filled[1]], offsets)


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
        window_counts.count_documents(
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
    window_counts.fill_table(wanted, table)
    return table


def _by_document(rows: Int64s, offsets: Int64s) -> Repeats:
    """Sort rows of tokens counted through all documents, and count them by document."""
    starts, stops, kept = rows[np.argsort(rows[:, 0])].T
    documents = np.searchsorted(offsets, starts, side="right") - 1
    kept_documents = np.searchsorted(offsets, kept, side="right") - 1
    own, other = offsets[documents], offsets[kept_documents]
    kept_starts = kept - other
    return Repeats(
        documents,
        starts - own,
        stops - own,
        kept_documents,
        kept_starts,
        kept_starts + stops - starts,
    )
