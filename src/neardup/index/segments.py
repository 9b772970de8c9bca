"""Segments: folders of immutable arrays and tables, written as a whole; and snapshots."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import IndexFormatError, ReadError
from neardup.index.store import FILE, SEGMENTS, Contents, Database, SegmentRecord
from neardup.runs.arrays import (
    RESTORE,
    AnyArray,
    array_in,
    check_array,
    check_file,
    check_size,
    header,
    let_go,
    map_file,
    stored,
)
from neardup.runs.disk import (
    FileRecord,
    NewFile,
    finish_file,
    make_folder,
    part_of,
    sync_folder,
    translated,
)
from neardup.runs.runner import Runner, Threads


@dataclass(frozen=True, eq=False)
class Segment:
    """An open segment; its arrays and tables are read-only and lie in the ``mapped`` files.

    Two segments are equal if they are one object: what is made of one is kept by that.
    """

    path: Path
    record: SegmentRecord
    arrays: Mapping[str, AnyArray]
    tables: Mapping[str, pa.Table]
    mapped: tuple[pa.Buffer, ...] = ()

    def let_go(self) -> None:
        """Give back the memory that its files take, which are read again where they are touched."""
        let_go(self.mapped)

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
    arrays: dict[str, AnyArray] = {}
    tables: dict[str, pa.Table] = {}
    mapped: list[pa.Buffer] = []

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
        mapped.append(map_file(path / name, record.files[name]))
        if kind == "npy":
            arrays[stem] = array_in(path / name, mapped[-1])
        else:
            tables[stem] = _table_in(path / name, mapped[-1])
    segment = Segment(path, record, arrays, tables, tuple(mapped))
    # To check its tables was to read them.
    segment.let_go()
    return segment


def _table_in(path: Path, buffer: pa.Buffer) -> pa.Table:
    try:
        table = pa.ipc.open_file(pa.BufferReader(buffer)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        message = f"the file is no table of an index ({error}); {RESTORE}"
        raise IndexFormatError(message, path=str(path)) from None
    return table


class SegmentInMemory:
    """Takes what a new segment holds, as ``SegmentWriter``, and keeps it; nothing is written."""

    def __init__(self) -> None:
        self._parts: dict[str, list[AnyArray]] = {}
        self._tables: dict[str, pa.Table] = {}

    def add(self, name: str, array: AnyArray) -> None:
        """Take a whole array."""
        self._parts[name] = [stored(array)]

    def append(self, name: str, array: AnyArray) -> None:
        """Take the next values of an array."""
        self._parts.setdefault(name, []).append(stored(array))

    def add_table(self, name: str, table: pa.Table) -> None:
        """Take a table."""
        self._tables[name] = table

    def segment(self, record: SegmentRecord) -> Segment:
        """Return the segment."""
        arrays = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        return Segment(Path(record.name), record, arrays, self._tables)


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
        self.path = folder / SEGMENTS / name
        self._part = part_of(self.path)
        self._arrays: dict[str, _NewArray] = {}
        self._files: dict[str, FileRecord] = {}

    def __enter__(self) -> Self:
        with translated(self.path):
            make_folder(self.path.parent)
            # A writer that was killed may have left them.
            for leftover in (self.path, self._part):
                if leftover.exists():
                    shutil.rmtree(leftover)
            self._part.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._part, ignore_errors=True)

    def add(self, name: str, array: AnyArray) -> None:
        """Write a whole array."""
        self.append(name, array)

    def append(self, name: str, array: AnyArray) -> None:
        """Write the next values of an array; all parts have one type and number of columns."""
        with translated(self.path):
            array = stored(array)
            if name not in self._arrays:
                file = NewFile(self._part / f"{name}.npy")
                self._arrays[name] = _NewArray(file, array.dtype, array.ndim)
            self._arrays[name].append(array)

    def add_table(self, name: str, table: pa.Table) -> None:
        """Write a table, as an uncompressed Arrow file."""
        path = self._part / f"{name}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=None)
        with translated(self.path):
            with (
                pa.OSFile(str(path), "wb") as sink,
                pa.ipc.new_file(sink, table.schema, options=options) as writer,
            ):
                writer.write_table(table)
            self._files[path.name] = finish_file(path)

    def commit(self) -> dict[str, FileRecord]:
        """Bring all to the disk, give the segment its name, and return its files."""
        with translated(self.path):
            self._finish_arrays()
            self._part.rename(self.path)
            sync_folder(self.path.parent)
        return dict(sorted(self._files.items()))

    def _finish_arrays(self) -> None:
        """See that all arrays, and the names of all files, are on the disk.

        All at once, because systems write what is asked for at one time together: of nine small
        files each waited 1.9 ms for the disk one after the other, and 0.6 ms together.
        """
        with Threads(_SYNCED_AT_ONCE) as threads:
            names = threads.do(partial(sync_folder, self._part))
            records = {name: threads.do(array.finish) for name, array in self._arrays.items()}
            for name, record in records.items():
                self._files[f"{name}.npy"] = record.result()
            names.result()


class _NewArray:
    """An array file whose length is known at its end."""

    def __init__(self, file: NewFile, dtype: np.dtype[Any], ndim: int) -> None:
        self._file, self._dtype, self._ndim, self._length = file, dtype, ndim, 0
        file.append(header(dtype, 0, ndim))

    def append(self, array: AnyArray) -> None:
        self._file.append(array.data)
        self._length += len(array)

    def finish(self) -> FileRecord:
        return self._file.finish(header(self._dtype, self._length, self._ndim))


# Tables as bytes, for blocks of documents and rows of the database.

# Texts of 1 kB take 1 % more than with level 3, and half of the time.
_LEVEL = 1
_SIZE_BYTES = 8


def pack_table(table: pa.Table) -> bytes:
    """Compress a table."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    compressed: bytes = pa.Codec("zstd", _LEVEL).compress(data, asbytes=True)
    size: int = data.size
    return size.to_bytes(_SIZE_BYTES, "little") + compressed


def unpack_table(data: Any) -> pa.Table:
    """Return a table of ``pack_table``, whose checksum has been verified."""
    data = pa.py_buffer(data)
    size = int.from_bytes(data[:_SIZE_BYTES], "little")
    return pa.ipc.open_stream(pa.decompress(data[_SIZE_BYTES:], size, "zstd")).read_all()


_PART_BYTES = 1 << 20
_BLOCK = tarfile.BLOCKSIZE


class Snapshot:
    """A committed state of an index, whose files are open: they stay what they are."""

    def __init__(self, contents: Contents, files: Sequence[tuple[str, IO[bytes], int]]) -> None:
        self.generation = contents.manifest.generation
        self.n_documents, self._files = contents.manifest.n_documents, files
        # With what follows each name and each file, and the end.
        self.n_bytes = sum(_BLOCK + _padded(size) for _, _, size in files) + 2 * _BLOCK

    def parts(self) -> Generator[bytes]:
        """Yield the tar file, and close the files."""
        try:
            for name, file, size in self._files:
                info = tarfile.TarInfo(name)
                info.size, info.mode = size, 0o600
                yield info.tobuf(tarfile.GNU_FORMAT)
                left = size
                while left:
                    part = file.read(min(left, _PART_BYTES))
                    if not part:
                        message = f"the file has become shorter; {RESTORE}"
                        raise IndexFormatError(message, path=file.name)
                    left -= len(part)
                    yield part
                yield bytes(_padded(size) - size)
            yield bytes(2 * _BLOCK)
        finally:
            self.close()

    def close(self) -> None:
        """Close the files."""
        for _, file, _ in self._files:
            file.close()


def open_snapshot(folder: Path) -> Snapshot:
    """Open all files of the state of an index that is committed now.

    Raises
    ------
    ReadError, IndexFormatError
        If a file is missing, or shorter than it should be.
    """
    database = Database(folder)
    try:
        while True:
            contents, data = database.copy()
            try:
                files = _open_files(folder, contents)
            except (IndexFormatError, ReadError):
                # A writer may have removed files meanwhile.
                if not database.has_changed(contents):
                    raise
            else:
                # Last, so that a tar file that was cut off has no index.
                return Snapshot(contents, [*files, (FILE, io.BytesIO(data), len(data))])
    finally:
        database.close()


def _open_files(folder: Path, contents: Contents) -> list[tuple[str, IO[bytes], int]]:
    files: list[tuple[str, IO[bytes], int]] = []
    with ExitStack() as stack:
        for segment in contents.manifest.all_segments:
            for name, record in segment.files.items():
                place = f"{SEGMENTS}/{segment.name}/{name}"
                path = folder / place
                try:
                    file = stack.enter_context(path.open("rb"))
                except OSError as error:
                    raise ReadError(error.strerror or str(error), path=str(path)) from error
                if os.fstat(file.fileno()).st_size < record.size:
                    message = f"the file is shorter than it should be; {RESTORE}"
                    raise IndexFormatError(message, path=str(path))
                files.append((place, file, record.size))
        stack.pop_all()
    return files


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK
