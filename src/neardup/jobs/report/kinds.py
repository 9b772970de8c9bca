"""Which job has made a result, by what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from neardup.errors import InvalidInputError

Kind = Literal["dedup", "cut", "pairs", "estimate", "passages", "documents"]

# Columns of each kind of table; the first kind that has all of its columns is the right one.
_TABLES: dict[Kind, tuple[str, ...]] = {
    "passages": ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end"),
    "estimate": ("id_a", "id_b", "low", "high"),
    "documents": ("query_id", "doc_id", "similarity"),
    "pairs": ("id_a", "id_b"),
}
_FOLDERS: dict[Kind, tuple[str, ...]] = {
    "cut": ("id", "kept_id", "start", "end"),
    "dedup": ("id", "kept_id", "similarity"),
}


def kind_of_table(columns: Sequence[str], name: str) -> Kind:
    """Return which job has written a table.

    Raises
    ------
    InvalidInputError
        If none has that a report can be made of.
    """
    found = _find(_TABLES, columns)
    if found is not None:
        return found
    if _find(_FOLDERS, columns) or {"id", "cluster_id"} <= set(columns):
        message = "this is one table of an output folder; give the folder"
        raise InvalidInputError(message, path=name)
    if {"query_id", "doc_id", "passages"} <= set(columns):
        message = (
            "the table has a row for each pair of documents, and says nothing of their passages; "
            "run align without --summary, and make a report of that"
        )
        raise InvalidInputError(message, path=name)
    if not columns:
        message = (
            "the table is empty, and does not say which it is; write it as .parquet or .csv, which "
            "have columns without rows"
        )
        raise InvalidInputError(message, path=name)
    listed = ", ".join(columns[:8])
    message = (
        "no job of neardup has written this table; a report is made of the output of dedup, cut, "
        f"pairs, estimate, align or search (columns: {listed})"
    )
    raise InvalidInputError(message, path=name)


def kind_of_folder(columns: Sequence[str], name: str) -> Kind:
    """Return which job has written a folder, by the columns of its removed.parquet.

    Raises
    ------
    InvalidInputError
        If none has that a report can be made of.
    """
    found = _find(_FOLDERS, columns)
    if found is not None:
        return found
    message = (
        "the folder is no output of dedup or cut; drop removes what a table names, so make a "
        "report of that table"
    )
    raise InvalidInputError(message, path=name)


def _find(kinds: dict[Kind, tuple[str, ...]], columns: Sequence[str]) -> Kind | None:
    return next((kind for kind, needed in kinds.items() if set(needed) <= set(columns)), None)
