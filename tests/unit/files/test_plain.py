from __future__ import annotations

import re

import numpy as np
import pytest

from neardup.errors import InvalidInputError
from neardup.files.plain import TextFileSource, TextLinesSource
from neardup.files.rows import ColumnNames


def texts(source) -> list[str]:
    return [
        text for block in source.blocks() for text in block.parse(ColumnNames()).text.to_pylist()
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\n\nb\r\n", "a\n\nb\r\n"),
        (b"", ""),
        (b" \n", " \n"),
        (b"\xef\xbb\xbfa", "a"),
        ("é".encode() * 100_000, "é" * 100_000),
    ],
    ids=["lines", "empty", "blank", "mark", "long"],
)
@pytest.mark.parametrize("size", [10, 1 << 20])
def test_text_file__one_document(make_file, write_rows, data, expected, size):
    source = TextFileSource(str(make_file("a.txt", data)), "a.txt", block_bytes=size)
    assert texts(source) == [expected]
    [block] = source.blocks()
    assert block.numbers.tolist() == [1]
    assert block.to_table().to_pylist() == [{"text": expected}]
    assert write_rows(source, lambda _: True).read_bytes() == data


def test_text_lines__documents_and_numbers(make_file):
    data = b"\xef\xbb\xbfa\n\n  b \r\n \t\r\nc\rd\n\xc3\xa9"
    source = TextLinesSource(str(make_file("a.txt", data)), "a.txt")
    [block] = source.blocks()
    assert texts(source) == ["a", "  b ", "c\rd", "é"]
    assert block.numbers.tolist() == [1, 3, 5, 6]
    mask = np.array([False, True, False, True])
    assert block.parse(ColumnNames(), select=mask).text.to_pylist() == ["  b ", "é"]
    assert block.parse(ColumnNames(), select=mask & False).text.to_pylist() == []
    assert block.to_table(mask).to_pylist() == [{"text": "  b "}, {"text": "é"}]


def test_text_lines__text_column_may_have_any_name(make_file):
    [block] = TextLinesSource(str(make_file("a.txt", b"a")), "a.txt").blocks()
    assert block.parse(ColumnNames("body")).text.to_pylist() == ["a"]
    with pytest.raises(InvalidInputError, match=r"no column 'id'; columns are 'text'$"):
        block.parse(ColumnNames(id="id"))


def test_text_lines__not_utf8(make_file):
    path = make_file("a.txt", b"a\n\nb\xe2\x82\nc\n")
    [block] = TextLinesSource(str(path), "a.txt").blocks()
    message = f"{path}, row 3: not valid UTF-8 at byte 2 of column 'text'"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"):
        block.parse(ColumnNames())
    rows = block.parse(ColumnNames(), skip_bad=True)
    assert rows.text.to_pylist() == ["a", None, "c"]
    assert rows.skipped == [(3, "not valid UTF-8 at byte 2 of column 'text'")]
