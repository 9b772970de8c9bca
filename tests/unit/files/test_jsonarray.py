from __future__ import annotations

import re

import pytest

from neardup.errors import InvalidInputError
from neardup.files.jsonarrays import JsonArraySource


def source(make_file, data: bytes, **options: int) -> JsonArraySource:
    return JsonArraySource(str(make_file("a.json", data)), "a.json", **options)


NOT_CLOSED = "not closed"
BAD_FILES = [
    (b'[{"text": "a"}', 2, NOT_CLOSED),
    (b'[{"text": "a"},', 2, NOT_CLOSED),
    (b'[{"text": "a"}, {"text": "b', 2, NOT_CLOSED),
    (b"[", 1, NOT_CLOSED),
    (b"", 1, NOT_CLOSED),
    (b'[{"text": "a"},]', 2, "next element.*']'$"),
    (b"[,{}]", 1, "next element.*','$"),
    (b'[{"text": "a"}}', 2, "next element.*'}'$"),
    (b"[{}] x", 2, "after the array.*'x'$"),
    (b"[{}]\xff", 2, r"after the array.*'\\xff'$"),
    (b"{}", 1, "next element.*'{'$"),
]


@pytest.mark.parametrize(("data", "row", "facts"), BAD_FILES)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_blocks__malformed(make_file, data, row, facts, size):
    broken = source(make_file, data, block_bytes=size)
    facts = f"^{re.escape(broken.location)}, row {row}: .*{facts}"
    with pytest.raises(InvalidInputError, match=facts):
        list(broken.blocks())
