"""Plain text: one document a file, or one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.files.arrowcolumns import parse_arrow
from neardup.files.rawrows import (
    BYTE_ORDER_MARK,
    Cut,
    Cutter,
    Positions,
    RawBlock,
    RawRows,
    RawSource,
    RawWriter,
    cut_lines,
    line_ends,
)
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.files.input_options import InputOptions
    from neardup.files.streams import InputStream


def open_source(
    location: str, name: str, options: InputOptions
) -> TextFileSource | TextLinesSource:
    """Return the source of a file that is one document, or with ``lines`` has one a line."""
    return (TextLinesSource if options.lines else TextFileSource)(location, name)


class TextFileSource(RawSource):
    """A text file that is one document, its row 1; also if it is empty.

    A byte-order mark is no part of the text but is written again.
    """

    input_options = frozenset({"lines"})

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        return _cut_nothing

    def _block(self, raw: RawRows) -> RowBlock:
        skipped = len(BYTE_ORDER_MARK) if raw.data.startswith(BYTE_ORDER_MARK) else 0
        return _TextBlock(self.location, raw, raw.starts + skipped, raw.ends)

    def writer(self, folder: Path) -> RowWriter:
        """Open a writer that copies the file if its row is selected."""
        return _TextFileWriter(self, folder)


class _TextFileWriter(RowWriter):
    """Copies a file that is one document, or makes none: an empty file would be a document too."""

    def __init__(self, source: TextFileSource, folder: Path) -> None:
        self._source, self._folder = source, folder

    def write(self, block: RowBlock, select: Mask) -> None:
        """Write the file if its row is selected."""
        if select.any():
            with RawWriter(self._source.output(self._folder)) as writer:
                writer.write(block, select)

    def close(self) -> None:
        """Do nothing; the file was complete when it was written."""


class TextLinesSource(RawSource):
    """A text file with one document a line; lines of white space are no rows."""

    input_options = frozenset({"lines"})

    def _cutter(self) -> Cutter:
        return cut_lines

    def _block(self, raw: RawRows) -> RowBlock:
        return _TextBlock(self.location, raw, raw.starts, line_ends(raw))

    def writer(self, folder: Path) -> RowWriter:
        """Open a writer of lines."""
        return RawWriter(self.output(folder))


class _TextBlock(RawBlock):
    """Rows that are texts: ``starts`` and ``ends`` say which bytes of each raw row."""

    def __init__(
        self,
        path: str,
        raw: RawRows,
        starts: Positions,
        ends: Positions,
    ) -> None:
        super().__init__(path, raw)
        self._starts, self._ends = starts, ends

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Give the texts, whatever name the text column has; there are no other columns."""
        numbers = self.numbers if select is None else self.numbers[select]
        table = pa.table({columns.text: self._texts(select)})
        return parse_arrow(table, numbers, columns, path=self.path, skip_bad=skip_bad)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the texts as the column ``text``."""
        return pa.table({"text": self.parse(ColumnNames(), select=select).text})

    def _texts(self, select: Mask | None) -> pa.Array:
        """Copy the texts out of the block.

        The block is read as an Arrow array in which texts take turns with what lies between
        them, so that one Arrow call can take every other element.
        """
        starts, ends = self._starts, self._ends
        if select is not None:
            starts, ends = starts[select], ends[select]
        if not len(starts):
            return pa.array([], pa.string())
        offsets = np.empty(2 * len(starts), np.int32)
        offsets[0::2], offsets[1::2] = starts, ends
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.raw.data)]
        both = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        return both.take(pa.array(np.arange(0, len(offsets), 2)))


def _cut_nothing(data: bytes, final: bool) -> Cut:
    """Take the whole file as one row."""
    n = int(final)
    size = len(data) * n
    return Cut(np.zeros(n, np.int64), np.full(n, size, np.int64), np.zeros(n, np.int64), n, size)
