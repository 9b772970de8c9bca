"""Sorted lists of entries: who has a key, found by way of the first entry of each page.

An entry is a key of 32 bits and below it a number of 32 bits; equal keys lie side by side. Lists
lie one behind the other, and pages, of at most ``PAGE`` entries, begin anew with each list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import (
    ConstBools,
    ConstInt64s,
    ConstUint32Rows,
    ConstUint64s,
    Int,
    Int64s,
    Uint64s,
)

PAGE = 512

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


class Lists(NamedTuple):
    """List k has ``entries[starts[k] : starts[k + 1]]``.

    The first entries of its pages are ``fences[page_starts[k] : page_starts[k + 1]]``.
    """

    starts: ConstInt64s
    page_starts: ConstInt64s
    fences: ConstUint64s


@inlined
def _lower_bound(values: ConstUint64s, first: Int, stop: Int, value: np.uint64) -> Int:
    """Return where in an ascending range the first value stands that is not less."""
    while first < stop:
        middle = (first + stop) >> 1
        if values[middle] < value:
            first = middle + 1
        else:
            stop = middle
    return first


@kernel
def find_pages(
    keys: ConstUint32Rows,
    order: ConstInt64s,
    is_wanted: ConstBools,
    lists: Lists,
    is_checked: ConstBools,
    first_pages: Int64s,
    stop_pages: Int64s,
    unchecked: Int64s,
) -> Int:
    """Find the pages that may have entries of keys; ``keys[d, k]`` is looked for in list k.

    Of key k of query d, ``first_pages[d * n_lists + k]`` and ``stop_pages`` receive the range of
    pages, none for queries that are not wanted. Slots d * n_lists + k are gone through in an order
    that decides the time alone. Returns how many pages of these are unchecked;
    ``unchecked`` receives as many of their numbers as it has room for, some more than once.
    """
    starts, page_starts, fences = lists
    n_lists = np.int64(keys.shape[1])
    n_unchecked = np.int64(0)
    for i in order:
        d, k = i // n_lists, i % n_lists
        first_pages[i] = stop_pages[i] = 0
        if not is_wanted[d] or starts[k] == starts[k + 1]:
            continue
        low = np.uint64(keys[d, k]) << _32
        first = _lower_bound(fences, page_starts[k], page_starts[k + 1], low)
        stop = first
        # What is equal may begin in the page before; few keys fill pages.
        while stop < page_starts[k + 1] and fences[stop] <= low | _LOW32:
            stop += 1
        if first > page_starts[k]:
            first -= 1
        first_pages[i], stop_pages[i] = first, stop
        for page in range(first, stop):
            if not is_checked[page]:
                if n_unchecked < unchecked.shape[0]:
                    unchecked[n_unchecked] = page
                n_unchecked += 1
    return n_unchecked


@kernel
def find_ranges(
    keys: ConstUint32Rows,
    order: ConstInt64s,
    entries: ConstUint64s,
    page_bounds: ConstInt64s,
    first_pages: ConstInt64s,
    stop_pages: ConstInt64s,
    first_entries: Int64s,
    stop_entries: Int64s,
) -> Int:
    """Find the entries of keys within their pages; returns how many there are of all.

    Page p has ``entries[page_bounds[p] : page_bounds[p + 1]]``.
    """
    n_lists = np.int64(keys.shape[1])
    total = np.int64(0)
    for i in order:
        first_entries[i] = stop_entries[i] = 0
        if first_pages[i] == stop_pages[i]:
            continue
        low = np.uint64(keys[i // n_lists, i % n_lists]) << _32
        end = page_bounds[stop_pages[i]]
        first = _lower_bound(entries, page_bounds[first_pages[i]], end, low)
        stop = first
        while stop < end and entries[stop] <= low | _LOW32:
            stop += 1
        first_entries[i], stop_entries[i] = first, stop
        total += stop - first
    return total


@kernel
def list_entries(
    n_lists: int,
    entries: ConstUint64s,
    first_entries: ConstInt64s,
    stop_entries: ConstInt64s,
    found: Uint64s,
) -> None:
    """List the numbers of the entries found, below the number of the query, in 32 bits each."""
    n = np.int64(0)
    for i in range(first_entries.shape[0]):
        query = np.uint64(i // n_lists) << _32
        for place in range(first_entries[i], stop_entries[i]):
            found[n] = query | (entries[place] & _LOW32)
            n += 1


@kernel
def count_key(
    key: int,
    number: int,
    lists: Lists,
    entries: ConstUint64s,
    page_bounds: ConstInt64s,
    is_checked: ConstBools,
) -> Int:
    """Count the entries of one key in one list; -1 - p for the first page p that is unchecked."""
    starts, page_starts, fences = lists
    if starts[number] == starts[number + 1]:
        return np.int64(0)
    low = np.uint64(key) << _32
    stop = _lower_bound(fences, page_starts[number], page_starts[number + 1], low)
    first = max(stop - 1, page_starts[number])
    while stop < page_starts[number + 1] and fences[stop] <= low | _LOW32:
        stop += 1
    for page in range(first, stop):
        if not is_checked[page]:
            return -1 - page
    if first == stop:
        return np.int64(0)
    end = page_bounds[stop]
    place = _lower_bound(entries, page_bounds[first], end, low)
    n = np.int64(0)
    while place + n < end and entries[place + n] <= low | _LOW32:
        n += 1
    return n
