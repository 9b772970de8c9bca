"""The values of one JSON object, read and checked with the standard library."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from neardup.files.cuts import SEPARATOR, join_texts, null_text
from neardup.files.problems import (
    BadRowError,
    Problems,
    id_advice,
    no_column,
    not_decodable,
    null_rows,
)
from neardup.files.rawrows import RawRows
from neardup.files.rows import ColumnNames, ParsedRows

JSON_SPACE = b" \t\r\n"

MOST_LEVELS = 40
"""How deep the values of a row may be nested to become columns.

What is written as Parquet deeper than that, Arrow does not read back.
"""

TOO_DEEP = (
    f"its values are nested deeper than {MOST_LEVELS} levels, of which no columns are made; "
    "write the rows as they are, or flatten them first"
)

Values = tuple[str, str | int | None, Any]
"""Text, id and order of a row."""


def load_object(raw_row: bytes) -> dict[str, Any]:
    """Read one object with the standard library; raises BadRowError."""
    try:
        row = json.loads(raw_row.rstrip(JSON_SPACE).decode())
    except UnicodeDecodeError as error:
        raise BadRowError(not_decodable(error, "utf-8")) from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"not a JSON object: {what} at character {error.pos + 1}"
        raise BadRowError(message) from None
    except RecursionError:
        raise BadRowError(TOO_DEEP) from None
    except ValueError as error:
        message = f"not a JSON object: {error}"
        raise BadRowError(message) from None
    if not isinstance(row, dict):
        message = f"not a JSON object: it is {_kind(row)}"
        raise BadRowError(message)
    return row


def read_values(row: dict[str, Any], columns: ColumnNames) -> Values:
    """Check the named values of an object; raises BadRowError."""
    text = _read_text(row, columns)
    return text, _read_id(row, columns), _read_order(row, columns)


def order_kind(value: Any, kind: type | None, name: str | None) -> type | None:
    """Return the kind of values of the order column so far: all strings or all numbers."""
    if value is None:
        return kind
    value_kind = str if isinstance(value, str) else float
    if kind not in (None, value_kind):
        other = "numbers" if kind is float else "strings"
        message = f"column {name!r} holds {_kind(value)}, the rows before hold {other}"
        raise BadRowError(message)
    return value_kind


def to_columns(rows: list[Values | None], columns: ColumnNames) -> ParsedRows:
    """Put the values of rows into columns; a row that is None is null in each."""
    texts, ids, order = ([row and row[k] for row in rows] for k in range(3))
    return ParsedRows(
        pa.array(texts, pa.string()),
        None if columns.id is None else _id_array(ids),
        None if columns.order is None else _order_array(order),
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
            message = f"column {name!r} holds {_kind(value)}, not text"
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
        message = f"column {name!r} holds {_kind(value)}, not a string or a whole number"
        message += id_advice(columns)
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
    return value


def _read_order(row: dict[str, Any], columns: ColumnNames) -> Any:
    name = columns.order
    if name is None:
        return None
    value = _value_or_null(row, name, columns)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        message = f"column {name!r} holds {_kind(value)}, not a number or a string"
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
    return value


def _value_or_null(row: dict[str, Any], name: str, columns: ColumnNames) -> Any:
    if name not in row:
        values = {key: [value] for key, value in row.items()}
        raise BadRowError(no_column(name, columns, list(row), lambda: values))
    return row[name]


def _check_unicode(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = (
            f"column {name!r} is not valid Unicode:"
            f" half of a surrogate pair at character {error.start + 1}"
        )
        raise BadRowError(message) from None


def _kind(value: Any) -> str:
    kinds = {str: "a string", bool: "true or false", dict: "an object", list: "an array"}
    return "null" if value is None else kinds.get(type(value), "a number")


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


# Parse JSON objects into columns: with Arrow where it can, else one by one with the stdlib.
#
# Arrow reads a whole block at once but refuses all of it for one odd row, and its errors do not say
# which. Then every row goes through the standard library, and through Arrow alone if that refuses
# it. So a row is valid if either parser takes it, whatever rows are in the same block.

_OPEN, _CLOSE = ord("{"), ord("}")


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
    problems = Problems(raw.numbers, path, skip_bad)
    arrays = _read_with_arrow(raw, columns)
    if arrays is None:
        return _parse_one_by_one(raw, columns, problems, advice)
    texts = [arrays[name] for name in columns.texts]
    ids = None if columns.id is None else arrays[columns.id]
    order = None if columns.order is None else arrays[columns.order]
    # Arrow gives null both for null and for a missing column; only a look at the row can tell.
    for index in null_rows(*texts, ids, order):
        try:
            _read_row(raw[index], columns, advice)
        except BadRowError as bad:
            if order is not None:
                # Its value may have decided the type of the order column; without it the type
                # may be another, and must not depend on the way the rows were read.
                return _parse_one_by_one(raw, columns, problems, advice)
            problems.add(index, str(bad))
    return problems.without_bad_rows(ParsedRows(join_texts(texts), ids, order))


def _read_with_arrow(raw: RawRows, columns: ColumnNames) -> dict[str, pa.Array] | None:
    """Read the named columns of all rows; None if Arrow refuses, or a row is not one object."""
    if not _look_like_objects(raw):
        return None
    data = raw.joined_by(b"\n") if _share_lines(raw) else raw.joined()
    for schema in _schemas(raw[0], columns):
        options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        try:
            table = read_json(data, options)
            arrays = {name: _one_chunk(table.column(name)) for name in schema.names}
            for array in arrays.values():
                array.validate(full=True)
        except (pa.ArrowException, ValueError):
            continue
        return arrays if table.num_rows == len(raw) else None
    return None


def read_json(data: bytes | memoryview, options: pj.ParseOptions) -> pa.Table:
    """Read objects with Arrow in this thread; needs at least one."""
    # One block larger than the data: Arrow then never has to look for a place to cut.
    read_options = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    return pj.read_json(pa.BufferReader(pa.py_buffer(data)), read_options, options)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _look_like_objects(raw: RawRows) -> bool:
    """Check that every row begins with { and ends with }.

    Arrow takes any white space between objects, also none, and knows no lines. It reads a row
    as exactly one object if this holds and it finds as many objects as rows: no object can
    run over into the next row, because { never follows } inside an object.
    """
    array = np.frombuffer(raw.data, np.uint8)
    ends = raw.ends - (array[raw.ends - 1] == ord("\n"))
    ends -= array[ends - 1] == ord("\r")
    odd = np.flatnonzero((array[raw.starts] != _OPEN) | (array[ends - 1] != _CLOSE))
    for index in odd.tolist():
        raw_row = raw[index].strip(JSON_SPACE)
        if not (raw_row.startswith(b"{") and raw_row.endswith(b"}")):
            return False
    return True


def _share_lines(raw: RawRows) -> bool:
    """Tell whether rows need a separator when they are put together."""
    last_bytes = np.frombuffer(raw.data, np.uint8)[raw.ends[:-1] - 1]
    return bool((last_bytes != ord("\n")).any())


def _schemas(first: bytes, columns: ColumnNames) -> list[pa.Schema]:
    """Give the types to try for the columns, those of the first row first."""
    choices: dict[str, list[pa.DataType]] = {name: [pa.string()] for name in columns.texts}
    if columns.id is not None:
        choices.setdefault(columns.id, [pa.string(), pa.int64()])
    if columns.order is not None:
        choices.setdefault(columns.order, [pa.int64(), pa.float64(), pa.string()])
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        row = {}
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    for name, types in choices.items():
        guess = kinds.get(type(row.get(name)))
        types.sort(key=lambda kind, guess=guess: kind != guess)  # type: ignore[misc]
    combinations = itertools.product(*choices.values())
    return [pa.schema(zip(choices, types, strict=True)) for types in combinations]


def _parse_one_by_one(
    raw: RawRows, columns: ColumnNames, problems: Problems, advice: str
) -> ParsedRows:
    rows: list[Values | None] = []
    kind: type | None = None
    for index in range(len(raw)):
        try:
            row = _read_row(raw[index], columns, advice)
            kind = order_kind(row[2], kind, columns.order)
            rows.append(row)
        except BadRowError as bad:
            problems.add(index, str(bad))
            rows.append(None)
    return problems.without_bad_rows(to_columns(rows, columns))


def _read_row(raw_row: bytes, columns: ColumnNames, advice: str = "") -> Values:
    """Read one row with the standard library; with Arrow if that refuses it."""
    try:
        row = load_object(raw_row)
    except BadRowError as bad:
        values = _read_alone(raw_row, columns)
        if values is None:
            raise BadRowError(str(bad) + advice) from None
        return values
    return read_values(row, columns)


def _read_alone(raw_row: bytes, columns: ColumnNames) -> Values | None:
    """Read a row that the standard library refuses, such as one with Inf or bytes not UTF-8."""
    numbers = np.array([1])
    alone = RawRows(raw_row, numbers - 1, np.array([len(raw_row)]), numbers)
    arrays = _read_with_arrow(alone, columns)
    if arrays is None:
        return None
    row = {name: array[0].as_py() for name, array in arrays.items()}
    # Of several columns of the text some may be null.
    text = columns.texts if len(columns.texts) == 1 else ()
    for name in (*text, columns.id):
        if name is not None and row[name] is None:
            message = f"column {name!r} is missing or null"
            message += id_advice(columns) if name == columns.id else ""
            raise BadRowError(message)
    return read_values(row, columns)
