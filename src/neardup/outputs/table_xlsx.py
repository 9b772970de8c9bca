"""Tables as spreadsheets (.xlsx), whose cells are texts and numbers and never formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from neardup.files.spreadsheet import (
    CELL_UNITS,
    Spreadsheet,
    start_of,
    units_of,
)
from neardup.outputs.table_text import batches_of
from neardup.runs.progress import counted, job_logger, plural

# Shown by commands.
_log = job_logger("neardup.hints")


def write_xlsx(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and the rows, in as many sheets as they need.

    A text longer than a cell is cut, with a note at its end. Whole numbers of more than 15 digits
    and floats that are not finite become text.
    """
    n_cut = 0
    with Spreadsheet() as spreadsheet:
        spreadsheet.add_sheet(table.schema.names)
        for values in _rows(table):
            cells = list[object](values)
            for column, value in enumerate(values):
                if value is None or isinstance(value, bool | int | float):
                    continue
                text = str(value)
                is_cut = units_of(text) > CELL_UNITS
                n_cut += is_cut
                cells[column] = _cut(text) if is_cut else text
            spreadsheet.append(cells)
        spreadsheet.copy_to(stream)
    if n_cut:
        _log.info(
            "%s of the spreadsheet %s longer than the %s characters of a cell, and cut, which %s "
            "at the end; .jsonl, .csv and .parquet have all of it",
            counted(n_cut, "text"),
            plural(n_cut, "is", "are"),
            f"{CELL_UNITS:,}",
            plural(n_cut, "it says", "they say"),
        )


def _rows(table: pa.Table | pa.RecordBatchReader) -> Iterator[tuple[Any, ...]]:
    for batch in batches_of(table):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _cut(text: str) -> str:
    """Return as much of a text as a cell holds; that is counted in units of UTF-16."""
    note = f"… [cut: {len(text):,} characters]"
    return start_of(text, CELL_UNITS - len(note)) + note
