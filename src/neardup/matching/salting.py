"""Salted hashes: equal only where a key is, too, so that joins look at pairs within blocks.

What stands for a document or a shingle, a 64-bit hash, is *salted* with the document's key. Then
documents of different keys have nothing in common, as far as a join can see, which need not know of
them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neardup.tables import Int64s, ShingleSets, TokenLists, Uint64s, WeightedSets

Sets = ShingleSets | WeightedSets

# Elements of sets that are salted at a time, 40 bytes each.
_AT_ONCE = 1 << 20


def salt(values: Uint64s, keys: Uint64s) -> Uint64s:
    """Return hashes that are equal where both these hashes and the keys are."""
    # Order among values of one key changes no more than where it begins.
    with np.errstate(over="ignore"):
        salted: Uint64s = values + keys
    return salted


def salt_tokens(lists: TokenLists, keys: Uint64s) -> TokenLists:
    """Salt the tokens of each document with its key."""
    return TokenLists(salt(lists.values, np.repeat(keys, np.diff(lists.offsets))), lists.offsets)


def salt_sets(sets: Sets, keys: Uint64s) -> Sets:
    """Salt the elements of each set with its key, in place, and keep them sorted.

    Memory is that of some of the sets at a time.
    """
    for start, stop in _runs(sets.sizes):
        sizes, starts = sets.sizes[start:stop], sets.starts[start:stop]
        owners = np.repeat(np.arange(len(sizes)), sizes)
        before = np.cumsum(sizes) - sizes
        within = np.arange(len(owners)) - before[owners]
        places = starts[owners] + within
        values = sets.values[places]
        salted = salt(values, keys[start:stop][owners])
        # Those that pass 2^64 start again at 0, and so come first.
        is_first = salted < values
        n_first = np.bincount(owners, is_first, len(sizes)).astype(np.int64)
        turned = (within + n_first[owners]) % sizes[owners]
        sets.values[starts[owners] + turned] = salted
        if isinstance(sets, WeightedSets):
            sets.weights[starts[owners] + turned] = sets.weights[places]
    return sets


def _runs(sizes: Int64s) -> Iterator[tuple[int, int]]:
    """Cut sets into runs of about so many elements, one set at least."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
        yield start, stop
        start = stop
