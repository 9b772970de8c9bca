"""Workbooks (.xlsx, .ods): the values of cells, a row at a time.

Both are zip files of XML, read as ``package`` reads them: some of a sheet at a time, whatever its
size. Values are those that the program has stored, so that nothing is calculated: what a formula
gave when the file was saved, and nothing where it never was.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import BinaryIO

from neardup.files.extracted import UnreadableFileError
from neardup.files.limits import most_bytes
from neardup.files.office.odt import Paragraphs, check_not_encrypted
from neardup.files.office.package import Events, Package

Value = str | int | float | bool | date | time | timedelta | None
"""What is in a cell: a date may have a time; an error is text; None is nothing."""

_KIND = "a spreadsheet"

MOST_COLUMNS = 1 << 14
"""Columns of a sheet, in all programs."""

_MOST_ROWS = 1 << 24
# A short piece of XML can stand for as many cells as one likes.
_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Sheet:
    """A sheet of cells: what it is called, where it is, and whether programs show it."""

    name: str
    part: str
    is_hidden: bool


class Workbook(ABC):
    """The sheets of a file, in their order."""

    sheets: list[Sheet]

    def __init__(self, package: Package) -> None:
        self._package = package
        self.most_bytes = package.most_bytes
        self.n_without_value = 0

    def rows(self, number: int) -> Iterator[list[Value]]:
        """Yield the rows of a sheet that have anything, as far as their last value.

        At the end ``n_without_value`` is the number of its formulas that were never calculated.
        """
        cells = self._cells(number)
        n_rows = 0
        for _ in self._package.parsing(self.sheets[number].part, cells):
            for row, n_times in cells.take():
                n_rows += n_times
                if n_rows > _MOST_ROWS:
                    message = f"it has more than {_MOST_ROWS:,} rows; leave it out"
                    raise UnreadableFileError(message)
                for _ in range(n_times):
                    yield row
            self.n_without_value = cells.n_without_value
            if cells.is_complete:
                return

    @abstractmethod
    def _cells(self, number: int) -> _Cells:
        """Return what takes the XML of a sheet."""


def open_workbook(file: BinaryIO) -> Workbook:
    """Open a workbook of either format, which its parts tell.

    Raises
    ------
    UnreadableFileError
        If it is none, or damaged, or has a password.
    """
    size = file.seek(0, 2)
    package = Package(file, _KIND, most_bytes(size))
    return _OpenDocument(package) if package.has(_CONTENT) else _OfficeOpen(package)


def text_of(value: Value) -> str:
    """Return a value as text, without what formats of cells add to it.

    Whole numbers have no point, others the fewest digits that are read as the same number. Dates
    and times are as ISO 8601 has them; times of more than a day are hours, minutes and seconds.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value or 0.0).removesuffix(".0")
    if isinstance(value, datetime | time):
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
    if isinstance(value, timedelta):
        seconds, ms = divmod(round(abs(value) / timedelta(milliseconds=1)), 1000)
        sign = "-" * (value < timedelta())
        fraction = f".{ms:03}" if ms else ""
        return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    return str(value)


class _Cells(Events):
    """Takes the cells of a sheet; rows are taken from here when they are complete."""

    is_complete = False
    n_without_value = 0
    """Formulas that have never been calculated."""

    def __init__(self) -> None:
        self._rows: list[tuple[list[Value], int]] = []
        self._row: list[Value] = []
        self._n_cells = 0

    def take(self) -> list[tuple[list[Value], int]]:
        """Return the rows since the last time, and how often each comes."""
        rows, self._rows, self._n_cells = self._rows, [], 0
        return rows

    def _put(self, column: int, value: Value, n_times: int = 1) -> None:
        """Put a value into some columns of the row."""
        if value is None or value == "":
            return
        if column + n_times > MOST_COLUMNS:
            message = f"it has cells beyond column {MOST_COLUMNS:,}; leave it out"
            raise UnreadableFileError(message)
        row = self._row
        if column < len(row):
            # It comes twice, or out of order.
            row[column : column + n_times] = [value] * n_times
            return
        row.extend([None] * (column - len(row)))
        row.extend([value] * n_times)

    def _end_row(self, n_times: int = 1) -> None:
        if not self._row:
            return
        self._n_cells += len(self._row)
        if self._n_cells > _MOST_CELLS:
            message = "a few bytes in it are a great many cells; leave it out"
            raise UnreadableFileError(message)
        self._rows.append((self._row, n_times))
        self._row = []


_DIGITS = re.compile(r"-?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def _number(text: str) -> str | int | float:
    """Return a number as it is stored; text that is none stays."""
    if _DIGITS.fullmatch(text):
        return int(text)
    found = float(text) if _NUMBER.fullmatch(text) else math.nan
    return found if math.isfinite(found) else text


# Office Open XML.

_CONTENT_TYPES = "[Content_Types].xml"
_SPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_ELEMENTS = {f"{space} {name}": name for space in _SPACES for name in (
    *("sheet", "workbookPr", "numFmt", "cellXfs", "xf", "si", "t", "rPh"),
    *("sheetData", "row", "c", "f", "v"),
)}  # fmt: skip
_RELATED = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships id",
    "http://purl.oclc.org/ooxml/officeDocument/relationships id",
)
_TRUE = ("1", "true")

# Formats of cells that are known by their numbers, as far as they show dates and times.
_BUILT_IN = {
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 55), 57, 58), "date"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56), "time"),
    22: "datetime",
    46: "duration",
}
# What stands for itself in a format, colours, conditions and languages.
_NO_CODE = re.compile(r'"[^"]*"?|[\\_*].|\[(?!h+\]|m+\]|s+\])[^\]]*\]|am/pm|a/p|general', re.I)
_DURATION = re.compile(r"\[(h+|m+|s+)\]")

_DAY = 86_400_000
# 31 December 9999, as days are counted from 1900 and from 1904.
_LAST_DAYS = (2_958_465, 2_957_003)
# The day that Lotus 1-2-3 had and no calendar has, and dates before and after it.
_NO_DAY = 60
_BEFORE, _AFTER, _OF_1904 = date(1899, 12, 31), date(1899, 12, 30), date(1904, 1, 1)

# Characters that XML cannot hold; a literal one of these is written as one, too.
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


class _OfficeOpen(Workbook):
    """A workbook as Excel writes it."""

    def __init__(self, package: Package) -> None:
        super().__init__(package)
        main = next(iter(package.relationships("", "officeDocument").values()), None)
        about = _About()
        if main is not None:
            package.parse(main, about)
        parts = package.relationships(main, "worksheet") if main is not None else {}
        # Charts on sheets of their own have no cells.
        self.sheets = [
            Sheet(name, parts[key], is_hidden)
            for name, key, is_hidden in about.sheets
            if key in parts
        ]
        if main is None or not self.sheets:
            message = f"not {_KIND}: it does not say what its sheets are; get a full copy"
            raise UnreadableFileError(message)
        self._is_1904 = about.is_1904
        styles, self._strings = _Styles(), _Strings()
        for kind, events in (("styles", styles), ("sharedStrings", self._strings)):
            for part in package.relationships(main, kind).values():
                package.parse(part, events)
        self._formats = [styles.format(number) for number in styles.numbers]

    def _cells(self, number: int) -> _Cells:
        return _OfficeCells(self._strings, self._formats, self._is_1904)


class _About(Events):
    """The names of sheets, by what relationships they are found, and how days are counted."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str, bool]] = []
        self.is_1904 = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        what = _ELEMENTS.get(name)
        if what == "sheet":
            key = next((attributes[name] for name in _RELATED if name in attributes), "")
            is_hidden = attributes.get("state", "visible") != "visible"
            self.sheets.append((attributes.get("name", ""), key, is_hidden))
        elif what == "workbookPr":
            self.is_1904 = attributes.get("date1904") in _TRUE

    def end(self, name: str) -> None:
        pass


class _Styles(Events):
    """The formats of cells, by their numbers in order of the styles."""

    def __init__(self) -> None:
        self.numbers: list[str] = []
        self._codes: dict[str, str] = {}
        self._is_of_cells = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        what = _ELEMENTS.get(name)
        if what == "numFmt":
            self._codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif what == "cellXfs":
            self._is_of_cells = True
        elif what == "xf" and self._is_of_cells:
            self.numbers.append(attributes.get("numFmtId", "0"))

    def end(self, name: str) -> None:
        if _ELEMENTS.get(name) == "cellXfs":
            self._is_of_cells = False

    def format(self, number: str) -> str | None:
        """Return what a format shows: a date, a time, both, or a duration; None for numbers."""
        if number not in self._codes:
            return _BUILT_IN.get(int(number)) if number.isdecimal() and len(number) < 9 else None
        code = _NO_CODE.sub("", self._codes[number].partition(";")[0]).lower()
        if _DURATION.search(code):
            return "duration"
        has_time = "h" in code or "s" in code
        # Where there are hours or seconds, m is for minutes.
        has_date = "y" in code or "d" in code or ("m" in code and not has_time)
        return {(True, True): "datetime", (True, False): "date", (False, True): "time"}.get(
            (has_date, has_time)
        )


class _Strings(Events):
    """Texts that cells share, in one piece of memory."""

    def __init__(self) -> None:
        self._data, self._ends = bytearray(), array("q", [0])
        self._is_text = False
        self._n_phonetic = 0

    def __getitem__(self, number: int) -> str:
        """Return a text; raises IndexError."""
        start, end = self._ends[number], self._ends[number + 1]
        return _unescaped(self._data[start:end].decode())

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        what = _ELEMENTS.get(name)
        if what == "t":
            self._is_text = not self._n_phonetic
        elif what == "rPh":
            self._n_phonetic += 1

    def end(self, name: str) -> None:
        what = _ELEMENTS.get(name)
        if what == "t":
            self._is_text = False
        elif what == "rPh":
            self._n_phonetic -= 1
        elif what == "si":
            self._ends.append(len(self._data))

    def text(self, text: str) -> None:
        if self._is_text:
            self._data += text.encode()


class _OfficeCells(_Cells):
    """The cells of a sheet."""

    def __init__(self, strings: _Strings, formats: list[str | None], is_1904: bool) -> None:
        super().__init__()
        self._strings, self._formats, self._is_1904 = strings, formats, is_1904
        self._columns: dict[str, int] = {}
        self._column = -1
        self._kind = self._style = ""
        self._parts: list[str] = []
        self._is_text = self._is_formula = False
        self._n_phonetic = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        what = _ELEMENTS.get(name)
        if what == "c":
            place = attributes.get("r")
            self._column = self._column + 1 if place is None else self._column_of(place)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._parts, self._is_formula = [], False
        elif what in ("v", "t"):
            self._is_text = not self._n_phonetic
        elif what == "f":
            self._is_formula = True
        elif what == "rPh":
            self._n_phonetic += 1
        elif what == "row":
            self._column = -1

    def end(self, name: str) -> None:
        what = _ELEMENTS.get(name)
        if what in ("v", "t"):
            self._is_text = False
        elif what == "c":
            self._put(self._column, self._value("".join(self._parts)))
            if self._is_formula and not self._parts and self._kind != "str":
                self.n_without_value += 1
        elif what == "rPh":
            self._n_phonetic -= 1
        elif what == "row":
            self._end_row()
        elif what == "sheetData":
            self.is_complete = True

    def text(self, text: str) -> None:
        if self._is_text:
            self._parts.append(text)

    def _column_of(self, place: str) -> int:
        """Return the number of a column, counted from 0, of a place such as BC12."""
        letters = place.rstrip("0123456789")
        number = self._columns.get(letters)
        if number is None:
            if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
                message = f"a cell in it stands at {place[:20]!r}, which is no place; leave it out"
                raise UnreadableFileError(message)
            number = 0
            for letter in letters.upper():
                number = 26 * number + ord(letter) - ord("A") + 1
            self._columns[letters] = number = number - 1
        return number

    def _value(self, text: str) -> Value:
        if not text:
            return None
        match self._kind:
            case "s":
                return self._shared(text)
            case "n":
                found = _number(text)
                return found if isinstance(found, str) else self._moment_or(found)
            case "b":
                return text in _TRUE
            case "d":
                return _moment(text)
        return _unescaped(text)

    def _shared(self, text: str) -> str:
        try:
            number = int(text)
            if number < 0:
                raise ValueError
            return self._strings[number]
        except (ValueError, IndexError):
            message = "a cell in it has a text that is not there; get a full copy"
            raise UnreadableFileError(message) from None

    def _moment_or(self, number: float) -> Value:
        """Return the date or time that a number is by the format of its cell, else the number."""
        style = int(self._style) if self._style.isdecimal() and len(self._style) < 9 else 0
        shown = self._formats[style] if style < len(self._formats) else None
        moments = number * _DAY
        # What is rounded to the day behind the last one is no day, either.
        if shown is None or abs(moments) >= (_LAST_DAYS[self._is_1904] + 1) * _DAY - 0.5:
            return number
        moment = round(moments)
        if shown == "duration":
            return timedelta(milliseconds=moment)
        days, moment = divmod(moment, _DAY)
        at = (datetime.min + timedelta(milliseconds=moment)).time()
        if days == 0 and shown != "date" and not (self._is_1904 and shown == "datetime"):
            return at
        if self._is_1904:
            first = _OF_1904
        elif days in (0, _NO_DAY):
            return number
        else:
            first = _BEFORE if days < _NO_DAY else _AFTER
        if days < 0:
            return number
        day = first + timedelta(days)
        return datetime.combine(day, at) if moment or shown != "date" else day


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "_x" in text else text


def _character(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    # Halves of pairs are no characters, and stay as they are written.
    return escape[0] if 0xD800 <= code < 0xE000 else chr(code)


# OpenDocument.

_CONTENT = "content.xml"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _STYLE = (f"{_OASIS}{name}:1.0 " for name in ("office", "table", "style"))
_DRAWN = f"{_OASIS}drawing:1.0 "
_CELL, _COVERED = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"
_REPEATED_CELLS = f"{_TABLE}number-columns-repeated"
_REPEATED_ROWS = f"{_TABLE}number-rows-repeated"
_TYPE = f"{_OFFICE}value-type"

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?)?Z?")
_TIME = re.compile(r"(-?)PT([0-9]{1,7})H([0-9]{1,7})M([0-9]{1,7}(?:\.[0-9]{1,9})?)S")


class _OpenDocument(Workbook):
    """A workbook as LibreOffice writes it; all sheets are one part."""

    def __init__(self, package: Package) -> None:
        super().__init__(package)
        check_not_encrypted(package)
        tables = _Tables()
        package.parse(_CONTENT, tables)
        self.sheets = [
            Sheet(name, _CONTENT, style in tables.hidden) for name, style in tables.found
        ]
        if not self.sheets:
            message = f"not {_KIND}, but another OpenDocument; save it as .ods"
            raise UnreadableFileError(message)

    def _cells(self, number: int) -> _Cells:
        return _OpenCells(number)


class _InTables(Events):
    """Follows the sheets of a document; other tables are within other elements."""

    def __init__(self) -> None:
        self._level = 0
        self._sheets: int | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._level += 1
        if name == f"{_OFFICE}spreadsheet":
            self._sheets = self._level

    def end(self, name: str) -> None:
        self._level -= 1

    @property
    def _is_in_sheets(self) -> bool:
        return self._sheets is not None and self._level == self._sheets + 1


class _Tables(_InTables):
    """The names and styles of sheets, and the styles of those that are hidden."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.hidden: set[str] = set()
        self._style = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        super().start(name, attributes)
        if name == f"{_TABLE}table" and self._is_in_sheets:
            named = (attributes.get(f"{_TABLE}{key}", "") for key in ("name", "style-name"))
            self.found.append((next(named), next(named)))
        elif name == f"{_STYLE}style":
            self._style = attributes.get(f"{_STYLE}name", "")
        elif attributes.get(f"{_TABLE}display") == "false":
            self.hidden.add(self._style)


class _OpenCells(_Cells, _InTables):
    """The cells of one of the sheets."""

    def __init__(self, number: int) -> None:
        _Cells.__init__(self)
        _InTables.__init__(self)
        self._left = number
        self._is_here = False
        self._column = self._n_times = 0
        self._row_times = 1
        # Of a cell: the level that it is at, what is stored, and what is shown.
        self._cell = 0
        self._attributes: Mapping[str, str] = {}
        self._shown: Paragraphs | None = None
        self._drawn = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        _InTables.start(self, name, attributes)
        if self._cell:
            if self._drawn or name.startswith(_DRAWN):
                self._drawn += 1
            elif self._shown is not None:
                self._shown.start(name, attributes)
        elif name == f"{_TABLE}table" and self._is_in_sheets:
            self._is_here, self._left = self._left == 0, self._left - 1
        elif not self._is_here:
            return
        elif name == f"{_TABLE}table-row":
            self._row_times, self._column = _times(attributes, _REPEATED_ROWS), 0
        elif name in (_CELL, _COVERED):
            self._cell, self._attributes = self._level, attributes
            self._n_times = _times(attributes, _REPEATED_CELLS)
            # What a merged cell covers is not shown.
            self._shown = Paragraphs() if name == _CELL else None

    def end(self, name: str) -> None:
        if self._cell and self._level > self._cell:
            if self._drawn:
                self._drawn -= 1
            elif self._shown is not None:
                self._shown.end(name)
        elif self._cell:
            if self._shown is not None:
                self._put(self._column, self._value(str(self._shown.main)), self._n_times)
            self._column += self._n_times
            self._cell = 0
        elif self._is_here and name == f"{_TABLE}table-row":
            self._end_row(self._row_times)
        elif self._is_here and name == f"{_TABLE}table" and self._is_in_sheets:
            self.is_complete = True
            self._is_here = False
        _InTables.end(self, name)

    def text(self, text: str) -> None:
        if self._cell and self._shown is not None and not self._drawn:
            self._shown.text(text)

    def _value(self, shown: str) -> Value:
        def stored(name: str) -> str:
            return self._attributes.get(f"{_OFFICE}{name}", "")

        match self._attributes.get(_TYPE):
            case "float" | "percentage" | "currency":
                return _number(stored("value"))
            case "date":
                return _moment(stored("date-value"))
            case "time":
                return _span(stored("time-value"))
            case "boolean":
                return stored("boolean-value") == "true"
        # Of an error, as of most texts, only what is shown is there.
        return stored("string-value") or shown


def _times(attributes: Mapping[str, str], name: str) -> int:
    times = attributes.get(name, "1")
    if not (times.isdecimal() and len(times) < 10):
        message = f"something in it is repeated {times[:20]!r} times; leave it out"
        raise UnreadableFileError(message)
    return int(times)


def _moment(text: str) -> str | date:
    """Return a date, which may have a time; text that is none stays."""
    if not _DATE.fullmatch(text):
        return text
    try:
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    except ValueError:
        return text


def _span(text: str) -> str | time | timedelta:
    """Return a time of day, or a longer one; text that is none stays."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    sign, hours, minutes, seconds = found.groups()
    span = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    if sign or span >= timedelta(days=1):
        return -span if sign else span
    return (datetime.min + span).time()
