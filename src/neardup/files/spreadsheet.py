"""Writer of spreadsheets (.xlsx) by cell, without any formulas."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Self

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError, XlsxWriterException

from neardup.errors import WriteError

SHEET_ROWS = 1 << 20
"""Rows of a sheet, its header among them."""

CELL_UNITS = 32_767
"""The longest text of a cell, in units of UTF-16."""

# Spreadsheets show 15 digits of a number, and keep no more when somebody edits it.
_LEAST_TEXT = 10**15
_MOST = 10**300

_WIDTH, _TEXT_WIDTH = 14, 60

# The library writes the time into the file, which would then never be the same twice.
_CREATED = datetime(2000, 1, 1)
_FIRST_YEAR = 1900


class _Exact(float):
    """A number written with all digits instead of 16."""

    _digits: str

    def __new__(cls, value: float) -> Self:
        number = super().__new__(cls, value)
        number._digits = repr(value)
        return number

    def __format__(self, _: str) -> str:
        return self._digits


class Spreadsheet:
    """A workbook of one sheet in a temporary folder, copied when complete.

    If the library wrote to the destination, it would continue after an error, unnoticed. A ``name``
    that no sheet may have is replaced. With ``are_numbers_exact`` whole numbers of more than 15
    digits, as they come from a spreadsheet, are not written as texts.
    """

    def __init__(
        self, header: Sequence[str], name: str | None = None, *, are_numbers_exact: bool = False
    ) -> None:
        self._header, self._are_numbers_exact = header, are_numbers_exact
        self._row = 1
        self._folder = tempfile.TemporaryDirectory(prefix="neardup-")
        self._path = Path(self._folder.name, "table.xlsx")
        settings = {"constant_memory": True, "tmpdir": self._folder.name}
        self._workbook = xlsxwriter.Workbook(self._path, settings)
        self._workbook.set_properties({"created": _CREATED})
        self._formats: dict[str, Any] = {}
        try:
            self._sheet: Any = self._workbook.add_worksheet(name)
        except XlsxWriterException:
            self._sheet = self._workbook.add_worksheet()
        self._sheet.freeze_panes(1, 0)
        bold = self._workbook.add_format({"bold": True})
        for column, title in enumerate(header):
            width = _TEXT_WIDTH if title.endswith("text") else _WIDTH
            self._sheet.set_column(column, column, width)
            self._sheet.write_string(0, column, title, bold)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # After an error its file is still open.
        if not self._workbook.fileclosed:
            with suppress(XlsxWriterException):
                self._workbook.close()
        self._folder.cleanup()

    def append(self, values: Sequence[object]) -> None:
        """Append a row, with values unknown to Excel as text."""
        if self._row == SHEET_ROWS:
            message = (
                f"a spreadsheet has at most {SHEET_ROWS - 1:,} rows below its header; write "
                ".parquet, .csv or .jsonl"
            )
            raise WriteError(message)
        for column, value in enumerate(values):
            if value is not None:
                self._put(column, value)
        self._row += 1

    def _put(self, column: int, value: object) -> None:
        form = _form(value)
        if isinstance(value, bool):
            self._sheet.write_boolean(self._row, column, value)
        elif isinstance(value, int | float) and self._is_number(value):
            self._sheet.write_number(self._row, column, _Exact(value))
        elif form is not None:
            if form not in self._formats:
                self._formats[form] = self._workbook.add_format({"num_format": form})
            self._sheet.write_datetime(self._row, column, value, self._formats[form])
        elif (text := str(value)).startswith("<r>") and text.endswith("</r>"):
            # The library takes such a text for XML of its own, but not the parts of a rich string.
            self._sheet.write_rich_string(self._row, column, text[:1], text[1:2], text[2:])
        else:
            self._sheet.write_string(self._row, column, text)

    def _is_number(self, value: float) -> bool:
        if isinstance(value, float):
            return math.isfinite(value)
        return abs(value) < (_MOST if self._are_numbers_exact else _LEAST_TEXT)

    def copy_to(self, stream: BinaryIO) -> None:
        """Complete the workbook, and copy it to a stream."""
        if self._header:
            self._sheet.autofilter(0, 0, self._row - 1, len(self._header) - 1)
        try:
            self._workbook.close()
        except FileCreateError as error:
            raise error.args[0] from None
        with self._path.open("rb") as file:
            shutil.copyfileobj(file, stream)


def units_of(text: str) -> int:
    """Return a text's UTF-16 length, approximate for short texts."""
    return len(text) if 2 * len(text) <= CELL_UNITS else len(text.encode("utf-16-le")) // 2


def start_of(text: str, n_units: int) -> str:
    """Return a text's first UTF-16 units, without half a character."""
    return text.encode("utf-16-le")[: 2 * n_units].decode("utf-16-le", "ignore")


def _form(value: object) -> str | None:
    """Return a date or time's ISO 8601 cell format."""
    parts = getattr(value, "microsecond", 0) or getattr(value, "microseconds", 0)
    fraction = ".000" if parts else ""
    if isinstance(value, timedelta):
        return None if value < timedelta() else f"[hh]:mm:ss{fraction}"
    if isinstance(value, time):
        return f"hh:mm:ss{fraction}"
    if not isinstance(value, date) or value.year < _FIRST_YEAR:
        return None
    if isinstance(value, datetime):
        return f"yyyy-mm-dd hh:mm:ss{fraction}" if value.tzinfo is None else None
    return "yyyy-mm-dd"
