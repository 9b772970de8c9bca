"""Find the entries of keys in sorted lists through the first entry of each page.

An entry is a key of 32 bits above a number of 32 bits; equal keys are adjacent. Lists are
concatenated, and pages, of at most ``PAGE`` entries, start anew with each list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import (
    ConstBools,
    ConstInt64s,
    ConstUint32s,
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


class Slots(NamedTuple):
    """Lookups: ``keys[i]`` in list ``numbers[i]``, for ``owners[i]``, of 32 bits."""

    keys: ConstUint32s
    numbers: ConstInt64s
    owners: ConstInt64s


@kernel
def find_entries(
    slots: Slots,
    lists: Lists,
    entries: ConstUint64s,
    page_bounds: ConstInt64s,
    is_checked: ConstBools,
    found: Uint64s,
    unchecked: Int64s,
) -> tuple[Int, Int]:
    """Find the numbers of the entries of keys; ``found`` receives each below its owner.

    Page p has ``entries[page_bounds[p] : page_bounds[p + 1]]``. Returns the number of entries, of
    which ``found`` receives as many as fit, and the number of unchecked pages in the way. Entries
    of unchecked pages are not read; ``unchecked`` receives as many page numbers as fit, some more
    than once.
    """
    keys, numbers, owners = slots
    starts, page_starts, fences = lists
    n_found = n_unchecked = np.int64(0)
    for i in range(keys.shape[0]):
        k = numbers[i]
        if starts[k] == starts[k + 1]:
            continue
        low = np.uint64(keys[i]) << _32
        first = _lower_bound(fences, page_starts[k], page_starts[k + 1], low)
        stop = first
        # Equal entries may begin in the page before; few keys fill pages.
        while stop < page_starts[k + 1] and fences[stop] <= low | _LOW32:
            stop += 1
        if first > page_starts[k]:
            first -= 1
        are_checked = True
        for page in range(first, stop):
            if not is_checked[page]:
                are_checked = False
                if n_unchecked < unchecked.shape[0]:
                    unchecked[n_unchecked] = page
                n_unchecked += 1
        if not are_checked or first == stop:
            continue
        end = page_bounds[stop]
        place = _lower_bound(entries, page_bounds[first], end, low)
        owner = np.uint64(owners[i]) << _32
        while place < end and entries[place] <= low | _LOW32:
            if n_found < found.shape[0]:
                found[n_found] = owner | (entries[place] & _LOW32)
            n_found += 1
            place += 1
    return n_found, n_unchecked


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
