"""JSON lines, each object a row kept byte for byte.

One rule: a kernel reads a row or refuses it, and the standard library reads a refused row. The
kernel checks every object whole and accepts only syntax that all parsers read alike. It finds
members of the object itself, so that a row with a value within another one is refused.

A byte-order mark at the start of the file is skipped and not written: RFC 8259 forbids it in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import TOO_DEEP, Misread, column_of, describe_kind
from neardup.files.columnpaths import MISSING, leaves_of_row, splits, value_in
from neardup.files.cuts import Cuts, fill_holes
from neardup.files.encodings import is_utf8
from neardup.files.problems import id_advice, no_column, not_decodable, null_text
from neardup.files.rawrows import (
    BLOCK_BYTES,
    Cutter,
    RawBlock,
    RawRows,
    RawSource,
    cut_lines,
    written_slices,
)
from neardup.files.rows import (
    BadRowError,
    ColumnNames,
    Mask,
    ParsedRows,
    Problems,
    RowBlock,
    join_texts,
    order_of,
)
from neardup.files.streams import Buffer
from neardup.kernels.text import jsonstrings as kernel
from neardup.options.groups import InputOptions
from neardup.tables import Bytes, Int64s, offsets_of

# The kernel writes so many bytes more than there are.
_ROOM = 32

# The first offset that 32 bits do not hold.
_FAR = 1 << 31

JSON_SPACE = b" \t\r\n"


# Kinds of values in columns.
_STRINGS, _NUMBERS = (kernel.PLAIN, kernel.ESCAPED), (kernel.INTEGER, kernel.NUMBER)
_INTEGERS, _NULLS = (kernel.INTEGER,), (kernel.NULL,)


@dataclass
class JsonValues:
    """The values of some members of some rows.

    ``data`` are the bytes of the values; ``kinds``, ``starts`` and ``stops`` have a row for each of
    the ``names``. Values of rows that are not ``are_objects`` are missing.
    """

    data: Bytes
    are_objects: Mask
    names: Sequence[str]
    kinds: Bytes
    starts: Int64s
    stops: Int64s

    @classmethod
    def find(cls, raw: RawRows, names: Sequence[str]) -> JsonValues:
        """Find the values of some members."""
        data = np.frombuffer(raw.data, np.uint8)
        parts = [name.encode() for name in names]
        joined = np.frombuffer(b"".join(parts), np.uint8)
        shape = len(names), len(raw)
        are_objects = np.empty(len(raw), np.bool_)
        kinds = np.empty(shape, np.uint8)
        starts, stops = np.zeros((2, *shape), np.int64)
        values = kinds.reshape(-1), starts.reshape(-1), stops.reshape(-1)
        offsets = offsets_of(list(map(len, parts)))
        kernel.place_values(data, raw.starts, raw.ends, joined, offsets, *values, are_objects)
        kinds[:, ~are_objects] = kernel.MISSING
        return cls(data, are_objects, names, kinds, starts, stops)

    def replace_rows(self, rows: Sequence[int], values: Sequence[Mapping[str, Any]]) -> None:
        """Replace rows by parsed strings, numbers and nulls, missing without a value."""
        parts, end = [self.data.tobytes()], len(self.data)
        for row, value in zip(rows, values, strict=True):
            for member, name in enumerate(self.names):
                kind, text = _written(value[name]) if value else (kernel.MISSING, b"")
                self.kinds[member, row] = kind
                self.starts[member, row], self.stops[member, row] = end, end + len(text)
                parts.append(text)
                end += len(text)
        self.data = np.frombuffer(b"".join(parts), np.uint8)

    def are(self, name: str, kinds: Sequence[int]) -> Mask:
        """Return a mask of the values of some kinds."""
        found: Mask = np.isin(self.kinds[self.names.index(name)], kinds)
        return found

    def strings(self, name: str) -> pa.Array:
        """Return a column's strings, else null. Bad UTF-8 raises ArrowInvalid."""
        return self._as_written(name, self.are(name, _STRINGS))

    def numbers_or_strings(self, name: str) -> pa.Array:
        """Return values as integers, else as floats, else as strings."""
        are_numbers = self.are(name, _NUMBERS)
        if not are_numbers.any():
            has_strings = self.are(name, _STRINGS).any()
            return self.strings(name) if has_strings else pa.nulls(len(are_numbers), pa.int64())
        numbers = self._as_written(name, are_numbers)
        are_whole = not (are_numbers & ~self.are(name, _INTEGERS)).any()
        return _cast(numbers, [pa.int64(), pa.float64()] if are_whole else [pa.float64()])

    def integers_or_strings(self, name: str) -> pa.Array:
        """Return integers if all values are, else strings."""
        are_integers = self.are(name, _INTEGERS)
        if not are_integers.any():
            return self.strings(name)
        integers = _cast(self._as_written(name, are_integers), [pa.int64()])
        if pa.types.is_string(integers.type):
            integers = pc.replace_substring_regex(integers, "^-0$", "0")
        if not self.are(name, _STRINGS).any():
            return integers
        return pc.coalesce(self.strings(name), integers.cast(pa.string()))

    def _as_written(self, name: str, rows: Mask) -> pa.Array:
        """Return some values as strings, null in other rows."""
        member = self.names.index(name)
        kinds, starts, stops = self.kinds[member], self.starts[member], self.stops[member]
        room = int((stops - starts)[rows].sum()) + _ROOM
        buffer = pa.allocate_buffer(room)
        offsets: Int64s = np.empty(len(rows) + 1, np.int64)
        kinds = np.where(rows, kinds, np.uint8(kernel.MISSING))
        out = np.frombuffer(buffer, np.uint8)
        kernel.write_values(self.data, kinds, starts, stops, out, offsets)
        is_far = offsets[-1] >= _FAR
        places = pa.py_buffer(offsets if is_far else offsets.astype(np.int32))
        validity = None if rows.all() else pa.array(rows).buffers()[1]
        kind = pa.large_string() if is_far else pa.string()
        array = pa.Array.from_buffers(kind, len(rows), [validity, places, buffer])
        array.validate(full=True)
        return array


def _written(value: Any) -> tuple[int, bytes]:
    """Return a value's kind and bytes, as in the kernel."""
    if value is None:
        return kernel.NULL, b""
    if isinstance(value, str):
        return kernel.PLAIN, b'"' + value.encode() + b'"'
    return kernel.INTEGER if isinstance(value, int) else kernel.NUMBER, repr(value).encode()


def _cast(numbers: pa.Array, kinds: Sequence[pa.DataType]) -> pa.Array:
    """Cast numbers to the first sufficient type, else to strings."""
    for kind in kinds:
        try:
            return numbers.cast(kind)
        except pa.ArrowInvalid:
            continue
    return numbers


def load_object(raw_row: bytes, *, errors: str = "strict", advice: str = "") -> dict[str, Any]:
    """Read one object with the standard library, or raise BadRowError."""
    try:
        row = json.loads(raw_row.rstrip(JSON_SPACE).decode(errors=errors))
        if isinstance(row, dict):
            return row
        reason = f"not a JSON object: it is {describe_kind(row)}"
    except UnicodeDecodeError as error:
        reason = not_decodable(error, "utf-8")
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        reason = f"not a JSON object: {what} at character {error.pos + 1}"
    except RecursionError:
        reason = TOO_DEEP
    except ValueError as error:
        reason = f"not a JSON object: {error}"
    raise BadRowError(reason + advice)


# Places of values in the text of an object that the standard library accepts.

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def place_in(text: str, name: str, at: int = 0) -> tuple[int, int] | None:
    """Return the place of a value, like ``columnpaths.value_in``."""
    members = dict(_members(text, at))
    for head, rest in splits(name):
        if head in members:
            start, stop = members[head]
            if rest is None or text.startswith("null", start):
                return start, stop
            found = place_in(text, rest, start) if text[start] == "{" else None
            if found is not None:
                return found
    return None


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the names and places of an object's values."""
    at = _behind_space(text, _behind_space(text, at) + 1)
    while text[at] != "}":
        key, at = _decoder.raw_decode(text, at)
        start = _behind_space(text, _behind_space(text, at) + 1)
        _, at = _decoder.raw_decode(text, start)
        yield key, (start, at)
        at = _behind_space(text, at)
        if text[at] == ",":
            at = _behind_space(text, at + 1)


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


# Members as columns.


def objects_to_table(raw: RawRows, *, path: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return named or all members of JSON objects as columns.

    Types are inferred, but strings stay strings; values of several kinds become text.
    """

    def bad_row(index: int, reason: str, *, is_bad_row: bool = True) -> InvalidInputError:
        number = int(raw.numbers[index])
        return InvalidInputError(reason, path=path, row=number, is_bad_row=is_bad_row)

    rows = []
    for index in range(len(raw)):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            raise bad_row(index, str(bad)) from None
    columns: dict[str, pa.Array] = {}
    for name in dict.fromkeys((key for row in rows for key in row) if names is None else names):
        values = [row.get(name) if names is None else value_in(row, name) for row in rows]
        if any(value is not MISSING for value in values):
            misread: Misread = {}
            values = [None if value is MISSING else value for value in values]
            try:
                columns[name] = column_of(name, values, misread)
            except InvalidInputError as error:
                row = (error.row or 1) - 1
                raise bad_row(row, error.reason_in_both, is_bad_row=False) from None
            for row, found in misread.items():
                for column, reason in found:
                    if column is None:
                        raise bad_row(row - 1, reason)
    return pa.table(columns)


# Named columns of rows.


def parse_objects(
    raw: RawRows, columns: ColumnNames, *, path: str, skip_bad: bool, advice: str | None = ""
) -> ParsedRows:
    """Parse the named columns of JSON objects.

    Texts are strings, of several columns also null; ids strings or integers; an order numbers or
    strings, or null. ``advice`` is added to the error about a row that is not a JSON object; None
    finds it by the first row.
    """
    found = JsonValues.find(raw, columns.names)
    refused = ~_are_usable(found, columns)
    if advice is None:
        advice = ""
        if not skip_bad and refused.any() and raw.numbers[0] == 1 and is_utf8(raw[0]):
            advice = _OTHER_FORMATS.get(raw[0].lstrip(JSON_SPACE)[:1], _TEXT)
    try:
        rows, reasons = _columns_of(raw, found, refused, columns, advice)
    except pa.ArrowInvalid:
        # A named value is not UTF-8, so the standard library reads each row.
        rows, reasons = _columns_of(raw, found, refused | True, columns, advice)
    problems = Problems(raw.numbers, path, skip_bad)
    for index in sorted(reasons):
        problems.add(index, reasons[index])
    return problems.blank_bad_rows(rows)


def _are_usable(values: JsonValues, columns: ColumnNames) -> Mask:
    """Return a mask of accepted rows with usable value kinds."""
    has_text = np.any([values.are(name, _STRINGS) for name in columns.texts], 0)
    usable: Mask = values.are_objects & has_text
    for name in columns.texts:
        usable &= values.are(name, _STRINGS + _NULLS)
    if columns.id is not None:
        usable &= values.are(columns.id, _STRINGS + _INTEGERS)
    for name in columns.orders:
        usable &= values.are(name, _STRINGS + _NUMBERS + _NULLS)
    return usable


def _columns_of(
    raw: RawRows, values: JsonValues, refused: Mask, columns: ColumnNames, advice: str
) -> tuple[ParsedRows, dict[int, str]]:
    """Return the columns, and bad rows' reasons by index."""
    reasons: dict[int, str] = {}
    rows, read = np.flatnonzero(refused).tolist(), []
    for index in rows:
        try:
            # Bytes of other columns need not be UTF-8.
            row = load_object(raw[index], errors="surrogateescape", advice=advice)
            read.append(_checked_values(row, columns))
        except BadRowError as bad:
            reasons[index] = _reason(raw[index], str(bad))
            read.append({})
    if rows:
        values.replace_rows(rows, read)
    for name in columns.orders:
        # The first string or number decides which of them a column holds.
        kinds = values.are(name, _STRINGS) + 2 * values.are(name, _NUMBERS)
        kinds[list(reasons)] = 0
        first = kinds[np.flatnonzero(kinds)[:1]]
        for index in np.flatnonzero((kinds != 0) & (kinds != first)).tolist() if len(first) else ():
            own, other = ("a number", "strings") if first == 1 else ("a string", "numbers")
            message = f"column {name!r} holds {own}, the rows before hold {other}"
            reasons[index] = _reason(raw[index], message)
    values.kinds[:, list(reasons)] = kernel.MISSING
    found = ParsedRows(
        join_texts([values.strings(name) for name in columns.texts]),
        None if columns.id is None else values.integers_or_strings(columns.id),
        order_of([values.numbers_or_strings(name) for name in columns.orders]),
    )
    return found, reasons


def _reason(raw_row: bytes, reason: str) -> str:
    """Return the reason for a bad row, invalid UTF-8 first."""
    try:
        raw_row.decode()
    except UnicodeDecodeError as error:
        return not_decodable(error, "utf-8")
    return reason


def _checked_values(row: dict[str, Any], columns: ColumnNames) -> dict[str, Any]:
    """Return the named values of an object, or raise BadRowError."""

    def value_of(name: str) -> Any:
        value = value_in(row, name)
        if value is MISSING:
            raise BadRowError(no_column(name, columns, list(leaves_of_row(row))))
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
            raise BadRowError(f"column {name!r} holds {describe_kind(value)}, not text")
    if columns.id is not None:
        name = columns.id
        values[name] = value = value_of(name)
        if isinstance(value, bool) or not isinstance(value, str | int):
            kind = "is null" if value is None else f"holds {describe_kind(value)}"
            expected = "" if value is None else ", not a string or a whole number"
            raise BadRowError(f"column {name!r} {kind}{expected}{id_advice(columns)}")
    for name in columns.orders:
        values[name] = value = value_of(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            message = f"column {name!r} holds {describe_kind(value)}, not a number or a string"
            raise BadRowError(message)
    return values


def _places_of_strings(raw: RawRows, name: str) -> list[tuple[int, int]]:
    """Return the place of each row's string with its quotes."""
    values = JsonValues.find(raw, [name])
    starts, stops = values.starts[0] - raw.starts, values.stops[0] - raw.starts
    places = list(zip(starts.tolist(), stops.tolist(), strict=True))
    # The kernel refuses some rows, and finds no values within members.
    for index in np.flatnonzero(~values.are(name, _STRINGS)).tolist():
        row = raw[index].decode(errors="surrogateescape")
        start, stop = place_in(row, name) or (0, 0)
        if row[start] != '"':
            start = stop = 0
        before = len(row[:start].encode(errors="surrogateescape"))
        places[index] = before, before + len(row[start:stop].encode(errors="surrogateescape"))
    return places


# Remedies by the first byte of the first row; any other byte begins text.
_OTHER_FORMATS = {
    b"{": "",
    b"[": "; input_format json (--input-format json) reads an array of objects",
}
_TEXT = "; input_format text (--input-format text) reads a file as text"


# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


class JsonBlock(RawBlock):
    """Rows of JSON objects, each with its line end if they ``are_lines``."""

    advice: str | None = None
    are_lines: bool = True

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        return parse_objects(raw, columns, path=self.path, skip_bad=skip_bad, advice=self.advice)

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        return objects_to_table(raw, path=self.path, names=names)

    def _cut(self, raw: RawRows, cuts: Cuts) -> list[bytes]:
        """Cut spans out of text strings, keeping all bytes outside these strings."""
        rows = [raw[index] for index in range(len(raw))]
        places = [_places_of_strings(raw, name) for name in cuts.columns]
        strings = [
            [row[start:stop] for row, (start, stop) in zip(rows, column, strict=True)]
            for column in places
        ]
        texts = [
            pa.array([json.loads(each) if each else None for each in own], pa.large_string())
            for own in strings
        ]
        pieces: list[list[tuple[int, int, bytes]]] = [[] for _ in rows]
        holes_of = cuts.holes_of_texts(texts)
        for own_places, own, text, holes in zip(places, strings, texts, holes_of, strict=True):
            cut = fill_holes(text, holes, cuts.replacement)
            for row in np.unique(holes.strings).tolist():
                string = json.dumps(cut[row].as_py(), ensure_ascii=b"\\u" in own[row])
                pieces[row].append((*own_places[row], string.encode()))
        for number, own_pieces in enumerate(pieces):
            # From the last to the first, because a replacement moves the places behind it.
            for start, stop, piece in sorted(own_pieces, reverse=True):
                rows[number] = rows[number][:start] + piece + rows[number][stop:]
        return rows

    def json_columns(self, names: Sequence[str]) -> tuple[pa.Table, Mask]:
        """Return members as standard JSON texts, null if missing, and bad rows."""
        raw, problems = self._decoded(self.raw, skip_bad=True)
        rows: list[dict[str, Any]] = [{}] * len(self)
        for index, place in enumerate(np.flatnonzero(~problems.bad).tolist()):
            try:
                rows[place] = load_object(raw[index])
            except BadRowError as bad:
                problems.add(place, str(bad))
        texts = [[_json_text(row[name]) if name in row else None for row in rows] for name in names]
        columns = [pa.array(column, pa.large_string()) for column in texts]
        return pa.table(columns, names=list(names)), problems.bad

    def json_lines(self) -> list[Buffer]:
        """Return the rows as UTF-8 lines without inner line breaks."""
        raw, _ = self._decoded(self.raw)
        if self.are_lines:
            return written_slices(raw)
        lines = [_LINE_BREAK.sub(b"", raw[index]) + b"\n" for index in range(len(raw))]
        return [b"".join(lines)] if lines else []


def _json_text(value: Any) -> str:
    """Return a value as JSON, with halves of surrogate pairs replaced."""
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()


def open_source(location: str, name: str, options: InputOptions) -> JsonLinesSource:
    """Return the source of a file."""
    return JsonLinesSource(location, name, encoding=options.encoding)


class JsonSource(RawSource):
    """A file whose rows are JSON objects."""

    has_fixed_columns = False

    def schema(self) -> pa.Schema | None:
        """Return the first object's names, None if none near start."""
        source = copy(self)
        source.block_bytes = 1 << 16
        block = next(source._read_blocks(), None)  # noqa: SLF001 - of this class
        if not isinstance(block, JsonBlock):
            return None
        raw, _ = block._decoded(block.raw, skip_bad=True)  # noqa: SLF001 - of a class above
        for index in range(len(raw)):
            with suppress(BadRowError):
                return pa.schema(_fields_of(load_object(raw[index])))
        return None


def _fields_of(row: Mapping[str, Any]) -> list[pa.Field]:
    """Return the names of an object as fields without types."""
    # Half of a surrogate pair cannot be in a name of Arrow.
    names = [name.encode(errors="replace").decode() for name in row]
    return [
        pa.field(name, pa.struct(_fields_of(value)) if isinstance(value, dict) else pa.null())
        for name, value in zip(names, row.values(), strict=True)
    ]


class JsonLinesSource(JsonSource):
    """A file with JSON objects on lines, ignoring blank lines."""

    def __init__(
        self,
        location: str,
        name: str,
        *,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
        advice: str | None = None,
    ) -> None:
        super().__init__(location, name, encoding=encoding, block_bytes=block_bytes)
        self._advice = advice

    def _cutter(self) -> Cutter:
        return cut_lines

    def _block(self, raw: RawRows) -> RowBlock:
        block = JsonBlock(self.location, raw, self.encoding.codec)
        block.advice = self._advice
        return block
