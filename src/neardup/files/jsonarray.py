"""A JSON array of objects: each element is a row, kept byte for byte.

What stands between the elements is not kept: an output has one element after the other, each on
a line of its own where it was on one line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.encodings import DecodingWriter
from neardup.files.jsonlines import JsonBlock, JsonLinesSource, JsonSource
from neardup.files.rawrows import Cut, Cutter, RawBlock, RawRows, count_bytes
from neardup.files.rows import Mask, RowBlock, RowWriter

if TYPE_CHECKING:
    from neardup.files.streams import Destination, OutputStream
    from neardup.options.groups import InputOptions


_PEEK = 4096

# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


def open_source(
    location: str, name: str, options: InputOptions
) -> JsonArraySource | JsonLinesSource:
    """Return the source of a ``.json`` file: an array, or JSON lines under another name.

    The file is opened to look at its first byte.
    """
    array = JsonArraySource(location, name, encoding=options.encoding)
    # The spaces of UTF-16 and UTF-32 have zeros beside them.
    spaces = b" \t\r\n" if array.encoding.unit == 1 else b" \t\r\n\0"
    with array.open() as stream:
        head = stream.read(_PEEK).removeprefix(array.encoding.mark).lstrip(spaces)
        while not head and (more := stream.read(_PEEK)):
            head = more.lstrip(spaces)
    if head.startswith(b"["):
        array.check_encoding()
        return array
    advice = "; a .json file holds one array of objects, or one object a line"
    return JsonLinesSource(location, name, encoding=options.encoding, advice=advice)


class JsonArraySource(JsonSource):
    """A file that holds one JSON array of objects; rows count from 1."""

    def check_encoding(self) -> None:
        """Raise if brackets cannot be told from parts of other characters."""
        codec = self.encoding.codec
        if self.encoding.has_ascii_bytes:
            message = (
                f"a JSON array in {codec} cannot be cut into rows, because some of its characters "
                f"have the bytes of brackets; convert it, for example with: iconv -f {codec} "
                "-t utf-8 FILE"
            )
            raise InvalidInputError(message, path=self.location)

    def _cutter(self) -> Cutter:
        return _ArrayCutter(self.location)

    def _block(self, raw: RawRows) -> RowBlock:
        return JsonBlock(self.location, raw)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of one JSON array."""
        return _ArrayWriter(self.marked_output(folder), self.encoding.codec)

    def json_lines_writer(self, output: OutputStream) -> RowWriter:
        """Open a writer of each element as a line, in UTF-8."""
        writer = _LinesWriter(output)
        return writer if self.encoding.is_utf8 else DecodingWriter(writer)


class _ArrayCutter:
    """Finds elements; remembers between two pieces whether a comma or an element comes next."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._elements = 0
        self._state = 0

    def __call__(self, data: bytes | memoryview, final: bool) -> Cut:
        # Compiled or loaded on import.
        from neardup.kernels.file.rawrows import NOTHING, cut_array

        array = np.frombuffer(data, np.uint8)
        starts = np.empty(count_bytes(data, ord(",")) + 1, np.int64)
        ends = np.empty_like(starts)
        count, consumed, self._state, bad = cut_array(array, self._state, int(final), starts, ends)
        self._elements += count
        if bad >= 0:
            what = ascii(bytes(data[bad : bad + 1]).decode("latin-1"))
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

    def __init__(self, output: OutputStream, codec: str) -> None:
        self._output, self._codec = output, codec
        self._is_empty = True
        self._is_closed = False

    def prepare(self, block: RowBlock, select: Mask) -> bytes:
        """Return the selected elements, with what stands between them."""
        assert isinstance(block, RawBlock)
        return block.raw.select(select).joined_by(self._encode(",\n"))

    def append(self, prepared: bytes) -> None:
        """Append elements."""
        if prepared:
            self._output.write(self._encode("[\n" if self._is_empty else ",\n"), prepared)
            self._is_empty = False

    def _encode(self, text: str) -> bytes:
        return text.encode(self._codec)

    def close(self) -> None:
        """Close the array and the file; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._output.write(self._encode("[]\n" if self._is_empty else "\n]\n"))
        self._output.close()


class _LinesWriter(RowWriter):
    """Writes elements of a JSON array as lines; line breaks between tokens are dropped."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output

    def prepare(self, block: RowBlock, select: Mask) -> bytes:
        """Return the selected elements as lines."""
        assert isinstance(block, JsonBlock)
        raw = block.raw.select(select)
        lines = [_LINE_BREAK.sub(b"", raw[index]) + b"\n" for index in range(len(raw))]
        return b"".join(lines)

    def append(self, prepared: bytes) -> None:
        """Append lines."""
        self._output.write(prepared)

    def close(self) -> None:
        """Complete the file."""
        self._output.close()
