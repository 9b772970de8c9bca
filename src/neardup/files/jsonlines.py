"""JSON lines: one object a line, kept byte for byte.

A byte-order mark at the start of the file is passed over and is not written again, since RFC 8259
forbids it in JSON.
"""

from __future__ import annotations

import contextlib
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8
from neardup.files.encodings import DecodingWriter, EncodedBlock
from neardup.files.jsoncuts import cut_strings
from neardup.files.jsonobjects import parse_objects
from neardup.files.jsontables import objects_to_table, some_to_table
from neardup.files.jsonvalues import JSON_SPACE, load_object
from neardup.files.problems import BadRowError
from neardup.files.rawrows import (
    BLOCK_BYTES,
    Cutter,
    RawBlock,
    RawRows,
    RawWriter,
    cut_lines,
)
from neardup.files.rawsource import RawSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from neardup.files.cuts import Cuts
    from neardup.files.destinations import Destination
    from neardup.files.input_options import InputOptions
    from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
    from neardup.files.streams import OutputStream


def open_source(location: str, name: str, options: InputOptions) -> JsonLinesSource:
    """Return the source of a file."""
    return JsonLinesSource(location, name, encoding=options.encoding)


_PEEK = 1 << 16

# What to do about a file by the first byte of its first row; any other byte begins text.
_OTHER_FORMATS = {
    b"{": "",
    b"[": "; input_format json (--input-format json) reads an array of objects",
}
_TEXT = "; input_format text (--input-format text) reads a file as text"


class JsonSource(RawSource):
    """A file whose rows are JSON objects."""

    has_fixed_columns = False
    may_misfit = frozenset({"parquet"})

    def column_names(self) -> list[str] | None:
        """Return the keys of the first row that is an object, None if none of the first rows is."""
        source = copy(self)
        source.block_bytes = _PEEK
        for block in source.blocks():
            for index in range(len(block)):
                with contextlib.suppress(BadRowError, InvalidInputError):
                    return list(load_object(_row(block, index)))
            break
        return None


def _row(block: RowBlock, index: int) -> bytes:
    """Return a row in UTF-8."""
    if isinstance(block, EncodedBlock):
        block, index = block.decoded(np.arange(len(block)) == index), 0
    assert isinstance(block, JsonBlock)
    return block.raw[index]


class JsonLinesSource(JsonSource):
    """A file of JSON objects, one a line; lines of white space are no rows.

    Parameters
    ----------
    location, name, encoding, block_bytes
        As for RawSource.
    advice
        What to do about a malformed row, added to the error.
    """

    def __init__(
        self,
        location: str,
        name: str,
        *,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
        advice: str = "",
    ) -> None:
        super().__init__(location, name, encoding=encoding, block_bytes=block_bytes)
        self._advice = advice

    def _cutter(self) -> Cutter:
        return cut_lines

    def _block(self, raw: RawRows) -> RowBlock:
        return JsonBlock(self.location, raw, self._advice)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of JSON lines."""
        return RawWriter(self.marked_output(folder), codec=self.encoding.codec)

    def json_lines_writer(self, output: OutputStream) -> RowWriter:
        """Open a writer of the lines as they are, but in UTF-8."""
        writer = RawWriter(output)
        return writer if self.encoding.is_utf8 else DecodingWriter(writer)


def _other_format(raw: RawRows) -> str:
    """Say how to read a file whose first row is no object; empty if there is no such sign."""
    if not len(raw) or raw.numbers[0] != 1 or not is_utf8(raw[0]):
        return ""
    return _OTHER_FORMATS.get(raw[0].lstrip(JSON_SPACE)[:1], _TEXT)


class JsonBlock(RawBlock):
    """Rows that are JSON objects."""

    def __init__(self, path: str, raw: RawRows, advice: str = "") -> None:
        super().__init__(path, raw)
        self._advice = advice

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns."""
        raw = self.raw.select(select)
        advice = self._advice or ("" if skip_bad else _other_format(raw))
        return parse_objects(raw, columns, path=self.path, skip_bad=skip_bad, advice=advice)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns, types inferred; strings that look like dates stay strings."""
        return objects_to_table(self.raw.select(select), path=self.path)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some columns, whatever values the others have."""
        return some_to_table(self.raw.select(select), names, path=self.path)

    def with_cuts(self, cuts: Cuts) -> JsonBlock:
        """Cut spans out of the strings of the texts."""
        if not len(cuts):
            return self
        return JsonBlock(self.path, cut_strings(self.raw, cuts), self._advice)
