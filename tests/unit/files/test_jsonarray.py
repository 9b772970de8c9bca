from __future__ import annotations

import re

import pytest

from neardup.errors import InvalidInputError
from neardup.files.jsonarrays import JsonArraySource


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
