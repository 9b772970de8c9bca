"""Segments as immutable files of arrays with checksums.

A segment is one file: its arrays, a header that names them, and a CRC-32 for each page of arrays.
The database has the checksum of header and page checksums, so every byte that is read is verified.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import IndexFormatError, ReadError
from neardup.index.store import RESTORE, SEGMENTS, SegmentRecord
from neardup.runs.disk import make_folder, part_of, sync_file, sync_folder, write_all, write_errors
from neardup.runs.progress import raise_if_cancelled
from neardup.runs.runner import Runner
from neardup.tables import AnyArray, Bools, Int64s, Uint32s, places_of_lists

# Bytes per page of segments whose rows are read singly, and of those that are read as a whole.
SMALL_PAGE, LARGE_PAGE = 1 << 12, 1 << 16
# Pages checked between two checks for cancellation.
_PAGES_AT_ONCE = 64

# Ids are stored as strings, with the type that they had.
_ID_TYPES = {
    str(kind): kind
    for kind in (
        pa.large_string(),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    )
}


@dataclass(frozen=True, eq=False)
class Segment:
    """An open segment with read-only arrays in its mapped file.

    Two segments are equal if they are one object.
    """

    path: Path
    record: SegmentRecord
    arrays: Mapping[str, AnyArray]
    id_type: pa.DataType
    starts: Mapping[str, int]
    mapped: pa.Buffer
    page_bytes: int
    sums: Uint32s
    is_checked: Bools

    def release(self) -> None:
        """Release the file's memory, and read it again on access."""
        release(self.mapped)

    def check(self, pages: Int64s) -> None:
        """Verify some pages for the first time, possibly twice concurrently."""
        pages = np.array(sorted(set(pages[~self.is_checked[pages]].tolist())), np.int64)
        data, size, stop = memoryview(self.mapped), self.page_bytes, self.record.data_bytes
        for start in range(0, len(pages), _PAGES_AT_ONCE):
            raise_if_cancelled()
            some = pages[start : start + _PAGES_AT_ONCE]
            for page, expected in zip(some.tolist(), self.sums[some].tolist(), strict=True):
                if zlib.crc32(data[page * size : min((page + 1) * size, stop)]) != expected:
                    raise _damaged(self.path, f"page {page:,} has another checksum")
            self.is_checked[some] = True

    def array(self, name: str) -> AnyArray:
        """Return a verified array."""
        checked = CheckedArray(self, name)
        return checked.part(0, len(checked))

    def table(self, name: str) -> pa.Table:
        """Return a verified table."""
        return pa.ipc.open_file(pa.py_buffer(self.array(name))).read_all()


class CheckedArray:
    """An array of a segment, verified on access, thread-safe."""

    def __init__(self, segment: Segment, name: str) -> None:
        self.values = segment.arrays[name]
        self._segment, self._first = segment, segment.starts[name]
        self._size = self.values.itemsize * int(np.prod(self.values.shape[1:]))
        self._bits = segment.page_bytes.bit_length() - 1

    def __len__(self) -> int:
        return len(self.values)

    def check_range(self, start: int, stop: int) -> None:
        """Verify the pages of a range of rows."""
        if start < stop:
            first = (self._first + start * self._size) >> self._bits
            last = (self._first + stop * self._size - 1) >> self._bits
            if not self._segment.is_checked[first : last + 1].all():
                self._segment.check(np.arange(first, last + 1))

    def check_ranges(self, starts: Int64s, stops: Int64s) -> None:
        """Verify the pages of many ranges of rows, possibly empty."""
        is_filled = starts < stops
        first = (self._first + starts[is_filled] * self._size) >> self._bits
        last = (self._first + stops[is_filled] * self._size - 1) >> self._bits
        # All first pages at once, then all second pages, and so on.
        for distance in range(int((last - first).max(initial=-1)) + 1):
            pages = np.minimum(first + distance, last)
            if not self._segment.is_checked[pages].all():
                self._segment.check(pages)

    def part(self, start: int, stop: int) -> AnyArray:
        """Return a range of rows."""
        self.check_range(start, stop)
        return self.values[start:stop]

    def take(self, rows: Int64s) -> AnyArray:
        """Return the values of some rows."""
        self.check_ranges(rows, rows + 1)
        taken: AnyArray = self.values[rows]
        return taken


class CheckedLists:
    """Lists of values of a segment, verified on access, thread-safe."""

    def __init__(self, segment: Segment, name: str) -> None:
        self._values = CheckedArray(segment, name)
        self._starts = CheckedArray(segment, f"{name}-starts")

    def one(self, number: int) -> AnyArray:
        """Return the values of a list."""
        start, stop = self._starts.part(number, number + 2).tolist()
        return self._values.part(start, stop)

    def take(self, numbers: Int64s) -> tuple[AnyArray, Int64s]:
        """Return the values of some lists, and their offsets."""
        self._starts.check_ranges(numbers, numbers + 2)
        starts, stops = self._starts.values[numbers], self._starts.values[numbers + 1]
        self._values.check_ranges(starts, stops)
        places, offsets = places_of_lists(starts, stops - starts)
        return self._values.values[places], offsets


def open_segment(folder: Path, record: SegmentRecord) -> Segment:
    """Map a segment's file into memory, and verify its header."""
    path = folder / SEGMENTS / record.name
    check_size(folder, record)
    try:
        # Arrow closes the file and keeps the mapping; Python's mmap keeps a file open for each.
        with pa.memory_map(str(path)) as file:
            mapped = file.read_buffer()
    except OSError as error:
        raise ReadError(f"cannot be mapped: {error}", path=str(path)) from error
    tail = memoryview(mapped)[record.data_bytes :]
    if mapped.size != record.n_bytes or zlib.crc32(tail) != record.checksum:
        raise _damaged(path, "the header has another checksum")
    length = int.from_bytes(tail[:_LENGTH], "little")
    header = json.loads(bytes(tail[_LENGTH : _LENGTH + length]))
    sums = np.frombuffer(tail[_LENGTH + length :], "<u4")
    arrays = {
        name: np.ndarray(shape, dtype, mapped, start)
        for name, (dtype, shape, start) in header["arrays"].items()
    }
    starts = {name: start for name, (_, _, start) in header["arrays"].items()}
    return Segment(
        path,
        record,
        arrays,
        _ID_TYPES[header["ids"]],
        starts=starts,
        mapped=mapped,
        page_bytes=header["page"],
        sums=sums,
        is_checked=np.zeros(len(sums), np.bool_),
    )


def check_size(folder: Path, record: SegmentRecord, *, may_be_gone: bool = False) -> None:
    """Raise if the file of a segment has another size.

    Reading beyond the end of a shortened mapped file ends the process. A removed file stays mapped.
    """
    path = f"{folder}/{SEGMENTS}/{record.name}"
    try:
        # path.stat takes several times as long, and a refresh checks all files of an index.
        size = os.stat(path).st_size  # noqa: PTH116
    except FileNotFoundError:
        if may_be_gone:
            return
        raise IndexFormatError(f"the file is missing; {RESTORE}", path=path) from None
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=path) from error
    if size != record.n_bytes:
        message = f"{record.n_bytes:,} bytes expected, found {size:,}; {RESTORE}"
        raise IndexFormatError(message, path=path)


def check_all(segments: Sequence[Segment], runner: Runner) -> None:
    """Verify all unread bytes of segments, in several threads."""
    parts = [
        (segment, pages)
        for segment in segments
        for pages in np.array_split(np.flatnonzero(~segment.is_checked), 4 * runner.workers)
    ]
    add_done = runner.counter("open", sum(len(pages) for _, pages in parts))
    for n_pages in runner.map(_check_part, parts):
        add_done(n_pages)
    for segment in segments:
        segment.release()


def _check_part(part: tuple[Segment, Int64s]) -> int:
    segment, pages = part
    segment.check(pages)
    return len(pages)


def _damaged(path: Path, reason: str) -> IndexFormatError:
    return IndexFormatError(f"the file is damaged ({reason}); {RESTORE}", path=str(path))


# Arrays start at multiples of this many bytes. The length of the header precedes the header.
_ALIGNED, _LENGTH = 64, 8
# Bytes of an array in memory, beyond which it goes to a temporary file; bytes written together.
_IN_MEMORY, _AT_ONCE = 1 << 22, 1 << 20


class SegmentWriter:
    """Writer of a new segment, visible only after ``commit``.

    For one thread that holds the write lock::

        with SegmentWriter(folder, "s3") as writer:
            writer.append("keys", keys)
            record = writer.commit(n_documents, n_tokens, pa.int64())

    Large arrays grow in temporary files; ``direct``, the largest, goes to the file at once.
    """

    def __init__(
        self, folder: Path, name: str, *, page_bytes: int = LARGE_PAGE, direct: str = ""
    ) -> None:
        self.path = folder / SEGMENTS / name
        self._name, self._page_bytes, self._direct = name, page_bytes, direct
        self._part = part_of(self.path)
        self._kinds: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._n_values: Counter[str] = Counter()
        self._spools: dict[str, tempfile.SpooledTemporaryFile[bytes]] = {}
        self._stack = ExitStack()
        self._buffer, self._n_written, self._n_direct = bytearray(), 0, 0
        self._sums: list[int] = []

    def __enter__(self) -> Self:
        with write_errors(self.path):
            make_folder(self.path.parent)
            self._file = self._stack.enter_context(self._part.open("wb", buffering=0))
        return self

    def __exit__(self, *_: object) -> None:
        # Nothing more is needed of the files; the next change of the index removes one that stays.
        with contextlib.suppress(OSError):
            self._stack.close()
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)

    def append(self, name: str, array: AnyArray) -> None:
        """Write the next rows of an array, with uniform types."""
        with write_errors(self.path):
            array = stored(array)
            self._kinds.setdefault(name, (array.dtype.str, array.shape[1:]))
            if name == self._direct:
                self._n_direct += array.nbytes
                self._write(array.data)
            elif array.nbytes:
                self._spool(name).write(array.data)

    def append_lists(self, name: str, values: AnyArray, sizes: Int64s) -> None:
        """Write the next lists of values, as ``CheckedLists`` reads them."""
        starts = f"{name}-starts"
        if starts not in self._kinds:
            self.append(starts, np.zeros(1, np.int64))
        self.append(name, values)
        self.append(starts, np.cumsum(sizes) + self._n_values[name])
        self._n_values[name] += len(values)

    def add_table(self, name: str, table: pa.Table) -> None:
        """Write a table, as an uncompressed Arrow file."""
        with write_errors(self.path):
            self._kinds[name] = "|u1", ()
            spool = self._spool(name)
            # Arrow writes the end even after an interrupt, which may come in the midst of this.
            spool.rollover()
            with pa.ipc.new_file(spool, table.schema) as writer:
                writer.write_table(table)

    def commit(self, n_documents: int, n_tokens: int, id_type: pa.DataType) -> SegmentRecord:
        """Sync the file, name it, and return its record."""
        with write_errors(self.path):
            arrays, n_bytes = {}, {self._direct: self._n_direct}
            for name in sorted(self._kinds, key=lambda name: (name != self._direct, name)):
                dtype, columns = self._kinds[name]
                start = 0 if name == self._direct else self._align()
                if name in self._spools:
                    n_bytes[name] = self._copy(self._spools[name])
                size = np.dtype(dtype).itemsize * int(np.prod(columns))
                arrays[name] = dtype, (n_bytes.get(name, 0) // size, *columns), start
            self._align()
            data_bytes = self._n_written
            self._flush(is_last=True)
            ids = next(key for key, kind in _ID_TYPES.items() if kind == id_type)
            header = {"page": self._page_bytes, "ids": ids, "arrays": arrays}
            spelled = json.dumps(header).encode()
            sums = np.array(self._sums, "<u4").tobytes()
            tail = len(spelled).to_bytes(_LENGTH, "little") + spelled + sums
            write_all(self._file.fileno(), tail)
            sync_file(self._file.fileno(), self._part)
            self._stack.close()
            self._part.rename(self.path)
            sync_folder(self.path.parent)
        checksum = zlib.crc32(tail)
        n_bytes_in_all = data_bytes + len(tail)
        return SegmentRecord(
            self._name, n_documents, n_tokens, n_bytes_in_all, data_bytes, checksum
        )

    def _spool(self, name: str) -> tempfile.SpooledTemporaryFile[bytes]:
        if name not in self._spools:
            self._spools[name] = self._stack.enter_context(
                tempfile.SpooledTemporaryFile(  # noqa: SIM115 - the stack closes it
                    _IN_MEMORY, dir=str(self.path.parent)
                )
            )
        return self._spools[name]

    def _copy(self, spool: IO[bytes]) -> int:
        n_bytes = spool.tell()
        spool.seek(0)
        while part := spool.read(_AT_ONCE):
            self._write(part)
        return n_bytes

    def _align(self) -> int:
        """Pad with zeros, and return the next array's start."""
        self._write(bytes(-self._n_written % _ALIGNED))
        return self._n_written

    def _write(self, data: Any) -> None:
        self._buffer += data
        self._n_written += memoryview(data).nbytes
        if len(self._buffer) >= _AT_ONCE:
            self._flush()

    def _flush(self, *, is_last: bool = False) -> None:
        """Write all whole pages, and the last, shorter one at the end."""
        size = self._page_bytes
        stop = len(self._buffer) if is_last else len(self._buffer) // size * size
        data = bytes(self._buffer[:stop])
        self._sums += (zlib.crc32(data[at : at + size]) for at in range(0, stop, size))
        write_all(self._file.fileno(), data)
        del self._buffer[:stop]


# Tables as bytes, for blocks of documents and rows of the database.

# Texts of 1 kB take 1 % more than with level 3, and half of the time.
_LEVEL = 1
_SIZE_BYTES = 8


def pack_table(table: pa.Table) -> bytes:
    """Compress a table into bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data = sink.getvalue()
    compressed: bytes = pa.Codec("zstd", _LEVEL).compress(data, asbytes=True)
    size: int = data.size
    return size.to_bytes(_SIZE_BYTES, "little") + compressed


def unpack_table(data: Any) -> pa.Table:
    """Return a table of ``pack_table`` from verified bytes."""
    data = pa.py_buffer(data)
    size = int.from_bytes(data[:_SIZE_BYTES], "little")
    return pa.ipc.open_stream(pa.decompress(data[_SIZE_BYTES:], size, "zstd")).read_all()


# Arrays in files, and the memory of mapped files.

_NOT_NEEDED = 4  # MADV_DONTNEED


def stored(array: AnyArray) -> AnyArray:
    """View an array in its stored layout: C order, little-endian."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def release(buffer: pa.Buffer) -> None:
    """Release the memory of a mapped file.

    Pages are read again on access. The buffer is a whole mapping. Some systems do not support it.
    """
    advise = _system_call()
    if advise is not None:
        advise(ctypes.c_void_p(buffer.address), ctypes.c_size_t(buffer.size), _NOT_NEEDED)


@cache
def _system_call() -> Callable[..., int] | None:
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            return cast("Callable[..., int]", ctypes.CDLL(None).madvise)
    return None
