"""Arrow files: record batch streams (Hugging Face) and Feather files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa
from pyarrow import ipc

from neardup.files.arrowcolumns import TableBlock, arrow_errors, check_batch, without_views
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination, check_unpacked, file_size, open_random
from neardup.files.writers import TableWriter
from neardup.options.groups import InputOptions

_MAGIC = b"ARROW1"
# A file is a stream behind a magic word of eight bytes, followed by a table of its batches.
_START_OF_STREAM = 8

_BLOCK_ROWS = 8192


def open_source(location: str, name: str, _: InputOptions) -> ArrowSource:
    """Return the source of a file."""
    return ArrowSource(location, name)


class ArrowSource(Source):
    """A file or stream of Arrow record batches."""

    def __init__(self, location: str, name: str, *, block_rows: int = _BLOCK_ROWS) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self._block_rows = block_rows

    @cached_property
    def _layout(self) -> tuple[bool, pa.Schema]:
        """Return whether this is a file, and the schema."""
        with arrow_errors(self.location, _KIND), open_random(self.location) as file:
            is_file = file.read(len(_MAGIC)) == _MAGIC
            if is_file:
                file.seek(-len(_MAGIC), os.SEEK_END)
                if file.read(len(_MAGIC)) != _MAGIC:
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
            with arrow_errors(self.location, _KIND):
                file.seek(_START_OF_STREAM * is_file)
                reader = ipc.open_stream(file)
            for index in itertools.count(1):
                with arrow_errors(self.location, _KIND):
                    try:
                        batch = reader.read_next_batch()
                    except StopIteration:
                        return
                where = f"batch {index}"
                check_batch(batch, where, path=self.location)
                # A column of nulls has rows without any bytes.
                check_unpacked(len(batch), self.size, where, self.location)
                for start in range(0, len(batch), self._block_rows):
                    rows = batch.slice(start, self._block_rows)
                    part = without_views(pa.Table.from_batches([rows]))
                    block = TableBlock(part, number, self.location)
                    block.end = file.tell()
                    yield block
                    number += len(part)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of the same kind of file."""
        is_file, schema = self._layout
        return TableWriter(
            folder / self.name, schema, make=ipc.new_file if is_file else ipc.new_stream
        )


_KIND = "an Arrow file or stream"
