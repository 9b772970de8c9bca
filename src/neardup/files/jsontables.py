"""Give JSON objects as Arrow tables, all columns, with types inferred from the values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.errors import InvalidInputError
from neardup.files.jsonobjects import read_json
from neardup.files.jsonvalues import MOST_LEVELS, TOO_DEEP, load_object
from neardup.files.problems import BadRowError
from neardup.files.rows import columns_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.rawrows import RawRows


def objects_to_table(raw: RawRows, *, path: str) -> pa.Table:
    """Give JSON objects as a table; types are inferred by Arrow, but strings stay strings.

    Raises
    ------
    InvalidInputError
        If a column holds values of different kinds, or a row is not an object.
    """
    table = _read_with_arrow(raw, path)
    return _to_table_one_by_one(raw, path) if table is None else table


def some_to_table(raw: RawRows, names: Sequence[str], *, path: str) -> pa.Table:
    """Give those of some columns that JSON objects have; values of different kinds become text.

    Raises
    ------
    InvalidInputError
        If a row is not an object.
    """
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
