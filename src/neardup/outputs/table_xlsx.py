"""Tables as spreadsheets (.xlsx), whose cells are texts and numbers and never formulas."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from neardup.outputs.table_text import batches_of

_SHEET_ROWS = 1 << 20
_CELL_UNITS = 32_767

# Spreadsheets show 15 digits of a number, and take it for that when it is changed.
_LEAST_TEXT = 10**15

_WIDTH, _TEXT_WIDTH = 14, 60

# The library writes the time into the file, which would then never be the same twice.
_CREATED = datetime(2000, 1, 1)


def write_xlsx(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and the rows, in as many sheets as they need.

    A text that is longer than a cell may be is cut, and says so at its end. What no number of a
    spreadsheet can be is a text: whole numbers of more than 15 digits, floats that are not finite.
    """
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        # Not to the stream: after an error the library would go on writing when nobody listens.
        path = Path(folder) / "table.xlsx"
        workbook = xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": folder})
        workbook.set_properties({"created": _CREATED})
        try:
            _write_sheets(workbook, table)
            workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None
        with path.open("rb") as file:
            shutil.copyfileobj(file, stream)


def _write_sheets(workbook: Any, table: pa.Table | pa.RecordBatchReader) -> None:
    names = table.schema.names
    sheet, row = _new_sheet(workbook, names), 1
    for values in _rows(table):
        if row == _SHEET_ROWS:
            sheet, row = _new_sheet(workbook, names), 1
        for column, value in enumerate(values):
            _write_cell(sheet, row, column, value)
        row += 1


def _new_sheet(workbook: Any, names: list[str]) -> Any:
    sheet = workbook.add_worksheet()
    sheet.freeze_panes(1, 0)
    bold = workbook.add_format({"bold": True})
    for column, name in enumerate(names):
        sheet.set_column(column, column, _TEXT_WIDTH if name.endswith("text") else _WIDTH)
        sheet.write_string(0, column, name, bold)
    return sheet


def _rows(table: pa.Table | pa.RecordBatchReader) -> Iterator[tuple[Any, ...]]:
    for batch in batches_of(table):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _write_cell(sheet: Any, row: int, column: int, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif _is_number(value):
        sheet.write_number(row, column, value)
    else:
        _write_text(sheet, row, column, _fitting(str(value)))


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and abs(value) < _LEAST_TEXT


def _write_text(sheet: Any, row: int, column: int, text: str) -> None:
    # The library takes such a text for XML of its own, but not the parts of one in several formats.
    if text.startswith("<r>") and text.endswith("</r>"):
        sheet.write_rich_string(row, column, text[:1], text[1:2], text[2:])
    else:
        sheet.write_string(row, column, text)


def _fitting(text: str) -> str:
    """Return a text, or as much of it as a cell holds; that is counted in units of UTF-16."""
    if 2 * len(text) <= _CELL_UNITS:
        return text
    units = text.encode("utf-16-le")
    if len(units) <= 2 * _CELL_UNITS:
        return text
    note = f"… [cut: {len(text):,} characters]"
    # Half a pair of surrogates at the end is left out.
    return units[: 2 * (_CELL_UNITS - len(note))].decode("utf-16-le", "ignore") + note
