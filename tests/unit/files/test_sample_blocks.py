"""Rows that begin within ranges of a file: ``sample_blocks``."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions

_LINES = [b"a\n", b"\n", b"bb\n", b"  \n", b"c" * 40 + b"\n", "\u00e4\u00f6\n".encode(), b"d\r\n"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("end", [b"", b"last", b"\n\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("rest", [1, 1 << 16])
def test_sample_blocks__lines(here, monkeypatch, end, mark, rest):
    """Whatever the ranges, each row is in that which it begins in, and once."""
    monkeypatch.setattr("neardup.files.rawsource._REST_BYTES", rest)
    content = mark + b"".join(_LINES) + end
    (here / "a.txt").write_bytes(content)
    [source] = resolve_paths(["a.txt"], InputOptions(lines=True))
    starts: list[int] = []
    lines: list[range] = []
    at = len(mark)
    for line in content[len(mark) :].splitlines(keepends=True):
        starts += [at] if line.strip() else []
        lines.append(range(at, at + len(line)))
        at += len(line)
    texts = [content[at:].split(b"\n")[0].rstrip(b"\r").decode() for at in starts]
    for size, gap in itertools.product((1, 2, 5, 17, 200), (0, 1, 4, 30)):
        ranges = [
            range(at, min(at + size, len(content))) for at in range(0, len(content), size + gap)
        ]
        wanted = [i for i, at in enumerate(starts) if any(at in each for each in ranges)]
        found = list(source.sample_blocks(ranges))
        numbers = np.concatenate([block.numbers for _, block in found])
        assert numbers.tolist() == [starts[i] + 1 for i in wanted]
        read = [block.parse(ColumnNames()).text.to_pylist() for _, block in found]
        assert list(itertools.chain(*read)) == [texts[i] for i in wanted]
        # Of what is read, and of lines that begin there, all bytes are known.
        seen = {at for each in ranges for at in each if at >= len(mark)}
        seen.update(*(line for line in lines if line[0] in seen))
        assert sum(n_bytes for n_bytes, _ in found) == len(seen)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.csv", InputOptions()),
        ("a.json", InputOptions()),
        ("a.jsonl.gz", InputOptions()),
        ("a.txt.zst", InputOptions(lines=True)),
        ("a.txt", InputOptions(lines=True, encoding="utf-16")),
    ],
)
def test_piece_bytes__only_from_the_start(here, name, options):
    (here / name).write_bytes("[{}]\n".encode(options.encoding or "utf-8"))
    [source] = resolve_paths([name], options)
    assert source.piece_bytes is None


def test_sample_blocks__one_row(here):
    (here / "a.txt").write_text("one two\nthree")
    [source] = resolve_paths(["a.txt"])
    assert (source.known_rows, list(source.sample_blocks([range(1, 13)]))) == (1, [])
    [(n_bytes, block)] = source.sample_blocks([range(1), range(5, 13)])
    assert (n_bytes, block.parse(ColumnNames()).text.to_pylist()) == (13, ["one two\nthree"])


@pytest.mark.parametrize("group", [100, 1000, 7000])
def test_sample_blocks__parquet(here, group):
    """A block for each range, evenly spread; of row groups that begin none is read on."""
    rows = [f"text {i}" for i in range(6400)]
    pq.write_table(pa.table({"text": rows}), "a.parquet", row_group_size=group)
    [source] = resolve_paths(["a.parquet"])
    source._block_bytes = 1
    size = source.size
    ranges = [range(size * i // 32, size * i // 32 + 10) for i in range(32)]
    found = [block for _, block in source.sample_blocks(ranges)]
    assert source.known_rows == len(rows)
    starts = [int(block.numbers[0]) - 1 for block in found]
    assert len(starts) == len(set(starts)) == 32
    assert max(np.diff([*starts, len(rows)])) <= 400
    if group == 100:
        assert all(start % group == 0 for start in starts)
    for block in found:
        first = int(block.numbers[0]) - 1
        texts = block.parse(ColumnNames()).text.to_pylist()
        assert texts == rows[first : first + len(block)]


def test_sample_blocks__parquet_without_rows(here):
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), "a.parquet")
    [source] = resolve_paths(["a.parquet"])
    assert (source.known_rows, list(source.sample_blocks([range(10)]))) == (0, [])
