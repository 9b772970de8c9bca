"""Errors of missing columns and undecodable bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from neardup.errors import InvalidInputError, option_name
from neardup.files.columnpaths import leaves_of_schema, path_in
from neardup.files.encodings import HEAD_BYTES, foreign_kind
from neardup.files.rows import DEFAULT_ID, ColumnNames

# Columns that a message lists, and characters of their names.
_MAX_NAMES, _WIDTH = 10, 40


def no_column(name: str, columns: ColumnNames, names: Sequence[str]) -> str:
    """Describe a missing column, the existing columns, and a remedy."""
    if not names:
        return f"no column {name!r}; there are no columns"
    mark = next((each for each in ";\t|" if len(names) == 1 and each in names[0]), "")
    if mark:
        mark = "tab" if mark == "\t" else mark
        remedy = f"; if {mark!r} separates fields, give delimiter {mark!r} (--delimiter {mark!r})"
    elif name in columns.texts:
        remedy = f"; name another with {option_name(columns.text_option)}"
    elif name == columns.id:
        option = option_name(columns.id_option)
        remedy = id_advice(columns) or f"; name another with {option}, or leave it out"
    else:
        remedy = f"; name another with {option_name('keep')}"
    return f"no column {name!r}; columns are {listed_names(names)}{remedy}"


def listed_names(names: Sequence[str]) -> str:
    """List the existing columns."""
    shown = [each if len(each) <= _WIDTH else each[:_WIDTH] + "…" for each in names[:_MAX_NAMES]]
    listed = ", ".join(map(repr, shown))
    return f"{listed} and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else listed


def id_advice(columns: ColumnNames) -> str:
    """Suggest a remedy if the default column has no ids."""
    if not columns.id_is_default:
        return ""
    if columns.id is None:
        return f"; ids are places of rows: name a column with {option_name(columns.id_option)}"
    if columns.id != DEFAULT_ID:
        return (
            "; ids are the labels of the data frame: pass frame.reset_index(drop=True), or "
            f"name a column with {option_name(columns.id_option)}"
        )
    return (
        f"; ids come from column {columns.id!r} because all inputs have one: name another with "
        f"{option_name(columns.id_option)}, or '' for <file>:<row>"
    )


def null_text(names: Sequence[str]) -> str:
    """Describe a row with null in all text columns."""
    if len(names) == 1:
        return f"column {names[0]!r} is null"
    return f"columns {', '.join(map(repr, names))} are null"


def check_columns(columns: ColumnNames, schema: pa.Schema, *, path: str | None) -> None:
    """Raise InvalidInputError unless each named column exists once."""
    for name in columns.names:
        found = path_in(schema, name)
        if found is None:
            reason = no_column(name, columns, leaves_of_schema(schema))
            raise InvalidInputError(reason, path=path)
        if schema.names.count(found[0]) > 1:
            message = f"there is more than one column {name!r}; rename one"
            raise InvalidInputError(message, path=path)


def not_utf8(error: UnicodeDecodeError, where: str) -> str:
    """Describe the first invalid UTF-8 byte, counted from 1."""
    return f"not valid UTF-8 at byte {error.start + 1} of {where}"


def encoding_advice(data: bytes) -> str:
    """Suggest an encoding for bytes that are not UTF-8.

    Bytes of Latin-1 are the same characters in cp1252, and most so-called Latin-1 has quotation
    marks and dashes of cp1252, where Latin-1 has controls. Some bytes are undefined in cp1252: then
    it is another encoding.
    """
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "; name its encoding with encoding (--encoding)"
    return (
        "; if it is in cp1252, as programs for Windows write it, or in Latin-1, read it with "
        "encoding cp1252 (--encoding cp1252)"
    )


def not_decodable(error: UnicodeDecodeError, codec: str) -> str:
    """Describe the first undecodable byte, with any remedy."""
    if codec == "utf-8":
        foreign = foreign_kind(error.object[:HEAD_BYTES])
        return foreign or not_utf8(error, "the row") + encoding_advice(error.object)
    return f"not valid {codec} at byte {error.start + 1} of the row"
