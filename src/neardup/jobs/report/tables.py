"""Tables of results, read back from their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidInputError
from neardup.files.passes import ReadingPass
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.pairs.about import METADATA_KEY
from neardup.runtime.runner import Runner

if TYPE_CHECKING:
    import pyarrow as pa

# Columns that are numbers; CSV has nothing but text.
_WHOLE = ("query_start", "query_end", "doc_start", "doc_end", "overlap", "distance")
_SHARES = ("similarity", "low", "high")


def read_table(data: Any, runner: Runner) -> tuple[pa.Table, dict[str, Any] | None]:
    """Read a table that a job has written, all of it, and what it says of its job.

    Parameters
    ----------
    data
        A file or its URL, or what speaks Arrow.
    runner
        Reads it, and reports that as the stage ``table``.

    Returns
    -------
    The table, in which places are whole numbers and similarities shares, and a summary, None where
    the table has none.

    Raises
    ------
    ReadError, InvalidInputError
        If it cannot be read, is none, or has other things where numbers should be.
    """
    import pyarrow as pa

    def read(_: Source, block: RowBlock) -> pa.Table:
        return block.to_table()

    sources = resolve_inputs(data)
    parts = [part for _, part in ReadingPass("table", sources, runner).map(read, sources)]
    name = str(data) if isinstance(data, str | Path) else "the table"
    if parts:
        table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    else:
        columns = sources[0].column_names() if sources else None
        table = pa.table({column: pa.nulls(0, pa.string()) for column in columns or ()})
    metadata = sources[0].schema_metadata() if len(sources) == 1 else {}
    return _with_numbers(table, name), _summary(metadata)


def _with_numbers(table: pa.Table, name: str) -> pa.Table:
    import pyarrow as pa

    for columns, kind in ((_WHOLE, pa.int64()), (_SHARES, pa.float64())):
        for column in set(columns) & set(table.column_names):
            place = table.column_names.index(column)
            try:
                table = table.set_column(place, column, table[column].cast(kind))
            except pa.ArrowException:
                message = f"column {column!r} holds values that are no numbers"
                raise InvalidInputError(message, path=name) from None
    return table


def _summary(metadata: Mapping[bytes, bytes]) -> dict[str, Any] | None:
    """Return what a table of pairs says of itself."""
    try:
        found = json.loads(metadata[METADATA_KEY])
    except (KeyError, ValueError):
        return None
    return found if isinstance(found, dict) else None
