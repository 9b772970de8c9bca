"""What errors say of columns: which there are, and which option names another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neardup.files.rows import DEFAULT_ID, ColumnNames

# Columns that a message lists, values that are looked at for a suggestion, columns suggested.
_MAX_NAMES = 20
SAMPLED_ROWS = 100
_MAX_SUGGESTED = 3

# A column of texts is at least so long, in the mean, as a part of the longest one.
_LEAST_SHARE = 0.25

Sample = Callable[[], Mapping[str, Sequence[Any]]]
"""Gives the values of some rows by column, for a suggestion."""


def option_name(name: str) -> str:
    """Return an option, such as ``text_column``, as Python and the command line write it."""
    return f"{name} (--{name.replace('_', '-')})"


def no_column(name: str, columns: ColumnNames, names: Sequence[str], sample: Sample) -> str:
    """Say that a column is not there, which are, and what names another."""
    listed = ", ".join(repr(other) for other in names[:_MAX_NAMES])
    rest = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    if not names:
        return f"no column {name!r}; there are no columns"
    return f"no column {name!r}; columns are {listed}{rest}{_remedy(name, columns, names, sample)}"


def _remedy(name: str, columns: ColumnNames, names: Sequence[str], sample: Sample) -> str:
    if name in columns.texts:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(names):
            option = columns.text_option
            repeated = " ".join(f"--{option.replace('_', '-')} {part}" for part in parts)
            return f"; several are a list in {option} ({repeated})"
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
    """Say what to do where ids cannot come from a column that nobody has named."""
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
    """Return the columns that look like texts, in their order: strings, and long ones."""
    lengths = {}
    for name, column in values.items():
        there = [value for value in column if value is not None]
        if there and all(isinstance(value, str) for value in there):
            lengths[name] = sum(map(len, there)) / len(there)
    least = _LEAST_SHARE * max(lengths.values(), default=0)
    return [name for name, length in lengths.items() if length >= least][:_MAX_SUGGESTED]
