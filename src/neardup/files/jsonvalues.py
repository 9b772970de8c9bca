"""The values of one JSON object, read and checked with the standard library."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pyarrow as pa

from neardup.files.columnwords import id_advice, no_column
from neardup.files.problems import BadRowError, not_decodable
from neardup.files.rows import ColumnNames, ParsedRows
from neardup.files.textcolumns import SEPARATOR, null_text

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
