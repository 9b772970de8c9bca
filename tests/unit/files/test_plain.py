from __future__ import annotations

import re

import numpy as np
import pytest

from neardup.errors import InvalidInputError
from neardup.files.plain import TextFileSource, TextLinesSource
from neardup.files.rows import ColumnNames
from tests.files import check_skipped


def texts(source) -> list[str]:
    return [
        text for block in source.blocks() for text in block.parse(ColumnNames()).text.to_pylist()
    ]


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


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (b"%PDF-1.7\n", "format pdf.*input_format pdf"),
        (b"PK\x03\x04\x14", r"ZIP archive.*\.docx"),
        (b"WARC/1.0\r\n", "format warc.*input_format warc"),
        (b"PAR1\x15\x04", "format parquet.*input_format parquet"),
        (b"\x1f\x8b\x08", r"compressed data.* \.gz"),
        (b"a" * 257 + b"ustar\x0000", "binary data"),
        (b"abc\0\xff", "binary data"),
    ],
)
def test_text__that_is_none(make_file, content, facts):
    """Its first bytes say what it is; where the name says .txt only if it is no UTF-8."""
    path = str(make_file("a.bin", content))
    whole = TextFileSource(path, "a.bin", is_text_by_name=False)
    [block] = whole.blocks()
    for use in (lambda: block.parse(ColumnNames()), block.to_table):
        with pytest.raises(InvalidInputError, match=f"^{re.escape(path)}, row 1: .*{facts}"):
            use()
    rows = block.parse(ColumnNames(), skip_bad=True)
    assert rows.text.to_pylist() == [None]
    check_skipped(rows.skipped, {1: facts})
    assert block.parse(ColumnNames(), select=np.array([False])).text.to_pylist() == []
    with pytest.raises(InvalidInputError, match=f"^{re.escape(path)}: .*{facts}"):
        list(TextLinesSource(path, "a.bin", is_text_by_name=False).blocks())
    [block] = TextFileSource(path, "a.txt").blocks()
    is_text = content.startswith((b"%PDF", b"aaa", b"PAR1", b"PK", b"WARC"))
    assert (block.parse(ColumnNames(), skip_bad=True).skipped == []) == is_text
