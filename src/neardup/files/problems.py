"""Errors of columns that are not there, and of bytes that are not text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from neardup.errors import InvalidInputError, option_name
from neardup.files.columnpaths import leaves_of_schema, path_in, with_columns
from neardup.files.encodings import HEAD_BYTES, foreign_kind
from neardup.files.rows import DEFAULT_ID, ColumnNames

# Errors of columns: the existing ones, and the option that names another.

# Columns that a message lists, values that are looked at for a suggestion, columns suggested.
_MAX_NAMES = 20
SAMPLED_ROWS = 100
_MAX_SUGGESTED = 3

# Similar names are found by their letters, and by the part after the last dot.
_MOST_NEAR, _LEAST_LIKENESS = 3, 0.7

# A column of texts is at least so long, in the mean, as a part of the longest one.
_LEAST_SHARE = 0.25

Sample = Callable[[], Mapping[str, Sequence[Any]]]
"""Gives the values of some rows by column, for a suggestion."""


def no_column(name: str, columns: ColumnNames, names: Sequence[str], sample: Sample) -> str:
    """Describe a missing column, the existing columns, and a remedy."""
    if not names:
        return f"no column {name!r}; there are no columns"
    listed, remedy = listed_names(name, names), _remedy(name, columns, names, sample)
    return f"no column {name!r}; columns are {listed}{remedy}"


def listed_names(name: str, names: Sequence[str]) -> str:
    """List the existing columns, the most similar names first."""
    listed = ", ".join(map(repr, near_first(name, names)[:_MAX_NAMES]))
    return f"{listed} and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else listed


def near_first(name: str, names: Sequence[str]) -> list[str]:
    """Return names in their order, but similar ones first."""
    last = name.rpartition(".")[2]
    near = [other for other in names if other.rpartition(".")[2].casefold() == last.casefold()]
    near += get_close_matches(name, names, _MOST_NEAR, _LEAST_LIKENESS)
    return list(dict.fromkeys([*near[:_MOST_NEAR], *names]))


def _remedy(name: str, columns: ColumnNames, names: Sequence[str], sample: Sample) -> str:
    if name in columns.texts:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(names):
            option = columns.text_option
            repeated = " ".join(f"--{option.replace('_', '-')} {part}" for part in parts)
            return f"; name several with {option} ({repeated})"
        others = (DEFAULT_ID, columns.id, *columns.texts)
        values = {name: column for name, column in sample().items() if name not in others}
        likely = " or ".join(map(repr, likely_texts(values)))
        such = f", such as {likely}" if likely else ""
        return f"; name another with {option_name(columns.text_option)}{such}"
    if name == columns.id:
        option = option_name(columns.id_option)
        return id_advice(columns) or f"; name another with {option}, or leave it out"
    return f"; name another with {option_name('keep')}"


def id_advice(columns: ColumnNames) -> str:
    """Suggest a remedy if the default column has no ids."""
    if not columns.id_is_default:
        return ""
    if columns.id is None:
        return f"; ids are places of rows: name a column with {option_name(columns.id_option)}"
    if columns.id != DEFAULT_ID:
        return (
            "; ids are the labels of the data frame: hand over frame.reset_index(drop=True), or "
            f"name a column with {option_name(columns.id_option)}"
        )
    return (
        f"; ids come from column {columns.id!r} because all inputs have one: name another with "
        f"{option_name(columns.id_option)}, or '' for <file>:<row>"
    )


def likely_texts(values: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return columns of long strings, probably texts, in order."""
    lengths = {}
    for name, column in values.items():
        there = [value for value in column if value is not None]
        if there and all(isinstance(value, str) for value in there):
            lengths[name] = sum(map(len, there)) / len(there)
    least = _LEAST_SHARE * max(lengths.values(), default=0)
    return [name for name, length in lengths.items() if length >= least][:_MAX_SUGGESTED]


def null_text(names: Sequence[str]) -> str:
    """Describe a row with null in all text columns."""
    if len(names) == 1:
        return f"column {names[0]!r} is null"
    return f"columns {', '.join(map(repr, names))} are null"


_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def check_columns(
    columns: ColumnNames, schema: pa.Schema, *, path: str | None, sample: Sample
) -> None:
    """Raise InvalidInputError unless each named column exists once.

    ``sample`` is asked for some values where a column is not there.
    """
    for name in columns.names:
        found = path_in(schema, name)
        if found is None:
            reason = no_column(name, columns, leaves_of_schema(schema), sample)
            raise InvalidInputError(reason, path=path)
        if schema.names.count(found[0]) > 1:
            message = f"there is more than one column {name!r}; rename one"
            raise InvalidInputError(message, path=path)


def string_values(table: pa.Table) -> Mapping[str, Sequence[Any]]:
    """Return the values of the string columns that are UTF-8."""
    table = with_columns(table, leaves_of_schema(table.schema))
    values = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if any(is_kind(kind) for is_kind in _STRINGS):
            with contextlib.suppress(UnicodeDecodeError):
                values[name] = column.to_pylist()
    return values


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


def not_decodable(error: UnicodeDecodeError, codec: str, where: str = "the row") -> str:
    """Describe the first byte outside an encoding, with any remedy.

    For bytes that begin like another kind of file, that kind is named instead.
    """
    if codec == "utf-8":
        foreign = foreign_kind(error.object[:HEAD_BYTES])
        return foreign or not_utf8(error, where) + encoding_advice(error.object)
    return f"not valid {codec} at byte {error.start + 1} of {where}"
