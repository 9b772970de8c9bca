from __future__ import annotations

import re

import pytest

from neardup.errors import InvalidInputError
from neardup.files.jsonarrays import JsonArraySource
from neardup.files.rows import ColumnNames


def source(make_file, data: bytes, **options: int) -> JsonArraySource:
    return JsonArraySource(str(make_file("a.json", data)), "a.json", **options)


NOT_CLOSED = "the JSON array is not closed; the file is incomplete"
BAD_FILES = [
    (b'[{"text": "a"}', 2, NOT_CLOSED),
    (b'[{"text": "a"},', 2, NOT_CLOSED),
    (b'[{"text": "a"}, {"text": "b', 2, NOT_CLOSED),
    (b"[", 1, NOT_CLOSED),
    (b"", 1, NOT_CLOSED),
    (b'[{"text": "a"},]', 2, "expected the next element of a JSON array, got ']'"),
    (b"[,{}]", 1, "expected the next element of a JSON array, got ','"),
    (b'[{"text": "a"}}', 2, "expected the next element of a JSON array, got '}'"),
    (b"[{}] x", 2, "expected nothing after the array, got 'x'"),
    (b"[{}]\xff", 2, "expected nothing after the array, got '\\xff'"),
    (b"{}", 1, "expected the next element of a JSON array, got '{'"),
]


@pytest.mark.parametrize(("data", "row", "reason"), BAD_FILES)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_blocks__malformed(make_file, data, row, reason, size):
    broken = source(make_file, data, block_bytes=size)
    message = f"{broken.location}, row {row}: {reason}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"):
        list(broken.blocks())


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (b"12", "not a JSON object: it is a number"),
        (b'"a, b"', "not a JSON object: it is a string"),
        (b"[{}]", "not a JSON object: it is an array"),
        (b"tru", "not a JSON object: Expecting value at character 1"),
        (b'{"text": "a"} {"text": "b"}', "not a JSON object: Extra data at character 15"),
        (b'{"text": "a"]', "not a JSON object: Expecting ',' delimiter at character 13"),
        (b'{"text": "a\nb"}', "not a JSON object: Invalid control character at character 12"),
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_parse__elements_that_are_no_rows(make_file, element, reason, size):
    data = b'[{"text": "a"},' + element + b',{"text": "b"}]'
    numbers, texts, skipped = [], [], []
    for block in source(make_file, data, block_bytes=size).blocks():
        rows = block.parse(ColumnNames(), skip_bad=True)
        numbers += block.numbers.tolist()
        texts += rows.text.to_pylist()
        skipped += rows.skipped
    assert (numbers, texts, skipped) == ([1, 2, 3], ["a", None, "b"], [(2, reason)])
