"""Arrow files: record batch streams (Hugging Face) and Feather files."""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import TableBlock, check_batch, without_views
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import check_unpacked, file_size, one_line, open_random, reading, writing

if TYPE_CHECKING:
    from neardup.files.streams import Destination
    from neardup.options.groups import InputOptions

# Memory of a batch, checked before Arrow takes it: buffers may be compressed by any factor. Arrow
# itself checks that lengths stay within the file. Only the part of a message before its buffers is
# read, and the decompressed size in front of a compressed buffer.
#
# A message is a flatbuffer, followed by the buffers; https://arrow.apache.org/docs/format has both.

_MAGIC = b"ARROW1"
# A file is a stream behind a magic word of eight bytes, followed by a table of its batches.
_START_OF_STREAM = 8
_CONTINUES = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3
_SPAN = np.dtype([("offset", "<i8"), ("length", "<i8")])


class Messages:
    """Messages of an open stream, checked before Arrow reads them."""

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path
        before = file.tell()
        self._size = file.seek(0, os.SEEK_END)
        file.seek(before)
        # Dictionaries stay in memory as long as the file is read.
        self._dictionaries = 0

    def check_next(self) -> None:
        """Check the next batch and the dictionaries before it."""
        before, kind = self._file.tell(), _DICTIONARY
        while kind == _DICTIONARY:
            try:
                kind, memory = self._next_memory()
            except (ValueError, struct.error) as error:
                message = "lengths in it lead out of it; get an intact copy"
                raise pa.ArrowInvalid(message) from error
            check_unpacked(self._dictionaries + memory, self._size, "a batch", self._path)
            self._dictionaries += memory if kind == _DICTIONARY else 0
        self._file.seek(before)

    def _next_memory(self) -> tuple[int, int]:
        """Return the next message's kind and memory, zeros at end."""
        head = self._file.read(8)
        first, length = struct.unpack("<Ii", head) if len(head) == 8 else (_CONTINUES, 0)
        if first != _CONTINUES:
            # Until Arrow 0.15 the length came first.
            self._file.seek(-4, os.SEEK_CUR)
            length = first
        if not 0 < length <= self._size:
            return 0, 0
        message = _Table.root(self._file.read(length))
        body = self._file.tell()
        stop = body + message.integer(3, "<q")
        kind = message.integer(1, "<B")
        if not body <= stop <= self._size:
            raise ValueError
        if kind not in (_DICTIONARY, _BATCH):
            return kind, 0
        batch = message.table(2)
        batch = batch.table(1) if kind == _DICTIONARY else batch
        spans = batch.vector(2, _SPAN)
        # A column of nulls has rows and no buffers.
        memory = batch.integer(0, "<q") + int(spans["length"].sum())
        for offset, size in spans.tolist() if batch.place(3) is not None else ():
            # A compressed buffer begins with its decompressed size, -1 if it is not compressed.
            if size >= 8:
                self._file.seek(body + offset)
                memory += max(0, struct.unpack("<q", self._file.read(8))[0])
        self._file.seek(stop)
        return kind, memory


class _Table:
    """A table of a flatbuffer: optional fields by number."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._read("<i", at)
        self._end = self._fields + self._read("<H", self._fields)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """Return the table that a buffer is."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def place(self, number: int) -> int | None:
        """Return the position of a field, None if absent."""
        slot = self._fields + 4 + 2 * number
        offset = self._read("<H", slot) if slot + 2 <= self._end else 0
        return self._at + offset if offset else None

    def integer(self, number: int, form: str) -> int:
        """Return a number, 0 if it is left out."""
        place = self.place(number)
        return 0 if place is None else self._read(form, place)

    def table(self, number: int) -> _Table:
        """Return a required table, raising ValueError if absent."""
        place = self.place(number)
        if place is None:
            raise ValueError
        return _Table(self._data, place + self._read("<I", place))

    def vector(self, number: int, kind: np.dtype[Any]) -> Any:
        """Return a vector of structures, empty if absent."""
        place = self.place(number)
        if place is None:
            return np.empty(0, kind)
        place += self._read("<I", place)
        return np.frombuffer(self._data, kind, self._read("<I", place), place + 4)

    def _read(self, form: str, at: int) -> int:
        if at < 0:
            raise ValueError
        return int(struct.unpack_from(form, self._data, at)[0])


_BLOCK_ROWS = 8192


def open_source(location: str, name: str, _: InputOptions) -> ArrowSource:
    """Return the source of a file."""
    return ArrowSource(location, name)


class ArrowSource(Source):
    """A file or stream of record batches.

    Rows count from 1. An output has the schema and metadata of its input and is of the same of the
    two kinds; batches are made anew, buffers are not compressed.
    """

    def __init__(self, location: str, name: str, *, block_rows: int = _BLOCK_ROWS) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._block_rows = block_rows

    @cached_property
    def _layout(self) -> tuple[bool, pa.Schema]:
        """Return whether this is a file, and the schema."""
        with _errors(self.location), open_random(self.location) as file:
            is_file = file.read(len(_MAGIC)) == _MAGIC
            if is_file and not _is_whole(file):
                raise pa.ArrowInvalid("its end is missing; get a full copy")
            file.seek(_START_OF_STREAM * is_file)
            schema = ipc.open_stream(file).schema
            # Names are decoded when they are asked for, which must not fail later.
            _ = schema.names
            # An empty table of a schema cannot have unions.
            return is_file, without_views(pa.Table.from_batches([], schema)).schema

    def schema(self) -> pa.Schema:
        """Return the columns of the file, with its metadata."""
        return self._layout[1]

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read the batches one after the other."""
        is_file, _ = self._layout
        number = 1
        with open_random(self.location) as file:
            with _errors(self.location):
                file.seek(_START_OF_STREAM * is_file)
                reader, messages = ipc.open_stream(file), Messages(file, self.location)
            for index in itertools.count(1):
                with _errors(self.location):
                    messages.check_next()
                    try:
                        batch = reader.read_next_batch()
                    except StopIteration:
                        return
                check_batch(batch, f"batch {index}", path=self.location)
                for start in range(0, len(batch), self._block_rows):
                    rows = batch.slice(start, self._block_rows)
                    part = without_views(pa.Table.from_batches([rows]), self.location)
                    block = TableBlock(part, number, self.location)
                    block.end = file.tell()
                    yield block
                    number += len(part)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of the same kind of file."""
        is_file, schema = self._layout
        return _ArrowWriter(folder / self.name, schema, is_file=is_file)


def _is_whole(file: Any) -> bool:
    """Return whether a file ends as it began."""
    file.seek(-len(_MAGIC), os.SEEK_END)
    return bool(file.read(len(_MAGIC)) == _MAGIC)


class _ArrowWriter(RowWriter):
    """Writes rows as record batches, one a block."""

    def __init__(self, destination: Destination, schema: pa.Schema, *, is_file: bool) -> None:
        self._destination = destination
        self._is_closed = self._has_failed = False
        with writing(destination):
            self._file = destination.create()
            self._writer: Any = (ipc.new_file if is_file else ipc.new_stream)(self._file, schema)

    def prepare(self, block: RowBlock) -> pa.Table | None:
        """Return the rows, all columns."""
        return block.to_table() if len(block) else None

    def append(self, prepared: pa.Table | None) -> None:
        """Append a table to the file."""
        if prepared is None:
            return
        self._has_failed = True
        try:
            with writing(self._destination):
                self._writer.write_table(prepared)
        except pa.ArrowInvalid as error:
            message = f"{error}; write format='parquet' (--format parquet)"
            raise InvalidInputError(message, path=str(self._destination)) from None
        self._has_failed = False

    def close(self) -> None:
        """Complete the file, unless it is closed or failed."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_failed:
            with contextlib.suppress(OSError):
                self._file.close()
            return
        with contextlib.closing(self._file), writing(self._destination):
            self._writer.close()


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    """Translate errors of Arrow for a damaged file."""
    try:
        with reading(path):
            yield
    except (
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
        pa.ArrowKeyError,
        pa.ArrowIndexError,
        EOFError,
        UnicodeDecodeError,
    ) as error:
        message = f"not an Arrow file or stream that Arrow can read: {one_line(error)}"
        raise InvalidInputError(message, path=path) from error
