"""Writing a segment: a folder of arrays and tables that is there as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import InvalidParameterError, WriteError
from neardup.storage.arrays import AnyArray, header, stored
from neardup.storage.files import FileRecord, NewFile, make_folder, part_of, sync_folder, translated
from neardup.storage.manifest import NAME
from neardup.storage.segments import SEGMENTS

# Files that are waited for together when a segment is finished.
_SYNCED_AT_ONCE = 8


class SegmentWriter:
    """Writes a new segment, which is there as a whole after ``commit`` and else not at all.

    For one thread, and for the holder of the write lock::

        with SegmentWriter(folder, "s3") as writer:
            writer.append("keys", keys)
            writer.add_table("documents", documents)
            files = writer.commit()
    """

    def __init__(self, folder: Path, name: str) -> None:
        _check_name(name)
        self.path = folder / SEGMENTS / name
        self._part = part_of(self.path)
        self._arrays: dict[str, _NewArray] = {}
        self._files: dict[str, FileRecord] = {}
        self._is_open = False

    def __enter__(self) -> Self:
        with translated(self.path):
            if os.path.lexists(self.path):
                message = f"{self.path} exists; remove what does not belong to the index first"
                raise WriteError(message)
            make_folder(self.path.parent)
            # A writer that was killed may have left it.
            if self._part.exists():
                shutil.rmtree(self._part)
            self._part.mkdir()
        self._is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_open = False
        shutil.rmtree(self._part, ignore_errors=True)

    def add(self, name: str, array: AnyArray) -> None:
        """Write a whole array."""
        if name in self._arrays:
            message = f"the segment has an array {name} already"
            raise InvalidParameterError(message)
        self.append(name, array)

    def append(self, name: str, array: AnyArray) -> None:
        """Write the next values of an array; all parts have one type and number of columns."""
        with self._writing():
            array = stored(array)
            if name not in self._arrays:
                file = self._new_file(f"{name}.npy")
                self._arrays[name] = _NewArray(file, array.dtype, array.ndim)
            self._arrays[name].append(array)

    def add_table(self, name: str, table: pa.Table) -> None:
        """Write a table, as an uncompressed Arrow file."""
        with self._writing():
            sink = _Sink(self._new_file(f"{name}.arrow"))
            options = pa.ipc.IpcWriteOptions(compression=None)
            with pa.ipc.new_file(pa.PythonFile(sink, "w"), table.schema, options=options) as writer:
                writer.write_table(table)
            if sink.error is not None:
                raise sink.error
            self._files[f"{name}.arrow"] = sink.file.finish()

    def commit(self) -> dict[str, FileRecord]:
        """See that all is on the disk, give the segment its name, and say what it holds."""
        with self._writing():
            self._finish_arrays()
            self._part.rename(self.path)
            self._is_open = False
            try:
                sync_folder(self.path.parent)
            except BaseException:
                shutil.rmtree(self.path, ignore_errors=True)
                raise
        return dict(sorted(self._files.items()))

    def _finish_arrays(self) -> None:
        """See that all arrays, and the names of all files, are on the disk.

        All at once, because systems write what is asked for at one time together: of nine small
        files each waited 1.9 ms for the disk one after the other, and 0.6 ms together.
        """
        with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
            names = pool.submit(sync_folder, self._part)
            records = pool.map(_NewArray.finish, self._arrays.values())
            for name, record in zip(self._arrays, records, strict=True):
                self._files[f"{name}.npy"] = record
            names.result()

    def _new_file(self, name: str) -> NewFile:
        _check_name(name.rpartition(".")[0])
        path = self._part / name
        if path.exists():
            message = f"the segment has a file {name} already"
            raise InvalidParameterError(message)
        return NewFile(path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if not self._is_open:
            message = "a segment is written in its `with` block, before its commit or an error"
            raise InvalidParameterError(message)
        try:
            with translated(self.path):
                yield
        except BaseException:
            # A file may have got a part of what it should.
            self._is_open = False
            raise


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        message = f"a name has small letters, digits, '-' and '_', got {name!r}"
        raise InvalidParameterError(message)


class _NewArray:
    """An array file whose length is known at its end."""

    def __init__(self, file: NewFile, dtype: np.dtype[Any], ndim: int) -> None:
        self._file, self._dtype, self._ndim, self._length = file, dtype, ndim, 0
        file.append(header(dtype, 0, ndim))

    def append(self, array: AnyArray) -> None:
        if array.dtype != self._dtype or array.ndim != self._ndim:
            message = (
                f"{self._file.path.stem}: {array.dtype} in {array.ndim} dimensions cannot follow "
                f"{self._dtype} in {self._ndim}"
            )
            raise InvalidParameterError(message)
        self._file.append(array.data)
        self._length += len(array)

    def finish(self) -> FileRecord:
        return self._file.finish(header(self._dtype, self._length, self._ndim))


class _Sink:
    """What Arrow writes to.

    Arrow's writer cannot be closed after an error, and complains later: it is told of none.
    """

    closed = False

    def __init__(self, file: NewFile) -> None:
        self.file = file
        self.error: OSError | None = None
        self._position = 0

    def write(self, data: bytes) -> int:
        n_bytes = memoryview(data).nbytes
        if self.error is None:
            try:
                self.file.append(data)
            except OSError as error:
                self.error = error
        self._position += n_bytes
        return n_bytes

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass
