"""JSON lines and arrays: each object is a row, kept byte for byte.

A byte-order mark at the start of the file is skipped and not written again, since RFC 8259 forbids
it in JSON.
"""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8, kind_of
from neardup.files.columnpaths import MISSING, leaves_of_row, value_in
from neardup.files.cuts import Cuts, Holes, join_texts, null_text
from neardup.files.jsonvalues import (
    JSON_SPACE,
    JsonValues,
    load_object,
    objects_to_table,
    place_in,
)
from neardup.files.problems import BadRowError, Problems, id_advice, no_column, not_decodable
from neardup.files.rawrows import (
    BLOCK_BYTES,
    Cut,
    Cutter,
    RawBlock,
    RawRows,
    RawSource,
    cut_lines,
    written_slices,
)
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter, order_of
from neardup.files.streams import suffix_below
from neardup.tables import Int64s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neardup.files.streams import Buffer, Destination, OutputStream
    from neardup.options.groups import InputOptions


def parse_objects(
    raw: RawRows, columns: ColumnNames, *, path: str, skip_bad: bool, advice: str = ""
) -> ParsedRows:
    """Parse the named columns of JSON objects.

    Parameters
    ----------
    raw
        One object each, with or without white space around it.
    columns
        Text: strings; of several columns, null too. Id: strings or integers. Order: numbers or
        strings, or null.
    path
        File, for errors.
    skip_bad
        List rows that cannot be used instead of raising an error.
    advice
        Added to the error about a row that is not a JSON object.
    """
    found = JsonValues.find(raw, columns.names)
    refused = ~_are_usable(found, columns)
    try:
        rows, reasons = _columns_of(raw, found, refused, columns, advice)
    except pa.ArrowInvalid:
        # A named value is not UTF-8, so the standard library reads each row.
        rows, reasons = _columns_of(raw, found, refused | True, columns, advice)
    problems = Problems(raw.numbers, path, skip_bad)
    for index in sorted(reasons):
        problems.add(index, reasons[index])
    return problems.without_bad_rows(rows)


def _are_usable(values: JsonValues, columns: ColumnNames) -> Mask:
    """Return a mask of accepted rows whose values have the right kinds."""
    usable: Mask = values.are_objects & np.any(
        [values.are_strings(name) for name in columns.texts], 0
    )
    for name in columns.texts:
        usable &= values.are_strings(name) | values.are_nulls(name)
    if columns.id is not None:
        usable &= values.are_strings(columns.id) | values.are_integers(columns.id)
    for name in columns.orders:
        usable &= values.are_strings(name) | values.are_numbers(name) | values.are_nulls(name)
    return usable


def _columns_of(
    raw: RawRows, values: JsonValues, refused: Mask, columns: ColumnNames, advice: str
) -> tuple[ParsedRows, dict[int, str]]:
    """Return the columns, and the reasons of bad rows by index."""
    reasons: dict[int, str] = {}
    if refused.any():
        read: list[dict[str, Any] | None] = []
        for index in np.flatnonzero(refused).tolist():
            try:
                read.append(_read_row(raw[index], columns, advice))
            except BadRowError as bad:
                reasons[index] = str(bad)
                read.append(None)
        values = values.replaced(refused, read)
    for name in columns.orders:
        # The first string or number decides which of them a column holds.
        kinds = values.are_strings(name) + 2 * values.are_numbers(name)
        kinds[list(reasons)] = 0
        first = kinds[np.flatnonzero(kinds)[:1]]
        for index in np.flatnonzero((kinds != 0) & (kinds != first)).tolist() if len(first) else ():
            own, other = ("a number", "strings") if first == 1 else ("a string", "numbers")
            message = f"column {name!r} holds {own}, the rows before hold {other}"
            reasons[index] = _reason(raw[index], message)
    values = values.without(list(reasons))
    rows = ParsedRows(
        join_texts([values.strings(name) for name in columns.texts]),
        None if columns.id is None else values.integers_or_strings(columns.id),
        order_of([values.numbers_or_strings(name) for name in columns.orders]),
    )
    return rows, reasons


def _read_row(raw_row: bytes, columns: ColumnNames, advice: str) -> dict[str, Any]:
    """Read the named values of a row with the standard library.

    Bytes of other columns need not be UTF-8.
    """
    is_object = False
    try:
        row = load_object(raw_row, errors="surrogateescape")
        is_object = True
        return _checked_values(row, columns)
    except BadRowError as bad:
        reason = str(bad) + ("" if is_object else advice)
        raise BadRowError(_reason(raw_row, reason)) from None


def _reason(raw_row: bytes, reason: str) -> str:
    """Return why a row is bad; bytes that are not UTF-8 come first."""
    try:
        raw_row.decode()
    except UnicodeDecodeError as error:
        return not_decodable(error, "utf-8")
    return reason


def _checked_values(row: dict[str, Any], columns: ColumnNames) -> dict[str, Any]:
    """Return the named values of an object; raises BadRowError."""

    def value_of(name: str) -> Any:
        value = value_in(row, name)
        if value is MISSING:
            values = {key: [each] for key, each in leaves_of_row(row).items()}
            raise BadRowError(no_column(name, columns, list(values), lambda: values))
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                message = (
                    f"column {name!r} is not valid Unicode:"
                    f" half of a surrogate pair at character {error.start + 1}"
                )
                raise BadRowError(message) from None
        return value

    values = {name: value_of(name) for name in columns.texts}
    if all(value is None for value in values.values()):
        raise BadRowError(null_text(columns.texts))
    for name, value in values.items():
        if not isinstance(value, str | None):
            raise BadRowError(f"column {name!r} holds {kind_of(value)}, not text")
    if columns.id is not None:
        name = columns.id
        values[name] = value = value_of(name)
        if isinstance(value, bool) or not isinstance(value, str | int):
            kind = "is null" if value is None else f"holds {kind_of(value)}"
            expected = "" if value is None else ", not a string or a whole number"
            raise BadRowError(f"column {name!r} {kind}{expected}{id_advice(columns)}")
    for name in columns.orders:
        values[name] = value = value_of(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            message = f"column {name!r} holds {kind_of(value)}, not a number or a string"
            raise BadRowError(message)
    return values


# What a string of JSON consists of: characters that stand for themselves, and escapes of one.
_PARTS = re.compile(r"[^\\]+|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.", re.DOTALL)


def _cut_strings(raw: RawRows, cuts: Cuts) -> list[bytes]:
    """Cut spans out of the strings of the text columns of objects; the rest keeps its bytes."""
    rows = [raw[index].decode(errors="surrogateescape") for index in range(len(raw))]
    places = [[_string_in(row, name) for row in rows] for name in cuts.columns]
    parts = [cuts.holes()]
    if len(places) > 1:
        lengths = [
            np.array([_parts_of(row[a:b])[0][-1] for row, (a, b) in zip(rows, column, strict=True)])
            for column in places
        ]
        parts = cuts.holes_of_columns(lengths)
    replacement = json.dumps(cuts.replacement, ensure_ascii=False)[1:-1]
    pieces: list[list[tuple[int, int, str]]] = [[] for _ in rows]
    for column, holes in zip(places, parts, strict=True):
        for row, own in holes.by_string():
            start, stop = column[row]
            string = rows[row][start:stop]
            pieces[row].append((start, stop, _in_string(own, string).cut(string, replacement)))
    cut = map(_with_pieces, rows, pieces)
    return [row.encode(errors="surrogateescape") for row in cut]


def _string_in(row: str, name: str) -> tuple[int, int]:
    """Return the place of a string between its quotes; an empty one without a string."""
    start, stop = place_in(row, name) or (0, 0)
    return (start + 1, stop - 1) if row[start] == '"' else (0, 0)


def _with_pieces(row: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    """Return a row with other text between some places."""
    parts, done = [], 0
    for start, stop, piece in sorted(pieces):
        parts += [row[done:start], piece]
        done = stop
    return "".join([*parts, row[done:]])


def _in_string(holes: Holes, string: str) -> Holes:
    """Return holes of a text as holes of its JSON string, whose characters may be escaped."""
    if "\\" not in string:
        return holes
    firsts, places = _parts_of(string)

    def place_of(characters: Int64s) -> Int64s:
        parts = np.searchsorted(firsts, characters, "right") - 1
        found: Int64s = np.minimum(places[parts] + characters - firsts[parts], len(string))
        return found

    return replace(holes, starts=place_of(holes.starts), stops=place_of(holes.stops))


def _parts_of(string: str) -> tuple[Int64s, Int64s]:
    """Return the number of the first character of each part of a string, and its place.

    A part is an escape of one character, or a run of characters. The last one is the end.
    """
    parts = _PARTS.findall(string) if "\\" in string else [string]
    sizes = np.array([0, *map(len, parts)])
    characters = np.where([False, *(part[:1] == "\\" for part in parts)], 1, sizes)
    return np.cumsum(characters), np.cumsum(sizes)


# Remedies by the first byte of the first row; any other byte begins text.
_OTHER_FORMATS = {
    b"{": "",
    b"[": "; input_format json (--input-format json) reads an array of objects",
}
_TEXT = "; input_format text (--input-format text) reads a file as text"

# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


class JsonBlock(RawBlock):
    """Rows that are JSON objects; ``advice`` is a remedy for a row that is not an object.

    With ``are_lines`` each row has its line end.
    """

    advice: str = ""
    are_lines: bool = True

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        advice = self.advice
        is_first = len(raw) and raw.numbers[0] == 1 and not advice and not skip_bad
        if is_first and self.are_lines and is_utf8(raw[0]):
            advice = _OTHER_FORMATS.get(raw[0].lstrip(JSON_SPACE)[:1], _TEXT)
        return parse_objects(raw, columns, path=self.path, skip_bad=skip_bad, advice=advice)

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        return objects_to_table(raw, path=self.path, names=names)

    def _cut(self, raw: RawRows, cuts: Cuts) -> list[bytes]:
        return _cut_strings(raw, cuts)

    def objects(self, names: Sequence[str]) -> pa.Array:
        """Return the rows as JSON texts; the standard library rewrites refused rows."""
        raw, problems = self._decoded(skip_bad=True)
        rows, refused = raw.to_arrow(), ~JsonValues.find(raw, names).are_objects
        if not is_utf8(raw.joined()):
            # The kernel does not check the bytes of strings.
            refused[:] = True
        read = [_standard_object(raw[index]) for index in np.flatnonzero(refused).tolist()]
        if read:
            replaced = pa.array(read, pa.large_binary())
            rows = pc.replace_with_mask(rows, pa.array(refused), replaced)
        places = pa.array(np.cumsum(~problems.bad) - 1, mask=problems.bad)
        return rows.cast(pa.large_string()).take(places)

    def json_lines(self) -> list[Buffer]:
        """Return the rows as lines in UTF-8; line breaks between tokens are dropped."""
        raw, _ = self._decoded()
        if self.are_lines:
            return written_slices(raw)
        lines = [_LINE_BREAK.sub(b"", raw[index]) + b"\n" for index in range(len(raw))]
        return [b"".join(lines)] if lines else []


def _standard_object(raw_row: bytes) -> bytes | None:
    """Return a row as JSON that every parser reads; None if it is not an object."""
    try:
        row = load_object(raw_row)
    except BadRowError:
        return None
    return json.dumps(row, ensure_ascii=False).encode(errors="replace")


class _JsonSource(RawSource):
    """A file whose rows are JSON objects."""

    has_fixed_columns = False

    def schema(self) -> pa.Schema | None:
        """Return the names in the first row that is an object, None without one at the start."""
        source = copy(self)
        source.block_bytes = 1 << 16
        for block in source._read_blocks():  # noqa: SLF001 - of this class
            rows = block.objects(())
            assert rows is not None
            first = next((row for row in rows if row.is_valid), None)
            return None if first is None else pa.schema(_fields_of(json.loads(first.as_py())))
        return None


def _fields_of(row: Mapping[str, Any]) -> list[pa.Field]:
    """Return the names of an object as fields without types."""
    return [
        pa.field(name, pa.struct(_fields_of(value)) if isinstance(value, dict) else pa.null())
        for name, value in row.items()
    ]


class JsonLinesSource(_JsonSource):
    """A file of JSON objects, one a line; lines of white space are no rows.

    Parameters
    ----------
    location, name, encoding, block_bytes
        As for RawSource.
    advice
        A remedy for a malformed row, added to the error.
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
        block = JsonBlock(self.location, raw, self.encoding.codec)
        block.advice = self._advice
        return block


# A JSON array of objects: each element is a row, kept byte for byte. Bytes between elements are not
# kept: an output has one element after the other, on lines if the input had lines.

_HEAD_BYTES = 4096


def open_source(
    location: str, name: str, options: InputOptions
) -> JsonArraySource | JsonLinesSource:
    """Return the source of a file: JSON lines, or an array in a ``.json`` file.

    A ``.json`` file is opened to look at its first byte.
    """
    is_json = suffix_below(name) == ".json"
    if options.input_format != "auto":
        is_json = options.input_format == "json"
    if not is_json:
        return JsonLinesSource(location, name, encoding=options.encoding)
    array = JsonArraySource(location, name, encoding=options.encoding)
    # The spaces of UTF-16 and UTF-32 are next to zeros.
    spaces = b" \t\r\n" if array.encoding.unit == 1 else b" \t\r\n\0"
    with array.open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(array.encoding.mark).lstrip(spaces)
        while not head and (more := stream.read(_HEAD_BYTES)):
            head = more.lstrip(spaces)
    if not head.startswith(b"["):
        advice = "; a .json file holds one array of objects, or one object a line"
        return JsonLinesSource(location, name, encoding=options.encoding, advice=advice)
    codec = array.encoding.codec
    if array.encoding.has_ascii_bytes:
        message = (
            f"a JSON array in {codec} cannot be cut into rows, because some of its characters "
            f"have the bytes of brackets; convert it, for example with: iconv -f {codec} "
            "-t utf-8 FILE"
        )
        raise InvalidInputError(message, path=location)
    return array


class JsonArraySource(_JsonSource):
    """A file that holds one JSON array of objects; rows count from 1."""

    def _cutter(self) -> Cutter:
        return _ArrayCutter(self.location)

    def _block(self, raw: RawRows) -> RowBlock:
        block = JsonBlock(self.location, raw, self.encoding.codec)
        block.are_lines = False
        return block

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of one JSON array."""
        output = self.output(folder)
        if self.encoding.unit > 1:
            output.write(self.encoding.mark)
        return _ArrayWriter(output, self.encoding.codec)


_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# The levels that brackets open and close, and the bytes that may end an element.
_LEVELS = np.zeros(256, np.int64)
_LEVELS[list(b"[{")], _LEVELS[list(b"]}")] = 1, -1
_ARE_MARKS = np.isin(np.arange(256), list(b"[]{},"))


class _ArrayCutter:
    """Finds elements; remembers between two pieces whether the array has begun and ended."""

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
            ending, begin, stop = plain[end : end + 1], end + 1, begin + len(element)
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
    """Return commas between elements, brackets that close an array, and the level at the end."""
    array = np.frombuffer(data, np.uint8)[begin:]
    quotes, marks = np.flatnonzero(array == ord('"')), np.flatnonzero(_ARE_MARKS[array])
    # Brackets and commas within strings do not count.
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    levels = np.cumsum(_LEVELS[array[marks]])
    is_end = (levels < 0) | ((levels == 0) & (array[marks] == ord(",")))
    ends: list[int] = (begin + marks[is_end]).tolist()
    return ends, int(levels[-1]) if len(levels) else 0


class _ArrayWriter(RowWriter):
    """Writes elements between brackets, separated by a comma and a newline."""

    def __init__(self, output: OutputStream, codec: str) -> None:
        self._output, self._codec = output, codec
        self._is_empty, self._is_closed = True, False

    def prepare(self, block: RowBlock, select: Mask) -> bytes:
        """Return the selected elements, with their separators."""
        assert isinstance(block, RawBlock)
        return block.raw.select(select).joined_by(",\n".encode(self._codec))

    def append(self, prepared: bytes) -> None:
        """Append elements."""
        if prepared:
            self._write("[\n" if self._is_empty else ",\n")
            self._output.write(prepared)
            self._is_empty = False

    def close(self) -> None:
        """Close the array and the file; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._write("[]\n" if self._is_empty else "\n]\n")
        self._output.close()

    def _write(self, text: str) -> None:
        self._output.write(text.encode(self._codec))
