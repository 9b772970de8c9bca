"""Check ids, texts and single column values as arrays."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from neardup.errors import InvalidInputError
from neardup.tables import Texts

Id = str | int

# Arrow refuses to read and write more levels than 64, of which the table is one.
_MOST_LEVELS = 63
_NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
# Types of which every value can be written, and given back.
_PLAIN = {
    kind.id for kind in (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.binary())
}
_LONGEST_REASON = 200
_LEAST, _LARGEST_SIGNED, _LARGEST = -(2**63), 2**63 - 1, 2**64 - 1


def checked_id(value: object) -> Id:
    """Return an id, whole numbers as ``int``."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            message = f"an id must be a string of valid characters: {error}"
            raise InvalidInputError(message) from None
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        if _LEAST <= number <= _LARGEST:
            return number
    message = f"an id must be a string or a whole number of 64 bits, got {value!r}"
    raise InvalidInputError(message)


def type_of_numbers(least: int, most: int) -> pa.DataType:
    """Return the integer type of a range of ids, or large strings."""
    if most <= _LARGEST_SIGNED:
        return pa.int64()
    return pa.uint64() if least >= 0 else pa.large_string()


def ids_of_values(values: Sequence[Id]) -> pa.Array:
    """Return checked ids as one integer type, or as strings."""
    whole = [value for value in values if not isinstance(value, str)]
    if values and len(whole) == len(values):
        kind = type_of_numbers(min(whole), max(whole))
        if pa.types.is_integer(kind):
            return pa.array(whole, kind)
    return pa.array(list(map(str, values)), pa.large_string())


def as_one_text(text: str) -> Texts:
    """Return one text for kernels."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        message = f"a text must be a string of valid characters: {error}"
        raise InvalidInputError(message) from None
    # Not an empty buffer, which may lie nowhere.
    return Texts(np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)], np.int64))


def as_cell(identifier: Id, name: str, value: object) -> pa.Array:
    """Return the value of a document's column, raising if unfit."""
    try:
        _check_depth(value)
        cell = pa.array([value])
        _check_kept(cell)
    # Values have code of their own, which may raise anything.
    except Exception as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        message = f"column {name!r} cannot have this value: {reason}"
        raise InvalidInputError(f"document {identifier!r}: {message}") from None
    return cell


def _check_kept(cell: pa.Array) -> None:
    """Raise if a value cannot be stored and read."""
    if cell.type.id not in _PLAIN:
        sink, table = pa.BufferOutputStream(), pa.table([cell], [""])
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        pa.ipc.open_stream(sink.getvalue()).read_all().take([0]).to_pylist()


def _check_depth(value: object, level: int = 1) -> None:
    """Raise for values that Arrow would crash on, also circular ones."""
    if level > _MOST_LEVELS:
        message = f"it is nested more than {_MOST_LEVELS} levels deep"
        raise InvalidInputError(message)
    if isinstance(value, _NESTED):
        for child in value.values() if isinstance(value, dict) else value:
            if isinstance(child, _NESTED):
                _check_depth(child, level + 1)


def join_rows(rows: Sequence[pa.Table]) -> Iterator[pa.Table]:
    """Yield stretches of rows as tables with uniform column types."""
    start, common = 0, pa.schema([])
    for number, row in enumerate(rows):
        try:
            common = pa.unify_schemas([common, row.schema])
        except pa.ArrowException:
            yield _concat(rows[start:number])
            start, common = number, row.schema
    if rows:
        yield _concat(rows[start:])


def _concat(rows: Sequence[pa.Table]) -> Any:
    return pa.concat_tables(rows, promote_options="default").combine_chunks()
