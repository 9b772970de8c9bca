"""Parse JSON objects into columns: with Arrow where it can, else one by one with the stdlib.

Arrow reads a whole block at once but refuses all of it for one odd row, and its errors do not say
which. Then every row goes through the standard library, and through Arrow alone if that refuses
it. So a row is valid if either parser takes it, whatever rows are in the same block.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from neardup.files.problems import BadRowError, Problems, no_column, not_utf8, null_rows
from neardup.files.rawrows import RawRows
from neardup.files.rows import ColumnNames, ParsedRows

_OPEN, _CLOSE = ord("{"), ord("}")
_JSON_SPACE = b" \t\r\n"

Values = tuple[str, str | None, Any]


def parse_objects(
    raw: RawRows, columns: ColumnNames, *, path: str, skip_bad: bool, advice: str = ""
) -> ParsedRows:
    """Parse the named columns of JSON objects.

    Parameters
    ----------
    raw
        One object each, with or without white space around it.
    columns
        Text: strings. Id: strings or integers. Order: integers, numbers or strings, or null.
    path
        File, for errors.
    skip_bad
        List rows that cannot be used instead of raising an error.
    advice
        Added to the error about a row that is not a JSON object.

    Raises
    ------
    InvalidInputError
        With the first row that cannot be used.
    """
    if not len(raw):
        return _to_columns([], columns)
    problems = Problems(raw.numbers, path, skip_bad)
    arrays = _read_with_arrow(raw, columns)
    if arrays is None:
        return _parse_one_by_one(raw, columns, problems, advice)
    text = arrays[columns.text]
    ids = None if columns.id is None else _as_string(arrays[columns.id])
    order = None if columns.order is None else arrays[columns.order]
    # Arrow gives null both for null and for a missing column; only a look at the row can tell.
    for index in null_rows(text, ids, order):
        try:
            _read_row(raw[index], columns, advice)
        except BadRowError as bad:
            if order is not None:
                # Its value may have decided the type of the order column; without it the type
                # may be another, and must not depend on the way the rows were read.
                return _parse_one_by_one(raw, columns, problems, advice)
            problems.add(index, str(bad))
    return problems.without_bad_rows(ParsedRows(text, ids, order))


def _as_string(array: pa.Array) -> pa.Array:
    return array if pa.types.is_string(array.type) else array.cast(pa.string())


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
        raw_row = raw[index].strip(_JSON_SPACE)
        if not (raw_row.startswith(b"{") and raw_row.endswith(b"}")):
            return False
    return True


def _share_lines(raw: RawRows) -> bool:
    """Tell whether rows need a separator when they are put together."""
    last_bytes = np.frombuffer(raw.data, np.uint8)[raw.ends[:-1] - 1]
    return bool((last_bytes != ord("\n")).any())


def _schemas(first: bytes, columns: ColumnNames) -> list[pa.Schema]:
    """Give the types to try for the columns, those of the first row first."""
    choices: dict[str, list[pa.DataType]] = {columns.text: [pa.string()]}
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
            kind = _order_kind(row[2], kind, columns.order)
            rows.append(row)
        except BadRowError as bad:
            problems.add(index, str(bad))
            rows.append(None)
    return problems.without_bad_rows(_to_columns(rows, columns))


def _order_kind(value: Any, kind: type | None, name: str | None) -> type | None:
    """Give the kind of values of the order column so far: all strings or all numbers."""
    if value is None:
        return kind
    value_kind = str if isinstance(value, str) else float
    if kind not in (None, value_kind):
        other = "numbers" if kind is float else "strings"
        message = f"column {name!r} holds {_kind(value)}, the rows before hold {other}"
        raise BadRowError(message)
    return value_kind


def _to_columns(rows: list[Values | None], columns: ColumnNames) -> ParsedRows:
    texts, ids, order = ([row and row[k] for row in rows] for k in range(3))
    return ParsedRows(
        pa.array(texts, pa.string()),
        None if columns.id is None else pa.array(ids, pa.string()),
        None if columns.order is None else _order_array(order),
    )


def _order_array(values: list[Any]) -> pa.Array:
    """Give integers if all are, else floats, else strings; as Arrow does with the types to try."""
    if any(isinstance(value, str) for value in values):
        return pa.array(values, pa.string())
    if not any(isinstance(value, float) for value in values):
        with contextlib.suppress(OverflowError):
            return pa.array(values, pa.int64())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _read_row(raw_row: bytes, columns: ColumnNames, advice: str = "") -> Values:
    """Read one row with the standard library; with Arrow if that refuses it."""
    try:
        row = load_object(raw_row)
    except BadRowError as bad:
        values = _read_alone(raw_row, columns)
        if values is None:
            raise BadRowError(str(bad) + advice) from None
        return values
    text = _value(row, columns.text)
    if not isinstance(text, str):
        message = f"column {columns.text!r} holds {_kind(text)}, not text"
        raise BadRowError(message)
    _check_unicode(text, columns.text)
    return text, _read_id(row, columns.id), _read_order(row, columns.order)


def load_object(raw_row: bytes) -> dict[str, Any]:
    """Read one object with the standard library; raises BadRowError."""
    try:
        row = json.loads(raw_row.rstrip(_JSON_SPACE).decode())
    except UnicodeDecodeError as error:
        raise BadRowError(not_utf8(error)) from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"not a JSON object: {what} at character {error.pos + 1}"
        raise BadRowError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"not a JSON object: {error}"
        raise BadRowError(message) from None
    if not isinstance(row, dict):
        message = f"not a JSON object: it is {_kind(row)}"
        raise BadRowError(message)
    return row


def _read_alone(raw_row: bytes, columns: ColumnNames) -> Values | None:
    """Read a row that the standard library refuses, such as one with Inf or bytes not UTF-8."""
    numbers = np.array([1])
    alone = RawRows(raw_row, numbers - 1, np.array([len(raw_row)]), numbers)
    arrays = _read_with_arrow(alone, columns)
    if arrays is None:
        return None
    row = {name: array[0].as_py() for name, array in arrays.items()}
    for name in (columns.text, columns.id):
        if name is not None and row[name] is None:
            message = f"column {name!r} is missing or null"
            raise BadRowError(message)
    return row[columns.text], _read_id(row, columns.id), _read_order(row, columns.order)


def _value(row: dict[str, Any], name: str) -> Any:
    """Give a value that must be there and not be null."""
    value = _value_or_null(row, name)
    if value is None:
        message = f"column {name!r} is null"
        raise BadRowError(message)
    return value


def _value_or_null(row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise BadRowError(no_column(name, list(row)))
    return row[name]


def _read_id(row: dict[str, Any], name: str | None) -> str | None:
    if name is None:
        return None
    value = _value(row, name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        message = f"column {name!r} holds {_kind(value)}, not a string or a whole number"
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
    return str(value)


def _read_order(row: dict[str, Any], name: str | None) -> Any:
    if name is None:
        return None
    value = _value_or_null(row, name)
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        message = f"column {name!r} holds {_kind(value)}, not a number or a string"
        raise BadRowError(message)
    if isinstance(value, str):
        _check_unicode(value, name)
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


def _kind(value: Any) -> str:
    kinds = {str: "a string", bool: "true or false", dict: "an object", list: "an array"}
    return "null" if value is None else kinds.get(type(value), "a number")
