"""Parse JSON objects into columns: with Arrow where it can, else one by one with the stdlib.

Arrow reads a whole block at once but refuses all of it for one odd row, and its errors do not say
which. Then every row goes through the standard library, and through Arrow alone if that refuses
it. So a row is valid if either parser takes it, whatever rows are in the same block.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from neardup.files.columnwords import id_advice
from neardup.files.jsonvalues import (
    JSON_SPACE,
    Values,
    load_object,
    order_kind,
    read_values,
    to_columns,
)
from neardup.files.problems import BadRowError, Problems, null_rows
from neardup.files.rawrows import RawRows
from neardup.files.rows import ColumnNames, ParsedRows
from neardup.files.textcolumns import join_texts

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

    Raises
    ------
    InvalidInputError
        With the first row that cannot be used.
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
