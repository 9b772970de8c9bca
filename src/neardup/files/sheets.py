"""Spreadsheets (.xlsx) with a sheet as a table of rows.

openpyxl reads the cells, row by row, and xlsxwriter writes them. Values become columns as those of
rows in memory do. The table is in memory, because jobs read inputs more than once.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice, zip_longest
from logging import getLogger
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, NeardupError, ReadError
from neardup.files.arrowcolumns import TableBlock, as_text, cast_column, column_of
from neardup.files.cuts import Cuts
from neardup.files.memory import MemorySource
from neardup.files.office_documents import OLD_OFFICE, old_office
from neardup.files.plain import UnreadableFileError
from neardup.files.rows import ColumnNames, ParsedRows, RowBlock, RowWriter, Source
from neardup.files.streams import Destination, most_bytes, one_line, open_seekable, reading, writing
from neardup.options.groups import InputOptions
from neardup.runs.progress import counted

# Shown by commands, while there is time to begin anew.
_log = getLogger("neardup.hints")

Value = str | int | float | date | time | timedelta | None
"""The value of a cell: a date may have a time; an error is text; None is an empty cell."""

_MOST_ROWS = 1 << 20
# The sheet is in memory. Text that many cells share is stored once in the file, so a small file can
# hold any amount of it.
_MOST_CELLS = 1 << 24
_MOST_TEXT, _MOST_TIMES = 1 << 28, 32
# Characters that XML cannot hold, and the underscore of a text that looks like such an escape.
_ESCAPE = re.compile(r"_x(00[01][0-9A-F]|005F|FFF[EF])_", re.I)
_LARGEST_EXACT = 1 << 53


def open_source(location: str, name: str, options: InputOptions) -> SheetSource:
    """Return the source of the first visible sheet with rows."""
    import openpyxl

    with _errors(location), open_seekable(location) as file, warnings.catch_warnings():
        # openpyxl warns of parts that it leaves out, such as data validation.
        warnings.simplefilter("ignore")
        size = file.seek(0, 2)
        _check_package(file, size)
        sheets = openpyxl.load_workbook(file, read_only=True, data_only=True).worksheets
        if not sheets:
            message = "it has no sheets of cells; get a full copy"
            raise UnreadableFileError(message)
        for each in sheets:
            # Files may state other dimensions than they have.
            each.reset_dimensions()
        shown = [each for each in sheets if each.sheet_state == "visible"] or sheets[:1]
        # One row is a header without rows, or a title.
        full = (each for each in shown if len(list(islice(_rows(each), 2))) > 1)
        sheet = next(full, None)
        if sheet is not None and len(shown) > 1:
            _log.info(
                "%s: sheet %r is read, the first of %d that has rows; save another as CSV",
                location,
                sheet.title,
                len(sheets),
            )
        sheet = sheet or shown[0]
        names, rows, n_empty = _read(sheet, _MOST_TEXT + _MOST_TIMES * size)
        if n_empty:
            _log.info("%s: left out %s", location, counted(n_empty, "empty row"))
        return SheetSource(names, rows, location, name, sheet.title)


@contextmanager
def _errors(location: str) -> Iterator[None]:
    """Translate the library's errors to one line naming the file."""
    with reading(location):
        try:
            yield
        except (NeardupError, MemoryError):
            raise
        except UnreadableFileError as error:
            raise ReadError(str(error), path=location) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            # Damaged files raise almost anything, from KeyError to RecursionError.
            reason = one_line(error)[:200] or type(error).__name__
            message = f"not a spreadsheet that can be read: {reason}; get a full copy"
            raise ReadError(message, path=location) from error


def _check_package(file: Any, size: int) -> None:
    """Refuse old formats, encrypted files and packages that exhaust memory."""
    file.seek(0)
    if file.read(len(OLD_OFFICE)) == OLD_OFFICE:
        raise old_office("a spreadsheet")
    limit = most_bytes(size)
    with zipfile.ZipFile(file) as package:
        parts = [each for each in package.infolist() if each.filename.endswith((".xml", ".rels"))]
        if sum(each.file_size for each in parts) > limit:
            message = (
                f"it has more than {limit >> 20:,} MB of XML, as files made to fill the memory "
                "have; leave it out"
            )
            raise UnreadableFileError(message)


def _read(sheet: Any, most_text: int) -> tuple[list[str], list[list[Value]], int]:
    """Return a sheet's column names, rows and empty-row count."""
    from openpyxl.utils import get_column_letter

    numbered = _rows(sheet)
    first, header = next(numbered, (0, []))
    rows: list[list[Value]] = []
    last, width, n_characters = first, len(header), 0
    for last, row in numbered:  # noqa: B007 - used after the loop
        rows.append(row)
        width = max(width, len(row))
        if width * len(rows) > _MOST_CELLS:
            message = (
                f"it has more than {_MOST_CELLS:,} cells between the first and the last; save the "
                "sheet as CSV"
            )
            raise UnreadableFileError(message)
        n_characters += sum(len(value) for value in row if isinstance(value, str))
        if n_characters > most_text:
            message = (
                f"its rows are more than {most_text >> 20:,} MB, as of files made to fill the "
                "memory; save the sheet as CSV"
            )
            raise UnreadableFileError(message)
    titles = [*map(as_text, header), *[""] * (width - len(header))]
    names = [title or get_column_letter(number) for number, title in enumerate(titles, 1)]
    return names, rows, last - first - len(rows)


def _rows(sheet: Any) -> Iterator[tuple[int, list[Value]]]:
    """Yield numbers and values of rows that are not empty."""
    for number, cells in enumerate(sheet.iter_rows(), 1):
        if number > _MOST_ROWS:
            message = f"it has more than {_MOST_ROWS:,} rows in a sheet; leave it out"
            raise UnreadableFileError(message)
        values = [_value(cell) for cell in cells]
        while values and values[-1] is None:
            values.pop()
        if values:
            yield number, values


def _value(cell: Any) -> Value:
    value = cell.value
    if isinstance(value, str):
        if "_x" in value:
            value = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), value)
        return value or None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_EXACT else value
    if isinstance(value, datetime) and value.time() == time():
        from openpyxl.styles.numbers import is_datetime

        return value.date() if is_datetime(cell.number_format) == "date" else value
    if value is None or isinstance(value, int | datetime | time | timedelta):
        return value
    return str(value)


class _SheetBlock(TableBlock):
    """Rows of a sheet, with mixed columns as text."""

    def _with_texts(self, names: Sequence[str], *, are_filled: bool) -> Self:
        table = self._columns(None)
        for place, name in enumerate(table.column_names):
            if name in names:
                texts = cast_column(table.column(place), pa.field(name, pa.large_string()))
                texts = pc.fill_null(texts, "") if are_filled else texts
                table = table.set_column(place, name, texts)
        return self._with(table)

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Check the named columns and return them."""
        block = self._with_texts(columns.texts, are_filled=True)
        return super(_SheetBlock, block)._read_columns(columns, skip_bad=skip_bad)

    def with_cuts(self, cuts: Cuts) -> TableBlock:
        """Cut spans out of text columns, converting them to texts."""
        return TableBlock.with_cuts(self._with_texts(cuts.columns, are_filled=False), cuts)


class SheetSource(MemorySource):
    """A sheet with a header row.

    Rows count from 1 after it. Rows without a value are left out. An output is a spreadsheet with
    that sheet alone: values keep their kinds, formulas become their values, and formats and widths
    are gone. ``rows`` have values up to their last one.
    """

    block_type = _SheetBlock

    def __init__(
        self, names: list[str], rows: list[list[Value]], location: str, name: str, sheet: str
    ) -> None:
        columns = list(zip_longest(*rows))
        columns += [(None,) * len(rows)] * (len(names) - len(columns))
        arrays = [column_of(*column, {}) for column in zip(names, columns, strict=True)]
        super().__init__(pa.table(arrays, names=names))
        self.location = self.origin = location
        self.name, self.sheet, self.rows = name, sheet, rows

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return ids of file name and row number."""
        return Source.default_ids(self, numbers)

    @property
    def written_name(self) -> str:
        """Return the name of the file."""
        return self.name

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of a spreadsheet."""
        return _SheetWriter(self, folder / self.name)


class _SheetWriter(RowWriter):
    """Writes rows as a spreadsheet."""

    def __init__(self, source: SheetSource, destination: Destination) -> None:
        from neardup.files.spreadsheet import Spreadsheet

        self._location, self._destination, self._rows = source.location, destination, source.rows
        names = source.schema().names
        self._spreadsheet = Spreadsheet(names, source.sheet, are_numbers_exact=True)

    def prepare(self, block: RowBlock) -> tuple[list[int], pa.Table | None]:
        """Return the numbers and values of the rows."""
        return block.numbers.tolist(), block.to_table() if len(block) else None

    def append(self, prepared: tuple[list[int], pa.Table | None]) -> None:
        """Append rows to the spreadsheet, with the values of unchanged cells."""
        from neardup.files.spreadsheet import CELL_UNITS, units_of

        numbers, table = prepared
        columns = [] if table is None else [column.to_pylist() for column in table.columns]
        for number, *values in zip(numbers, *columns, strict=True):
            cells = []
            for value, original in zip_longest(values, self._rows[number - 1]):
                is_text = isinstance(value, str)
                is_changed = is_text and value != as_text(original)
                cells.append(value if is_changed else original)
                if is_text and units_of(value) > CELL_UNITS:
                    message = (
                        f"a text of {len(value):,} characters is longer than a cell of a "
                        "spreadsheet may be; write format='jsonl' (--format jsonl)"
                    )
                    raise InvalidInputError(message, path=self._location, row=number)
            self._spreadsheet.append(cells)

    def close(self) -> None:
        """Copy the spreadsheet to its destination."""
        with self._spreadsheet, writing(self._destination), self._destination.create() as file:
            self._spreadsheet.copy_to(file)
