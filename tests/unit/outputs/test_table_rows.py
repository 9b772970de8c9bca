"""Rows of a table that are read some at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ReadError
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.streams import LocalDestination
from neardup.outputs.output_tables import TableRows, write_rows

TABLE = pa.table({"n": range(20), "text": [f"t{n}" for n in range(20)]})
PLACES = st.lists(st.integers(0, 19))


@given(PLACES, st.integers(1, 25))
def test_take__any_rows_in_any_order(places, block_rows):
    rows = TableRows.of_table(TABLE, block_rows=block_rows)
    assert len(rows) == 20
    assert rows.take(np.array(places, int)).equals(TABLE.take(pa.array(places, pa.int64())))
    assert rows.take(np.array(places, int), "text")["text"].to_pylist() == [f"t{n}" for n in places]
    assert pa.concat_tables(rows.batches("text")).equals(TABLE.select(["text"]))


def test_take__reads_no_block_without_a_row_and_checks_what_it_reads():
    seen = []

    def check(table, start):
        seen.append(start)
        assert table["n"][0].as_py() == start
        return table

    rows = TableRows.of_table(TABLE, block_rows=5)
    checked = TableRows(rows.schema, len(rows), rows.blocks, check)
    assert len(pa.concat_tables(checked.batches("n"))) == 20
    seen.clear()
    assert checked.take(np.array([17, 6, 8])).num_rows == 3
    assert seen == [5, 15]


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
