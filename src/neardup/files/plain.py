"""Plain text, one document a file or one a line, and files of any bytes as documents."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8, parse_arrow
from neardup.files.cuts import Splices, fill_holes
from neardup.files.encodings import BYTE_ORDER_MARK, HEAD_BYTES, foreign_kind
from neardup.files.problems import Problems, check_columns
from neardup.files.rawrows import (
    BLOCK_BYTES,
    MAX_ROW_BYTES,
    Cutter,
    RawBlock,
    RawRows,
    RawSource,
    cut_lines,
    cut_nothing,
    line_ends,
)
from neardup.files.rows import ColumnNames, ParsedRows, RowBlock
from neardup.files.streams import InputStream, OutputStream, suffix_below
from neardup.tables import Int64s

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

    def schema(self) -> pa.Schema:
        """Return the column of the text."""
        return pa.schema([(_COLUMN, pa.string())])


class TextFileSource(_TextSource):
    """A text file that is one document, its row 1; also if it is empty.

    A byte-order mark is not part of the text but is written again. A binary file is a bad row.
    """

    is_one_row = True

    @property
    def is_binary(self) -> bool:
        """Whether the first bytes are binary in every encoding."""
        with self.open() as stream:
            found = foreign_kind(stream.read(HEAD_BYTES)) if self.encoding.unit == 1 else None
        return found is not None and not found.startswith("this is text")

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        return cut_nothing

    def _block(self, raw: RawRows) -> RowBlock:
        block = _FileBlock(self.location, raw, self.encoding.codec)
        block.is_text_by_name = self._is_text_by_name
        return block


class TextLinesSource(_TextSource):
    """A text file with one document a line; lines of white space are no rows."""

    def _start(self, stream: InputStream) -> bytes:
        head = stream.read(HEAD_BYTES)
        foreign = foreign_kind(head) if self.encoding.codec == "utf-8" else None
        if foreign and (not self._is_text_by_name or not is_utf8(head)):
            raise InvalidInputError(foreign, path=self.location)
        return head.removeprefix(self.encoding.mark)

    def _cutter(self) -> Cutter:
        return cut_lines

    def _block(self, raw: RawRows) -> RowBlock:
        return _LineBlock(self.location, raw, self.encoding.codec)


class _TextBlock(RawBlock):
    """Rows that are texts."""

    @abstractmethod
    def _ranges(self, raw: RawRows) -> tuple[Int64s, Int64s]:
        """Return the start and end of each text."""

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Return the texts for any column name; there are no other columns."""
        return parse_arrow(
            pa.table({_COLUMN: self._texts(raw)}),
            raw.numbers,
            replace(columns, text=_COLUMN),
            path=self.path,
            skip_bad=skip_bad,
            is_decoded=False,
        )

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        text = self._parse(raw, ColumnNames(), skip_bad=False).text
        return pa.table({_COLUMN: text} if names is None or _COLUMN in names else {})

    def _cut(self, raw: RawRows, cuts: Cuts) -> RawRows:
        changed = np.isin(np.arange(len(raw)), cuts.changed)
        rows = raw.select(changed)
        starts, ends = self._ranges(rows)
        texts = fill_holes(self._texts(rows), cuts.holes(), cuts.replacement)
        written = self._written(texts, rows.ends - ends).cast(pa.binary()).to_pylist()
        return raw.spliced(Splices(starts, ends, written))

    def _written(self, texts: pa.Array, _: Int64s) -> pa.Array:
        """Return the new texts of rows for writing, given the bytes of their line ends."""
        return texts

    def _texts(self, raw: RawRows) -> pa.Array:
        """Copy the texts out of the block.

        The block is read as an Arrow array of texts and separators in turn, so that one Arrow call
        takes every other element.
        """
        if not len(raw):
            return pa.array([], pa.string())
        offsets = np.empty(2 * len(raw), np.int32)
        offsets[0::2], offsets[1::2] = self._ranges(raw)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(raw.data)]
        both = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        return both.take(pa.array(np.arange(0, len(offsets), 2)))


class _FileBlock(_TextBlock):
    """The one row of a file; of a binary file it is a bad row."""

    is_text_by_name = True

    def _ranges(self, raw: RawRows) -> tuple[Int64s, Int64s]:
        head = bytes(raw.data[: len(BYTE_ORDER_MARK)])
        return raw.starts + len(head) * (head == BYTE_ORDER_MARK), raw.ends

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        problems = Problems(raw.numbers, self.path, skip_bad)
        foreign = foreign_kind(bytes(raw.data[:HEAD_BYTES])) if len(raw) else None
        if foreign and (not self.is_text_by_name or not is_utf8(raw.data)):
            problems.add(0, foreign)
            raw = raw.select(~problems.bad)
        return problems.with_bad_rows(super()._parse(raw, columns, skip_bad=skip_bad))


class _LineBlock(_TextBlock):
    """Rows that are lines."""

    def _ranges(self, raw: RawRows) -> tuple[Int64s, Int64s]:
        return raw.starts, line_ends(raw)

    def _cut(self, raw: RawRows, cuts: Cuts) -> RawRows:
        """Cut spans out of the texts; in the replacement, spaces stand for line ends."""
        replacement = _LINE_END.sub(" ", cuts.replacement)
        return super()._cut(raw, replace(cuts, replacement=replacement))

    def _written(self, texts: pa.Array, line_ends: Int64s) -> pa.Array:
        r"""Add ``\r`` to a text that now ends in one before a newline: both would be a line end."""
        grows = pc.and_(pc.ends_with(texts, "\r"), pa.array(line_ends == 1))
        return pc.if_else(grows, pc.binary_join_element_wise(texts, "\r", ""), texts)


# Files as bytes: each is one document, read as it is stored.


class BytesSource(RawSource):
    """A file whose bytes are one document, its row 1; also if it is empty.

    A compressed file is not decompressed, and a byte-order mark counts.
    """

    input_options = frozenset({"input_format"})
    is_one_row = True

    def schema(self) -> pa.Schema:
        """Return the column of the bytes."""
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

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        return cut_nothing

    def _block(self, raw: RawRows) -> RowBlock:
        return _BytesBlock(self.location, raw)


class _BytesBlock(RawBlock):
    """The one row of a file."""

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Return the bytes for any column name; there are no other columns."""
        schema = pa.schema([(_BYTES_COLUMN, pa.binary())])
        columns = replace(columns, text=_BYTES_COLUMN)
        check_columns(columns, schema, path=self.path, sample=dict)
        return ParsedRows(raw.to_arrow())

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        is_named = names is None or _BYTES_COLUMN in names
        return pa.table({_BYTES_COLUMN: raw.to_arrow()} if is_named else {})
