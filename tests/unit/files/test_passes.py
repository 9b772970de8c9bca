"""A pass over files reports bytes read of bytes known, in every format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.delimited import DelimitedSource
from neardup.files.documents import ReadingPass
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import MemorySource
from neardup.files.parquet import ParquetSource
from neardup.files.plain import TextFileSource
from neardup.runs.runner import Runner
from tests.each import each_of

ROWS = [{"text": f"text {i} " + "x" * (i % 50)} for i in range(2000)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def passes(sources, parts=None, workers=2):
    """Read sources, in parts; return what was reported, and the numbers of the sources read."""
    seen: list[tuple[str, int, int | None]] = []
    runner = Runner(workers, lambda *report: seen.append(report))
    reading = ReadingPass("read", sources, runner)
    numbers = [
        i for part in parts or [sources] for i, _ in reading.map(lambda _, block: block, part)
    ]
    return seen, numbers


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def make_source(kind: str, folder: Path):
    if kind == "memory":
        return MemorySource(pa.table({"text": [row["text"] for row in ROWS]}), block_rows=300)
    if kind == "parquet":
        path = folder / "a.parquet"
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=700)
        return ParquetSource(str(path), path.name, block_bytes=10_000)
    if kind == "text":
        return TextFileSource(write(folder / "a.txt", LINES), "a.txt", block_bytes=10_000)
    if kind == "csv":
        path = write(folder / "a.csv", b"text\n" + b"some words\n" * 30_000)
        return DelimitedSource(path, "a.csv", block_bytes=10_000)
    data = gzip.compress(LINES) if kind == "jsonl.gz" else LINES
    path = write(folder / f"a.{kind}", data)
    return JsonLinesSource(path, f"a.{kind}", block_bytes=10_000)


@each_of("workers", [1, 3])
@each_of("kind", ["jsonl", "jsonl.gz", "csv", "parquet", "text", "memory"])
def test_pass__bytes_read_of_bytes_known(tmp_path, kind, workers):
    source = make_source(kind, tmp_path)
    seen, _ = passes([source], workers=workers)
    done = [report[1] for report in seen]
    assert {(stage, total) for stage, _, total in seen} == {("read", source.size)}
    assert done == sorted(done)
    assert done[0] > 0
    assert done[-1] == source.size
    if kind not in ("text", "jsonl.gz"):
        # Ranges of rows of about the same size take about the same bytes.
        assert len(set(done)) > 4
        steps = [after - before for before, after in zip([0, *done], done, strict=False)]
        assert max(steps) < source.size / 2
