"""``neardup dedup`` with next to no memory: all files are what they are without a limit."""

from __future__ import annotations

import gzip
from contextlib import nullcontext

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from tests.spilling import files_of, make_rows, spilling, work_folders, write_lines

ROWS = make_rows(1, 70, chain=20)
OTHERS = [*make_rows(1, 30), *({**row, "id": f"x{row['id']}"} for row in make_rows(2, 20))]


@pytest.fixture
def dedup(run, here):
    """Run the command, with its memory in bytes if that is limited; give all files."""

    def dedup_within(memory, *arguments):
        with spilling(memory) if memory else nullcontext():
            found = run("dedup", *arguments, "--overwrite", "--quiet", "-o", "out")
        assert (found.code, found.out, found.err) == (0, "", "")
        assert work_folders(here) == []
        return files_of(here / "out")

    return dedup_within


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int8", "uint64", "string", "dictionary"])
def test_same_bytes__ids_of_all_types(dedup, here, kind):
    n = len(ROWS)
    values = [str(10 * i) for i in range(n)]
    if kind == "dictionary":
        ids = pa.array(values).dictionary_encode()
    else:
        ids = pa.array(values).cast(kind) if kind != "int8" else pa.array(range(n), pa.int8())
    table = pa.table({"id": ids, "text": [row["text"] for row in ROWS]})
    pq.write_table(table, "a.parquet", row_group_size=7)
    write_lines(here / "b.jsonl", [{"id": i, "text": row["text"]} for i, row in enumerate(OTHERS)])
    for arguments in (["a.parquet"], ["a.parquet", "--against", "b.jsonl"]):
        expected = dedup(None, *arguments)
        assert dedup(30_000, *arguments, "--workers", 2) == expected


@pytest.mark.slow
def test_same_bytes__files_of_all_kinds_together(dedup, here):
    third = len(ROWS) // 3
    (here / "in").mkdir()
    lines = write_lines(here / "in/a.jsonl", ROWS[:third]).read_bytes()
    (here / "in/a.jsonl").unlink()
    (here / "in/a.jsonl.gz").write_bytes(gzip.compress(lines))
    table = pa.Table.from_pylist(ROWS[third:])
    pc.write_csv(table.slice(0, third), "in/b.csv")
    pq.write_table(table.slice(third), "in/c.parquet", row_group_size=5)
    (here / "in/d.jsonl").write_bytes(b"")
    for more in (["--format", "jsonl"], ["--keep", "longest"]):
        expected = dedup(None, "in", *more)
        assert dedup(30_000, "in", *more, "--workers", 2) == expected


@pytest.mark.parametrize("texts", [[], ["one text of six words, alone"], ["", ""], ["a b"] * 40])
def test_same_bytes__next_to_nothing(dedup, here, texts):
    write_lines(here / "a.jsonl", [{"id": i, "text": text} for i, text in enumerate(texts)])
    write_lines(here / "empty.jsonl", [])
    for more in ([], ["--against", "empty.jsonl"], ["--against", "a.jsonl"]):
        expected = dedup(None, "a.jsonl", *more)
        assert dedup(5000, "a.jsonl", *more, "--workers", 1) == expected


def test_repeated_id__is_found_in_files(run, here):
    rows = [*ROWS, {**ROWS[3], "text": "another text"}]
    write_lines(here / "a.jsonl", rows)
    messages = []
    for limits in (nullcontext(), spilling(30_000)):
        with limits:
            found = run("dedup", "a.jsonl", "-o", "out")
        assert found.code == 1
        messages.append(found.err)
    assert "id 'd3' was used before, in a.jsonl, row 4" in messages[0]
    assert messages[0] == messages[1]
    assert work_folders(here) == []
