"""Spreadsheets as inputs: which sheet is read, what its rows are, and how they are written."""

# ruff: noqa: E501 - rows are lines
from __future__ import annotations

import io
import logging
from datetime import date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import neardup
from neardup.errors import InvalidInputError, MissingExtraError, ReadError
from neardup.files import formats, sheets, spreadsheet
from neardup.files.formats import file_source
from neardup.files.inputs import resolve_paths
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import LocalDestination
from neardup.options.groups import InputOptions
from tests.archives import zip_of
from tests.documents import xlsx_of
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


def open_sheet(path: Path) -> Source:
    return file_source(str(path), path.name, InputOptions())


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
    assert said.startswith(f"{path}: sheet 'data' ")
    assert " 5 " in said


def test_sheet__none_has_rows(tmp_path):
    path = book(tmp_path / "a.xlsx", one=[["id", "text"]], two=[])
    source = open_sheet(path)
    assert (source.column_names(), rows_of(source)) == (["id", "text"], [])
    empty = open_sheet(book(tmp_path / "b.xlsx", one=[]))
    assert (empty.column_names(), rows_of(empty)) == ([], [])


def test_columns__without_a_name_are_called_by_their_letters(tmp_path):
    rows = [["id", None, "text"], ["a", "x", "one"], ["b", None, "two", None, "far"]]
    source = open_sheet(book(tmp_path / "a.xlsx", data=rows))
    assert rows_of(source) == [
        {"id": "a", "B": "x", "text": "one", "D": None, "E": None},
        {"id": "b", "B": None, "text": "two", "D": None, "E": "far"},
    ]


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


def test_rows__empty_ones_between_others_are_counted(tmp_path, caplog):
    caplog.set_level(logging.INFO, "neardup.hints")
    path = book(tmp_path / "a.xlsx", data=[["id", "text"], ["a", "one"], [], [None, ""], ["b"], []])
    assert rows_of(open_sheet(path)) == [{"id": "a", "text": "one"}, {"id": "b", "text": None}]
    assert caplog.messages == [f"{path}: left out 2 empty rows"]


def test_cells__far_apart_take_little(tmp_path):
    made = openpyxl.Workbook()
    made.active["A1"], made.active["XFD1048576"] = "text", "far"
    made.save(tmp_path / "a.xlsx")
    [row] = rows_of(open_sheet(tmp_path / "a.xlsx"))
    assert {name: value for name, value in row.items() if value} == {"XFD": "far"}


def test_cells__more_than_memory_should_hold(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", data=[["text"], *[["a" * 100]] * 100])
    monkeypatch.setattr(sheets, "_MOST_TEXT", 1000)
    monkeypatch.setattr(sheets, "_MOST_TIMES", 0)
    with pytest.raises(ReadError, match="more than 0 MB"):
        open_sheet(path)
    monkeypatch.setattr(sheets, "_MOST_CELLS", 5)
    with pytest.raises(ReadError, match="more than 5 cells"):
        open_sheet(path)


CELLS = [
    *[(7, 7), (0.5, 0.5), (2.0, 2), (-3, -3), (1e300, 1e300), (10**15, 10**15), (2**53, 2**53)],
]
MIXED = {
    "007": "007", "1e5": "1e5", "=1+1": "=1+1", " a\tb\nc ": " a\tb\nc ", "_x0041_": "_x0041_",
    "a\x01b": "a\x01b", 7: "7", 0.1: "0.1", 1e16: "1e+16", True: "true",
    date(2026, 11, 28): "2026-11-28", datetime(2026, 11, 28, 9, 45): "2026-11-28 09:45:00",
    datetime(2026, 11, 28, 9, 45, 1, 5000): "2026-11-28 09:45:01.005000",
    time(9, 45): "09:45:00", timedelta(hours=30, minutes=15): "1 day, 6:15:00",
}  # fmt: skip


def written(path: Path, values: list[object]) -> Path:
    """Write a column by the writer of rows."""
    with (
        spreadsheet.Spreadsheet(["text", "x"], are_numbers_exact=True) as made,
        path.open("wb") as file,
    ):
        for value in values:
            made.append(["a", value])
        made.copy_to(file)
    return path


def test_values__columns_of_numbers_are_numbers(tmp_path):
    found = rows_of(open_sheet(written(tmp_path / "a.xlsx", [value for value, _ in CELLS])))
    assert [row["x"] for row in found] == [float(value) for _, value in CELLS]
    found = rows_of(open_sheet(written(tmp_path / "b.xlsx", [7, None, 10**15])))
    assert [row["x"] for row in found] == [7, None, 10**15]


def test_values__others_are_text_by_one_rule(tmp_path):
    path = written(tmp_path / "a.xlsx", list(MIXED))
    source = open_sheet(path)
    assert [row["x"] for row in rows_of(source)] == list(MIXED.values())
    # And are written back as they were.
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, np.ones(len(block), np.bool_))
    assert cells_of(tmp_path / "out/a.xlsx") == cells_of(path)
    [block] = source.blocks()
    found = block.parse(ColumnNames("x")).text.to_pylist()
    assert found == list(MIXED.values())


@each_of(
    ("content", "facts"),
    [
        (b"", "spreadsheet.*not a zip"),
        (b"PK\3\4 none", "spreadsheet.*not a zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "older.*Microsoft Office"),
        (zip_of([("a.txt", b"a")]), "not a spreadsheet"),
    ],
)
def test_hostile__is_refused_in_one_line(tmp_path, content, facts):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(ReadError, match=facts) as caught:
        open_sheet(tmp_path / "a.xlsx")
    assert "\n" not in str(caught.value)


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
        f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>'
        for text in ("text", "short", "a" * 40_000)
    )
    (tmp_path / "a.xlsx").write_bytes(xlsx_of(("data", rows)))
    result = neardup.deduplicate(tmp_path / "a.xlsx")
    with pytest.raises(InvalidInputError, match=r"row 2: .*40,000 characters"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result.write(tmp_path / "out", format="jsonl")


@each_of(("name", "expected"), [("Essays", "Essays"), ("a/b", "Sheet2")])
def test_writer__names_of_sheets(tmp_path, name, expected):
    source = open_sheet(book(tmp_path / "a.xlsx", data=ROWS))
    source.sheet = name
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in source.blocks():
            writer.write(block, np.ones(2, np.bool_))
    assert openpyxl.load_workbook(tmp_path / "out/a.xlsx").sheetnames == [expected]


def test_writer__without_the_library(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", data=ROWS)
    monkeypatch.setattr(formats, "_is_installed", lambda name: name != "xlsxwriter")
    with pytest.raises(MissingExtraError, match="format xlsx"):
        open_sheet(path)


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
