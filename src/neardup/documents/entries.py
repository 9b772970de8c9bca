"""The sorted lists of a segment: which of its documents have a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from neardup.kernels.bucket import entries as kernel
from neardup.kernels.types import sealed
from neardup.storage.pages import CheckedPages
from neardup.tables import Bools, Int64s, Uint32s, Uint64s

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_ROOM = 1024

# So many queries are not worth being sorted.
_FEW = 32


def bounds_of_pages(list_starts: Int64s) -> tuple[Int64s, Int64s]:
    """Return the first page of each list, and where each page starts, both with their ends."""
    n_pages = -(-np.diff(list_starts) // kernel.PAGE)
    page_starts: Int64s = np.concatenate([[0], np.cumsum(n_pages)]).astype(np.int64)
    within = np.arange(page_starts[-1]) - np.repeat(page_starts[:-1], n_pages)
    starts = np.repeat(list_starts[:-1], n_pages) + within * kernel.PAGE
    bounds: Int64s = np.concatenate([starts, list_starts[-1:]]).astype(np.int64)
    return page_starts, bounds


class EntryLists:
    """Lists of entries, in memory or mapped, in which keys are looked up.

    ``pages`` check what is touched. For any number of threads.
    """

    def __init__(
        self, path: Path, entries: Uint64s, list_starts: Int64s, fences: Uint64s, sums: Uint32s
    ) -> None:
        page_starts, self._bounds = bounds_of_pages(list_starts)
        self.starts = list_starts
        self.entries = entries
        self.pages = CheckedPages(path, entries, sums, self._bounds)
        self._lists = sealed(kernel.Lists(list_starts, page_starts, fences))
        self._lists_from = {0: self._lists}

    def find(self, first_list: int, keys: Uint32s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return which queries have a key in common with which documents, each pair once.

        ``keys`` has shape (n, n_lists), for the lists from ``first_list`` on. Pairs are in the
        order of queries and documents.

        Raises
        ------
        IndexFormatError
            If a page that was touched is damaged.
        """
        n, n_lists = keys.shape
        lists = self._from(first_list)
        first_pages, stop_pages, first, stop = np.empty((4, n * n_lists), np.int64)
        order = _in_order_of_keys(keys)
        # A key is in one or two pages; with less room many keys are gone through again and again.
        room = max(_ROOM, 2 * n * n_lists)
        unchecked: Int64s = np.empty(room, np.int64)
        is_checked = self.pages.is_checked
        while True:
            n_unchecked = kernel.find_pages(
                keys, order, is_wanted, lists, is_checked, first_pages, stop_pages, unchecked
            )
            self.pages.check(unchecked[:n_unchecked].tolist())
            if n_unchecked <= room:
                break
        total = kernel.find_ranges(
            keys, order, self.entries, self._bounds, first_pages, stop_pages, first, stop
        )
        found: Uint64s = np.empty(total, np.uint64)
        kernel.list_entries(n_lists, self.entries, first, stop, found)
        if total > 1:
            found.sort()
            is_new = np.empty(total, np.bool_)
            is_new[0] = True
            np.not_equal(found[1:], found[:-1], out=is_new[1:])
            found = found[is_new]
        return (found >> _32).astype(np.int64), (found & _LOW32).astype(np.int64)

    def _from(self, first_list: int) -> kernel.Lists:
        """Return the lists from one on."""
        if first_list not in self._lists_from:
            every = self._lists
            starts = np.ascontiguousarray(every.starts[first_list:])
            page_starts = np.ascontiguousarray(every.page_starts[first_list:])
            self._lists_from[first_list] = sealed(kernel.Lists(starts, page_starts, every.fences))
        return self._lists_from[first_list]

    def count(self, number: int, key: int) -> int:
        """Count the entries of a list that have one key.

        Raises
        ------
        IndexFormatError
            As ``find``.
        """
        while True:
            found = int(
                kernel.count_key(
                    key, number, self._lists, self.entries, self._bounds, self.pages.is_checked
                )
            )
            if found >= 0:
                return found
            self.pages.check([-1 - found])

    def read(self, number: int) -> Uint64s:
        """Return a whole list, all of which is checked.

        Raises
        ------
        IndexFormatError
            If it is damaged.
        """
        first, stop = self._lists.page_starts[number : number + 2].tolist()
        self.pages.check(list(range(first, stop)))
        own: Uint64s = self.entries[self.starts[number] : self.starts[number + 1]]
        return own


def _in_order_of_keys(keys: Uint32s) -> Int64s:
    """Return in which order keys of shape (n, n_lists) are best looked up, by their places there.

    Many of them list by list, ascending: then what is touched lies side by side. Of 8,000 texts
    among 200,000 that took about half of the time.
    """
    n, n_lists = keys.shape
    slots: Int64s = np.arange(n * n_lists, dtype=np.int64)
    if n < _FEW:
        return slots
    packed: Uint64s = keys.T.astype(np.uint64) << _32
    packed |= slots.reshape(n, n_lists).T.astype(np.uint64)
    packed.sort(axis=1)
    return (packed & _LOW32).astype(np.int64).reshape(-1)


def sorted_entries(keys: Uint64s, rows: Int64s) -> Uint64s:
    """Return the entries of keys of 32 bits, ascending."""
    entries: Uint64s = (keys << _32) | rows.astype(np.uint64)
    entries.sort()
    return entries


def merge(runs: Sequence[Uint64s], at_once: int) -> Iterator[Uint64s]:
    """Merge ascending runs of entries; yields the result in parts of about so many.

    Memory 16 bytes for each entry of a part; of runs that are mapped only parts are touched.
    """
    total = sum(map(len, runs))
    n_parts = max(1, -(-total // at_once))
    if len(runs) == 1 and n_parts == 1:
        yield runs[0]
        return
    starts = [0] * len(runs)
    for part in range(1, n_parts + 1):
        # Keys are hashes, so that equal ranges have about equal shares.
        bound = np.uint64(
            min(part * (2**64 // n_parts) if part < n_parts else 2**64 - 1, 2**64 - 1)
        )
        stops = [len(run) if part == n_parts else int(np.searchsorted(run, bound)) for run in runs]
        merged: Uint64s = np.concatenate(
            [run[start:stop] for run, start, stop in zip(runs, starts, stops, strict=True)]
        )
        merged.sort(kind="stable")
        if len(merged):
            yield merged
        starts = stops
