"""Writer of spreadsheets (.xlsx) by cell, without any formulas."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Self

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError, XlsxWriterException

SHEET_ROWS = 1 << 20
"""Rows of a sheet, its header among them."""

CELL_UNITS = 32_767
"""As long as a text of a cell is at most, in units of UTF-16."""

# Spreadsheets show 15 digits of a number, and keep no more when somebody edits it.
_LEAST_TEXT = 10**15
_MOST = 10**300

_WIDTH, _TEXT_WIDTH = 14, 60

# The longest name of a sheet, in units of UTF-16.
_NAME_UNITS = 31

# The library writes the time into the file, which would then never be the same twice.
_CREATED = datetime(2000, 1, 1)
_FIRST_YEAR = 1900


class _Exact(float):
    """A number written with all digits instead of 16."""

    digits: str

    def __format__(self, _: str) -> str:
        return self.digits


def _exact(value: float) -> _Exact:
    number = _Exact(value)
    number.digits = repr(value)
    return number


class Spreadsheet:
    """A workbook in a temporary folder, copied when complete.

    If the library wrote to the destination, it would continue after an error, unnoticed.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="neardup-")
        self._path = Path(self._folder.name, "table.xlsx")
        settings = {"constant_memory": True, "tmpdir": self._folder.name}
        self._workbook = xlsxwriter.Workbook(self._path, settings)
        self._workbook.set_properties({"created": _CREATED})
        self._formats: dict[str, Any] = {}
        self._sheet: Any = None
        self._header: Sequence[str] = ()
        self._row = 1
        self._name: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def add_sheet(self, header: Sequence[str], name: str | None = None) -> None:
        """Begin a sheet with a fixed, filterable first row.

        Without a name, or with one that no sheet may have, the library gives it a number.
        """
        self._header, self._row = header, 1
        self._name = self._name or name
        try:
            self._sheet = self._workbook.add_worksheet(name)
        except XlsxWriterException:
            self._sheet = self._workbook.add_worksheet()
        self._sheet.freeze_panes(1, 0)
        bold = self._workbook.add_format({"bold": True})
        for column, title in enumerate(header):
            width = _TEXT_WIDTH if title.endswith("text") else _WIDTH
            self._sheet.set_column(column, column, width)
            self._sheet.write_string(0, column, title, bold)

    def append(self, values: Sequence[object], *, are_numbers_exact: bool = False) -> None:
        """Append a row, starting another sheet if one is full.

        The new sheet repeats the header. Dates before 1900, floats that are not finite, and whole
        numbers of more than 15 digits are written as text; the last only unless they come from a
        spreadsheet (``are_numbers_exact``).
        """
        if self._row == SHEET_ROWS:
            self._let_filter()
            end = f" ({len(self._workbook.worksheets()) + 1})"
            self.add_sheet(
                self._header, self._name and start_of(self._name, _NAME_UNITS - len(end)) + end
            )
        for column, value in enumerate(values):
            self._put(self._row, column, value, are_numbers_exact)
        self._row += 1

    def _put(self, row: int, column: int, value: object, are_numbers_exact: bool) -> None:
        if value is None:
            return
        form = _form(value)
        if isinstance(value, bool):
            self._sheet.write_boolean(row, column, value)
        elif isinstance(value, int | float) and _is_number(value, are_numbers_exact):
            self._sheet.write_number(row, column, _exact(value))
        elif form is not None:
            if form not in self._formats:
                self._formats[form] = self._workbook.add_format({"num_format": form})
            self._sheet.write_datetime(row, column, value, self._formats[form])
        else:
            self._put_text(row, column, str(value))

    def _put_text(self, row: int, column: int, text: str) -> None:
        # The library takes such a text for XML of its own, but not the parts of one in several
        # formats.
        if text.startswith("<r>") and text.endswith("</r>"):
            self._sheet.write_rich_string(row, column, text[:1], text[1:2], text[2:])
        else:
            self._sheet.write_string(row, column, text)

    def _let_filter(self) -> None:
        if self._header:
            self._sheet.autofilter(0, 0, self._row - 1, len(self._header) - 1)

    def copy_to(self, stream: BinaryIO) -> None:
        """Complete the workbook, and copy it to a stream."""
        self._let_filter()
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


def _is_number(value: float, are_numbers_exact: bool) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return abs(value) < (_MOST if are_numbers_exact else _LEAST_TEXT)


def _form(value: object) -> str | None:
    """Return a date or time's ISO 8601 cell format."""
    fraction = ".000" if getattr(value, "microsecond", 0) else ""
    if isinstance(value, timedelta):
        fraction = ".000" if value.microseconds else ""
        return None if value < timedelta() else f"[hh]:mm:ss{fraction}"
    if isinstance(value, time):
        return f"hh:mm:ss{fraction}"
    if not isinstance(value, date) or value.year < _FIRST_YEAR:
        return None
    if isinstance(value, datetime):
        return f"yyyy-mm-dd hh:mm:ss{fraction}" if value.tzinfo is None else None
    return "yyyy-mm-dd"
