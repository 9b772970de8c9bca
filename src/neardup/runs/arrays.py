"""Arrays in files: NumPy's .npy format with a header of 128 bytes, memory-mapped for reading."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import IndexFormatError, InvalidParameterError, ReadError
from neardup.runs.disk import HEAD, FileRecord, record_of_file
from neardup.runs.progress import may_go_on
from neardup.tables import Bools, Int64s, Uint32s

if TYPE_CHECKING:
    from typing_extensions import Buffer


AnyArray = npt.NDArray[Any]

RESTORE = "restore the index from a copy, or build it again"
N_COLUMNS = 3
_NOT_NEEDED = 4  # MADV_DONTNEED
_DTYPES = {np.dtype(code).newbyteorder("<").str: np.dtype(code) for code in "?bhiqBHIQefd"}
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '([<|][a-z][0-9])', 'fortran_order': False,"
    rb" 'shape': \(([0-9]{1,19}),( 3)?\), \} *\n"
)


def stored(array: AnyArray) -> AnyArray:
    """View an array in its stored layout: C order, little-endian."""
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES or array.shape[1:] not in ((), (N_COLUMNS,)) or array.ndim == 0:
        message = (
            "an index stores numbers of shape (n,) or (n, 3), "
            f"got {array.dtype} of shape {array.shape}"
        )
        raise InvalidParameterError(message)
    return np.ascontiguousarray(array, dtype)


def header(dtype: np.dtype[Any], length: int, ndim: int) -> bytes:
    """Return the 128 bytes before the values."""
    shape = f"({length},)" if ndim == 1 else f"({length}, {N_COLUMNS})"
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00v\x00" + text.encode().ljust(HEAD - 11) + b"\n"


def check_file(path: Path, record: FileRecord) -> None:
    """Read a file and compare it with its record."""
    try:
        found = record_of_file(path)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    if found.size != record.size:
        raise _other_size(path, record, found.size)
    if found != record:
        message = f"the file is damaged (checksum {found.checksum}, not {record.checksum})"
        raise IndexFormatError(f"{message}; {RESTORE}", path=str(path))


def check_size(
    path: Path | str, record: FileRecord, *, grows: bool = False, may_be_gone: bool = False
) -> None:
    """Compare the size of a file with its record, without reading it.

    A file that ``grows`` may be larger.
    """
    try:
        # path.stat takes several times as long, and a commit checks all files of an index.
        size = os.stat(path).st_size  # noqa: PTH116
    except FileNotFoundError:
        if may_be_gone:
            return
        raise _missing(path) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    if size < record.size if grows else size != record.size:
        raise _other_size(path, record, size)


def _missing(path: Path | str) -> IndexFormatError:
    return IndexFormatError(f"the file is missing; {RESTORE}", path=str(path))


def _other_size(path: Path | str, record: FileRecord, size: int) -> IndexFormatError:
    message = f"{record.size:,} bytes expected, found {size:,}; {RESTORE}"
    return IndexFormatError(message, path=str(path))


def map_file(path: Path, record: FileRecord) -> pa.Buffer:
    """Map a checked file into memory, read-only.

    Arrow closes the file and keeps the mapping. An index maps hundreds of files, and Python's
    ``mmap`` holds one descriptor open for each.
    """
    try:
        with pa.memory_map(str(path)) as file:
            buffer = file.read_buffer()
    except OSError as error:
        raise ReadError(f"cannot be mapped: {error}", path=str(path)) from error
    if buffer.size != record.size:
        message = f"the file changed while it was opened; {RESTORE}"
        raise IndexFormatError(message, path=str(path))
    return buffer


def let_go(mapped: Iterable[pa.Buffer]) -> None:
    """Release the memory of mapped files; pages are read again on access.

    Each buffer is a whole mapping from ``map_file``. Only on systems known to support it.
    """
    advise = _system_call()
    if advise is not None:
        for buffer in mapped:
            advise(ctypes.c_void_p(buffer.address), ctypes.c_size_t(buffer.size), _NOT_NEEDED)


@cache
def _system_call() -> Callable[..., int] | None:
    """Return the system's ``madvise``, if it has one."""
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            return cast("Callable[..., int]", ctypes.CDLL(None).madvise)
    return None


def array_in(path: Path, buffer: pa.Buffer) -> AnyArray:
    """View a mapped file as an array; its header must match ``header``."""
    head = buffer.slice(0, min(HEAD, buffer.size)).to_pybytes()
    if match := _HEADER.fullmatch(head):
        dtype, length = _DTYPES.get(match[1].decode()), int(match[2])
        ndim = 2 if match[3] else 1
        n_values = length * (N_COLUMNS if ndim == 2 else 1)
        if (
            dtype is not None
            and head == header(dtype.newbyteorder("<"), length, ndim)
            and buffer.size == HEAD + n_values * dtype.itemsize
        ):
            values = np.frombuffer(buffer, dtype.newbyteorder("<"), n_values, HEAD)
            return values if ndim == 1 else values.reshape(length, N_COLUMNS)
    message = f"the file is no array of an index; {RESTORE}"
    raise IndexFormatError(message, path=str(path))


def check_array(path: Path, array: AnyArray, dtype: npt.DTypeLike, ndim: int = 1) -> AnyArray:
    """Check that an array has the type that the caller works with."""
    if array.dtype != np.dtype(dtype) or array.ndim != ndim:
        message = (
            f"expected {np.dtype(dtype)} in {ndim} dimensions, "
            f"found {array.dtype} in {array.ndim}; {RESTORE}"
        )
        raise IndexFormatError(message, path=str(path))
    return array


# Checksums of pages: large arrays are checked on first access, and only there.

PAGE_BYTES = 4096


class PageSums:
    """Running checksums of the pages of an array, fed part by part."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._rest = b""

    def update(self, data: Buffer) -> None:
        """Add the next bytes."""
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
        """End a page of any length; an empty page is ignored."""
        if self._rest:
            self._sums.append(zlib.crc32(self._rest))
            self._rest = b""

    def finish(self) -> Uint32s:
        """Return the checksums of all pages."""
        self.close_page()
        return np.array(self._sums, np.uint32)


# Pages checked between two checks for cancellation.
_PAGES_AT_ONCE = 64


def count_pages(n_bytes: int) -> int:
    """Count the pages of an array by its bytes."""
    return -(-n_bytes // PAGE_BYTES)


class CheckedPages:
    """The pages of a mapped array, checked on first access.

    Thread-safe: two threads may check the same page.

    Parameters
    ----------
    path
        File of the array, for errors.
    array
        Of one dimension.
    sums
        The checksum of each page.
    bounds
        Starts of the pages in elements, and the end of the last one (n_pages + 1). With None, all
        pages but the last have ``PAGE_BYTES``.
    """

    def __init__(
        self, path: Path, array: AnyArray, sums: Uint32s, bounds: Int64s | None = None
    ) -> None:
        self.array = array
        self.is_checked: Bools = np.zeros(len(sums), np.bool_)
        self._path, self._sums, self._bounds = path, sums, bounds
        self._width = PAGE_BYTES // array.itemsize

    def check(self, pages: Int64s | list[int]) -> None:
        """Check some pages, unless they were checked before."""
        pages = np.asarray(pages, np.int64)
        pages = pages[~self.is_checked[pages]]
        for start in range(0, len(pages), _PAGES_AT_ONCE):
            may_go_on()
            self._check(pages[start : start + _PAGES_AT_ONCE])

    def check_elements(self, elements: Int64s) -> None:
        """Check the pages of some elements, if all pages have one width."""
        pages = elements // self._width
        if not self.is_checked[pages].all():
            self.check(np.unique(pages))

    def check_ranges(self, starts: Int64s, stops: Int64s) -> None:
        """Check the pages of non-empty ranges of elements, if all pages have one width."""
        first, last = starts // self._width, (stops - 1) // self._width
        for distance in range(int((last - first).max(initial=-1)) + 1):
            pages = np.minimum(first + distance, last)
            if not self.is_checked[pages].all():
                self.check(np.unique(pages))

    def part(self, start: int, stop: int) -> AnyArray:
        """Return a few elements, if all pages have one width."""
        for page in range(start // self._width, -(-stop // self._width)):
            if not self.is_checked[page]:
                self.check([page])
        return self.array[start:stop]

    def check_all(self) -> None:
        """Check all pages."""
        self.check(np.flatnonzero(~self.is_checked))

    def _check(self, pages: Int64s) -> None:
        if self._bounds is None:
            starts, stops = pages * self._width, (pages + 1) * self._width
        else:
            starts, stops = self._bounds[pages], self._bounds[pages + 1]
        data, size = self.array.data.cast("B"), self.array.itemsize
        for page, start, stop, expected in zip(
            *(each.tolist() for each in (pages, starts * size, stops * size, self._sums[pages])),
            strict=True,
        ):
            found = zlib.crc32(data[start:stop])
            if found != expected:
                message = f"the file is damaged (page {page:,}: checksum {found:08x}); {RESTORE}"
                raise IndexFormatError(message, path=str(self._path))
        self.is_checked[pages] = True
