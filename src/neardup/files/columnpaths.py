"""Column paths such as ``meta.url`` or ``tags[0]``, and their values.

A column of that very name comes first, then values within columns, the longest name first:
``a.b.c`` is the column ``a.b.c``, else ``c`` within the column ``a.b``, else ``b.c`` within ``a``,
else ``c`` in ``b`` within ``a``. A value within null, and an element after the end of a list, is
null.

This module alone resolves names, for the values of a JSON object and for the columns of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Path = tuple[str | int, ...]
"""A column, then what is within it: names of fields, and numbers of elements from 0."""

_STEP = re.compile(r"\.|\[(\d{1,9})\]")


class _Missing:
    """Value of a missing name, as null is a value."""


MISSING = _Missing()


def splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield the splits of a name into column and rest.

    The whole name comes first, then the longest head. The rest is empty, or begins with a dot or a
    bracket.
    """
    yield name, ""
    for step in reversed(list(_STEP.finditer(name))):
        if step.start():
            yield name[: step.start()], name[step.start() :]


def element_of(rest: str) -> tuple[int, str] | None:
    """Return a leading element number and rest, None for fields."""
    step = _STEP.match(rest)
    if step is None or step[1] is None:
        return None
    return int(step[1]), rest[step.end() :]


# In an object as the standard library reads it.


def value_in(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a name, or ``MISSING``."""
    for head, rest in splits(name):
        if head in row:
            found = _value_within(row[head], rest)
            if found is not MISSING:
                return found
    return MISSING


def _value_within(value: Any, rest: str) -> Any:
    if rest and rest[0] not in ".[":
        return MISSING
    if not rest or value is None:
        return value
    element = element_of(rest)
    if element is not None:
        if not isinstance(value, list):
            return MISSING
        index, rest = element
        return _value_within(value[index] if index < len(value) else None, rest)
    if rest[0] != "." or not isinstance(value, dict):
        return MISSING
    return value_in(value, rest[1:])


def leaves_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an object by path."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value:
            found |= {f"{name}.{inner}": each for inner, each in leaves_of_row(value).items()}
        else:
            found[name] = value
    return found


# In the columns of a table.


def paths_in(fields: Any, name: str) -> Iterator[Path]:
    """Yield a name's paths in a schema, by precedence.

    A name of several fields has no path, unless they are whole columns of a schema.
    """
    own = list(fields.names)
    for head, rest in splits(name):
        if own.count(head) == 1 or (not rest and head in own and isinstance(fields, pa.Schema)):
            kind = fields.field(own.index(head)).type
            yield from ((head, *path) for path in _paths_within(kind, rest))


def _paths_within(kind: pa.DataType, rest: str) -> Iterator[Path]:
    if not rest:
        yield ()
        return
    element = element_of(rest)
    if element is not None:
        if _is_list(kind):
            index, rest = element
            yield from ((index, *path) for path in _paths_within(kind.value_type, rest))
    elif rest[0] == "." and pa.types.is_struct(kind):
        yield from paths_in(kind, rest[1:])


def path_in(fields: Any, name: str) -> Path | None:
    """Return a name's first path in a schema, or None."""
    return next(paths_in(fields, name), None)


def leaves_of_schema(fields: Any) -> list[str]:
    """Return the names of columns, nested columns as paths."""
    found = []
    for place, name in enumerate(fields.names):
        kind = fields.field(place).type
        if pa.types.is_struct(kind) and kind.num_fields:
            found += [f"{name}.{inner}" for inner in leaves_of_schema(kind)]
        else:
            found.append(name)
    return found


def with_columns(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return a table with nested values as named columns.

    Unknown names are left out. Columns of structures share their memory.
    """
    for name in dict.fromkeys(names):
        path = path_in(table.schema, name)
        if path is not None and len(path) > 1:
            table = table.append_column(name, values_at(table, path))
    return table


def columns_among(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the named existing columns, the first of each name."""
    table = with_columns(table, names)
    there = [name for name in dict.fromkeys(names) if name in table.column_names]
    return table.select([table.column_names.index(name) for name in there])


def values_at(table: pa.Table, path: Path) -> pa.ChunkedArray:
    """Return the value of a path in each row."""
    head, *steps = path
    column = table.column(table.column_names.index(head))
    for step in steps:
        if isinstance(step, str):
            column = pc.struct_field(column, indices=[column.type.get_field_index(step)])
            continue
        kind = column.type.value_type
        firsts = [
            pc.list_slice(chunk, step, step + 1, return_fixed_size_list=True).values
            for chunk in column.chunks
        ]
        column = pa.chunked_array(firsts, kind)
    return column


def with_values_at(table: pa.Table, path: Path, values: pa.Array) -> pa.Table:
    """Return a table with the values at a path replaced.

    Nulls, and lists without the element, give nulls.
    """
    place, start, chunks = table.column_names.index(path[0]), 0, []
    for chunk in table.column(place).chunks:
        chunks.append(_put(chunk, path[1:], values.slice(start, len(chunk))))
        start += len(chunk)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.chunked_array(chunks, field.type))


def _put(array: pa.Array, path: Path, values: pa.Array) -> pa.Array:
    """Return an array with the values at a path replaced."""
    if not path:
        return values
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        place = array.type.get_field_index(step)
        children = [array.field(number) for number in range(array.type.num_fields)]
        children[place] = _put(children[place], rest, values)
        return pa.StructArray.from_arrays(children, fields=list(array.type), mask=array.is_null())
    wide = array.cast(pa.large_list(array.type.value_field))
    # From its first row on, since validity bits have no offset before.
    wide = pa.concat_arrays([wide]) if not wide.offset else wide.take(np.arange(len(wide)))
    starts, stops = wide.offsets[:-1].to_numpy(), wide.offsets[1:].to_numpy()
    is_there = (starts + step < stops) & array.is_valid().to_numpy(zero_copy_only=False)
    places = starts[is_there] + step
    there = pa.array(is_there)
    inner = _put(wide.values.take(pa.array(places)), rest, values.filter(there))
    chosen = np.arange(len(wide.values))
    chosen[places] = len(chosen) + np.arange(len(places))
    elements = pa.concat_arrays([wide.values, inner]).take(pa.array(chosen))
    lists = pa.LargeListArray.from_arrays(
        wide.offsets, elements, type=wide.type, mask=array.is_null()
    )
    return lists.cast(array.type)


def _is_list(kind: pa.DataType) -> bool:
    names = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)
