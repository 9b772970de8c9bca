"""Open segments: folders of arrays and tables that never change, mapped into memory to read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import IndexFormatError, ReadError
from neardup.runtime.runner import Runner
from neardup.storage.arrays import (
    RESTORE,
    AnyArray,
    check_array,
    check_file,
    check_size,
    map_array,
    map_file,
)
from neardup.storage.files import FileRecord
from neardup.storage.manifest import SegmentRecord

SEGMENTS = "segments"


@dataclass(frozen=True, eq=False)
class Segment:
    """An open segment; its arrays and tables are read-only and lie in the mapped files.

    Two segments are equal if they are one object: what is made of one is kept by that.
    """

    path: Path
    record: SegmentRecord
    arrays: Mapping[str, AnyArray]
    tables: Mapping[str, pa.Table]

    def array(
        self, name: str, dtype: npt.DTypeLike, *, ndim: int = 1, length: int | None = None
    ) -> AnyArray:
        """Give an array, if it is there and of that type; two dimensions are (n, 3)."""
        path = self.path / f"{name}.npy"
        if name not in self.arrays:
            message = f"the index has no such file; {RESTORE}"
            raise IndexFormatError(message, path=str(path))
        array = check_array(path, self.arrays[name], dtype, ndim)
        if length is not None and len(array) != length:
            message = f"expected {length:,} rows, found {len(array):,}; {RESTORE}"
            raise IndexFormatError(message, path=str(path))
        return array

    def table(self, name: str, schema: pa.Schema | None = None) -> pa.Table:
        """Give a table, if it is there and, where one is asked for, of that schema."""
        path = self.path / f"{name}.arrow"
        if name not in self.tables:
            message = f"the index has no such file; {RESTORE}"
            raise IndexFormatError(message, path=str(path))
        table = self.tables[name]
        if schema is not None and not table.schema.equals(schema):
            found = ", ".join(f"{field.name}: {field.type}" for field in table.schema)
            message = f"the table has other columns ({found}) than expected; {RESTORE}"
            raise IndexFormatError(message, path=str(path))
        return table

    def misfit(self, file: str) -> IndexFormatError:
        """Return the error for a file that does not fit to the others."""
        message = "the file does not fit to the others of its segment; build the index again"
        return IndexFormatError(message, path=str(self.path / file))


def open_segment(
    folder: Path,
    record: SegmentRecord,
    runner: Runner,
    unread: AbstractSet[str] = frozenset(),
) -> Segment:
    """Check every byte of a segment in several threads, then map its files into memory.

    Of the arrays named ``unread`` only the size is checked: their reader checks what it touches.
    """
    path = folder / SEGMENTS / record.name
    _check_names(path, record)
    arrays: dict[str, AnyArray] = {}
    tables: dict[str, pa.Table] = {}

    def check(name: str) -> str:
        is_unread = name.removesuffix(".npy") in unread
        (check_size if is_unread else check_file)(path / name, record.files[name])
        return name

    # The largest first, so that no thread is left alone with one at the end.
    by_size = sorted(record.files, key=lambda name: -record.files[name].size)
    add_done = runner.counter("open", sum(file.size for file in record.files.values()))
    for name in runner.map(check, by_size):
        add_done(record.files[name].size)
        stem, _, kind = name.rpartition(".")
        if kind == "npy":
            arrays[stem] = map_array(path / name, record.files[name])
        else:
            tables[stem] = _map_table(path / name, record.files[name])
    return Segment(path, record, arrays, tables)


def _check_names(path: Path, record: SegmentRecord) -> None:
    try:
        with os.scandir(path) as entries:
            found = {entry.name: entry.is_file() for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        message = f"the segment is missing; {RESTORE}"
        raise IndexFormatError(message, path=str(path)) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from error
    for name in sorted(record.files):
        if not found.pop(name, False):
            message = f"the file is missing; {RESTORE}"
            raise IndexFormatError(message, path=str(path / name))
    for name in sorted(found):
        message = "the file does not belong to the index; take it away"
        raise IndexFormatError(message, path=str(path / name))


def _map_table(path: Path, record: FileRecord) -> pa.Table:
    buffer = map_file(path, record)
    try:
        table = pa.ipc.open_file(pa.BufferReader(buffer)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        message = f"the file is no table of an index ({error}); {RESTORE}"
        raise IndexFormatError(message, path=str(path)) from None
    return table
