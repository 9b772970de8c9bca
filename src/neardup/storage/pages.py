"""Checksums of pages: large arrays are checked where they are touched, and there only once."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import IndexFormatError
from neardup.runtime.progress import may_go_on
from neardup.storage.arrays import RESTORE, AnyArray
from neardup.tables import Bools, Int64s, Uint32s

if TYPE_CHECKING:
    from typing_extensions import Buffer

PAGE_BYTES = 4096


class PageSums:
    """Takes the checksums of the pages of an array whose parts go by one after the other."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._rest = b""

    def update(self, data: Buffer) -> None:
        """Take the next bytes."""
        view = memoryview(data)
        if view.nbytes == 0:
            return
        view = view.cast("B")
        if self._rest:
            missing = PAGE_BYTES - len(self._rest)
            self._rest += view[:missing]
            view = view[missing:]
            if len(self._rest) < PAGE_BYTES:
                return
            self.close_page()
        n_whole = len(view) // PAGE_BYTES * PAGE_BYTES
        self._sums += (
            zlib.crc32(view[start : start + PAGE_BYTES]) for start in range(0, n_whole, PAGE_BYTES)
        )
        self._rest = bytes(view[n_whole:])

    def close_page(self) -> None:
        """End the page, however long it is; nothing happens to an empty one."""
        if self._rest:
            self._sums.append(zlib.crc32(self._rest))
            self._rest = b""

    def finish(self) -> Uint32s:
        """Return the checksums of all pages."""
        self.close_page()
        return np.array(self._sums, np.uint32)


def count_pages(n_bytes: int) -> int:
    """Count the pages of an array of so many bytes."""
    return -(-n_bytes // PAGE_BYTES)


class CheckedPages:
    """The pages of a mapped array; what was touched has been checked.

    For any number of threads: two may check the same page.

    Parameters
    ----------
    path
        Its file, for errors.
    array
        Of one dimension.
    sums
        The checksum of each page.
    bounds
        Where the pages begin, in elements, and where the last one ends (n_pages + 1); None: all
        but the last have ``PAGE_BYTES``.
    """

    def __init__(
        self, path: Path, array: AnyArray, sums: Uint32s, bounds: Int64s | None = None
    ) -> None:
        self.array = array
        self.is_checked: Bools = np.zeros(len(sums), np.bool_)
        self._path, self._sums, self._bounds = path, sums, bounds
        self._width = PAGE_BYTES // array.itemsize

    def check(self, pages: Int64s | list[int]) -> None:
        """Check some pages, those that were not checked before.

        Raises
        ------
        IndexFormatError
            If one is damaged.
        """
        for page in pages:
            if not self.is_checked[page]:
                may_go_on()
                self._check(int(page))

    def check_elements(self, elements: Int64s) -> None:
        """Check the pages of some elements, where all pages have one width."""
        pages = elements // self._width
        if not self.is_checked[pages].all():
            self.check(np.unique(pages))

    def check_ranges(self, starts: Int64s, stops: Int64s) -> None:
        """Check the pages of ranges of elements, none empty, where all pages have one width."""
        first, last = starts // self._width, (stops - 1) // self._width
        for distance in range(int((last - first).max(initial=-1)) + 1):
            pages = np.minimum(first + distance, last)
            if not self.is_checked[pages].all():
                self.check(np.unique(pages))

    def check_all(self) -> None:
        """Check all pages."""
        self.check(np.flatnonzero(~self.is_checked))

    def _check(self, page: int) -> None:
        if self._bounds is None:
            start, stop = page * self._width, (page + 1) * self._width
        else:
            start, stop = int(self._bounds[page]), int(self._bounds[page + 1])
        found = zlib.crc32(_bytes_of(self.array[start:stop]))
        if found != self._sums[page]:
            message = f"the file is damaged (page {page:,}: checksum {found:08x}); {RESTORE}"
            raise IndexFormatError(message, path=str(self._path))
        self.is_checked[page] = True


def _bytes_of(array: AnyArray) -> memoryview[Any]:
    return array.data.cast("B")
