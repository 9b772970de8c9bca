"""Places in texts as users count them: in characters, not bytes or tokens."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.kernels.text import tokens
from neardup.tables import Int64s, Texts


def character_spans(
    texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Turn spans of bytes of some documents' texts into spans of characters.

    Parameters
    ----------
    texts
        The texts of all documents.
    documents
        Which document each span is of (n,).
    starts, stops
        Bytes, counted from the start of the text, on edges of characters (n,).

    Notes
    -----
    Cost: one look at each named text up to its last span.
    """
    named, which = np.unique(documents, return_inverse=True)
    chosen = texts.take(pa.array(named))
    which = np.concatenate([which, which])
    positions = np.concatenate([starts, stops])
    order = np.lexsort((positions, which))
    offsets = np.searchsorted(which[order], np.arange(len(named) + 1)).astype(np.int64)
    counts: Int64s = np.empty(len(positions), np.int64)
    found = Texts.from_arrow(chosen)
    tokens.count_characters(found.data, found.offsets, positions[order], offsets, counts)
    characters: Int64s = np.empty(len(positions), np.int64)
    characters[order] = counts
    return characters[: len(starts)], characters[len(starts) :]


def union_lengths(starts: Int64s, stops: Int64s, groups: Int64s, n_groups: int) -> Int64s:
    """Return how much the spans of each group cover; what several have in common counts once."""
    order = np.lexsort((starts, groups))
    # Places of all groups on one line, so that what a group ends with is before the next begins.
    origins = groups[order] * (int(stops.max(initial=0)) + 1)
    first, last = origins + starts[order], origins + stops[order]
    before = np.concatenate([[0], np.maximum.accumulate(last)])[: len(last)]
    unions = np.zeros(n_groups, np.int64)
    np.add.at(unions, groups[order], np.maximum(last - np.maximum(first, before), 0))
    return unions


def group_overlapping(documents: Int64s, starts: Int64s, stops: Int64s) -> Int64s:
    """Return numbers of spans; those of one document that overlap, or are joined by others, share.

    What is in documents that are not known (below 0) may be anything, and shares with nothing.
    """
    if not len(documents):
        return np.empty(0, np.int64)
    order = np.lexsort((starts, documents))
    base = documents[order] * (int(stops.max()) + 1)
    reached = np.maximum.accumulate(base + stops[order])
    is_new = np.concatenate([[True], base[1:] + starts[order][1:] >= reached[:-1]])
    is_new |= documents[order] < 0
    groups: Int64s = np.empty(len(documents), np.int64)
    groups[order] = np.cumsum(is_new) - 1
    return groups
