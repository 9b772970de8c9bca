"""Tables of results, read back from their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from neardup.errors import InvalidInputError
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import is_url
from neardup.jobs.stages.pair_ids import METADATA_KEY
from neardup.outputs.summary_file import SUMMARY, read_summary, resolve_tables
from neardup.reading.texts import FoundText, read_texts_by_id
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.reading.catalogue import Catalogue

# Which job has made a result, by what is in it.

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
    """Return which job has written a table."""
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
    """Return which job has written a folder, or the URL of one; None if it is no output folder."""
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


# Columns that no row may lack, and which of all are numbers; CSV has nothing but text.
_IDS = ("id_a", "id_b", "query_id", "doc_id")
_PLACES = ("query_start", "query_end", "doc_start", "doc_end")
_WHOLE = (*_PLACES, "overlap", "distance")
_SHARES = ("similarity", "low", "high")


def read_table(
    data: Any, runner: Runner, *, are_labels: bool = False, trust: bool = False
) -> tuple[pa.Table, dict[str, Any] | None]:
    """Read all of a table that a job has written, and what it says of its job, if it does.

    Places are whole numbers and similarities shares, null where they are not known. Of labels no
    column but the ids has to be anything.
    """
    import pyarrow as pa

    def read(_: Source, block: RowBlock) -> pa.Table:
        return block.to_table()

    sources = resolve_tables(data, trust=trust)
    parts = [part for _, part in ReadingPass("table", sources, runner).map(read, sources)]
    name = str(data) if isinstance(data, str | Path) else "the table"
    if parts:
        table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    else:
        columns = sources[0].column_names() if sources else None
        table = pa.table({column: pa.nulls(0, pa.string()) for column in columns or ()})
    metadata = sources[0].schema_metadata() if len(sources) == 1 else {}
    if not are_labels:
        table = _with_numbers(table, name)
    _check_complete(table, _IDS if are_labels else (*_IDS, *_PLACES), name)
    summary = None
    with suppress(KeyError, ValueError):
        summary = json.loads(metadata[METADATA_KEY])
    return table, summary if isinstance(summary, dict) else None


def _with_numbers(table: pa.Table, name: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(table.column_names):
        if column not in (*_WHOLE, *_SHARES):
            continue
        values = table[column]
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            # CSV has no other sign of what is not known.
            values = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
        try:
            values = values.cast(pa.int64() if column in _WHOLE else pa.float64())
        except pa.ArrowException:
            message = f"column {column!r} holds values that are no numbers"
            raise InvalidInputError(message, path=name) from None
        table = table.set_column(place, column, values)
    return table


def _check_complete(table: pa.Table, columns: Sequence[str], name: str) -> None:
    """Raise if a row lacks a value."""
    import pyarrow.compute as pc

    for column in columns:
        if column in table.column_names and table[column].null_count:
            row = pc.index(pc.is_null(table[column]), True).as_py() + 1
            message = f"row {row:,} has no {column!r}; each row needs one, name a complete table"
            raise InvalidInputError(message, path=name)


# The documents that a result names, as a report reads them again.


@dataclass(frozen=True)
class Collection:
    """The sources of a collection, and how the job that made the result has read them."""

    sources: Sequence[Source]
    columns: ColumnNames
    skip_bad: bool = False

    @classmethod
    def of_catalogue(cls, documents: Catalogue) -> Collection:
        """Take the collection of a job whose result is in memory."""
        return cls(documents.sources, documents.columns, bool(documents.skipped))

    def texts(self, ids: Iterable[str | int], runner: Runner) -> dict[str, FoundText]:
        """Read the texts of some documents; see ``read_texts_by_id``."""
        return read_texts_by_id(self.sources, self.columns, ids, runner, skip_bad=self.skip_bad)
