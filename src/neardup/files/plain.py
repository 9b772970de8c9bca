"""Plain text, one document a file or one a line, and files of any bytes as documents."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8, parse_arrow
from neardup.files.binary import HEAD_BYTES, foreign_kind, is_binary
from neardup.files.cuts import Splices, fill_holes
from neardup.files.problems import Problems, check_columns
from neardup.files.rawrows import (
    BLOCK_BYTES,
    BYTE_ORDER_MARK,
    Cutter,
    Positions,
    RawBlock,
    RawRows,
    RawWriter,
    cut_lines,
    cut_nothing,
    line_ends,
)
from neardup.files.rawsource import MAX_ROW_BYTES, RawSource, WholeFileWriter
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
from neardup.files.streams import InputStream, OutputStream, suffix_below
from neardup.tables import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neardup.files.cuts import Cuts
    from neardup.files.streams import Destination
    from neardup.options.groups import InputOptions

# The name of the only column, of text and of bytes.
_COLUMN, _BYTES_COLUMN = "text", "bytes"

_LINE_END = re.compile(r"\r\n|\r|\n")


def open_source(
    location: str, name: str, options: InputOptions
) -> BytesSource | TextFileSource | TextLinesSource:
    """Return the source of a file of one document, or of one per line."""
    if options.input_format == "bytes":
        return BytesSource(location, name)
    is_text_by_name = suffix_below(name) == ".txt"
    source = TextLinesSource if options.document == "line" else TextFileSource
    return source(location, name, is_text_by_name=is_text_by_name, encoding=options.encoding)


class _TextSource(RawSource):
    """A text file, whose texts are its only column.

    Parameters
    ----------
    location, name, encoding, block_bytes
        As for RawSource.
    is_text_by_name
        Whether the name is that of a text; else its first bytes decide.
    """

    input_options = RawSource.input_options | {"document line"}

    def __init__(
        self,
        location: str,
        name: str,
        *,
        is_text_by_name: bool = True,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        super().__init__(location, name, encoding=encoding, block_bytes=block_bytes)
        self._is_text_by_name = is_text_by_name

    def column_names(self) -> list[str]:
        """Return the name of the column."""
        return [_COLUMN]


class TextFileSource(_TextSource):
    """A text file that is one document, its row 1; also if it is empty.

    A byte-order mark is no part of the text but is written again. A file that is no text is a bad
    row.
    """

    is_one_row = True

    @property
    def is_binary(self) -> bool:
        """Whether the first bytes are binary in every encoding."""
        with self.open() as stream:
            return self.encoding.unit == 1 and is_binary(stream.read(HEAD_BYTES))

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        return cut_nothing

    def _block(self, raw: RawRows) -> RowBlock:
        head = bytes(raw.data[:HEAD_BYTES])
        skipped = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
        block = _TextBlock(self.location, raw, raw.starts + skipped, raw.ends)
        foreign = foreign_kind(head)
        if foreign and (not self._is_text_by_name or not is_utf8(raw.data)):
            return _ForeignBlock(block, foreign)
        return block

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that copies the file if its row is selected."""
        return WholeFileWriter(self, folder)


class TextLinesSource(_TextSource):
    """A text file with one document a line; lines of white space are no rows."""

    def _start(self, stream: InputStream) -> bytes:
        head = stream.read(HEAD_BYTES)
        foreign = foreign_kind(head) if self.encoding.is_utf8 else None
        if foreign and (not self._is_text_by_name or not is_utf8(head)):
            raise InvalidInputError(foreign, path=self.location)
        return head.removeprefix(self.encoding.mark)

    def _cutter(self) -> Cutter:
        return cut_lines

    def _block(self, raw: RawRows) -> RowBlock:
        return _LineBlock(self.location, raw, raw.starts, line_ends(raw))

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of lines."""
        return RawWriter(self.marked_output(folder), codec=self.encoding.codec)


class _TextBlock(RawBlock):
    """Rows that are texts: bytes ``starts`` to ``ends`` of each raw row."""

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
        """Return the texts for any column name; there are no other columns."""
        numbers = self.numbers if select is None else self.numbers[select]
        table = pa.table({_COLUMN: self._texts(select)})
        columns = replace(columns, text=_COLUMN)
        return parse_arrow(
            table, numbers, columns, path=self.path, skip_bad=skip_bad, is_decoded=False
        )

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the texts as the column ``text``."""
        return pa.table({_COLUMN: self.parse(ColumnNames(), select=select).text})

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Cut spans out of the texts."""
        if not len(cuts):
            return self
        changed = np.zeros(len(self), np.bool_)
        changed[cuts.changed] = True
        texts = fill_holes(self._texts(changed), cuts.holes(), cuts.replacement)
        written, n_behind = self._written(texts, changed)
        pieces = Texts.from_arrow(written)
        which = np.arange(len(pieces))
        splices = Splices(self._starts[changed], self._ends[changed], pieces, which)
        ends = splices.moved(self._ends)
        ends[changed] -= n_behind
        raw = self.raw.spliced(splices)
        return type(self)(self.path, raw, splices.moved(self._starts), ends)

    def _written(self, texts: pa.Array, changed: Mask) -> tuple[pa.Array, Positions]:
        """Return the new texts of some rows for writing, and the bytes after each."""
        return texts, np.zeros(len(texts), np.int64)

    def _texts(self, select: Mask | None) -> pa.Array:
        """Copy the texts out of the block.

        The block is read as an Arrow array of texts and separators in turn, so that one Arrow call
        takes every other element.
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


class _LineBlock(_TextBlock):
    """Rows that are lines."""

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Cut spans out of the texts; in the replacement, spaces stand for line ends."""
        return super().with_cuts(replace(cuts, replacement=_LINE_END.sub(" ", cuts.replacement)))

    def _written(self, texts: pa.Array, changed: Mask) -> tuple[pa.Array, Positions]:
        r"""Add ``\r`` to a text that now ends in one before a newline: both would be a line end."""
        has_newline = self.raw.ends[changed] == self._ends[changed] + 1
        grows = pc.ends_with(texts, "\r").to_numpy(zero_copy_only=False) & has_newline
        longer = pc.binary_join_element_wise(texts, "\r", "")
        return pc.if_else(pa.array(grows), longer, texts), grows.astype(np.int64)


class _ForeignBlock(RawBlock):
    """The one row of a file that is not text, with the reason."""

    def __init__(self, block: _TextBlock, reason: str) -> None:
        super().__init__(block.path, block.raw)
        self._block, self._reason = block, reason

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Refuse the row, or skip it."""
        nothing = self._block.parse(columns, select=np.zeros(1, np.bool_))
        problems = Problems(self.raw.select(select).numbers, self.path, skip_bad)
        if len(problems.bad):
            problems.add(0, self._reason)
        return problems.with_bad_rows(nothing)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Refuse the row."""
        return pa.table({"text": self.parse(ColumnNames(), select=select).text})

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Return the block itself: there is nothing to cut."""
        assert not len(cuts)
        return self


# Files as bytes: each is one document, read as it is stored.


class BytesSource(RawSource):
    """A file whose bytes are one document, its row 1; also if it is empty.

    A compressed file is not decompressed, and a byte-order mark counts.
    """

    input_options = frozenset({"input_format"})
    is_one_row = True

    def column_names(self) -> list[str]:
        """Return the name of the column."""
        return [_BYTES_COLUMN]

    def arrow_schema(self) -> pa.Schema:
        """Return the type of the column."""
        return pa.schema([(_BYTES_COLUMN, pa.large_binary())])

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
        """Return the bytes for any column name; there are no other columns."""
        columns = replace(columns, text=_BYTES_COLUMN)
        check_columns(
            columns, pa.schema([(_BYTES_COLUMN, pa.binary())]), path=self.path, sample=dict
        )
        return ParsedRows(self._bytes(select))

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the bytes as the column ``bytes``."""
        return pa.table({_BYTES_COLUMN: self._bytes(select)})

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
