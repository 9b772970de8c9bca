"""JSON arrays, each element a row kept byte for byte.

Bytes between elements are not kept: an output has one element after the other, on lines.
"""

from __future__ import annotations

import re

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.jsonlines import JSON_SPACE, JsonBlock, JsonLinesSource, JsonSource
from neardup.files.rawrows import Cut, Cutter, RawBlock, RawRows
from neardup.files.rows import RowBlock, RowWriter
from neardup.files.streams import Destination, OutputStream
from neardup.options.groups import InputOptions

_HEAD_BYTES = 4096


def open_source(
    location: str, name: str, options: InputOptions
) -> JsonArraySource | JsonLinesSource:
    """Return an array or JSON lines source, by first byte."""
    array = JsonArraySource(location, name, encoding=options.encoding)
    with array.open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(array.encoding.mark).lstrip(JSON_SPACE)
        while not head and (more := stream.read(_HEAD_BYTES)):
            head = more.lstrip(JSON_SPACE)
    if not head.startswith(b"["):
        advice = "; a .json file holds one array of objects, or one object a line"
        return JsonLinesSource(location, name, encoding=options.encoding, advice=advice)
    codec = array.encoding.codec
    # Other encodings have characters with the bytes of brackets.
    if codec != "utf-8" and len(bytes(range(256)).decode(codec, "replace")) != 256:
        message = (
            f"a JSON array in {codec} cannot be cut into rows; convert it, for example with: "
            f"iconv -f {codec} -t utf-8 FILE"
        )
        raise InvalidInputError(message, path=location)
    return array


class JsonArraySource(JsonSource):
    """A file of one JSON array, rows counted from 1."""

    def _cutter(self) -> Cutter:
        return _ArrayCutter(self.location)

    def _block(self, raw: RawRows) -> RowBlock:
        block = JsonBlock(self.location, raw, self.encoding.codec)
        block.are_lines, block.advice = False, ""
        return block

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of one JSON array."""
        return _ArrayWriter(self.output(folder))


_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# The levels that brackets open and close, and the bytes that may end an element.
_LEVELS = np.zeros(256, np.int64)
_LEVELS[list(b"[{")], _LEVELS[list(b"]}")] = 1, -1
_ARE_MARKS = np.isin(np.arange(256), list(b"[]{},"))


class _ArrayCutter:
    """Cutter of elements, with the array's state between two pieces."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._elements = 0
        self._is_open = self._is_closed = False

    def __call__(self, data: bytes | memoryview, final: bool) -> Cut:
        # A quote that is escaped ends no string.
        plain = _ESCAPE.sub(b"__", data)
        starts: list[int] = []
        ends: list[int] = []
        begin = 0
        if not self._is_open:
            begin = len(plain) - len(plain.lstrip(JSON_SPACE))
            if begin < len(plain):
                self._check(plain[begin : begin + 1] == b"[", plain[begin:])
                self._is_open, begin = True, begin + 1
        possible_ends, level = _ends_of_elements(plain, begin)
        for end in possible_ends:
            element = plain[begin:end].rstrip(JSON_SPACE)
            stop = begin + len(element)
            ending, begin = plain[end : end + 1], end + 1
            if element := element.lstrip(JSON_SPACE):
                self._elements += 1
                starts.append(stop - len(element))
                ends.append(stop)
            is_right = bool(element) or (ending == b"]" and not self._elements)
            self._check(is_right and ending != b"}", ending)
            self._is_closed = ending == b"]"
            if self._is_closed:
                break
        rest = plain[begin:].lstrip(JSON_SPACE)
        if self._is_closed:
            self._check(not rest, rest)
        elif final:
            row = self._elements + 1 + (level == 0 and len(rest) > 0)
            message = "the JSON array is not closed; the file is incomplete"
            raise InvalidInputError(message, path=self._path, row=row)
        count = len(starts)
        consumed = len(plain) - len(rest)
        return Cut(np.array(starts, int), np.array(ends, int), np.arange(count), count, consumed)

    def _check(self, is_right: bool, rest: bytes) -> None:
        if not is_right:
            expected = "nothing after the array" if self._is_closed else _NEXT_ELEMENT
            message = f"expected {expected}, got {chr(rest[0])!a}"
            raise InvalidInputError(message, path=self._path, row=self._elements + 1)


_NEXT_ELEMENT = "the next element of a JSON array"


def _ends_of_elements(data: bytes, begin: int) -> tuple[list[int], int]:
    """Return the ends of elements, and the final nesting level."""
    array = np.frombuffer(data, np.uint8)[begin:]
    quotes, marks = np.flatnonzero(array == ord('"')), np.flatnonzero(_ARE_MARKS[array])
    # Brackets and commas within strings do not count.
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    levels = np.cumsum(_LEVELS[array[marks]])
    is_end = (levels < 0) | ((levels == 0) & (array[marks] == ord(",")))
    ends: list[int] = (begin + marks[is_end]).tolist()
    return ends, int(levels[-1]) if len(levels) else 0


class _ArrayWriter(RowWriter):
    """Writer of elements between brackets, with commas and newlines."""

    def __init__(self, output: OutputStream) -> None:
        self._output = output
        self._is_empty, self._is_closed = True, False

    def prepare(self, block: RowBlock) -> bytes:
        """Return the elements, with their separators."""
        assert isinstance(block, RawBlock)
        return block.raw.joined_by(b",\n")

    def append(self, prepared: bytes) -> None:
        """Append elements to the array."""
        if prepared:
            self._output.write(b"[\n" if self._is_empty else b",\n", prepared)
            self._is_empty = False

    def close(self) -> None:
        """Close the array and the file, at most once."""
        if not self._is_closed:
            self._is_closed = True
            self._output.write(b"[]\n" if self._is_empty else b"\n]\n")
        self._output.close()
