"""Arrow's own files: streams of record batches, as Hugging Face saves them, and Feather files."""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import TableBlock, check_batch, without_views
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import check_unpacked, file_size, one_line, open_random, reading, writing

if TYPE_CHECKING:
    from neardup.files.streams import Destination
    from neardup.options.groups import InputOptions

# Sizes in the messages of an Arrow file or stream, checked before Arrow uses them.
#
# Arrow allocates the length that a file states, and buffers may be compressed by any factor. So
# lengths are compared with the file first: a message must lie in the file, its buffers in the
# message, and their decompressed sizes within limits. Only the part before the buffers is read,
# unless they are compressed.
#
# A message is a flatbuffer, followed by the buffers; https://arrow.apache.org/docs/format has both.

_CONTINUES = 0xFFFFFFFF
_TAIL = 10
_DICTIONARY, _BATCH = 2, 3
_BLOCK = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("pad", "<i4"), ("body", "<i8")])
_SPAN = np.dtype([("offset", "<i8"), ("length", "<i8")])


class Messages:
    """The messages of an open file, each checked before Arrow reads it.

    Parameters
    ----------
    file
        The file; its position is the same after each call.
    path
        Its name, for errors.
    """

    def __init__(self, file: Any, path: str) -> None:
        self._file, self._path = file, path
        before = file.tell()
        self._size = file.seek(0, os.SEEK_END)
        file.seek(before)
        # Dictionaries stay in memory as long as the file is read.
        self._dictionaries = 0

    def check_next(self) -> None:
        """Check the next batch of a stream and the dictionaries before it."""
        at: int | None = self._file.tell()
        while at is not None:
            at = self._check(at)

    def check_blocks(self) -> Iterator[None]:
        """Check the dictionaries of a file of batches, and then, a step each, its batches."""
        with self._errors():
            size = struct.unpack("<i", self._bytes(self._size - _TAIL, 4))[0]
            footer = _Table.root(self._bytes(self._size - _TAIL - size, size))
            dictionaries, batches = (footer.vector(number, _BLOCK) for number in (2, 3))
        for block in dictionaries:
            self._check(int(block["offset"]))
        for block in batches:
            self._check(int(block["offset"]))
            yield

    def _check(self, at: int) -> int | None:
        """Check a message; return the place of the next one, None after a batch or at the end."""
        with self._errors():
            head = self._bytes(at, min(8, max(0, self._size - at)))
            if len(head) < 8:
                return None
            first, second = struct.unpack("<Ii", head)
            # Until Arrow 0.15 the length came first.
            start, length = (at + 8, second) if first == _CONTINUES else (at + 4, first)
            if not length:
                return None
            message = _Table.root(self._bytes(start, length))
            body: int = start + length
            stop: int = body + message.integer(3, "<q")
            if not body <= stop <= self._size:
                raise ValueError
            kind = message.integer(1, "<B")
            if kind not in (_DICTIONARY, _BATCH):
                return stop
            batch = message.table(2)
            memory = self._memory(batch.table(1) if kind == _DICTIONARY else batch, body, stop)
        check_unpacked(self._dictionaries + memory, self._size, "a batch", self._path)
        if kind == _BATCH:
            return None
        self._dictionaries += memory
        return stop

    def _memory(self, batch: _Table, body: int, stop: int) -> int:
        """Return the memory of a batch with buffers between two bytes."""
        spans = batch.vector(2, _SPAN)
        ends = spans["offset"] + spans["length"]
        if (spans["offset"] < 0).any() or (spans["length"] < 0).any():
            raise ValueError
        if len(spans) and not 0 <= ends.max() <= stop - body:
            raise ValueError
        # A column of nulls has rows and no buffers.
        memory = batch.integer(0, "<q")
        if batch.place(3) is None:
            return memory + int(spans["length"].sum())
        for offset, length in spans.tolist():
            # A compressed buffer begins with its decompressed size, -1 if it is not compressed.
            size = -1 if length < 8 else struct.unpack("<q", self._bytes(body + offset, 8))[0]
            if size < -1:
                raise ValueError
            memory += length if size == -1 else size
        return memory

    def _bytes(self, at: int, size: int) -> bytes:
        if not 0 <= at <= at + size <= self._size:
            raise ValueError
        before = self._file.tell()
        self._file.seek(at)
        data: bytes = self._file.read(size)
        self._file.seek(before)
        if len(data) < size:
            raise EOFError
        return data

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, struct.error, EOFError):
            message = (
                "not an Arrow file or stream that Arrow can read: lengths in it lead out of it; "
                "get an intact copy"
            )
            raise InvalidInputError(message, path=self._path) from None


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
        """Return where a field is; None if it is left out."""
        slot = self._fields + 4 + 2 * number
        offset = self._read("<H", slot) if slot + 2 <= self._end else 0
        return self._at + offset if offset else None

    def integer(self, number: int, form: str) -> int:
        """Return a number, 0 if it is left out."""
        place = self.place(number)
        return 0 if place is None else self._read(form, place)

    def table(self, number: int) -> _Table:
        """Return a table that has to be there."""
        place = self.place(number)
        if place is None:
            raise ValueError
        return _Table(self._data, place + self._read("<I", place))

    def vector(self, number: int, kind: np.dtype[Any]) -> Any:
        """Return a list of structures, empty if it is left out."""
        place = self.place(number)
        if place is None:
            return np.empty(0, kind)
        place += self._read("<I", place)
        return np.frombuffer(self._data, kind, self._read("<I", place), place + 4)

    def _read(self, form: str, at: int) -> int:
        if at < 0:
            raise ValueError
        return int(struct.unpack_from(form, self._data, at)[0])


_MAGIC = b"ARROW1"
_BLOCK_ROWS = 8192


def open_source(location: str, name: str, _: InputOptions) -> ArrowSource:
    """Return the source of a file."""
    return ArrowSource(location, name)


class ArrowSource(Source):
    """A file of record batches, or a stream of such; rows count from 1.

    An output has the schema and metadata of its input and is of the same of the two kinds; batches
    are made anew, buffers are not compressed.

    Parameters
    ----------
    location
        Local path or URL.
    name
        Name in ids and outputs.
    block_rows
        Most rows of a block.
    """

    input_options = frozenset({"input_format"})

    def __init__(self, location: str, name: str, *, block_rows: int = _BLOCK_ROWS) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._block_rows = block_rows

    @cached_property
    def _layout(self) -> tuple[bool, pa.Schema]:
        """Whether this is a file and no stream, and the schema."""
        with _errors(self.location), open_random(self.location) as file:
            is_file = file.read(len(_MAGIC)) == _MAGIC
            file.seek(0)
            schema = (ipc.open_file if is_file else ipc.open_stream)(file).schema
            # Names are decoded when they are asked for, which must not fail later.
            _ = schema.names
            # An empty table of a schema cannot have unions.
            return is_file, without_views(pa.Table.from_batches([], schema)).schema

    def schema(self) -> pa.Schema:
        """Return the columns of the file, with its metadata."""
        return self._layout[1]

    def blocks(self) -> Iterator[RowBlock]:
        """Read the batches one after the other."""
        is_file, _ = self._layout
        number = 1
        with open_random(self.location) as file:
            batches = self._batches(file, is_file)
            for index in itertools.count(1):
                with _errors(self.location):
                    batch = next(batches, None)
                if batch is None:
                    return
                check_batch(batch, f"batch {index}", path=self.location)
                for start in range(0, len(batch), self._block_rows):
                    rows = batch.slice(start, self._block_rows)
                    part = without_views(pa.Table.from_batches([rows]), self.location)
                    block = TableBlock(part, number, self.location)
                    block.end = file.tell()
                    yield block
                    number += len(part)

    def _batches(self, file: Any, is_file: bool) -> Iterator[pa.RecordBatch]:
        reader = (ipc.open_file if is_file else ipc.open_stream)(file)
        messages = Messages(file, self.location)
        if is_file:
            for index, _ in enumerate(messages.check_blocks()):
                yield reader.get_batch(index)
            return
        while True:
            messages.check_next()
            try:
                yield reader.read_next_batch()
            except StopIteration:
                return

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of the same kind of file."""
        is_file, schema = self._layout
        return _ArrowWriter(folder / self.name, schema, is_file=is_file)


class _ArrowWriter(RowWriter):
    """Writes rows as record batches, one a block."""

    def __init__(self, destination: Destination, schema: pa.Schema, *, is_file: bool) -> None:
        self._destination = destination
        self._is_closed = self._has_failed = False
        with writing(destination):
            self._file = destination.create()
            self._writer: Any = (ipc.new_file if is_file else ipc.new_stream)(self._file, schema)

    def prepare(self, block: RowBlock, select: Mask) -> pa.Table | None:
        """Return the selected rows, all columns."""
        return block.to_table(select) if select.any() else None

    def append(self, prepared: pa.Table | None) -> None:
        """Append a table."""
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
        """Complete the file; a second call does nothing, and neither does one after an error."""
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
