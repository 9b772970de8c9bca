from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from neardup.errors import ReadError
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rows import RowBlock, Source
from neardup.files.streams import LocalDestination
from neardup.outputs.tables import write_rows
from neardup.tables import Bools

ROWS = [b'{"text": "%d"}\n' % i for i in range(10)]


@pytest.fixture
def source(tmp_path) -> Source:
    """Give a file of ten rows, read in blocks of two or so."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(ROWS))
    return JsonLinesSource(str(path), "sub/a.jsonl", block_bytes=30)


def numbered(source: Source) -> Iterator[tuple[RowBlock, slice]]:
    start = 0
    for block in source.blocks():
        yield block, slice(start, start + len(block))
        start += len(block)


def out(tmp_path: Path) -> LocalDestination:
    return LocalDestination(tmp_path / "out")


def sides(stays: Bools, bad: int | None = None) -> dict[str, Bools]:
    is_bad = np.arange(len(stays)) == (-1 if bad is None else bad)
    return {"kept": stays & ~is_bad, "removed": ~stays & ~is_bad, "skipped": is_bad}


def content(folder: Path) -> tuple[bytes, bytes]:
    return (
        (folder / "kept/sub/a.jsonl").read_bytes(),
        (folder / "removed/sub/a.jsonl").read_bytes(),
    )


def as_it_is(block: RowBlock, _: slice) -> RowBlock:
    return block


def test_write_rows__closes_its_files_when_reading_fails(tmp_path, source):
    def broken() -> Iterator[tuple[RowBlock, slice]]:
        yield next(numbered(source))
        raise ReadError("gone", path="a.jsonl")

    with pytest.raises(ReadError, match="gone"):
        write_rows(
            source,
            broken(),
            as_it_is,
            sides(np.ones(10, np.bool_)),
            out(tmp_path),
            "same",
            lambda _: None,
        )
    # Open files would be reported as warnings, which are errors.
    assert content(tmp_path / "out")[1] == b""
