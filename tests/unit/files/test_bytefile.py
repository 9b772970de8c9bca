from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.errors import InvalidInputError
from neardup.files import plain
from neardup.files.formats import format_of
from neardup.files.inputs import resolve_paths
from neardup.files.plain import BytesSource
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions

BYTES = InputOptions(input_format="bytes")
CONTENTS = [
    b"",
    b"\0",
    b"\xef\xbb\xbftext after a mark",
    b"%PDF-1.7 \xff",
    b"\x1f\x8b no gzip",
    random.Random(3).randbytes(30_000),
]


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
@pytest.mark.parametrize("size", [7, 1 << 20])
@pytest.mark.parametrize("name", ["a.bin", "a", "a.txt", "a.jsonl.gz", "a.parquet", "a.zst"])
def test_file__is_its_bytes(tmp_path, write_rows, content, size, name):
    (tmp_path / name).write_bytes(content)
    source = BytesSource(str(tmp_path / name), name, block_bytes=size)
    [block] = source.blocks()
    assert block.numbers.tolist() == [1]
    assert block.parse(ColumnNames("any")).text.to_pylist() == [content]
    assert block.parse(ColumnNames(), select=np.array([False])).text.to_pylist() == []
    assert block.to_table().to_pylist() == [{"bytes": content}]
    assert source.column_names() == ["bytes"]
    assert write_rows(source, lambda _: True).read_bytes() == content


def test_file__that_is_too_large(make_file, monkeypatch):
    monkeypatch.setattr(plain, "MAX_ROW_BYTES", 10)
    path = make_file("a", b"x" * 11)
    message = rf"^{path}: the file has 11 bytes, and a document 10 at most; leave it out, or "
    with pytest.raises(InvalidInputError, match=message):
        list(BytesSource(str(path), "a").blocks())
    path.write_bytes(b"x" * 10)
    assert len(list(BytesSource(str(path), "a").blocks())) == 1


def test_format__is_read_only_where_it_is_chosen(tmp_path):
    for name in ("a", "b.txt", "c.csv.gz", "d.parquet.gz"):
        (tmp_path / name).write_bytes(b"\0")
        assert format_of(name, BYTES).name == "bytes"
    found = resolve_paths([str(tmp_path)], BYTES)
    assert [source.name for source in found] == ["a", "b.txt", "c.csv.gz", "d.parquet.gz"]
    assert found.passed_over == {}
    assert all(isinstance(source, BytesSource) for source in found)
    assert [f.name for f in resolve_paths([str(tmp_path / "b.txt")])] == ["b.txt"]
