"""Values of cells of spreadsheets: as other libraries and programs have written them."""

# ruff: noqa: E501 - a cell is a line
from __future__ import annotations

import io
import math
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal

import odfdo
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.extracted import UnreadableFileError
from neardup.files.office import package, workbook
from neardup.files.office.workbook import open_workbook, text_of
from tests.archives import zip_of
from tests.documents import odt_of, xlsx_of
from tests.each import each_of
from tests.examples import examples


def rows_of(data: bytes, number: int = 0) -> list[list[str]]:
    found = open_workbook(io.BytesIO(data))
    return [[text_of(value) for value in row] for row in found.rows(number)]


def cells_of(content: str, **parts: str) -> list[str]:
    """Return the texts of a row of cells."""
    rows = rows_of(xlsx_of(("Sheet", f"<row>{content}</row>"), **parts))
    return rows[0] if rows else []


VALUES = st.one_of(
    st.integers(-(10**14), 10**14),
    # The other library rounds the largest of all to 16 digits, which is more than it.
    st.floats(-1.7e308, 1.7e308),
    st.booleans(),
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=8).filter(
        lambda text: not text.startswith("=") and not text.isspace()
    ),
    st.dates(date(1900, 1, 1)),
    st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 31, 23, 59, 59)).map(
        lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    ),
    st.times().map(lambda t: t.replace(microsecond=0)),
)


def shown(value: object) -> str:
    """Return a value as the documentation says it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        fraction = f".{value.microsecond // 1000:03}" if value.microsecond else ""
        return f"{value:%Y-%m-%dT%H:%M:%S}{fraction}".rjust(19 + len(fraction), "0")
    if isinstance(value, float):
        # Of as many digits as the other library has written.
        value = float(f"{value:.16g}")
        return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)
    return str(value)


@examples(60)
@given(st.lists(st.lists(VALUES, min_size=1, max_size=4), max_size=5))
def test_rows__as_another_library_has_written_them(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    found = rows_of(out.getvalue())
    assert [len(row) for row in found] == [len(row) for row in rows]
    for row, values in zip(found, rows, strict=True):
        for text, value in zip(row, values, strict=True):
            if isinstance(value, float) and not isinstance(value, bool) and value:
                assert math.isclose(float(text), value, rel_tol=1e-15)
            else:
                assert text == shown(value)


def test_rows__of_an_open_document():
    document = odfdo.Document("spreadsheet")
    document.body.clear()
    table = odfdo.Table("Data")
    values = ["a  b", 3, Decimal("0.1"), True, date(2020, 2, 29), datetime(2020, 1, 2, 3, 4, 5)]
    table.set_values([["x", "y"], [], [*values, timedelta(hours=1, seconds=2)]])
    document.body.append(table)
    out = io.BytesIO()
    document.save(out)
    assert rows_of(out.getvalue()) == [
        ["x", "y"],
        ["a  b", "3", "0.1", "true", "2020-02-29", "2020-01-02T03:04:05", "01:00:02"],
    ]


NUMBERS = {
    "3.0": "3",
    "-0": "0",
    "-0.0": "0",
    "1E3": "1000",
    "1e15": "1000000000000000",
    "1e16": "1e+16",
    "0.1": "0.1",
    "0.30000000000000004": "0.30000000000000004",
    "12345678901234567890": "12345678901234567890",
    "007": "7",
    "1_000": "1_000",
    "nan": "nan",
    "1e999": "1e999",
    "9" * 400: "9" * 400,
}


@each_of("text", NUMBERS)
def test_numbers__have_the_digits_that_they_need(text):
    assert cells_of(f"<c><v>{text}</v></c>") == [NUMBERS[text]]


TEXTS = {
    "shared": ('<c t="s"><v>1</v></c>', "two"),
    "shared, in formats": ('<c t="s"><v>2</v></c>', "bold plain"),
    "in line": ('<c t="inlineStr"><is><t>a</t><r><t> b</t></r></is></c>', "a b"),
    "readings of characters": ('<c t="s"><v>3</v></c>', "東京"),
    "of a formula": ('<c t="str"><f>A1</f><v>x</v></c>', "x"),
    "error": ('<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', "#DIV/0!"),
    "true": ('<c t="b"><v>1</v></c>', "true"),
    "false": ('<c t="b"><v>0</v></c>', "false"),
    "date in words": ('<c t="d"><v>2020-01-02</v></c>', "2020-01-02"),
    "escaped": ('<c t="str"><v>a_x000D_b_x005F_x0041_</v></c>', "a\rb_x0041_"),
    "half a pair": ('<c t="str"><v>_xD83D_</v></c>', "_xD83D_"),
    "leading zeros": ('<c t="str"><v>007</v></c>', "007"),
    "white space": ('<c t="inlineStr"><is><t xml:space="preserve"> a </t></is></c>', " a "),
}
STRINGS = (
    "<si><t>one</t></si><si><t>two</t></si><si><r><t>bold</t></r><r><t> plain</t></r></si>"
    "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si>"
)


@each_of("name", TEXTS)
def test_texts(name):
    content, text = TEXTS[name]
    assert cells_of(content, strings=STRINGS) == [text]


def styles(*codes: str) -> str:
    """Return styles, the first without a format, of these codes or numbers of formats."""
    formats = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(codes)
    )
    numbers = [code if code.isdecimal() else str(200 + n) for n, code in enumerate(codes)]
    cells = "".join(f'<xf numFmtId="{number}"/>' for number in ["0", *numbers])
    return f'<numFmts>{formats}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' + (
        f"<cellXfs>{cells}</cellXfs>"
    )


MOMENTS = {
    ("14", "43831"): "2020-01-01",
    ("14", "43831.5"): "2020-01-01T12:00:00",
    ("14", "1"): "1900-01-01",
    ("14", "59"): "1900-02-28",
    # The day that was none, and what is before the first and behind the last one.
    ("14", "60"): "60",
    ("14", "61"): "1900-03-01",
    ("14", "0"): "0",
    ("14", "-1"): "-1",
    ("14", "2958465"): "9999-12-31",
    ("22", "2958465.999988426"): "9999-12-31T23:59:59",
    ("22", "2958465.999999999"): "2958465.999999999",
    ("14", "2958466"): "2958466",
    ("14", "1e9"): "1000000000",
    ("14", "1e308"): "1e+308",
    ("46", "1e308"): "1e+308",
    ("22", "43831"): "2020-01-01T00:00:00",
    ("22", "43831.0000115741"): "2020-01-01T00:00:01",
    ("20", "0.5"): "12:00:00",
    ("20", "43831.5"): "2020-01-01T12:00:00",
    ("47", "0.000005787"): "00:00:00.500",
    ("46", "1.25"): "30:00:00",
    ("46", "-0.5"): "-12:00:00",
    ("yyyy\\-mm\\-dd", "43831"): "2020-01-01",
    ("mmmm", "43831"): "2020-01-01",
    ("[$-407]d/m/yy;@", "43831"): "2020-01-01",
    ("h:mm AM/PM", "0.75"): "18:00:00",
    ("[h]:mm", "1.5"): "36:00:00",
    ("[Red]0.00", "43831"): "43831",
    ("0 &quot;days&quot;", "43831"): "43831",
    ("General", "43831"): "43831",
    ("0.00E+00", "43831"): "43831",
    ("0%", "0.5"): "0.5",
    ("#,##0.00\\ [$kr-41D]", "43831.5"): "43831.5",
}


@each_of("case", MOMENTS)
def test_dates__by_the_format_of_the_cell(case):
    code, number = case
    found = cells_of(f'<c s="1"><v>{number}</v></c>', styles=styles(code))
    assert found == [MOMENTS[case]]


def test_dates__counted_from_1904():
    cells = (
        '<c s="1"><v>0</v></c><c s="1"><v>1</v></c><c s="2"><v>0.5</v></c><c s="1"><v>-1</v></c>'
        '<c s="1"><v>2957003</v></c><c s="1"><v>2957004</v></c>'
    )
    found = cells_of(cells, styles=styles("14", "20"), properties='date1904="1"')
    last = ["9999-12-31", "2957004"]
    assert found == ["1904-01-01", "1904-01-02", "12:00:00", "-1", *last]


def test_cells__stand_where_their_places_say():
    rows = (
        '<row r="3"><c r="B3"><v>1</v></c><c><v>2</v></c><c r="AA3"><v>3</v></c></row><row r="4"/>'
        '<row r="9"><c r="A9" t="str"><v></v></c></row>'
        '<row r="10"><c r="C10"><v>5</v></c><c r="A10"><v>4</v></c></row>'
    )
    assert rows_of(xlsx_of(("Sheet", rows))) == [
        ["", "1", "2", *[""] * 23, "3"],
        ["4", "", "5"],
    ]


def test_sheets__their_names_and_whether_they_are_shown():
    data = xlsx_of(("A &amp; B", ""), ("h", "", "hidden"), ("v", "", "veryHidden"))
    found = [(sheet.name, sheet.is_hidden) for sheet in open_workbook(io.BytesIO(data)).sheets]
    assert found == [("A & B", False), ("h", True), ("v", True)]


CELL = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"


def ods_of(*tables: str) -> bytes:
    return odt_of("".join(tables), kind="spreadsheet")


def table(*rows: str, name: str = "T") -> str:
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    return f'<table:table table:name="{name}">{body}</table:table>'


OPEN_CELLS = {
    "paragraphs": ("<table:table-cell><text:p>a</text:p><text:p>b</text:p></table:table-cell>", ["a\nb"]),
    "spaces": (CELL.format("", 'a<text:s text:c="2"/>b<text:tab/>c'), ["a  b\tc"]),
    "error": (
        CELL.format(' office:value-type="string" office:string-value=""', "#N/A"),
        ["#N/A"],
    ),
    "text that is stored only": ('<table:table-cell office:value-type="string" office:string-value="x"/>', ["x"]),
    "number shown otherwise": (
        CELL.format(' office:value-type="currency" office:value="12.50"', "12,50 €"),
        ["12.5"],
    ),
    "percentage": (CELL.format(' office:value-type="percentage" office:value="0.5"', "50%"), ["0.5"]),
    "truth": (CELL.format(' office:value-type="boolean" office:boolean-value="true"', "WAHR"), ["true"]),
    "date": (CELL.format(' office:value-type="date" office:date-value="2020-01-02"', "2.1.20"), ["2020-01-02"]),
    "no date": (CELL.format(' office:value-type="date" office:date-value="2020-W01-1"', "x"), ["2020-W01-1"]),
    "fraction of a second": (
        CELL.format(' office:value-type="date" office:date-value="2020-01-02T03:04:05.500000000"', "x"),
        ["2020-01-02T03:04:05.500"],
    ),
    "time": (CELL.format(' office:value-type="time" office:time-value="PT01H02M03S"', "x"), ["01:02:03"]),
    "long time": (CELL.format(' office:value-type="time" office:time-value="PT30H00M00S"', "x"), ["30:00:00"]),
    "negative time": (CELL.format(' office:value-type="time" office:time-value="-PT1H2M3.5S"', "x"), ["-01:02:03.500"]),
    "repeated": (CELL.format(' table:number-columns-repeated="3"', "a"), ["a"] * 3),
    "empty ones before": (f'<table:table-cell table:number-columns-repeated="2"/>{CELL.format("", "a")}', ["", "", "a"]),
    "covered by a merged one": (
        f"{CELL.format('', 'a')}<table:covered-table-cell><text:p>b</text:p></table:covered-table-cell>{CELL.format('', 'c')}",
        ["a", "", "c"],
    ),
    "comment": (CELL.format("", "a<office:annotation><text:p>why?</text:p></office:annotation>"), ["a"]),
    "picture": (CELL.format("", "a<draw:frame><draw:text-box><text:p>b</text:p></draw:text-box></draw:frame>"), ["a"]),
    "table within": (
        f"<table:table-cell>{table(CELL.format('', 'b'))}<text:p>a</text:p></table:table-cell>",
        ["b\na"],
    ),
}  # fmt: skip


@each_of("name", OPEN_CELLS)
def test_open_document__cells(name):
    content, texts = OPEN_CELLS[name]
    assert rows_of(ods_of(table(content))) == [texts]


def test_open_document__sheets():
    style = (
        '<style:style xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
        'style:name="h"><style:table-properties table:display="false"/></style:style>'
    )
    hidden = table(CELL.format("", "hidden")).replace(
        "<table:table ", '<table:table table:style-name="h" ', 1
    )
    row = CELL.format("", "a")
    data = ods_of(
        table(row, name="one"),
        hidden,
        f"<table:dde-links><table:dde-link>{table(row)}</table:dde-link></table:dde-links>",
        table(row, row, name="two"),
    )
    data = data_with(
        data,
        lambda text: text.replace(
            "<office:body>",
            f"<office:automatic-styles>{style}</office:automatic-styles><office:body>",
        ),
    )
    found = open_workbook(io.BytesIO(data))
    assert [(sheet.name, sheet.is_hidden) for sheet in found.sheets] == [
        ("one", False),
        ("T", True),
        ("two", False),
    ]
    assert [len(rows_of(data, number)) for number in range(3)] == [1, 1, 2]


def data_with(data: bytes, change) -> bytes:
    """Return a document with another content."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = [(name, archive.read(name)) for name in archive.namelist()]
    return zip_of([(n, change(c.decode()).encode() if n == "content.xml" else c) for n, c in parts])


def test_open_document__repeated_rows():
    rows = "".join(
        f'<table:table-row table:number-rows-repeated="{n}">{content}</table:table-row>'
        for n, content in [
            (2, CELL.format("", "a")),
            (1_048_570, "<table:table-cell/>"),
            (1, CELL.format("", "b")),
        ]
    )
    assert rows_of(ods_of(f"<table:table>{rows}</table:table>")) == [["a"], ["a"], ["b"]]


FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'


def test_cells__far_apart_take_little():
    """A reader that keeps a rectangle of cells takes 550 GB for these two."""
    first, last = open_workbook(io.BytesIO(xlsx_of(("Sheet", FAR)))).rows(0)
    assert (first, len(last), last[-1]) == ([1], 16_384, 2)


HOSTILE = {
    "column that is none": (xlsx_of(("S", '<row><c r="XFE1"><v>1</v></c></row>')), "beyond column 16,384"),
    "place that is none": (xlsx_of(("S", '<row><c r="ABCD1"><v>1</v></c></row>')), "'ABCD1', which is no place"),
    "place in other letters": (xlsx_of(("S", '<row><c r="é1"><v>1</v></c></row>')), "which is no place"),
    "text that is not there": (xlsx_of(("S", '<row><c t="s"><v>7</v></c></row>')), "text that is not there"),
    "text before the first": (xlsx_of(("S", '<row><c t="s"><v>-1</v></c></row>'), strings=STRINGS), "text that is not"),
    "entities": (
        xlsx_of(("S", "<row/>"), prolog='<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'),
        "declares a document type",
    ),
    "no XML": (xlsx_of(("S", "<row><c></row>")), "no valid XML"),
    "other zip": (zip_of([("a.txt", b"a")]), "does not say what its sheets are"),
    "no sheets": (xlsx_of(), "does not say what its sheets are"),
    "no zip": (b"id,text\n", "not a spreadsheet: File is not a zip file"),
    "old or with a password": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an older one of Microsoft Office, or"),
    "text document": (odt_of("<text:p>a</text:p>"), "but another OpenDocument; save it as .ods"),
    "encrypted": (
        odt_of("", kind="spreadsheet", manifest="<m:file-entry><m:encryption-data/></m:file-entry>"),
        "encrypted; save it without a password",
    ),
    "cells repeated beyond the last column": (
        ods_of(table(CELL.format(' table:number-columns-repeated="999999999"', "a"))),
        "beyond column 16,384",
    ),
    "cells repeated no number of times": (
        ods_of(table(CELL.format(' table:number-columns-repeated="-1"', "a"))),
        "repeated '-1' times",
    ),
    "rows repeated": (
        ods_of(f'<table:table><table:table-row table:number-rows-repeated="999999999">{CELL.format("", "a")}</table:table-row></table:table>'),
        "more than 16,777,216 rows",
    ),
    "wide rows": (
        ods_of(table(*[CELL.format(' table:number-columns-repeated="16384"', "a")] * 2000)),
        "a few bytes in it are a great many cells",
    ),
}  # fmt: skip


@each_of("name", HOSTILE)
def test_hostile__is_refused_in_one_line(name):
    data, reason = HOSTILE[name]
    with pytest.raises(UnreadableFileError) as caught:
        for _ in open_workbook(io.BytesIO(data)).rows(0):
            pass
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_hostile__elements_deep_in_others(monkeypatch):
    monkeypatch.setattr(package, "MOST_LEVELS", 100)
    with pytest.raises(UnreadableFileError, match="elements 100 deep in others"):
        rows_of(xlsx_of(("S", "<row>" * 200)))


def test_hostile__more_than_a_file_of_its_size_may_hold(monkeypatch):
    monkeypatch.setattr(workbook, "most_bytes", lambda _: 1 << 20)
    data = xlsx_of(("S", f"<row>{'<c><v>1</v></c>' * 100_000}</row>"))
    assert len(data) < 1 << 14
    with pytest.raises(UnreadableFileError, match="more than 1 MB of XML"):
        rows_of(data)


def test_formulas__that_were_never_calculated_are_counted():
    cells = '<c><f>A1</f><v></v></c><c><f>A1</f></c><c><f>A1</f><v>1</v></c><c t="str"><f>A1</f><v></v></c>'
    found = open_workbook(io.BytesIO(xlsx_of(("S", f"<row>{cells}</row>"))))
    assert list(found.rows(0)) == [[None, None, 1]]
    assert found.n_without_value == 2
