"""Check ids, texts and single column values as arrays."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
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
# Offsets of Arrow's strings and lists have 31 bits.
_LARGEST_CELL = 2**30
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


@dataclass(frozen=True)
class IdRange:
    """Range of checked ids for choosing their common type."""

    n: int = 0
    has_text: bool = False
    least: int = 0
    most: int = 0

    def with_id(self, value: Id) -> IdRange:
        """Return the range extended by one id."""
        if isinstance(value, str):
            return IdRange(self.n + 1, True, self.least, self.most)
        return IdRange(self.n + 1, self.has_text, min(self.least, value), max(self.most, value))

    @property
    def type(self) -> pa.DataType:
        """Integer type that holds all ids, or large strings."""
        if self.n and not self.has_text:
            if self.most <= _LARGEST_SIGNED:
                return pa.int64()
            if self.least >= 0:
                return pa.uint64()
        return pa.large_string()


def ids_of_values(values: Sequence[Id]) -> pa.Array:
    """Return checked ids as one integer type, or as strings."""
    kind = reduce(IdRange.with_id, values, IdRange()).type
    return pa.array(values if pa.types.is_integer(kind) else list(map(str, values)), kind)


def as_texts(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an array."""
    try:
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise _no_text(error) from None


def as_one_text(text: str) -> Texts:
    """Return one text for kernels, ten times faster than ``as_texts``."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise _no_text(error) from None
    # Not an empty buffer, which may lie nowhere.
    return Texts(np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)], np.int64))


def _no_text(error: Exception) -> InvalidInputError:
    return InvalidInputError(f"a text must be a string of valid characters: {error}")


def as_cells(identifier: Id, columns: Mapping[str, Any], names: Sequence[str]) -> pa.Table:
    """Return a document's columns as one row, raising if unfit."""
    cells = {}
    for name in names:
        try:
            cells[name] = _as_cell(columns.get(name))
        # Values have code of their own, which may raise anything.
        except Exception as error:
            message = f"column {name!r} cannot have this value: {reason_of(error)}"
            raise InvalidInputError(f"document {identifier!r}: {message}") from None
    return pa.table(cells)


def reason_of(error: Exception) -> str:
    """Return the message of a foreign error in one line."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= _LONGEST_REASON else f"{words[:_LONGEST_REASON]}..."


def _as_cell(value: object) -> pa.Array:
    _check_depth(value)
    cell = pa.array([value])
    if not isinstance(cell, pa.Array):
        message = f"it is larger than {_LARGEST_CELL:,} bytes"
        raise InvalidInputError(message)
    if cell.type.id not in _PLAIN:
        check_kept(pa.table([cell], [""]))
    if cell.nbytes > _LARGEST_CELL:
        message = f"it has {cell.nbytes:,} bytes, and {_LARGEST_CELL:,} at most may be kept"
        raise InvalidInputError(message)
    return cell


def check_kept(table: pa.Table) -> None:
    """Raise if columns cannot be stored, testing the first row."""
    if any(kind.id not in _PLAIN for kind in table.schema.types):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.slice(0, 1))
        pa.ipc.open_stream(sink.getvalue()).read_all().take([0] * min(1, len(table))).to_pylist()


def _check_depth(value: object) -> None:
    level = [value] if isinstance(value, _NESTED) else []
    for _ in range(_MOST_LEVELS + 1):
        if not level:
            return
        inner = (
            child
            for nested in level
            for child in (nested.values() if isinstance(nested, dict) else nested)
            if isinstance(child, _NESTED)
        )
        # One that comes twice is looked into once: there may be circles.
        level = list({id(child): child for child in inner}.values())
    message = f"it is nested more than {_MOST_LEVELS} levels deep"
    raise InvalidInputError(message)


def join_cells(rows: Sequence[pa.Table]) -> Iterator[tuple[int, int, pa.Table]]:
    """Yield stretches of rows as tables with uniform column types.

    Tables are limited in size. None fits every type.
    """
    start, n_bytes, common = 0, 0, pa.schema([])
    for row, cells in enumerate(rows):
        n_bytes += cells.nbytes
        try:
            joined = pa.unify_schemas([common, cells.schema])
        except pa.ArrowException:
            joined = None
        if joined is None or (n_bytes > _LARGEST_CELL and row > start):
            yield start, row, _concat(rows[start:row])
            start, n_bytes, joined = row, cells.nbytes, cells.schema
        common = joined
    if rows:
        yield start, len(rows), _concat(rows[start:])


def _concat(rows: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(rows, promote_options="default").combine_chunks()
