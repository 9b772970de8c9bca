"""Arrays in files: NumPy's .npy format with a header of 128 bytes, mapped into memory to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import IndexFormatError, InvalidParameterError, ReadError
from neardup.storage.checksums import HEAD, FileRecord, record_of_file

AnyArray = npt.NDArray[Any]

RESTORE = "restore the index from a copy, or build it again"
N_COLUMNS = 3
_DTYPES = {np.dtype(code).newbyteorder("<").str: np.dtype(code) for code in "?bhiqBHIQefd"}
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '([<|][a-z][0-9])', 'fortran_order': False,"
    rb" 'shape': \(([0-9]{1,19}),( 3)?\), \} *\n"
)


def stored(array: AnyArray) -> AnyArray:
    """See an array as it is written: C order, little end first.

    Raises
    ------
    InvalidParameterError
        If it is not one-dimensional or of shape (n, 3), or holds anything but numbers.
    """
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES or array.shape[1:] not in ((), (N_COLUMNS,)) or array.ndim == 0:
        message = (
            "an index stores numbers of shape (n,) or (n, 3), "
            f"got {array.dtype} of shape {array.shape}"
        )
        raise InvalidParameterError(message)
    return np.ascontiguousarray(array, dtype)


def header(dtype: np.dtype[Any], length: int, ndim: int) -> bytes:
    """Give the 128 bytes before the values."""
    shape = f"({length},)" if ndim == 1 else f"({length}, {N_COLUMNS})"
    text = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00v\x00" + text.encode().ljust(HEAD - 11) + b"\n"


def check_file(path: Path, record: FileRecord) -> None:
    """Read a file and compare it with its record.

    Raises
    ------
    IndexFormatError
        If it is missing or differs.
    ReadError
        If it cannot be read.
    """
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


def check_size(path: Path, record: FileRecord) -> None:
    """Compare the size of a file with its record, without reading it.

    Raises
    ------
    IndexFormatError, ReadError
        As ``check_file``.
    """
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    if size != record.size:
        raise _other_size(path, record, size)


def _missing(path: Path) -> IndexFormatError:
    return IndexFormatError(f"the file is missing; {RESTORE}", path=str(path))


def _other_size(path: Path, record: FileRecord, size: int) -> IndexFormatError:
    message = f"{record.size:,} bytes expected, found {size:,}; {RESTORE}"
    return IndexFormatError(message, path=str(path))


def map_file(path: Path, record: FileRecord) -> pa.Buffer:
    """Map a checked file into memory, read-only.

    Through Arrow, which closes the file and keeps the mapping: an index maps hundreds of files,
    and Python's own ``mmap`` holds one descriptor open for each.
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


def map_array(path: Path, record: FileRecord) -> AnyArray:
    """Map an array into memory; its header must be what ``header`` writes.

    Raises
    ------
    IndexFormatError
        If it is not.
    """
    buffer = map_file(path, record)
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
    """Make sure that an array is of the type that the caller works with.

    Raises
    ------
    IndexFormatError
        If it is not.
    """
    if array.dtype != np.dtype(dtype) or array.ndim != ndim:
        message = (
            f"expected {np.dtype(dtype)} in {ndim} dimensions, "
            f"found {array.dtype} in {array.ndim}; {RESTORE}"
        )
        raise IndexFormatError(message, path=str(path))
    return array
