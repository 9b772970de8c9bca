"""Arrays outside segments: removed documents, and what belongs to the whole index."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np

from neardup.errors import IndexFormatError, InvalidParameterError, WriteError
from neardup.storage.arrays import (
    RESTORE,
    AnyArray,
    check_array,
    check_file,
    header,
    map_array,
    stored,
)
from neardup.storage.checksums import FileRecord
from neardup.storage.files import make_folder, store_file, translated
from neardup.storage.manifest import NAME, RemovedRecord, SegmentRecord
from neardup.tables import Uint32s

REMOVED = "removed"
EXTRA = "extra"


def write_removed(folder: Path, name: str, numbers: Uint32s) -> RemovedRecord:
    """Write the numbers of all documents that a segment has lost, under a name not in use.

    Raises
    ------
    InvalidParameterError
        If there are none, or they are no ascending uint32 numbers without repeats.
    WriteError
        If the file exists or cannot be written.
    """
    if numbers.dtype != np.uint32 or numbers.ndim != 1 or not _is_ascending(numbers):
        message = "removed documents are given as ascending uint32 numbers, at least one"
        raise InvalidParameterError(message)
    file = _write_array(folder / REMOVED, name, numbers)
    return RemovedRecord(name, len(numbers), file)


def load_removed(folder: Path, record: SegmentRecord) -> Uint32s:
    """Check and map the numbers of the documents that a segment has lost; none if it lost none.

    Raises
    ------
    IndexFormatError
        If the file is not what the record says.
    ReadError
        If it cannot be read.
    """
    if record.removed is None:
        return np.empty(0, np.uint32)
    path = folder / REMOVED / f"{record.removed.name}.npy"
    numbers = check_array(path, _load_array(path, record.removed.file), np.uint32)
    is_right = len(numbers) == record.removed.n_documents and _is_ascending(numbers)
    if not is_right or numbers[-1] >= record.n_documents:
        message = f"the numbers are not those of {record.removed.n_documents:,} documents"
        raise IndexFormatError(f"{message}; {RESTORE}", path=str(path))
    return numbers


def write_extra(folder: Path, name: str, array: AnyArray) -> dict[str, FileRecord]:
    """Write an array of the whole index under a name not in use; give its entry for ``files``.

    Raises
    ------
    InvalidParameterError
        If the name or the array cannot be stored.
    WriteError
        If the file exists or cannot be written.
    """
    return {f"{name}.npy": _write_array(folder / EXTRA, name, array)}


def load_extra(folder: Path, name: str, record: FileRecord) -> AnyArray:
    """Check and map an array of the whole index; ``name`` is that of its file.

    Raises
    ------
    IndexFormatError
        If the file is not what its record says.
    ReadError
        If it cannot be read.
    """
    return _load_array(folder / EXTRA / name, record)


def _write_array(folder: Path, name: str, array: AnyArray) -> FileRecord:
    if not NAME.fullmatch(name):
        message = f"a name has small letters, digits, '-' and '_', got {name!r}"
        raise InvalidParameterError(message)
    array = stored(array)
    path = folder / f"{name}.npy"
    with translated(path):
        if os.path.lexists(path):
            message = f"{path} exists; remove what does not belong to the index first"
            raise WriteError(message)
        make_folder(folder)
    try:
        return store_file(path, header(array.dtype, len(array), array.ndim), array.data)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def _load_array(path: Path, record: FileRecord) -> AnyArray:
    check_file(path, record)
    return map_array(path, record)


def _is_ascending(numbers: Uint32s) -> bool:
    return len(numbers) > 0 and bool(np.all(numbers[:-1] < numbers[1:]))
