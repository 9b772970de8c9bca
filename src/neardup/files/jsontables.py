"""JSON objects as Python's values and as Arrow tables of all columns, with types inferred.

Arrow reads them at once where that changes no value; else the standard library does, one by one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.errors import InvalidInputError
from neardup.files.columnpaths import MISSING, columns_among, paths_in, value_in
from neardup.files.problems import BadRowError, not_decodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.rawrows import RawRows

JSON_SPACE = b" \t\r\n"

MOST_LEVELS = 40
"""How deep the values of a row may be nested to become columns.

What is written as Parquet deeper than that, Arrow does not read back.
"""

TOO_DEEP = (
    f"its values are nested deeper than {MOST_LEVELS} levels, of which no columns are made; "
    "write the rows as they are, or flatten them first"
)


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
        message = f"not a JSON object: it is {kind_of(row)}"
        raise BadRowError(message)
    return row


def kind_of(value: Any) -> str:
    """Name what kind of value that is, for errors."""
    kinds = {str: "a string", bool: "true or false", dict: "an object", list: "an array"}
    return "null" if value is None else kinds.get(type(value), "a number")


def objects_to_table(raw: RawRows, *, path: str) -> pa.Table:
    """Give JSON objects as a table; types are inferred by Arrow, but strings stay strings."""
    table = _read_table(raw, path)
    return _to_table_one_by_one(raw, path) if table is None else table


def some_to_table(raw: RawRows, names: Sequence[str], *, path: str) -> pa.Table:
    """Give those of some columns that JSON objects have; values of different kinds become text."""
    table = _read_table(raw, path)
    # A name may lead to one thing in some rows and to another in others.
    if table is not None and all(len(list(paths_in(table.schema, name))) < 2 for name in names):
        return columns_among(table, names)
    rows = _load_all(raw, path)
    columns = {}
    for name in dict.fromkeys(names):
        values = [value_in(row, name) for row in rows]
        if all(value is MISSING for value in values):
            continue
        values = [None if value is MISSING else value for value in values]
        try:
            columns[name] = _column(values, name, path, 0)
        except InvalidInputError:
            columns[name] = pa.array(list(map(_as_text, values)), pa.large_string())
    return pa.table(columns)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _read_table(raw: RawRows, path: str) -> pa.Table | None:
    """Read objects at once; None where that cannot be done, or would change a value."""
    if not len(raw):
        return pa.table({})
    check_depth(raw, path)
    try:
        table = read_inferred(raw.joined_by(b"\n"))
        if table.num_rows == len(raw) and not _lost_digits(table):
            table.validate(full=True)
            return table
    except (pa.ArrowException, ValueError):
        pass
    return None


def read_json(data: bytes | memoryview, options: pj.ParseOptions) -> pa.Table:
    """Read objects with Arrow in this thread; needs at least one."""
    # One block larger than the data: Arrow then never has to look for a place to cut.
    read_options = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    return pj.read_json(pa.BufferReader(pa.py_buffer(data)), read_options, options)


def read_inferred(data: bytes | memoryview) -> pa.Table:
    """Read all columns of objects; strings stay strings."""
    table = read_json(data, pj.ParseOptions(explicit_schema=pa.schema([])))
    if _has(table.schema, pa.types.is_timestamp):
        schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
        table = read_json(data, pj.ParseOptions(explicit_schema=schema))
    return table


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def check_depth(raw: RawRows, path: str) -> None:
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
    first = int(raw.numbers[0])
    columns = [_column([row.get(name) for row in rows], name, path, first) for name in names]
    return pa.table(columns, names=names)


def _load_all(raw: RawRows, path: str) -> list[dict[str, Any]]:
    rows = []
    for index in range(len(raw)):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            raise InvalidInputError(str(bad), path=path, row=int(raw.numbers[index])) from None
    return rows


def _column(values: list[Any], name: str, path: str, row: int) -> pa.Array:
    try:
        try:
            return pa.array(values)
        except OverflowError:
            return pa.array(values, pa.uint64())
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        where = "in the rows from here on, " if len(values) > 1 else ""
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
