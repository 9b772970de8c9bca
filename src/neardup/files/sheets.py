"""Spreadsheets (.xlsx, .ods): one of their sheets, read as if it had been saved as CSV.

The rows of the sheet are copied to a file in a temporary folder when it is opened, because jobs
read inputs more than once; the folder goes when nothing refers to its file any more. So a row is
what it is in CSV: all values are text, by one rule (``text_of``), and empty cells are empty texts.
Beside it is what cells have that is no text, for rows that are written back.
"""

from __future__ import annotations

import csv
import pickle
from array import array
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.errors import (
    InvalidInputError,
    MissingExtraError,
    NeardupError,
    ReadError,
    WriteError,
    option_name,
)
from neardup.files.delimited import DelimitedSource
from neardup.files.extracted import UnreadableFileError
from neardup.files.office.workbook import Value, Workbook, open_workbook, text_of
from neardup.files.rows import Mask, RowBlock, RowWriter
from neardup.files.streams import Converted, open_seekable, reading, writing
from neardup.runs.progress import counted, job_logger

if TYPE_CHECKING:
    from neardup.files.streams import Destination
    from neardup.options.groups import InputOptions

# Shown by commands, while there is time to begin anew.
_log = job_logger("neardup.hints")

# Rows of a sheet that is full, and goes on in the next one.
_FULL = 1 << 20
_OTHER_FORMAT = "; write format='jsonl' (--format jsonl)"


def open_source(location: str, name: str, options: InputOptions) -> SheetSource:
    """Return the source of a sheet, the named one or the first that has rows."""
    with _workbook(location) as workbook:
        number = _chosen(workbook, options.sheet, location)
        copy = Converted.of(location)
        with _copying(copy):
            values = _copy_rows(workbook, number, copy)
        if workbook.n_without_value:
            _log.info(
                "%s: %s without a value, because no program has calculated it, counts as empty; "
                "open the file in one, and save it",
                location,
                counted(workbook.n_without_value, "formula"),
            )
        return SheetSource(copy, name, workbook.sheets[number].name, values)


@contextmanager
def _workbook(location: str) -> Iterator[Workbook]:
    """Open a workbook, of which whatever is wrong is an error with the path."""
    try:
        with reading(location), open_seekable(location) as file:
            yield open_workbook(file)
    except UnreadableFileError as error:
        raise ReadError(str(error), path=location) from None


def _chosen(workbook: Workbook, wanted: str | int | None, location: str) -> int:
    """Return the place of the sheet that is read.

    By its number from 1, or by its name; a name that no sheet has may be a number, too.
    """
    names = [sheet.name for sheet in workbook.sheets]
    if wanted in names:
        return names.index(wanted)
    if wanted is not None:
        is_number = isinstance(wanted, int) or wanted.isdecimal()
        if is_number and 1 <= int(wanted) <= len(names):
            return int(wanted) - 1
        message = f"no sheet {wanted!r}; its sheets are {', '.join(map(repr, names))}"
        raise InvalidInputError(message, path=location)
    shown = [number for number, sheet in enumerate(workbook.sheets) if not sheet.is_hidden]
    # One row is a header without rows, or a title.
    found = next((n for n in shown if len(list(islice(workbook.rows(n), 2))) > 1), None)
    if found is None:
        return next(iter(shown), 0)
    if len(shown) > 1:
        _log.info(
            "%s: sheet %r is read, the first of %d that has rows; name another with %s",
            location,
            names[found],
            len(names),
            option_name("sheet"),
        )
    return found


@contextmanager
def _copying(copy: Converted) -> Iterator[None]:
    """Turn what writing the copy may raise into WriteError."""
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        message = (
            f"{copy.copy.parent}: cannot be written: {error.strerror or error}; rows of {copy} are "
            "copied there, set TMPDIR to a folder on a disk with room"
        )
        raise WriteError(message) from error


def _rows(workbook: Workbook, number: int) -> Iterator[list[Value]]:
    """Yield the header and the rows of a sheet, and of those that go on where one is full."""
    header = None
    for place in range(number, len(workbook.sheets)):
        rows = workbook.rows(place)
        first = next(rows, None)
        if first is None or (header is not None and first != header):
            return
        if header is None:
            header = first
            yield header
        n_rows = 1
        for row in rows:
            n_rows += 1
            yield row
        if n_rows < _FULL:
            return


def _copy_rows(workbook: Workbook, number: int, copy: Converted) -> _Values:
    """Copy a sheet as CSV; return its values that are no text.

    The first row names the columns; all rows are as wide as the widest. Where that is wider than
    the first, which shows at the end, they are copied once more.
    """
    n_columns, widest = 0, -1
    while widest > n_columns or widest < 0:
        n_columns = max(n_columns, widest)
        n_characters = 0
        values = _Values(copy.copy.with_name("values"))
        with (
            copy.copy.open("w", encoding="utf-8", newline="") as file,
            closing(values.storing(_rows(workbook, number))) as rows,
        ):
            # Only characters that end lines are quoted.
            writer = csv.writer(file, lineterminator="\r\n")
            names = _names(next(rows, []), n_columns)
            n_columns = widest = len(names)
            if names:
                writer.writerow(names)
            for row in rows:
                widest = max(widest, len(row))
                texts = [text_of(value) for value in row]
                n_characters += writer.writerow(texts + [""] * (n_columns - len(texts)))
                if n_characters > workbook.most_bytes:
                    message = (
                        f"its rows are more than {workbook.most_bytes >> 20:,} MB, as of files "
                        "made to fill disks; save the sheet as CSV"
                    )
                    raise UnreadableFileError(message)
    return values


def _names(header: list[Value], n_columns: int) -> list[str]:
    """Return the names of columns; one without is called by its letters."""
    texts = [text_of(value) for value in header]
    texts += [""] * (n_columns - len(texts))
    return [text or _letters(number) for number, text in enumerate(texts)]


def _letters(column: int) -> str:
    """Return what spreadsheets call a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


class _Values:
    """What cells have that is no text, in a file, from which any rows can be read again.

    Each writer of rows of a sheet reads its own; to find them in the workbook, all rows before them
    would have to be read.
    """

    # More rows are read than are wanted, but fewer places have to be known.
    _N_TOGETHER = 64

    def __init__(self, path: Path) -> None:
        self._path, self._places = path, array("q")

    def storing(self, rows: Iterator[list[Value]]) -> Generator[list[Value]]:
        """Yield rows, the header first, and store what is in them."""
        with self._path.open("wb") as file:
            while together := list(islice(rows, self._N_TOGETHER)):
                self._places.append(file.tell())
                pickle.dump([self._of_row(row) for row in together], file)
                yield from together

    @staticmethod
    def _of_row(row: list[Value]) -> dict[int, Value]:
        return {
            column: value
            for column, value in enumerate(row)
            if value is not None and not isinstance(value, str)
        }

    def of_rows(self, numbers: Iterable[int]) -> list[dict[int, Value]]:
        """Return the values of rows by their columns; the rows ascend, and count from 1."""
        found: list[dict[int, Value]] = []
        together: list[dict[int, Value]] = []
        held = -1
        with self._path.open("rb") as file:
            for number in numbers:
                which, row = divmod(number, self._N_TOGETHER)
                if which != held:
                    file.seek(self._places[which])
                    together, held = pickle.load(file), which
                found.append(together[row])
        return found


class SheetSource(DelimitedSource):
    """A sheet with a header row; rows count from 1 after it, those without any value left out.

    An output is a spreadsheet with that sheet alone: values keep their kinds, formulas are what
    they gave, and nothing is left of formats and widths.

    Parameters
    ----------
    location
        Of the file, with the copy of the sheet.
    name
        As for RawSource.
    sheet
        The name of the sheet.
    values
        What its cells have that is no text.
    """

    input_options = frozenset({"input_format", "sheet"})
    may_misfit = frozenset()

    def __init__(self, location: Converted, name: str, sheet: str, values: _Values) -> None:
        super().__init__(location, name)
        self.sheet, self.values = sheet, values

    def check_writable(self) -> None:
        """Raise where the library that writes spreadsheets is not installed."""
        if find_spec("xlsxwriter") is None:
            raise MissingExtraError("xlsx", "a spreadsheet of the rows")

    @property
    def written_name(self) -> str:
        """Return the name of the spreadsheet of rows."""
        # What writes other formats is loaded where rows are written.
        from neardup.files.fitting import converted_name

        return converted_name(self.name, "same")

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of a spreadsheet."""
        self.check_writable()
        return _SheetWriter(self, folder / self.written_name)


class _SheetWriter(RowWriter):
    """Writes rows as a spreadsheet."""

    def __init__(self, source: SheetSource, destination: Destination) -> None:
        from neardup.files.office.spreadsheet import SHEET_ROWS, Spreadsheet

        self._location, self._destination = source.location, destination
        self._names, self._most_rows = source.column_names() or [], SHEET_ROWS
        self._values = source.values
        # The next row of the sheet that is written.
        self._row = 1
        self._spreadsheet = Spreadsheet()
        self._spreadsheet.add_sheet(self._names, source.sheet)

    def prepare(self, block: RowBlock, select: Mask) -> tuple[list[int], pa.Table | None]:
        """Return the numbers and texts of the selected rows."""
        if not select.any():
            return [], None
        return block.numbers[select].tolist(), block.to_table(select)

    def append(self, prepared: tuple[list[int], pa.Table | None]) -> None:
        """Append rows: what a cell had, unless something was cut out of it."""
        numbers, table = prepared
        if table is None:
            return
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        found = self._values.of_rows(numbers)
        for number, values, texts in zip(numbers, found, rows, strict=True):
            if self._row == self._most_rows:
                self._spreadsheet.add_sheet(self._names)
                self._row = 1
            for column, text in enumerate(texts):
                value = values.get(column)
                self._put(number, column, value if text_of(value) == text else text)
            self._row += 1

    def _put(self, number: int, column: int, value: Value) -> None:
        from neardup.files.office.spreadsheet import CELL_UNITS, units_of

        if isinstance(value, str) and units_of(value) > CELL_UNITS:
            message = (
                f"a text of {len(value):,} characters is longer than a cell of a spreadsheet may "
                f"be{_OTHER_FORMAT}"
            )
            raise InvalidInputError(message, path=self._location, row=number)
        self._spreadsheet.put(self._row, column, value)

    def close(self) -> None:
        """Complete the file."""
        with self._spreadsheet, writing(self._destination), self._destination.create() as file:
            self._spreadsheet.copy_to(file)
