"""A JSON array of objects: each element is a row, kept byte for byte.

What stands between the elements is not kept: an output has one element after the other, each on
a line of its own where it was on one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.compression import compression_of
from neardup.files.jsonlines import JsonBlock, JsonLinesSource
from neardup.files.rawrows import BYTE_ORDER_MARK, Cut, Cutter, RawRows
from neardup.files.rawsource import RawSource
from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import InputStream

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.files.input_options import InputOptions
    from neardup.files.streams import OutputStream


_PEEK = 4096

# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


def open_source(location: str, name: str, _: InputOptions) -> JsonArraySource | JsonLinesSource:
    """Return the source of a ``.json`` file: an array, or JSON lines under another name.

    The file is opened to look at its first byte.

    Raises
    ------
    ReadError
        If the file cannot be read.
    """
    with InputStream(location, compression_of(name)) as stream:
        head = stream.read(_PEEK).removeprefix(BYTE_ORDER_MARK).lstrip()
        while not head and (more := stream.read(_PEEK)):
            head = more.lstrip()
    if head.startswith(b"["):
        return JsonArraySource(location, name)
    advice = "; a .json file holds one array of objects, or one object a line"
    return JsonLinesSource(location, name, advice=advice)


class JsonArraySource(RawSource):
    """A file that holds one JSON array of objects; rows count from 1."""

    def _cutter(self) -> Cutter:
        return _ArrayCutter(self.location)

    def _block(self, raw: RawRows) -> RowBlock:
        return JsonBlock(self.location, raw)

    def writer(self, folder: Path) -> RowWriter:
        """Open a writer of one JSON array."""
        return _ArrayWriter(self.output(folder))

    def json_lines_writer(self, output: OutputStream) -> RowWriter:
        """Open a writer of each element as a line."""
        return _LinesWriter(output)


class _ArrayCutter:
    """Finds elements; remembers between two pieces whether a comma or an element comes next."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._elements = 0
        self._state = 0

    def __call__(self, data: bytes, final: bool) -> Cut:
        # Compiled or loaded on import.
        from neardup.kernels.rawrows import NOTHING, cut_array

        array = np.frombuffer(data, np.uint8)
        starts = np.empty(data.count(b",") + 1, np.int64)
        ends = np.empty_like(starts)
        count, consumed, self._state, bad = cut_array(array, self._state, int(final), starts, ends)
        self._elements += count
        if bad >= 0:
            what = ascii(data[bad : bad + 1].decode("latin-1"))
            if self._state == NOTHING:
                message = f"expected nothing after the array, got {what}"
                raise self._error(message)
            message = f"expected the next element of a JSON array, got {what}"
            raise self._error(message)
        if final and self._state != NOTHING:
            message = "the JSON array is not closed; the file is incomplete"
            raise self._error(message)
        return Cut(starts[:count], ends[:count], np.arange(count), count, consumed)

    def _error(self, message: str) -> InvalidInputError:
        return InvalidInputError(message, path=self._path, row=self._elements + 1)


class _ArrayWriter(RowWriter):
    """Writes elements between brackets, separated by a comma and a newline."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output
        self._is_empty = True
        self._is_closed = False

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected elements."""
        assert isinstance(block, JsonBlock)
        if select.any():
            self._output.write(b"[\n" if self._is_empty else b",\n")
            self._output.write(block.raw.select(select).joined_by(b",\n"))
            self._is_empty = False

    def close(self) -> None:
        """Close the array and the file; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._output.write(b"[]\n" if self._is_empty else b"\n]\n")
        self._output.close()


class _LinesWriter(RowWriter):
    """Writes elements of a JSON array as lines; line breaks between tokens are dropped."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected elements."""
        assert isinstance(block, JsonBlock)
        raw = block.raw.select(select)
        lines = [_LINE_BREAK.sub(b"", raw[index]) + b"\n" for index in range(len(raw))]
        self._output.write(b"".join(lines))

    def close(self) -> None:
        """Complete the file."""
        self._output.close()
