"""Which job has made a result, by what is in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from neardup.errors import InvalidInputError
from neardup.files.streams import InputStream, is_url, read_blocks, reading

_BLOCK_BYTES = 1 << 20

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


def kind_of_folder(folder: str) -> Kind | None:
    """Return which job has written a folder, or the URL of one; None if it is no output folder.

    Raises
    ------
    InvalidInputError
        If it is one of which no report can be made.
    ReadError
        If its summary cannot be read.
    """
    path = f"{folder}/summary.json"
    if is_url(folder):
        # Tables have an ending.
        if Path(folder).suffix:
            return None
    elif not Path(path).is_file():
        return None
    with reading(path), InputStream(path, None) as stream:
        content = b"".join(read_blocks(stream, _BLOCK_BYTES))
    try:
        summary = json.loads(content)
    except ValueError:
        summary = None
    if isinstance(summary, dict):
        if "spans" in summary:
            return "cut"
        if "named_documents" in summary:
            message = (
                "the folder is an output of drop, which removes what a table names; make a report "
                "of that table"
            )
            raise InvalidInputError(message, path=folder)
    # That of dedup is looked at when it is opened.
    return "dedup"
