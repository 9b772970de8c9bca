"""Rank tokens, sort records by rank, and index prefixes.

The suffix filter bounds the difference of two sorted runs by halving them.

References
----------
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstBytes,
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.ordering import first_at_least

ALL_PAIRS, PPJOIN, PPJOIN_PLUS = range(3)


class RecordGroups(NamedTuple):
    """Records by collection: left only, both, and right only.

    Record r is in group ``of_records[r]``, its partners are in ``first[r]`` to ``last[r]``,
    exclusive. A self-join has one group.
    """

    n_groups: int
    of_records: ConstBytes
    first: ConstBytes
    last: ConstBytes


class Postings(NamedTuple):
    """An inverted index with ascending records per key.

    Key k is in ``records[starts[k] : starts[k + 1]]``. Keys are ``token * n_groups + group``, so
    that a token's postings in adjacent groups have adjacent keys; with one group the key is the
    token. ``places`` is the token's place in the record's run.
    """

    starts: ConstInt64s
    records: ConstInt32s
    places: ConstInt32s


@kernel
def number_values(
    values: ConstUint64s,
    start: int,
    slots: Int32s,
    known: Uint64s,
    frequencies: Int64s,
    n_known: int,
    numbers: Int32s,
) -> tuple[Int, Int]:
    """Assign numbers to values in order until ``known`` is full.

    ``slots`` is an open hash table of positions in ``known``, -1 where free; its length is a power
    of two and at least twice that of ``known``. ``frequencies`` counts the occurrences of each
    value.

    Returns the first value without a number, or the end if all fit, and the number of known values.
    """
    mask = slots.shape[0] - 1
    for i in range(start, values.shape[0]):
        value = values[i]
        slot = np.int64(value) & mask
        while slots[slot] >= 0 and known[slots[slot]] != value:
            slot = (slot + 1) & mask
        number = np.int64(slots[slot])
        if number < 0:
            if n_known == known.shape[0]:
                return i, n_known
            number = np.int64(n_known)
            slots[slot] = number
            known[number] = value
            frequencies[number] = 0
            n_known += 1
        frequencies[number] += 1
        numbers[i] = number
    return values.shape[0], n_known


@kernel
def rebuild_slots(slots: Int32s, known: ConstUint64s, n_known: int) -> None:
    """Fill an empty hash table (all -1) with distinct values."""
    mask = slots.shape[0] - 1
    for number in range(n_known):
        slot = np.int64(known[number]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number


@kernel
def leave_out_unique(
    numbers: Int32s, frequencies: Int64s, starts: ConstInt64s, sizes: ConstInt64s, lengths: Int64s
) -> int:
    """Move each record's repeated numbers to its front.

    The frequencies of the others become 0. ``lengths`` receives how many each record has left;
    returns their sum.
    """
    n_left = 0
    for record in range(starts.shape[0]):
        before = n_left
        for i in range(starts[record], starts[record] + sizes[record]):
            if frequencies[numbers[i]] > 1:
                numbers[n_left] = numbers[i]
                n_left += 1
        lengths[record] = n_left - before
    for number in range(frequencies.shape[0]):
        if frequencies[number] == 1:
            frequencies[number] = 0
    return n_left


@kernel
def list_shared(
    tokens: ConstInt32s,
    starts: ConstInt64s,
    prefixes: ConstInt64s,
    probing: ConstInt64s,
    numbers: ConstInt32s,
    list_starts: Int64s,
    keys: Int32s,
    n_probed: Int64s,
) -> None:
    """List the numbered tokens of each record's prefix, by number.

    ``numbers`` (n_tokens) is -1 for tokens that no other record's prefix has. ``list_starts``
    (n + 1) receives where each record's list starts in ``keys``, ``n_probed`` how many tokens of
    the shorter prefix ``probing`` are in it.
    """
    k = np.int64(0)
    for record in range(starts.shape[0]):
        list_starts[record] = k
        n_probed[record] = 0
        for i in range(prefixes[record]):
            number = numbers[tokens[starts[record] + i]]
            if number >= 0:
                keys[k] = number
                k += 1
                n_probed[record] += np.int64(i < probing[record])
    list_starts[starts.shape[0]] = k


@kernel
def count_postings(
    tokens: ConstInt32s, starts: ConstInt64s, prefixes: ConstInt64s, posting_starts: Int64s
) -> None:
    """Fill zeroed ``posting_starts`` with the starts of each token's postings."""
    for record in range(starts.shape[0]):
        for i in range(prefixes[record]):
            posting_starts[tokens[starts[record] + i] + 1] += 1
    for token in range(posting_starts.shape[0] - 1):
        posting_starts[token + 1] += posting_starts[token]


@kernel
def fill_postings(
    tokens: ConstInt32s,
    starts: ConstInt64s,
    prefixes: ConstInt64s,
    next_posting: Int64s,
    posting_records: Int32s,
    posting_places: Int32s,
) -> None:
    """Write each token's postings, by record, starting at ``next_posting``."""
    for record in range(starts.shape[0]):
        for i in range(prefixes[record]):
            token = tokens[starts[record] + i]
            k = next_posting[token]
            posting_records[k] = record
            posting_places[k] = i
            next_posting[token] = k + 1


@kernel
def sort_records(
    index: Postings, starts: ConstInt64s, fill: Int64s, tokens: Int32s, places: Int32s
) -> None:
    """Rebuild records with ascending tokens from an index.

    Record r's run begins at ``starts[r]``; ``fill`` (n, zero) counts its written tokens. ``places``
    receives each token's former place; equal tokens keep their order.
    """
    for token in range(index.starts.shape[0] - 1):
        for k in range(index.starts[token], index.starts[token + 1]):
            record = index.records[k]
            to = starts[record] + fill[record]
            tokens[to] = token
            places[to] = index.places[k]
            fill[record] += 1


@kernel
def sort_runs(
    tokens: Int32s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    token_starts: ConstInt64s,
    owners: Int32s,
) -> None:
    """Sort the tokens of each record without repeats.

    ``token_starts`` counts the tokens before each token; ``owners``, as long as ``tokens``, is
    scratch for the records of each.
    """
    ends = token_starts.copy()
    for record in range(starts.shape[0]):
        for i in range(starts[record], starts[record] + sizes[record]):
            token = tokens[i]
            owners[ends[token]] = record
            ends[token] += 1
    fill = starts.copy()
    for token in range(token_starts.shape[0] - 1):
        for k in range(token_starts[token], token_starts[token + 1]):
            record = owners[k]
            tokens[fill[record]] = token
            fill[record] += 1


@inlined
def count_common(
    tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, required: Int
) -> Int:
    """Count common tokens until ``required`` is out of reach."""
    overlap = np.int64(0)
    while x < x_stop and y < y_stop:
        if tokens[np.uint64(x)] == tokens[np.uint64(y)]:
            # Runs that are alike are mostly alike for long, which processors foresee.
            overlap += 1
            x += 1
            y += 1
            continue
        if overlap + min(x_stop - x, y_stop - y) < required:
            return overlap
        # Without branches: which side advances is as good as random and would be mispredicted.
        for _ in range(min(np.int64(8), x_stop - x, y_stop - y)):
            a, b = tokens[np.uint64(x)], tokens[np.uint64(y)]
            overlap += np.int64(a == b)
            x += np.int64(a <= b)
            y += np.int64(b <= a)
    return overlap


@inlined
def _difference(a: Int, b: Int) -> np.int64:
    return np.int64(max(a, b)) - np.int64(min(a, b))


@helper
def _size_difference(
    tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int
) -> Int:
    """Bound the difference of two sorted runs by sizes."""
    return _difference(x_stop - x, y_stop - y)


def _suffix_bound(deeper: Callable[..., Int]) -> Callable[..., Int]:
    """Make one level of the suffix filter from the next."""

    @helper
    def bound(tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int) -> Int:
        """Bound the difference of two sorted runs from below.

        More than ``limit`` means that the runs differ in more than ``limit`` tokens. The median of
        y halves both runs, and tokens of different halves never match. Algorithm 3 of the paper,
        with the empty runs that it leaves out, and for runs with repeated tokens: both are cut
        before the first median, which is therefore searched in all of x.
        """
        x_size, y_size = x_stop - x, y_stop - y
        difference = _difference(x_size, y_size)
        if x_size == 0 or y_size == 0 or difference > limit:
            return difference
        token = tokens[y + (y_size >> 1)]
        y_cut = first_at_least(tokens, y, y + (y_size >> 1), token)
        cut = first_at_least(tokens, x, x_stop, token)
        found = cut < x_stop and tokens[cut] == token
        right = cut + np.int64(found)
        missing = np.int64(not found)
        right_difference = _difference(x_stop - right, y_stop - y_cut - 1)
        distance = _difference(cut - x, y_cut - y) + right_difference + missing
        if distance > limit:
            return distance
        left = np.int64(deeper(tokens, x, cut, y, y_cut, limit - right_difference - missing))
        distance = left + right_difference + missing
        if distance > limit:
            return distance
        rest = limit - left - missing
        return left + missing + np.int64(deeper(tokens, right, x_stop, y_cut + 1, y_stop, rest))

    return bound


# Two levels of halving (MAXDEPTH of the paper's section 5.1); Numba has no cached recursion.
suffix_distance = _suffix_bound(_suffix_bound(_size_difference))
