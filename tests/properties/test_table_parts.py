"""Tables in parts: bytes depend on the rows, not on the batches in which they came."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.streams import LocalDestination
from neardup.outputs import tables
from neardup.outputs.tables import write_parquet_part, write_parquet_parts

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


def files_of(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {file.name: file.read_bytes() for file in path.iterdir()}


@given(
    rows=ROWS,
    cuts=st.lists(st.integers(0, 40), max_size=8),
    sliced=st.booleans(),
    group_rows=st.integers(1, 9),
    part_rows=st.integers(1, 45),
)
def test_write_parquet_parts__any_cutting(rows, cuts, sliced, group_rows, part_rows):
    whole = as_table(rows)
    ends = sorted(min(cut, len(rows)) for cut in [0, *cuts, len(rows)])
    batches = [
        batch
        for start, stop in pairwise(ends)
        for table in [whole[start:stop] if sliced else as_table(rows[start:stop])]
        for batch in ([table] if start % 2 else table.to_batches())
    ]
    with TemporaryDirectory() as folder, patch.object(tables, "ROW_GROUP_ROWS", group_rows):
        expected, target, alone = (Path(folder, name) for name in ("expected", "target", "alone"))
        write_parquet_parts([whole], SCHEMA, LocalDestination(expected), part_rows=part_rows)
        write_parquet_parts(iter(batches), SCHEMA, LocalDestination(target), part_rows=part_rows)
        files = files_of(target)
        assert files == files_of(expected)
        n_parts = math.ceil(len(rows) / part_rows)
        assert sorted(files) == (
            [""] if n_parts <= 1 else [f"part-{i:05d}.parquet" for i in range(n_parts)]
        )
        for number, name in enumerate(sorted(files)):
            write_parquet_part(
                whole[number * part_rows : (number + 1) * part_rows], LocalDestination(alone)
            )
            assert alone.read_bytes() == files[name]
        found = pq.read_table(target)
        assert found.to_pylist() == whole.to_pylist()
        assert found.schema.metadata == SCHEMA.metadata
