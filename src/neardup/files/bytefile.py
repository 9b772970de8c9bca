"""Files as bytes: each is one document, whatever it holds, and is read as it is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.problems import check_columns
from neardup.files.rawrows import Cutter, RawBlock, RawRows, cut_nothing
from neardup.files.rawsource import MAX_ROW_BYTES, RawSource, WholeFileWriter
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
from neardup.files.streams import InputStream, OutputStream

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts
    from neardup.files.streams import Destination
    from neardup.options.groups import InputOptions

# What the only column is called.
_COLUMN = "bytes"


def open_source(location: str, name: str, options: InputOptions) -> BytesSource:
    """Return the source of a file that is one document of bytes."""
    return BytesSource(location, name)


class BytesSource(RawSource):
    """A file whose bytes are one document, its row 1; also if it is empty.

    A compressed file is not decompressed, and a byte-order mark counts.
    """

    input_options = frozenset({"input_format"})
    is_one_row = True

    def column_names(self) -> list[str]:
        """Return the name of the column."""
        return [_COLUMN]

    def arrow_schema(self) -> pa.Schema:
        """Return the type of the column."""
        return pa.schema([(_COLUMN, pa.large_binary())])

    def open(self) -> InputStream:
        """Open the file at its start."""
        return InputStream(self.location)

    def output(self, folder: Destination) -> OutputStream:
        """Create the output of the same name."""
        return OutputStream(folder / self.name)

    def blocks(self) -> Iterator[RowBlock]:
        """Read the file."""
        if self.size is not None and self.size > MAX_ROW_BYTES:
            message = (
                f"the file has {self.size:,} bytes, and a document {MAX_ROW_BYTES:,} at most; "
                "leave it out, or cut it into parts"
            )
            raise InvalidInputError(message, path=self.location)
        yield from super().blocks()

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that copies the file if its row is selected."""
        return WholeFileWriter(self, folder)

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        return cut_nothing

    def _block(self, raw: RawRows) -> RowBlock:
        return _BytesBlock(self.location, raw)


class _BytesBlock(RawBlock):
    """The one row of a file."""

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Give the bytes, whatever names the text columns have; there are no other columns."""
        columns = replace(columns, text=_COLUMN)
        check_columns(columns, pa.schema([(_COLUMN, pa.binary())]), path=self.path, sample=dict)
        return ParsedRows(self._bytes(select))

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the bytes as the column ``bytes``."""
        return pa.table({_COLUMN: self._bytes(select)})

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Return the block itself: nothing that cuts reads bytes."""
        assert not len(cuts)
        return self

    def _bytes(self, select: Mask | None) -> pa.Array:
        raw = self.raw.select(select)
        # One row begins where the file does.
        bounds = np.concatenate([raw.starts[:1], raw.ends]) if len(raw) else np.zeros(1, np.int64)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(raw.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(raw), buffers)
