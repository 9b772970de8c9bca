from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError
from neardup.files.delimited import DelimitedSource
from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames
from neardup.files.streams import LocalDestination
from neardup.options.groups import InputOptions
from tests.examples import examples
from tests.files import check_skipped


@pytest.fixture
def source(make_file):
    def make(data: bytes, name: str = "a.csv", **options: Any) -> DelimitedSource:
        return DelimitedSource(str(make_file(name, data)), name, **options)

    return make


def one_block(made):
    [block] = made.blocks()
    return block


def parsed(made, columns):
    return [block.parse(columns, skip_bad=True) for block in made.blocks()]


def test_parse__columns(source):
    block = one_block(source(b'id,text,year\n7,"a ""b"",\n",1999\r\n\n007,,\r8,NULL,2001\n'))
    rows = block.parse(ColumnNames(id="id", order="year"))
    assert rows.text.to_pylist() == ['a "b",\n', "", "NULL"]
    assert rows.id.to_pylist() == ["7", "007", "8"]
    assert rows.order.to_pylist() == [1999, None, 2001]
    assert block.numbers.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        ("1 -2", [1, -2], pa.int64()),
        ("1 2.5", [1.0, 2.5], pa.float64()),
        ("1 x", ["1", "x"], pa.string()),
        ('1 "" x', ["1", None, "x"], pa.string()),
        ("2020-01-01 2020-01-02", ["2020-01-01", "2020-01-02"], pa.string()),
    ],
)
def test_parse__order(source, cells, expected, kind):
    data = "text,n\n" + "".join(f"a,{cell}\n" for cell in cells.split())
    order = one_block(source(data.encode())).parse(ColumnNames(order="n")).order
    assert (order.to_pylist(), order.type) == (expected, kind)


def test_parse__wrong_number_of_fields(source):
    made = source(b"text,id\na,1\nb\nc,3,x\nd,4\n")
    facts = rf"^{re.escape(made.location)}, row 2: .*2 fields.* 1$"
    with pytest.raises(InvalidInputError, match=facts):
        one_block(made).parse(ColumnNames())
    with pytest.raises(InvalidInputError, match=facts):
        one_block(made).to_table()
    rows = one_block(made).parse(ColumnNames(id="id", order="id"), skip_bad=True)
    assert rows.text.to_pylist() == ["a", None, None, "d"]
    assert rows.order.to_pylist() == [1, None, None, 4]
    check_skipped(rows.skipped, {2: "2 fields.* 1$", 3: "2 fields.* 3$"})


def test_parse__wrong_number_of_fields_and_not_utf8(source, capfd):
    """Arrow decodes such a row for its report: nothing of that may be seen."""
    made = source(b'text,id\na,1\nb\xff,c,3\nd\xff,4\n"e\xff,\n""",5,x\nf\xff\n')

    def one_block(made):
        return next(made.blocks())

    facts = rf"^{re.escape(made.location)}, row 2: .*2 fields.* 3$"
    for use in (one_block(made).to_table, lambda: one_block(made).parse(ColumnNames())):
        with pytest.raises(InvalidInputError, match=facts):
            use()
    blocks = parsed(made, ColumnNames(id="id"))
    assert [each for rows in blocks for each in rows.id.to_pylist()] == ["1", *4 * [None]]
    skipped = [row for rows in blocks for row in rows.skipped]
    misfits = {2: "2 fields.* 3$", 4: "2 fields.* 3$", 5: "2 fields.* 1$"}
    check_skipped([row for row in skipped if row[0] != 3], misfits)
    [only_misfits] = parsed(source(b"text,id\n\xff\n\xfe\n"), ColumnNames())
    assert [number for number, _ in only_misfits.skipped] == [1, 2]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"te\xff,id\n", "header.*UTF-8 at byte 3.*encoding cp1252"),
        (b"x" * 200_000 + b"\n", "header.*131072"),
    ],
)
def test_blocks__header_errors(source, tmp_path, data, reason):
    made = source(data)
    for use in (lambda: list(made.blocks()), lambda: made.writer(LocalDestination(tmp_path))):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(made.location)}: .*{reason}"):
            use()


@pytest.mark.parametrize("size", [1, 6, 1000])
def test_blocks__quote_not_closed(source, size):
    made = source(b'text,id\na,1\n"b,2\nc,3\n', block_bytes=size)
    facts = f"^{re.escape(made.location)}, row 2: .*quote.*not closed"
    with pytest.raises(InvalidInputError, match=facts):
        list(made.blocks())


def test_header__with_quotes_and_line_ends(source):
    block = one_block(source(b'\xef\xbb\xbf"te""xt\n",id\na,1\n'))
    assert block.parse(ColumnNames('te"xt\n')).text.to_pylist() == ["a"]


def test_header__longer_than_one_read(source):
    names = ",".join(f"c{index}" for index in range(30_000))
    block = one_block(source(f"{names},text\n{',' * 30_000}a\n".encode()))
    assert block.parse(ColumnNames()).text.to_pylist() == ["a"]


def test_to_table__strings_and_repeated_names(source):
    table = one_block(source(b"a,a,n\n1,2,007\n")).to_table()
    assert table.column_names == ["a", "a", "n"]
    assert [column.to_pylist() for column in table.columns] == [["1"], ["2"], ["007"]]


PIECES = ["a", "b", ",", '"', '""', "\n", "\r\n", "\r", '"\n', "a,b\n", " "]


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_blocks__same_records_as_the_csv_module(tmp_path_factory, body):
    path = tmp_path_factory.getbasetemp() / "property.csv"
    path.write_bytes(b"text,id\n" + body.encode())
    rows = csv.reader(io.StringIO(body, newline=""))
    expected = [row for row in rows if row and row != ["", ""]]
    try:
        blocks = list(DelimitedSource(str(path), "a.csv").blocks())
    except InvalidInputError as error:
        # The csv module takes the end of the file for the end of the quotes.
        assert "not closed" in str(error)  # noqa: PT017
        return
    texts = [
        text
        for block in blocks
        for text in block.parse(ColumnNames(), skip_bad=True).text.to_pylist()
    ]
    assert texts == [row[0] if len(row) == 2 else None for row in expected]


@pytest.mark.parametrize(
    ("delimiter", "given"), [(";", ";"), ("|", "|"), ("\t", "\\t"), ("\t", "tab")]
)
def test_delimiter__is_that_given(make_file, write_rows, delimiter, given):
    content = f'text{delimiter}id\n"a{delimiter}""b"""{delimiter}1\nc,d{delimiter}2\n'.encode()
    path = str(make_file("a.csv", content))
    options = InputOptions(delimiter=given)
    source = file_source(path, "a.csv", options)
    block = one_block(source)
    expected = [{"text": f'a{delimiter}"b"', "id": "1"}, {"text": "c,d", "id": "2"}]
    assert block.to_table().to_pylist() == expected
    written = write_rows(source, lambda _: True)
    assert one_block(file_source(str(written), "a.csv", options)).to_table().to_pylist() == expected


@pytest.mark.parametrize("delimiter", ["|", ";"])
def test_delimiter__that_may_be_part_of_a_character(make_file, delimiter):
    path = str(make_file("a.csv", f"text{delimiter}id\n表{delimiter}1\n".encode("shift_jis")))
    options = InputOptions(delimiter=delimiter, encoding="shift_jis")
    block = one_block(file_source(path, "a.csv", options))
    assert block.to_table().to_pylist() == [{"text": "表", "id": "1"}]


@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_delimiter__named_in_the_first_line(make_file, write_rows, first):
    source = file_source(str(make_file("a.csv", f"{first}text;id\na,b;1\n".encode())), "a.csv")
    assert one_block(source).to_table().to_pylist() == [{"text": "a,b", "id": "1"}]
    written = write_rows(source, lambda _: True).read_bytes().decode()
    assert written == f"{first}text;id\na,b;1\n"


def test_blocks__rows_larger_than_a_block(source):
    texts = ["a" * n for n in (10, 3000, 20, 70_000, 5, 5)]
    data = "text,id\n" + "".join(f'"{text}\n",{n}\n' for n, text in enumerate(texts))
    blocks = list(source(data.encode(), block_bytes=1).blocks())
    assert [row["text"] for each in blocks for row in each.to_table().to_pylist()] == [
        f"{text}\n" for text in texts
    ]
    assert np.concatenate([block.numbers for block in blocks]).tolist() == [1, 2, 3, 4, 5, 6]


def test_blocks__rows_of_empty_fields(source):
    [block] = source(b'text,id\na,1\n,\n"",\nb,\nx\n,2\n').blocks()
    assert block.numbers.tolist() == [1, 4, 5, 6]
    assert block.parse(ColumnNames(), skip_bad=True).text.to_pylist() == ["a", "b", None, ""]


def test_writer__skipped_rows_as_they_were(source, write_rows):
    made = source('text,id\r\né,1\r\nx\r\nü\xff,2\r\n"a""",3'.encode("latin-1"))
    written = write_rows(made, lambda _: True).read_bytes()
    assert written == 'text,id\r\né,1\r\nx\r\nü\xff,2\r\n"a""",3\r\n'.encode("latin-1")
