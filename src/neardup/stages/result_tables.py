"""Tables of results, and documents that they name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.destinations import SUMMARY
from neardup.files.documents import ReadingPass
from neardup.files.parquet import ParquetSource
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import is_url
from neardup.options.groups import InputOptions
from neardup.outputs.output_tables import METADATA_KEY, TableRows, read_summary, resolve_tables
from neardup.reading.catalogue import Catalogue
from neardup.reading.texts import FoundText, read_rows_by_id, read_texts_by_id
from neardup.runs.runner import Runner

Kind = Literal["dedup", "cut", "pairs", "estimate", "passages", "documents"]

# Columns of each kind of table; the first kind with all of its columns matches.
_TABLES: dict[Kind, tuple[str, ...]] = {
    "passages": ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end"),
    "estimate": ("id_a", "id_b", "low", "high"),
    "documents": ("query_id", "doc_id", "similarity"),
    "pairs": ("id_a", "id_b"),
}


def kind_of_table(columns: Sequence[str], name: str) -> Kind:
    """Return the job that wrote a table, by its columns."""
    for kind, needed in _TABLES.items():
        if set(needed) <= set(columns):
            return kind
    listed = ", ".join(columns[:8])
    message = (
        "neardup did not write this table; give the output folder of dedup or cut, or a table of "
        f"pairs, estimate, search or align that lists passages (columns: {listed})"
    )
    raise InvalidInputError(message, path=name)


def kind_of_folder(folder: str) -> Kind | None:
    """Return the job of an output folder, else None."""
    if is_url(folder):
        # Tables have an ending.
        if Path(folder).suffix:
            return None
    elif not Path(folder, SUMMARY).is_file():
        return None
    job, _ = read_summary(folder)
    if job == "drop":
        message = (
            "the folder is an output of drop, which removes what a table names; make a report of "
            "that table"
        )
        raise InvalidInputError(message, path=folder)
    return job


# Columns that must not have nulls, and numeric columns; CSV has only text.
_IDS = ("id_a", "id_b", "query_id", "doc_id")
_PLACES = ("query_start", "query_end", "doc_start", "doc_end")
_WHOLE = (*_PLACES, "overlap", "distance")
_SHARES = ("similarity", "low", "high")


def open_table(data: Any, runner: Runner) -> tuple[TableRows, dict[str, Any] | None]:
    """Open a job's table, with its description if present.

    Positions are integers and similarities shares, null if unknown. Parquet is read in place, as
    often as rows are requested, other formats into memory.
    """
    sources = resolve_tables(data)
    name = str(data) if isinstance(data, str | Path) else "the table"
    only = sources[0] if len(sources) == 1 else None
    rows = _rows_of(only) if isinstance(only, ParquetSource) else _read_rows(sources, runner)

    def finish(table: pa.Table, start: int) -> pa.Table:
        table = _with_numbers(table, name)
        _check_complete(table, (*_IDS, *_PLACES), name, start)
        return table

    schema = finish(rows.schema.empty_table(), 0).schema
    stored = None if only is None else only.schema()
    metadata = (stored and stored.metadata) or {}
    summary = None
    with suppress(KeyError, ValueError):
        summary = json.loads(metadata[METADATA_KEY])
    summary = summary if isinstance(summary, dict) else None
    return TableRows(schema, len(rows), rows.blocks, finish), summary


def open_written(path: str) -> TableRows:
    """Open a table of an output folder."""
    [source] = resolve_tables(path, options=InputOptions(input_format="parquet"))
    assert isinstance(source, ParquetSource)
    return _rows_of(source)


def _rows_of(source: ParquetSource) -> TableRows:
    return TableRows(source.schema().remove_metadata(), source.metadata.num_rows, source.blocks)


def example_of_other_ids(rows: TableRows) -> str:
    """Return the first id in a table's column of second documents, if any."""
    name = next((name for name in ("doc_id", "id_b") if name in rows.schema.names), None)
    if name is None or not len(rows):
        return ""
    return str(rows.take(np.zeros(1, np.int64), name)[name][0])


def _read_rows(sources: Sequence[Source], runner: Runner) -> TableRows:
    def read(_: Source, block: RowBlock) -> pa.Table:
        return block.to_table()

    columns = sources[0].column_names() if sources else None
    empty = pa.schema([(column, pa.string()) for column in columns or ()]).empty_table()
    reading = ReadingPass("table", sources, runner).map(read, sources)
    tables = [table for _, table in reading] or [empty]
    # A block may lack columns, or have other types than the whole.
    joined = pa.concat_tables(tables, promote_options="permissive")
    return TableRows.of_table(joined.replace_schema_metadata())


def _with_numbers(table: pa.Table, name: str) -> pa.Table:
    """Read columns of numbers, with empty texts as nulls."""
    for place, column in enumerate(table.column_names):
        if column not in (*_WHOLE, *_SHARES):
            continue
        values = table[column]
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            values = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
        # An estimated distance has bounds, and decimals.
        is_whole = column in _WHOLE and not (column == "distance" and "low" in table.column_names)
        try:
            values = values.cast(pa.int64() if is_whole else pa.float64())
        except pa.ArrowException:
            message = f"column {column!r} holds values that are no numbers"
            raise InvalidInputError(message, path=name) from None
        table = table.set_column(place, column, values)
    return table


def _check_complete(table: pa.Table, columns: Sequence[str], name: str, start: int) -> None:
    """Raise if a row lacks a value, counting from ``start``."""
    for column in columns:
        if column in table.column_names and table[column].null_count:
            row = start + pc.index(pc.is_null(table[column]), True).as_py() + 1
            message = f"row {row:,} has no {column!r}; each row needs one, name a complete table"
            raise InvalidInputError(message, path=name)


@dataclass(frozen=True)
class ReadCollection:
    """A collection's sources, with the job's reading options."""

    sources: Sequence[Source]
    columns: ColumnNames
    skip_bad: bool = False

    @classmethod
    def of_catalogue(cls, documents: Catalogue) -> ReadCollection:
        """Return the collection of a result in memory."""
        return cls(documents.sources, documents.columns, bool(documents.skipped))

    def texts(self, ids: Iterable[str | int], runner: Runner) -> dict[str, FoundText]:
        """Read texts by id, as ``read_texts_by_id``."""
        return read_texts_by_id(self.sources, self.columns, ids, runner, skip_bad=self.skip_bad)

    def rows(
        self, ids: Iterable[str | int], names: Sequence[str] | None, runner: Runner
    ) -> dict[str, dict[str, Any]]:
        """Read columns by id, None for all, as ``read_rows_by_id``."""
        return read_rows_by_id(
            self.sources, self.columns, ids, runner, names=names, skip_bad=self.skip_bad
        )
