"""Column paths such as ``meta.url``, and their values.

A column of that very name comes first, then values within columns, the longest name first:
``a.b.c`` is the column ``a.b.c``, else ``c`` within the column ``a.b``, else ``b.c`` within ``a``,
else ``c`` in ``b`` within ``a``. A value within null is null.

This module alone resolves names, for the values of a JSON object and for the columns of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Path = tuple[str, ...]
"""A column, then the names of fields within it."""


class _Missing:
    """Value of a missing name, as null is a value."""


MISSING = _Missing()


def splits(name: str) -> Iterator[tuple[str, str | None]]:
    """Yield splits into column and rest, longest column first."""
    yield name, None
    dot = name.rfind(".")
    while dot > 0:
        yield name[:dot], name[dot + 1 :]
        dot = name.rfind(".", 0, dot)


# In an object as the standard library reads it.


def value_in(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a name, or ``MISSING``."""
    for head, rest in splits(name):
        if head in row:
            value = row[head]
            if rest is None or value is None:
                return value
            found = value_in(value, rest) if isinstance(value, dict) else MISSING
            if found is not MISSING:
                return found
    return MISSING


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


def path_in(fields: Any, name: str) -> Path | None:
    """Return a name's path in a schema or structure, or None.

    A name of several fields has no path, unless they are whole columns of a schema.
    """
    own = list(fields.names)
    for head, rest in splits(name):
        if rest is None:
            if own.count(head) == 1 or (head in own and isinstance(fields, pa.Schema)):
                return (head,)
        elif own.count(head) == 1:
            kind = fields.field(own.index(head)).type
            inner = path_in(kind, rest) if pa.types.is_struct(kind) else None
            if inner is not None:
                return (head, *inner)
    return None


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
    """Return a table with the nested values of known names as columns."""
    for name in dict.fromkeys(names):
        path = path_in(table.schema, name)
        if path is not None and len(path) > 1:
            table = table.append_column(name, values_at(table, path))
    return table


def columns_among(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the named existing columns, the first of each name."""
    table = with_columns(table, names)
    existing = [name for name in dict.fromkeys(names) if name in table.column_names]
    return table.select([table.column_names.index(name) for name in existing])


def values_at(table: pa.Table, path: Path) -> pa.ChunkedArray:
    """Return the value of a path in each row."""
    head, *fields = path
    column = table.column(table.column_names.index(head))
    for name in fields:
        column = pc.struct_field(column, indices=[column.type.get_field_index(name)])
    return column


def with_values_at(table: pa.Table, path: Path, values: pa.Array) -> pa.Table:
    """Return a table with replaced values at a path."""
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
    place = array.type.get_field_index(path[0])
    children = [array.field(number) for number in range(array.type.num_fields)]
    children[place] = _put(children[place], path[1:], values)
    return pa.StructArray.from_arrays(children, fields=list(array.type), mask=array.is_null())
