"""Which job has made a result, by what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from neardup.errors import InvalidInputError
from neardup.files.streams import is_url
from neardup.outputs.summary_file import SUMMARY, read_summary

Kind = Literal["dedup", "cut", "pairs", "estimate", "passages", "documents"]

# Columns of each kind of table; the first kind that has all of its columns is the right one.
_TABLES: dict[Kind, tuple[str, ...]] = {
    "passages": ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end"),
    "estimate": ("id_a", "id_b", "low", "high"),
    "documents": ("query_id", "doc_id", "similarity"),
    "pairs": ("id_a", "id_b"),
}
# Those that all tables of output folders have, one or the other.
_IN_FOLDERS: tuple[tuple[str, ...], ...] = (
    ("id", "kept_id", "similarity"),
    ("id", "cluster_id"),
    ("id", "file", "row"),
)


def kind_of_table(columns: Sequence[str], name: str) -> Kind:
    """Return which job has written a table.

    Raises
    ------
    InvalidInputError
        If none has that a report can be made of.
    """
    found = next((kind for kind, needed in _TABLES.items() if set(needed) <= set(columns)), None)
    if found is not None:
        return found
    if any(set(needed) <= set(columns) for needed in _IN_FOLDERS):
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


def kind_of_folder(folder: str, *, trust: bool = False) -> Kind | None:
    """Return which job has written a folder, or the URL of one; None if it is no output folder.

    Raises
    ------
    InvalidInputError
        If it is one of which no report can be made; as ``read_summary``.
    ReadError
        If its summary cannot be read.
    """
    if is_url(folder):
        # Tables have an ending.
        if Path(folder).suffix:
            return None
    elif not Path(folder, SUMMARY).is_file():
        return None
    job, _ = read_summary(folder, trust=trust)
    if job == "drop":
        message = (
            "the folder is an output of drop, which removes what a table names; make a report of "
            "that table"
        )
        raise InvalidInputError(message, path=folder)
    return job
