from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import WriteError
from neardup.files.streams import LocalDestination as Local
from neardup.outputs import tables
from neardup.outputs.tables import part_name, write_parquet_part, write_parquet_parts
from tests.each import each_of
from tests.faults import at_calls


def rows(n: int, start: int = 0) -> pa.Table:
    numbers = range(start, start + n)
    ids, rows = pa.array(map(str, numbers), pa.large_string()), pa.array(numbers, pa.int64())
    return pa.table({"id": ids, "row": rows})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def groups(path: Path) -> list[int]:
    metadata = pq.ParquetFile(path).metadata
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_write_parquet_parts__one_file_as_arrow_writes_it(tmp_path, n):
    table = rows(n)
    write_parquet_parts([table], table.schema, Local(tmp_path / "t.parquet"))
    pq.write_table(
        table, tmp_path / "expected.parquet", compression="zstd", write_page_checksum=True
    )
    written = (tmp_path / "t.parquet").read_bytes()
    assert written == (tmp_path / "expected.parquet").read_bytes()
    assert names(tmp_path) == ["expected.parquet", "t.parquet"]


@each_of(
    ("n", "parts"),
    [
        (6, None),
        (7, [6, 1]),
        (12, [6, 6]),
        (13, [6, 6, 1]),
    ],
)
def test_write_parquet_parts__a_folder_beyond_one_part(tmp_path, n, parts):
    table = rows(n)
    target = tmp_path / "t.parquet"
    write_parquet_parts([table[:5], table[5:]], table.schema, Local(target), part_rows=6)
    assert names(tmp_path) == ["t.parquet"]
    if parts is None:
        assert target.is_file()
    else:
        expected = [f"part-{i:05d}.parquet" for i in range(len(parts))]
        assert names(target) == expected
        assert [pq.read_metadata(target / name).num_rows for name in expected] == parts
    assert pq.read_table(target).equals(table)


@pytest.mark.parametrize("batch_rows", [7, 777, 59_999])
def test_write_parquet_parts__pages_do_not_end_with_batches(tmp_path, batch_rows):
    """Only columns that fill a page or more show where batches have been cut."""
    ids = [f"corpus/some-folder/file.jsonl:{i}" for i in range(60_000)]
    table = pa.table({"id": pa.array(ids, pa.large_string())})
    write_parquet_parts([table], table.schema, Local(tmp_path / "whole"))
    batches = table.to_batches(max_chunksize=batch_rows)
    write_parquet_parts(batches, table.schema, Local(tmp_path / "cut"))
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_write_parquet_parts__groups(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 4)
    table = rows(25)
    batches = table.to_batches(max_chunksize=3)
    write_parquet_parts(batches, table.schema, Local(tmp_path / "t"), part_rows=10)
    assert [groups(tmp_path / "t" / part_name(i)) for i in range(3)] == [
        [4, 4, 2],
        [4, 4, 2],
        [4, 1],
    ]
    write_parquet_parts(batches, table.schema, Local(tmp_path / "one"))
    assert groups(tmp_path / "one") == [4, 4, 4, 4, 4, 4, 1]
    write_parquet_parts(batches[:4], table.schema, Local(tmp_path / "full"))
    assert groups(tmp_path / "full") == [4, 4, 4]


def test_write_parquet_parts__takes_batches_when_it_needs_them(tmp_path, monkeypatch):
    """What has been written is let go before the next batch is made."""
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 100)
    before = pa.total_allocated_bytes()
    most = 0

    def batches():
        nonlocal most
        for i in range(0, 20_000, 100):
            most = max(most, pa.total_allocated_bytes() - before)
            yield rows(100, i)

    whole = rows(20_000).nbytes
    write_parquet_parts(batches(), rows(0).schema, Local(tmp_path / "t"), part_rows=10_000)
    assert most < whole / 4
    assert pq.read_table(tmp_path / "t").equals(rows(20_000))


def test_write_parquet_parts__fails_at_any_call(tmp_path):
    """Whatever the system refuses comes out as the error that callers know."""
    with at_calls(lambda _: None) as calls:
        write_parquet_parts([rows(5)], rows(0).schema, Local(tmp_path / "t"), part_rows=2)
    assert calls.count("rename") == 2
    assert calls.count("open") == 3
    for number in range(len(calls)):

        def fail(call: int, number: int = number) -> None:
            if call == number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        folder = tmp_path / str(number)
        folder.mkdir()
        with at_calls(fail), pytest.raises(WriteError, match="No space left"):
            write_parquet_parts([rows(5)], rows(0).schema, Local(folder / "t"), part_rows=2)


def test_write_parquet_part__as_that_of_a_whole_run(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 4)
    table = rows(25)
    write_parquet_parts([table], table.schema, Local(tmp_path / "whole"), part_rows=10)
    for number in range(3):
        part = table[number * 10 : (number + 1) * 10]
        alone = tmp_path / part_name(number)
        expected = (tmp_path / "whole" / part_name(number)).read_bytes()
        write_parquet_part(part, Local(alone))
        assert alone.read_bytes() == expected
        write_parquet_part(part.to_reader(3), Local(alone))
        assert alone.read_bytes() == expected
