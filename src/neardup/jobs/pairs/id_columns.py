"""The columns of ids of a table of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from neardup.errors import InvalidInputError

ID_COLUMNS = ("id_a", "id_b")
READING_PAIRS = "pairs"
"""The stage in which pairs are read, or looked up."""


def check_columns(table: pa.Table, names: Sequence[str], of: str) -> None:
    """Raise unless a table has each of some columns once; ``of`` is how messages call it.

    Raises
    ------
    InvalidInputError
        Naming the first that is missing, and the columns that there are.
    """
    for name in names:
        if table.column_names.count(name) != 1:
            columns = ", ".join(map(repr, table.column_names))
            wanted = f"{', '.join(names[:-1])} and {names[-1]}"
            message = (
                f"{of} has no column {name!r}, or several; pairs are {wanted}, as "
                f"`neardup pairs` writes them, and not {columns}"
            )
            raise InvalidInputError(message)


def read_ids(table: pa.Table, name: str, of: str) -> pa.Array:
    """Return a column of ids as one array.

    Raises
    ------
    InvalidInputError
        If it holds nulls, or anything but strings and whole numbers.
    """
    ids = pa.concat_arrays(table[name].chunks) if len(table) else pa.array([], pa.string())
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    is_text = pa.types.is_large_string(ids.type) or pa.types.is_string(ids.type)
    if ids.null_count or not (is_text or pa.types.is_integer(ids.type)):
        message = (
            f"{of}: column {name!r} holds {ids.type} values, or nulls; ids are strings or whole "
            "numbers"
        )
        raise InvalidInputError(message)
    return ids
