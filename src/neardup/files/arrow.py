"""Arrow's own files: streams of record batches, as Hugging Face saves them, and Feather files."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import check_batch
from neardup.files.arrowmessages import Messages
from neardup.files.rows import Mask, RowBlock, RowWriter, Source
from neardup.files.streams import file_size, one_line, open_random, reading, writing
from neardup.files.tableblocks import TableBlock

if TYPE_CHECKING:
    from neardup.files.destinations import Destination
    from neardup.files.input_options import InputOptions

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
            return is_file, schema

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        names: list[str] = self._layout[1].names
        return names

    def arrow_schema(self) -> pa.Schema:
        """Return the types of the columns."""
        return self._layout[1]

    def schema_metadata(self) -> Mapping[bytes, bytes]:
        """Return the metadata of the schema."""
        return self._layout[1].metadata or {}

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
                    part = pa.Table.from_batches([batch.slice(start, self._block_rows)])
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

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows, all columns.

        Raises
        ------
        InvalidInputError
            If Arrow does not take them, as files do not where texts of a dictionary have changed.
        """
        if not select.any():
            return
        table = block.to_table(select)
        self._has_failed = True
        try:
            with writing(self._destination):
                self._writer.write_table(table)
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
    """Turn what Arrow raises for a damaged file into InvalidInputError or ReadError."""
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
