"""Spreadsheets as inputs: which sheet is read, what its rows are, and how they are written."""

# ruff: noqa: E501 - rows are lines
from __future__ import annotations

import gc
import io
import logging
from datetime import date, datetime, time, timedelta
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import openpyxl
import pytest

import neardup
from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    ReadError,
    WriteError,
)
from neardup.files import fitting as convert
from neardup.files import sheets
from neardup.files.fitting import check_conversion
from neardup.files.formats import file_source
from neardup.files.office import spreadsheet, workbook
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import LocalDestination
from neardup.options.groups import InputOptions
from tests.archives import zip_of
from tests.documents import odt_of
from tests.each import each_of


def book(path: Path, **contents: list[list[object]]) -> Path:
    """Write a workbook by another library, a sheet for each name."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in contents.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name.startswith("hidden"):
            sheet.sheet_state = "hidden"
    made.save(path)
    return path


def open_sheet(path: Path, sheet: str | int | None = None) -> Source:
    return file_source(str(path), path.name, InputOptions(sheet=sheet))


def rows_of(source: Source) -> list[dict[str, str]]:
    return [row for block in source.blocks() for row in block.to_table().to_pylist()]


def cells_of(path: Path) -> list[list[object]]:
    sheet = openpyxl.load_workbook(path).active
    return [list(row) for row in sheet.iter_rows(values_only=True)]


ROWS = [["id", "text"], ["007", "one"], [8, "two"]]


def test_sheet__first_that_has_rows(tmp_path, caplog):
    caplog.set_level(logging.INFO, "neardup.hints")
    path = book(
        tmp_path / "a.xlsx",
        cover=[["A list"]],
        empty=[],
        hidden=[["id", "text"], ["x", "hidden"]],
        data=ROWS,
        more=[["id", "text"], ["y", "more"]],
    )
    assert rows_of(open_sheet(path)) == [{"id": "007", "text": "one"}, {"id": "8", "text": "two"}]
    [said] = caplog.messages
    assert said == (
        f"{path}: sheet 'data' is read, the first of 5 that has rows; name another with sheet"
    )


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ("data", ["one", "two"]),
        ("1", ["one"]),
        ("3", ["hidden"]),
        ("hidden", ["hidden"]),
        (3, ["hidden"]),
    ],
)
def test_sheet__by_name_or_number(tmp_path, caplog, wanted, texts):
    caplog.set_level(logging.INFO, "neardup.hints")
    hidden = [["text"], ["hidden"]]
    path = book(tmp_path / "a.xlsx", **{"2": [["text"], ["one"]], "data": ROWS, "hidden": hidden})
    assert [row["text"] for row in rows_of(open_sheet(path, wanted))] == texts
    # A name comes before a number, if it is text.
    assert [row["text"] for row in rows_of(open_sheet(path, "2"))] == ["one"]
    assert [row["text"] for row in rows_of(open_sheet(path, 2))] == ["one", "two"]
    assert not caplog.messages


@pytest.mark.parametrize("wanted", ["Data", "0", "4", "-1", "", 5])
def test_sheet__that_is_not_there(tmp_path, wanted):
    path = book(tmp_path / "a.xlsx", data=ROWS, other=[], hidden=[])
    with pytest.raises(InvalidInputError) as caught:
        open_sheet(path, wanted)
    reason = f"no sheet {wanted!r}; its sheets are 'data', 'other', 'hidden'"
    assert str(caught.value) == f"{path}: {reason}"


def test_sheet__none_has_rows(tmp_path):
    path = book(tmp_path / "a.xlsx", one=[["id", "text"]], two=[])
    source = open_sheet(path)
    assert (source.column_names(), rows_of(source)) == (["id", "text"], [])
    empty = open_sheet(book(tmp_path / "b.xlsx", one=[]))
    assert (empty.column_names(), rows_of(empty)) == (None, [])


def test_columns__without_a_name_are_called_by_their_letters(tmp_path):
    rows = [["id", None, "text"], ["a", "x", "one"], ["b", None, "two", None, "far"]]
    source = open_sheet(book(tmp_path / "a.xlsx", data=rows))
    assert rows_of(source) == [
        {"id": "a", "B": "x", "text": "one", "D": "", "E": ""},
        {"id": "b", "B": "", "text": "two", "D": "", "E": "far"},
    ]
    assert sheets._letters(25) == "Z"
    assert (sheets._letters(26), sheets._letters(702)) == ("AA", "AAA")


def test_rows__are_numbered_without_empty_ones(tmp_path):
    rows = [[], ["text"], [], ["one"], [None], ["two"]]
    source = open_sheet(book(tmp_path / "a.xlsx", data=rows))
    [block] = source.blocks()
    assert block.numbers.tolist() == [1, 2]
    assert source.default_ids(block.numbers).to_pylist() == ["a.xlsx:1", "a.xlsx:2"]


def test_order__numbers_if_all_are(tmp_path):
    rows = [["text", "n", "s"], ["a", 10, 10], ["b", 9, "x"], ["c", None, 2]]
    [block] = open_sheet(book(tmp_path / "a.xlsx", data=rows)).blocks()
    assert block.parse(ColumnNames(order="n")).order.to_pylist() == [10, 9, None]
    assert block.parse(ColumnNames(order="s")).order.to_pylist() == ["10", "x", "2"]


def test_rows__of_a_full_sheet_go_on_in_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "_FULL", 3)
    path = book(tmp_path / "a.xlsx", a=ROWS, b=[["id", "text"], [9, "three"]], c=ROWS)
    assert [row["text"] for row in rows_of(open_sheet(path))] == ["one", "two", "three"]
    other = book(tmp_path / "b.xlsx", a=ROWS, b=[["id", "texts"], [9, "three"]])
    assert [row["text"] for row in rows_of(open_sheet(other))] == ["one", "two"]


def test_copy__goes_with_the_source(tmp_path):
    source = open_sheet(book(tmp_path / "a.xlsx", data=ROWS))
    copy = source.location.copy
    assert copy.read_text() == "id,text\n007,one\n8,two\n"
    blocks = list(source.blocks())
    del source
    gc.collect()
    assert copy.exists()
    del blocks
    gc.collect()
    assert not copy.parent.exists()


def test_copy__larger_than_a_file_of_its_size_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "most_bytes", lambda _: 1 << 16)
    row = '<table:table-row table:number-rows-repeated="100000"><table:table-cell><text:p>text</text:p></table:table-cell></table:table-row>'
    (tmp_path / "a.ods").write_bytes(
        odt_of(f"<table:table>{row}</table:table>", kind="spreadsheet")
    )
    with pytest.raises(ReadError, match="rows are more than 0 MB, as of files made to fill disks"):
        open_sheet(tmp_path / "a.ods")


def test_copy__no_room(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", data=ROWS)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sheets, "_copy_rows", fail)
    with pytest.raises(WriteError, match=r"No space left on device; rows of .*a\.xlsx are copied"):
        open_sheet(path)


TYPED = [
    ["id", "n", "day", "moment", "hour", "long", "ok", "text"],
    ["007", 3, date(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5), time(1, 2, 3), timedelta(hours=30), True, "one two"],
    [8, 0.5, None, datetime(2020, 1, 2), None, None, False, "=1+1"],
    ["9", 2, None, None, None, None, None, "three"],
]  # fmt: skip


def test_writer__keeps_what_cells_are(tmp_path):
    path = tmp_path / "a.xlsx"
    made = openpyxl.Workbook()
    for row in TYPED:
        made.active.append(row)
    made.active["H3"].data_type = "s"
    made.active.title = "Stock"
    made.save(path)
    source = open_sheet(path)
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, block.numbers < 3)
    found = openpyxl.load_workbook(tmp_path / "out/a.xlsx")
    assert found.sheetnames == ["Stock"]
    rows = [list(row) for row in found.active.iter_rows(values_only=True)]
    assert rows[0] == TYPED[0]
    assert rows[1][:2] == ["007", 3]
    assert rows[1][2:4] == [datetime(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5)]
    assert rows[1][4:] == [time(1, 2, 3), timedelta(hours=30), True, "one two"]
    assert rows[2] == TYPED[2]
    again = open_sheet(tmp_path / "out/a.xlsx")
    assert rows_of(again) == rows_of(source)[:2]


@each_of("rows", [(0, 200), (0, 1), (62, 64), (63, 64), (63, 130), (100, 100), (199, 200)])
def test_writer__of_some_rows_without_reading_the_file_again(tmp_path, rows):
    """So that many files of a few rows each take no longer than one of all."""
    start, stop = rows
    header, *cells = [
        ["id", "text", "n", "ok"],
        *([n, f"t{n}", n / 4, n % 2 == 0] for n in range(200)),
    ]
    path = book(tmp_path / "a.xlsx", data=[header, *cells])
    source = open_sheet(path)
    path.unlink()
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, (block.numbers > start) & (block.numbers <= stop))
    assert cells_of(tmp_path / "out/a.xlsx") == [header, *cells[start:stop]]


def test_writer__text_that_no_cell_holds(tmp_path):
    rows = "".join(
        f"<table:table-row><table:table-cell><text:p>{text}</text:p></table:table-cell></table:table-row>"
        for text in ("text", "short", "a" * 40_000)
    )
    (tmp_path / "a.ods").write_bytes(
        odt_of(f"<table:table>{rows}</table:table>", kind="spreadsheet")
    )
    result = neardup.deduplicate(tmp_path / "a.ods")
    with pytest.raises(InvalidInputError) as caught:
        result.write(tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'a.ods'}, row 2: a text of 40,000 characters is longer than a cell of a "
        "spreadsheet may be; write format='jsonl'"
    )
    assert not (tmp_path / "out").exists()
    result.write(tmp_path / "out", format="jsonl")


def test_writer__more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr(spreadsheet, "SHEET_ROWS", 2)
    source = open_sheet(book(tmp_path / "a.xlsx", data=ROWS))
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, np.ones(2, np.bool_))
    monkeypatch.setattr(sheets, "_FULL", 2)
    assert rows_of(open_sheet(tmp_path / "out/a.xlsx")) == rows_of(source)


LONG = "Essays of the first two years (2)"
NAMES = {
    "Q1/Q2: [a]*?\\": ["Q1_Q2_ _a____", "Q1_Q2_ _a____ (2)", "Q1_Q2_ _a____ (3)"],
    LONG: [LONG[:31], f"{LONG[:27]} (2)", f"{LONG[:27]} (3)"],
    f"{'a' * 27} (2)": [f"{'a' * 27} (2)", f"{'a' * 27} (3)", f"{'a' * 27} (4)"],
    f"{'a' * 30}' b": ["a" * 30, f"{'a' * 27} (2)", f"{'a' * 27} (3)"],
    "é😀" * 11: ["é😀" * 10 + "é", "é😀" * 9 + " (2)", "é😀" * 9 + " (3)"],
    "'Sheet2'": ["Sheet2", "Sheet2 (2)", "Sheet2 (3)"],
    "'": ["Sheet1", "Sheet2", "Sheet3"],
}


@each_of("name", NAMES)
def test_writer__names_of_sheets(tmp_path, monkeypatch, name):
    monkeypatch.setattr(spreadsheet, "SHEET_ROWS", 2)
    row = (
        "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>"
    )
    content = f"<table:table table:name={quoteattr(name)}>{row * 4}</table:table>"
    (tmp_path / "a.ods").write_bytes(odt_of(content, kind="spreadsheet"))
    source = open_sheet(tmp_path / "a.ods", "1")
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, np.ones(3, np.bool_))
    assert openpyxl.load_workbook(tmp_path / "out/a.xlsx").sheetnames == NAMES[name]


def test_writer__without_the_library(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", data=ROWS)
    monkeypatch.setattr(sheets, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"of the rows needs an extra: .*\[xlsx\]"):
        check_conversion([open_sheet(path)], "same")
    # Reading needs none.
    check_conversion([open_sheet(path)], "jsonl")


def test_names__of_other_spreadsheets(tmp_path):
    assert convert.converted_name("a/b.ods", "same") == "a/b.xlsx"
    assert convert.converted_name("b.XLSM", "same") == "b.xlsx"
    assert convert.converted_name("b.XLSX", "same") == "b.XLSX"
    assert convert.converted_name("b.ods", "jsonl") == "b.jsonl"
    book(tmp_path / "a.xlsx", data=ROWS)
    (tmp_path / "a.ods").write_bytes((tmp_path / "a.xlsx").read_bytes())
    sources = resolve_paths([str(tmp_path)])
    with pytest.raises(InvalidParameterError, match=r"'a.ods' and 'a.xlsx' would both be written"):
        check_conversion(sources, "same")


def test_source__in_an_archive(tmp_path):
    content = book(tmp_path / "a.xlsx", data=ROWS).read_bytes()
    (tmp_path / "b.zip").write_bytes(zip_of([("x/a.xlsx", content)]))
    [source] = resolve_paths([str(tmp_path / "b.zip")])
    assert rows_of(source)[0] == {"id": "007", "text": "one"}
    assert source.origin == f"{tmp_path / 'b.zip'}/x/a.xlsx"
    result = neardup.deduplicate(tmp_path / "b.zip")
    result.write(tmp_path / "out")
    assert cells_of(next((tmp_path / "out/kept").rglob("*.xlsx"))) == ROWS


def test_source__as_standard_input(tmp_path, monkeypatch):
    content = book(tmp_path / "a.xlsx", data=ROWS).read_bytes()

    class Piped:
        buffer = io.BytesIO(content)

    monkeypatch.setattr("sys.stdin", Piped())
    [source] = resolve_paths(["-"], InputOptions(input_format="xlsx"))
    assert (source.name, len(rows_of(source))) == ("stdin.xlsx", 2)


def test_formulas__without_values_are_said(tmp_path, caplog):
    caplog.set_level(logging.INFO, "neardup.hints")
    open_sheet(book(tmp_path / "a.xlsx", data=[["text", "n"], ["a", "=1+1"]]))
    [said] = caplog.messages
    assert said.startswith(f"{tmp_path / 'a.xlsx'}: 1 formula without a value, because no program")
