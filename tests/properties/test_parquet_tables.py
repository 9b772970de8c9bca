"""Tables of Parquet: bytes depend on the rows, not on the batches in which they came."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.streams import LocalDestination
from neardup.outputs import output_tables
from neardup.outputs.output_tables import write_parquet

WORDS = st.sampled_from(["a", "b", "", "ключ", "a long value that comes again and again"])
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=4), WORDS),
        st.one_of(st.none(), WORDS),
        st.one_of(st.none(), st.integers(-5, 5)),
        st.booleans(),
    ),
    max_size=40,
)
SCHEMA = pa.schema(
    [
        ("id", pa.large_string()),
        ("file", pa.dictionary(pa.int32(), pa.string())),
        ("row", pa.int64()),
        ("is_duplicate", pa.bool_()),
    ],
    metadata={"kind": "test"},
)


def as_table(rows: list[tuple]) -> pa.Table:
    """Make a table whose dictionary has what these rows need, in the order of these rows."""
    columns = zip(*rows, strict=True) if rows else [()] * 4
    arrays = [
        pa.array(column, pa.string()).dictionary_encode()
        if pa.types.is_dictionary(field.type)
        else pa.array(column, field.type)
        for column, field in zip(columns, SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


@given(
    rows=ROWS,
    cuts=st.lists(st.integers(0, 40), max_size=8),
    sliced=st.booleans(),
    group_rows=st.integers(1, 9),
)
def test_write_parquet__any_cutting(rows, cuts, sliced, group_rows):
    whole = as_table(rows)
    ends = sorted(min(cut, len(rows)) for cut in [0, *cuts, len(rows)])
    batches = [
        batch
        for start, stop in pairwise(ends)
        for table in [whole[start:stop] if sliced else as_table(rows[start:stop])]
        for batch in ([table] if start % 2 else table.to_batches())
    ]
    with TemporaryDirectory() as folder, patch.object(output_tables, "ROW_GROUP_ROWS", group_rows):
        expected, target = Path(folder, "expected"), Path(folder, "target")
        digest = write_parquet([whole], SCHEMA, LocalDestination(expected))
        assert write_parquet(iter(batches), SCHEMA, LocalDestination(target)) == digest
        assert target.read_bytes() == expected.read_bytes()
        assert sha256(target.read_bytes()).hexdigest() == digest
        found = pq.read_table(target)
        assert found.to_pylist() == whole.to_pylist()
        assert found.schema.metadata == SCHEMA.metadata


def test_write_parquet__groups(tmp_path, monkeypatch):
    monkeypatch.setattr(output_tables, "ROW_GROUP_ROWS", 4)
    table = pa.table({"row": range(25)})
    for n_rows, expected in ((25, [4] * 6 + [1]), (12, [4] * 3), (0, [0])):
        batches = table[:n_rows].to_batches(max_chunksize=3)
        write_parquet(batches, table.schema, LocalDestination(tmp_path / "t"))
        metadata = pq.read_metadata(tmp_path / "t")
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        assert groups == expected


@pytest.mark.parametrize("batch_rows", [7, 777, 59_999])
def test_write_parquet__pages_do_not_end_with_batches(tmp_path, batch_rows):
    """Only columns that fill a page or more show where batches have been cut."""
    ids = [f"corpus/some-folder/file.jsonl:{i}" for i in range(60_000)]
    table = pa.table({"id": pa.array(ids, pa.large_string())})
    write_parquet([table], table.schema, LocalDestination(tmp_path / "whole"))
    batches = table.to_batches(max_chunksize=batch_rows)
    write_parquet(batches, table.schema, LocalDestination(tmp_path / "cut"))
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_write_parquet__takes_batches_when_it_needs_them(tmp_path, monkeypatch):
    """Memory of written rows is freed before the next batch is made."""
    monkeypatch.setattr(output_tables, "ROW_GROUP_ROWS", 10_000)
    whole = pa.table({"row": range(1_000_000)})
    before = pa.total_allocated_bytes()
    most = 0

    def batches():
        nonlocal most
        for start in range(0, 1_000_000, 10_000):
            most = max(most, pa.total_allocated_bytes() - before)
            yield pa.table({"row": range(start, start + 10_000)})

    write_parquet(batches(), whole.schema, LocalDestination(tmp_path / "t"))
    assert most < whole.nbytes / 4
    assert pq.read_table(tmp_path / "t").equals(whole)
