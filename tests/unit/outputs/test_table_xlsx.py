"""Spreadsheets read back by others: every cell as it was, none a formula."""

from __future__ import annotations

import io
import os
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError, MissingExtraError, WriteError
from neardup.files import spreadsheet
from neardup.outputs import output_tables
from neardup.outputs.output_tables import plan_table, write_table, write_xlsx
from tests.examples import examples

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPE = re.compile("_x([0-9a-fA-F]{4})_")

ODD = ["", " ", "=1+1", "@x", "+1", "-1", "{=A1}", "<r>", "<r><t>x</t></r>", "_x0041_", "1", "\n"]
ODD += ["http://a.example", "a\u0000\u0008\u000b\u001f\t\r\n b", "\ufffe\uffff", "😀&<>\"'", "nan"]
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TEXTS |= st.sampled_from(ODD)


def written(table: pa.Table | pa.RecordBatchReader) -> bytes:
    stream = io.BytesIO()
    write_xlsx(table, stream)
    return stream.getvalue()


def sheets(content: bytes) -> list[list[dict[str, Any]]]:
    """Return the cells of each row of each sheet that are there, by their columns' letters."""
    found = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if "/sheet" in name]
        for name in sorted(names, key=lambda name: int(re.sub(r"\D", "", name))):
            rows = ElementTree.fromstring(archive.read(name)).iter(f"{_SHEET}row")
            found.append([dict(map(cell, row)) for row in rows])
    return found


def cell(element: ElementTree.Element) -> tuple[str, Any]:
    column = element.attrib["r"].rstrip("0123456789")
    assert element.find(f"{_SHEET}f") is None
    if element.attrib.get("t") == "inlineStr":
        text = "".join(part.text or "" for part in element.iter(f"{_SHEET}t"))
        return column, _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    value = float(element.findtext(f"{_SHEET}v") or "")
    return column, bool(value) if element.attrib.get("t") == "b" else value


@examples(80)
@given(st.lists(st.tuples(TEXTS, st.none() | st.integers(-(2**63), 2**63 - 1)), max_size=4))
def test_write_xlsx__values_come_back(rows):
    table = pa.table(
        {
            "text": pa.array([text for text, _ in rows], pa.large_string()),
            "n": pa.array([n for _, n in rows], pa.int64()),
        }
    )
    [[header, *found]] = sheets(written(table))
    assert header == {"A": "text", "B": "n"}
    # Rows without any value are not written down.
    expected = []
    for text, n in rows:
        # XML has line feeds only.
        values: dict[str, Any] = {} if text is None else {"A": text}
        if n is not None:
            values["B"] = n if abs(n) < 10**15 else str(n)
        expected += [values] if values else []
    assert found == expected


def test_write_xlsx__as_another_reader_has_it():
    """No text is a formula, a link or a number, whatever it looks like."""
    content = written(pa.table({"id": ODD[2:7], "n": [1, 2, 3, 4, 5]}))
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    rows = list(sheet.iter_rows(min_row=2))
    assert [row[0].value for row in rows] == ODD[2:7]
    assert {row[0].data_type for row in rows} == {"s"}
    assert {row[1].data_type for row in rows} == {"n"}
    assert not any(row[0].hyperlink for row in rows)
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:B6"


def test_write_xlsx__more_rows_than_a_sheet_has(monkeypatch):
    monkeypatch.setattr(spreadsheet, "SHEET_ROWS", 3)
    with pytest.raises(WriteError, match="at most 2 rows"):
        written(pa.table({"n": [1, 2, 3]}))
    header: dict[str, Any] = {"A": "n"}
    assert sheets(written(pa.table({"n": [1, 2]}))) == [[header, {"A": 1}, {"A": 2}]]
    assert sheets(written(pa.table({"n": pa.array([], pa.int64())}))) == [[header]]


@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_write_xlsx__text_longer_than_a_cell(character):
    units = len(character.encode("utf-16-le")) // 2
    fits, long = character * (32_767 // units), character * 40_000
    [[_, first, second]] = sheets(written(pa.table({"text": [fits, long]})))
    assert first["A"] == fits
    text, note = second["A"].split("…")
    assert note == " [cut: 40,000 characters]"
    assert set(text) == {character}
    length = len(second["A"].encode("utf-16-le")) // 2
    assert 32_767 - units < length <= 32_767


def test_write_xlsx__same_bytes_each_time(tmp_path):
    table = pa.table({"text": ["a"], "n": [1]})
    with zipfile.ZipFile(io.BytesIO(written(table))) as archive:
        assert b"2000-01-01T00:00:00Z" in archive.read("docProps/core.xml")
    assert written(table) == written(table)
    write_table(table, tmp_path / "a.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == written(table)


def test_xlsx__only_as_a_file(monkeypatch, tmp_path):
    os.mkfifo(tmp_path / "pipe.xlsx")
    with pytest.raises(InvalidParameterError, match=r"pipe\.xlsx .*JSON lines"):
        plan_table(tmp_path / "pipe.xlsx", overwrite=False)
    monkeypatch.setattr(output_tables, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"spreadsheet .*\[xlsx\]"):
        plan_table(tmp_path / "a.xlsx", overwrite=False)
    plan_table(tmp_path / "a.csv", overwrite=False)
