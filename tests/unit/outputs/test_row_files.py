from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import ReadError
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.streams import LocalDestination
from neardup.outputs.tables import write_rows


def test_write_rows__closes_its_files_when_reading_fails(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(b'{"text": "%d"}\n' % i for i in range(10)))
    # Read in blocks of two or so.
    source = JsonLinesSource(str(path), "sub/a.jsonl", block_bytes=30)

    def broken():
        block = next(iter(source.blocks()))
        yield block, slice(0, len(block))
        raise ReadError("gone", path="a.jsonl")

    sides = {"kept": np.ones(10, np.bool_)} | dict.fromkeys(
        ("removed", "skipped"), np.zeros(10, np.bool_)
    )
    with pytest.raises(ReadError, match="gone"):
        write_rows(
            *(source, broken(), lambda block, _: block, sides),
            *(LocalDestination(tmp_path / "out"), "same", lambda _: None),
        )
    # Open files would be reported as warnings, which are errors.
    assert (tmp_path / "out/kept/sub/a.jsonl").exists()
    assert (tmp_path / "out/removed/sub/a.jsonl").read_bytes() == b""
