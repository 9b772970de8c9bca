"""JSON lines and arrays: each object is a row, kept byte for byte.

A byte-order mark at the start of the file is passed over and is not written again, since RFC 8259
forbids it in JSON.
"""

from __future__ import annotations

import contextlib
import json
import re
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8
from neardup.files.columnpaths import (
    MISSING,
    leaves_of_row,
    value_in,
)
from neardup.files.cuts import SEPARATOR, Cuts, Splices, join_texts, null_text, splices_of
from neardup.files.encodings import DecodingWriter, EncodedBlock
from neardup.files.jsonvalues import (
    JSON_SPACE,
    kind_of,
    load_object,
    objects_to_table,
    some_to_table,
)
from neardup.files.problems import (
    BadRowError,
    Problems,
    id_advice,
    no_column,
    not_decodable,
)
from neardup.files.rawrows import (
    BLOCK_BYTES,
    Cut,
    Cutter,
    RawBlock,
    RawRows,
    RawWriter,
    count_bytes,
    cut_lines,
)
from neardup.files.rawsource import RawSource
from neardup.files.rows import ColumnNames, ParsedRows, RowWriter, order_of
from neardup.files.streams import suffix_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.rows import Mask, RowBlock
    from neardup.files.streams import Destination, OutputStream
    from neardup.options.groups import InputOptions

Values = tuple[str, str | int | None, list[Any]]
"""Text, id and what ranks a row, of each column that does."""


def read_values(row: dict[str, Any], columns: ColumnNames) -> Values:
    """Check the named values of an object; raises BadRowError."""
    text = _read_text(row, columns)
    key = _read_id(row, columns)
    return text, key, [_read_order(row, name, columns) for name in columns.orders]


def order_kind(value: Any, kind: type | None, name: str) -> type | None:
    """Return the kind of values of an order column so far: all strings or all numbers."""
    if value is None:
        return kind
    value_kind = str if isinstance(value, str) else float
    if kind not in (None, value_kind):
        other = "numbers" if kind is float else "strings"
        message = f"column {name!r} holds {kind_of(value)}, the rows before hold {other}"
        raise BadRowError(message)
    return value_kind


def to_columns(rows: list[Values | None], columns: ColumnNames) -> ParsedRows:
    """Put the values of rows into columns; a row that is None is null in each."""
    texts, ids = ([row and row[k] for row in rows] for k in range(2))
    orders = ([row and row[2][k] for row in rows] for k in range(len(columns.orders)))
    return ParsedRows(
        pa.array(texts, pa.string()),
        None if columns.id is None else _id_array(ids),
        order_of(list(map(_order_array, orders))),
    )


def _read_text(row: dict[str, Any], columns: ColumnNames) -> str:
    """Return the text; of several columns a null counts as empty, but not in all of them."""
    names = columns.texts
    values = [_value_or_null(row, name, columns) for name in names]
    if all(value is None for value in values):
        raise BadRowError(null_text(names))
    for name, value in zip(names, values, strict=True):
        if value is None:
            continue
        if not isinstance(value, str):
            message = f"column {name!r} holds {kind_of(value)}, not text"
            raise BadRowError(message)
        _check_unicode(value, name)
    return SEPARATOR.join(value or "" for value in values)


def _read_id(row: dict[str, Any], columns: ColumnNames) -> str | int | None:
    name = columns.id
    if name is None:
        return None
    value = _value_or_null(row, name, columns)
    if value is None:
        message = f"column {name!r} is null{id_advice(columns)}"
        raise BadRowError(message)
    if isinstance(value, bool) or not isinstance(value, str | int):
        message = f"column {name!r} holds {kind_of(value)}, not a string or a whole number"
        message += id_advice(columns)
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
    return value


def _read_order(row: dict[str, Any], name: str, columns: ColumnNames) -> Any:
    value = _value_or_null(row, name, columns)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        message = f"column {name!r} holds {kind_of(value)}, not a number or a string"
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
    return value


def _value_or_null(row: dict[str, Any], name: str, columns: ColumnNames) -> Any:
    value = value_in(row, name)
    if value is MISSING:
        values = {key: [each] for key, each in leaves_of_row(row).items()}
        raise BadRowError(no_column(name, columns, list(values), lambda: values))
    return value


def _check_unicode(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = (
            f"column {name!r} is not valid Unicode:"
            f" half of a surrogate pair at character {error.start + 1}"
        )
        raise BadRowError(message) from None


def _id_array(values: list[Any]) -> pa.Array:
    """Return integers if all are, else strings; as Arrow does with the same types."""
    if any(value is not None for value in values) and not any(map(_is_string, values)):
        with contextlib.suppress(OverflowError):
            return pa.array(values, pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _order_array(values: list[Any]) -> pa.Array:
    """Return integers if all are, else floats, else strings; as Arrow does with the same types."""
    if any(isinstance(value, str) for value in values):
        return pa.array(values, pa.string())
    if not any(isinstance(value, float) for value in values):
        with contextlib.suppress(OverflowError):
            return pa.array(values, pa.int64())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


# The kernel reads a row, or, if it refuses it, the standard library. The kernel accepts nothing
# that the standard library rejects, so the validity of a row does not depend on other rows.


def parse_objects(
    raw: RawRows, columns: ColumnNames, *, path: str, skip_bad: bool, advice: str = ""
) -> ParsedRows:
    """Parse the named columns of JSON objects.

    Parameters
    ----------
    raw
        One object each, with or without white space around it.
    columns
        Text: strings; of several columns, null too. Id: strings or integers. Order: integers,
        numbers or strings, or null.
    path
        File, for errors.
    skip_bad
        List rows that cannot be used instead of raising an error.
    advice
        Added to the error about a row that is not a JSON object.
    """
    if not len(raw):
        return to_columns([], columns)
    rows, is_sure = _read_sure(raw, columns)
    if is_sure.all():
        return rows
    odd = raw.select(~is_sure)
    others = _parse_one_by_one(odd, columns, Problems(odd.numbers, path, skip_bad), advice)
    return _united(rows, others, is_sure) if is_sure.any() else others


def _read_sure(raw: RawRows, columns: ColumnNames) -> tuple[ParsedRows, Mask]:
    """Read the valid rows, and return their mask; other rows are null."""
    # Compiled or loaded on import.
    from neardup.files.jsonvalues import JsonValues

    values = JsonValues.find(raw, columns.names)
    is_sure = values.are_objects & np.any([values.are_strings(name) for name in columns.texts], 0)
    for name in columns.texts:
        is_sure &= values.are_strings(name) | values.are_nulls(name)
    if columns.id is not None:
        is_sure &= values.are_strings(columns.id) | values.are_integers(columns.id)
    for name in columns.orders:
        is_sure &= values.are_strings(name) | values.are_numbers(name) | values.are_nulls(name)
    if columns.orders:
        # The value of an odd row may decide the type of a column.
        is_sure &= is_sure.all()
    values = values.of(is_sure)
    try:
        rows = ParsedRows(
            join_texts([values.strings(name) for name in columns.texts]),
            None if columns.id is None else values.integers_or_strings(columns.id),
            order_of([values.numbers_or_strings(name) for name in columns.orders]),
        )
    except pa.ArrowInvalid:
        return to_columns([], columns), np.zeros(len(raw), np.bool_)
    return rows, is_sure


def _united(rows: ParsedRows, others: ParsedRows, is_own: Mask) -> ParsedRows:
    """Put the rows that are left out of some in their places."""
    places = np.arange(len(is_own))
    places[~is_own] = len(is_own) + np.arange(len(others.text))

    def unite(own: pa.Array | None, other: pa.Array | None) -> pa.Array | None:
        if own is None or other is None:
            return None
        # Integers among strings are written as such; a column of nulls alone has no type.
        if (
            own.type != other.type
            and pa.types.is_integer(own.type)
            and other.null_count < len(other)
        ):
            own = own.cast(other.type)
        return pa.concat_arrays([own, other.cast(own.type)]).take(pa.array(places))

    return ParsedRows(
        unite(rows.text, others.text),
        unite(rows.id, others.id),
        unite(rows.order, others.order),
        others.skipped,
    )


def _parse_one_by_one(
    raw: RawRows, columns: ColumnNames, problems: Problems, advice: str
) -> ParsedRows:
    rows: list[Values | None] = []
    kinds: list[type | None] = [None] * len(columns.orders)
    for index in range(len(raw)):
        try:
            row = _read_row(raw[index], columns, advice)
            kinds = list(map(order_kind, row[2], kinds, columns.orders))
            rows.append(row)
        except BadRowError as bad:
            problems.add(index, str(bad))
            rows.append(None)
    return problems.without_bad_rows(to_columns(rows, columns))


def _read_row(raw_row: bytes, columns: ColumnNames, advice: str) -> Values:
    """Read one row with the standard library; bytes of other columns need not be UTF-8."""
    is_object = False
    try:
        row = load_object(raw_row, errors="surrogateescape")
        is_object = True
        return read_values(row, columns)
    except BadRowError as bad:
        try:
            raw_row.decode()
        except UnicodeDecodeError as error:
            raise BadRowError(not_decodable(error, "utf-8")) from None
        raise BadRowError(str(bad) + ("" if is_object else advice)) from None


# Spans cut out of strings of JSON objects; the rest of a string keeps its bytes.


def cut_strings(raw: RawRows, cuts: Cuts) -> RawRows:
    """Cut spans out of the strings of the text columns of objects."""
    # Compiled or loaded on import.
    from neardup.files.jsonvalues import find_strings
    from neardup.kernels.file import jsonstrings

    data, names = np.frombuffer(raw.data, np.uint8), cuts.columns
    changed = RawRows(
        raw.data, raw.starts[cuts.changed], raw.ends[cuts.changed], raw.numbers[cuts.changed]
    )
    starts, stops = find_strings(changed, names)
    replacement = json.dumps(cuts.replacement, ensure_ascii=False)[1:-1].encode()
    if len(names) > 1:
        lengths = np.empty(starts.shape, np.int64)
        jsonstrings.count_characters(
            data, starts.reshape(-1), stops.reshape(-1), lengths.reshape(-1)
        )
        parts = cuts.holes_of_columns(list(lengths))
    else:
        parts = [cuts.holes()]
    splices = []
    for n, holes in enumerate(parts):
        characters, offsets = holes.edges(len(cuts.changed))
        edges = np.empty(len(characters), np.int64)
        jsonstrings.find_characters(data, starts[n], stops[n], characters, offsets, edges)
        splices.append(splices_of(edges, holes, replacement))
    return raw.spliced(Splices.merge(splices))


def open_source(location: str, name: str, options: InputOptions) -> JsonSource:
    """Return the source of a file: JSON by its name or an option, else JSON lines."""
    is_json = suffix_below(name) == ".json"
    if options.input_format != "auto":
        is_json = options.input_format == "json"
    if is_json:
        return open_json(location, name, options)
    return JsonLinesSource(location, name, encoding=options.encoding)


_PEEK = 1 << 16

# Remedies by the first byte of the first row; any other byte begins text.
_OTHER_FORMATS = {
    b"{": "",
    b"[": "; input_format json (--input-format json) reads an array of objects",
}
_TEXT = "; input_format text (--input-format text) reads a file as text"


class JsonSource(RawSource):
    """A file whose rows are JSON objects."""

    has_fixed_columns = False

    def column_names(self) -> list[str] | None:
        """Return the keys of the first row that is an object, None if none of the first rows is."""
        row = self._first_object()
        return None if row is None else list(row)

    def listed_names(self) -> list[str]:
        """Return the names in that row, nested ones as paths."""
        return list(leaves_of_row(self._first_object() or {}))

    def _first_object(self) -> dict[str, Any] | None:
        source = copy(self)
        source.block_bytes = _PEEK
        for block in source.blocks():
            for index in range(len(block)):
                with contextlib.suppress(BadRowError, InvalidInputError):
                    return load_object(_row(block, index))
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
        return JsonBlock(self.location, raw, self._advice)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of JSON lines."""
        return RawWriter(self.marked_output(folder), codec=self.encoding.codec)

    def json_lines_writer(self, output: OutputStream) -> RowWriter:
        """Open a writer of the lines as they are, but in UTF-8."""
        writer = RawWriter(output)
        return writer if self.encoding.is_utf8 else DecodingWriter(writer)


def _other_format(raw: RawRows) -> str:
    """Describe how to read a file whose first row is not an object; empty if unknown."""
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
        """Return some columns, for any values of the others."""
        return some_to_table(self.raw.select(select), names, path=self.path)

    def objects(self) -> pa.Array:
        """Return the rows as they are."""
        ends = np.cumsum(self.raw.ends - self.raw.starts)
        offsets = np.concatenate([np.zeros(1, np.int64), ends])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.raw.joined() or b"")]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def with_cuts(self, cuts: Cuts) -> JsonBlock:
        """Cut spans out of the strings of the texts."""
        if not len(cuts):
            return self
        return JsonBlock(self.path, cut_strings(self.raw, cuts), self._advice)


# A JSON array of objects: each element is a row, kept byte for byte. Bytes between elements are not
# kept: an output has one element after the other, on lines if the input had lines.

_HEAD_BYTES = 4096

# A newline in valid JSON is never inside a string, nor are the spaces that touch it.
_LINE_BREAK = re.compile(rb"[ \t]*[\r\n]\s*")


def open_json(location: str, name: str, options: InputOptions) -> JsonArraySource | JsonLinesSource:
    """Return the source of a ``.json`` file: an array, or JSON lines under another name.

    The file is opened to look at its first byte.
    """
    array = JsonArraySource(location, name, encoding=options.encoding)
    # The spaces of UTF-16 and UTF-32 are next to zeros.
    spaces = b" \t\r\n" if array.encoding.unit == 1 else b" \t\r\n\0"
    with array.open() as stream:
        head = stream.read(_HEAD_BYTES).removeprefix(array.encoding.mark).lstrip(spaces)
        while not head and (more := stream.read(_HEAD_BYTES)):
            head = more.lstrip(spaces)
    if head.startswith(b"["):
        array.check_encoding()
        return array
    advice = "; a .json file holds one array of objects, or one object a line"
    return JsonLinesSource(location, name, encoding=options.encoding, advice=advice)


class JsonArraySource(JsonSource):
    """A file that holds one JSON array of objects; rows count from 1."""

    def check_encoding(self) -> None:
        """Raise if brackets may be parts of other characters."""
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
        """Return the selected elements, with their separators."""
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
