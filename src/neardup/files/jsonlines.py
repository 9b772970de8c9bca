"""JSON lines: one object a line, kept byte for byte.

A byte-order mark at the start of the file is passed over and is not written again, since RFC 8259
forbids it in JSON.
"""

from __future__ import annotations

import contextlib
import json
import re
from copy import copy
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8
from neardup.files.cuts import Cuts, Splices, splices_of
from neardup.files.encodings import DecodingWriter, EncodedBlock
from neardup.files.jsonvalues import (
    JSON_SPACE,
    MOST_LEVELS,
    TOO_DEEP,
    load_object,
    parse_objects,
    read_json,
)
from neardup.files.problems import BadRowError
from neardup.files.rawrows import BLOCK_BYTES, Cutter, RawBlock, RawRows, RawWriter, cut_lines
from neardup.files.rawsource import RawSource
from neardup.files.rows import columns_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.destinations import Destination
    from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
    from neardup.files.streams import OutputStream
    from neardup.options.groups import InputOptions

# Spans cut out of strings of JSON objects; what stays of a string keeps its bytes.

# Behind the names, whose characters are read without a look at where they end.
_NOTHING = b"\0\0\0"


def cut_strings(raw: RawRows, cuts: Cuts) -> RawRows:
    """Cut spans out of the strings of the text columns of objects."""
    # Compiled or loaded on import.
    from neardup.kernels.file import jsonstrings

    data = np.frombuffer(raw.data, np.uint8)
    names = [name.encode() for name in cuts.columns]
    starts, stops = (np.empty(len(cuts.changed) * len(names), np.int64) for _ in range(2))
    jsonstrings.find_strings(
        data,
        raw.starts[cuts.changed],
        raw.ends[cuts.changed],
        np.frombuffer(b"".join(names) + _NOTHING, np.uint8),
        np.array(list(accumulate(map(len, names), initial=0))),
        starts,
        stops,
    )
    replacement = json.dumps(cuts.replacement, ensure_ascii=False)[1:-1].encode()
    lengths = np.empty(len(starts), np.int64)
    if len(names) > 1:
        jsonstrings.count_characters(data, starts, stops, lengths)
        parts = cuts.holes_of_columns([lengths[n :: len(names)] for n in range(len(names))])
    else:
        parts = [cuts.holes()]
    splices = []
    for n, holes in enumerate(parts):
        characters, offsets = holes.edges(len(cuts.changed))
        edges = np.empty(len(characters), np.int64)
        jsonstrings.find_characters(
            data,
            starts[n :: len(names)].copy(),
            stops[n :: len(names)].copy(),
            characters,
            offsets,
            edges,
        )
        splices.append(splices_of(edges, holes, replacement))
    return raw.spliced(Splices.merge(splices))


# Give JSON objects as Arrow tables, all columns, with types inferred from the values.


def objects_to_table(raw: RawRows, *, path: str) -> pa.Table:
    """Give JSON objects as a table; types are inferred by Arrow, but strings stay strings."""
    table = _read_with_arrow(raw, path)
    return _to_table_one_by_one(raw, path) if table is None else table


def some_to_table(raw: RawRows, names: Sequence[str], *, path: str) -> pa.Table:
    """Give those of some columns that JSON objects have; values of different kinds become text."""
    table = _read_with_arrow(raw, path)
    if table is not None:
        return columns_among(table, names)
    rows = _load_all(raw, path)
    there = [name for name in dict.fromkeys(names) if any(name in row for row in rows)]
    columns = []
    for name in there:
        try:
            columns.append(_column(rows, name, path, 0))
        except InvalidInputError:
            columns.append(pa.array([_as_text(row.get(name)) for row in rows], pa.large_string()))
    return pa.table(columns, names=there)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _read_with_arrow(raw: RawRows, path: str) -> pa.Table | None:
    """Read objects at once; None where that cannot be done, or would change a value."""
    if not len(raw):
        return pa.table({})
    _check_depth(raw, path)
    data = raw.joined_by(b"\n")
    try:
        table = read_json(data, pj.ParseOptions(explicit_schema=pa.schema([])))
        if _has(table.schema, pa.types.is_timestamp):
            schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
            table = read_json(data, pj.ParseOptions(explicit_schema=schema))
        if table.num_rows == len(raw) and not _lost_digits(table):
            table.validate(full=True)
            return table
    except (pa.ArrowException, ValueError):
        pass
    return None


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def _check_depth(raw: RawRows, path: str) -> None:
    """Raise InvalidInputError for the first row whose values are nested too deep.

    Arrow, and whoever walks through a type, goes down by a stack that ends the process where it
    ends.
    """
    array = np.frombuffer(raw.data, np.uint8)
    opened = np.flatnonzero((array == ord("[")) | (array == ord("{")))
    n_opened = np.searchsorted(opened, raw.ends) - np.searchsorted(opened, raw.starts)
    # The row itself is an object.
    for index in np.flatnonzero(n_opened > MOST_LEVELS + 1).tolist():
        row = np.frombuffer(_STRING.sub(b"", raw[index]), np.uint8)
        is_open, is_closed = (
            (row == ord("[")) | (row == ord("{")),
            (row == ord("]")) | (row == ord("}")),
        )
        if np.cumsum(is_open.astype(np.int64) - is_closed).max(initial=0) > MOST_LEVELS + 1:
            raise InvalidInputError(TOO_DEEP, path=path, row=int(raw.numbers[index]))


def _has(types: Any, test: Any) -> bool:
    """Tell whether a schema or a nested type holds a type that passes the test."""
    children = [types.field(i).type for i in range(_n_fields(types))]
    return any(test(child) or _has(child, test) for child in children)


def _n_fields(types: Any) -> int:
    return len(types) if isinstance(types, pa.Schema) else types.num_fields


def _plain(kind: pa.DataType) -> pa.DataType:
    """Undo that Arrow takes strings which look like dates for dates."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind


def _lost_digits(table: pa.Table) -> bool:
    """Tell whether a whole number may have been rounded, because it was read as a float."""
    floats = [column for column in table.columns if pa.types.is_float64(column.type)]
    return any((pc.max(pc.abs(column)).as_py() or 0) >= 2**53 for column in floats)


def _to_table_one_by_one(raw: RawRows, path: str) -> pa.Table:
    rows = _load_all(raw, path)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table([_column(rows, name, path, int(raw.numbers[0])) for name in names], names=names)


def _load_all(raw: RawRows, path: str) -> list[dict[str, Any]]:
    rows = []
    for index in range(len(raw)):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            raise InvalidInputError(str(bad), path=path, row=int(raw.numbers[index])) from None
    return rows


def _column(rows: list[dict[str, Any]], name: str, path: str, row: int) -> pa.Array:
    values = [row.get(name) for row in rows]
    try:
        try:
            return pa.array(values)
        except OverflowError:
            return pa.array(values, pa.uint64())
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        where = "in the rows from here on, " if len(rows) > 1 else ""
        message = (
            f"{where}column {name!r} holds values that do not go together in"
            f" a table ({error}); write the rows as they are, or with"
            " format='jsonl' (--format jsonl)"
        )
        raise InvalidInputError(
            message,
            path=path,
            row=row,
        ) from None


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
