"""What holds for the rows that a condition leaves out, of every format with columns."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.files import rawrows
from neardup.files.writers import converted_name
from tests.protocols.format_cases import CASES
from tests.protocols.format_reading import FILES

WITH_COLUMNS = [case for case in CASES if case.has_columns and not case.is_one_row]


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize("case", WITH_COLUMNS, ids=str)
def test_where__rows_are_as_they_came_in(case, block_bytes, tmp_path, monkeypatch):
    monkeypatch.setitem(rawrows.RawSource.__init__.__kwdefaults__, "block_bytes", block_bytes)
    rows = [{**row, "text": f"{row['text']} one two three"} for row in case.some_rows(7)]
    if not all(row["id"] for row in rows):
        rows = [{**row, "id": f"row {n}"} for n, row in enumerate(rows)]
    key = rows[2]["id"]
    if case in FILES:
        (tmp_path / case.name).write_bytes(case.encode(rows))
        data, name = str(tmp_path / case.name), case.name
    else:
        data, name = pq.read_table(pa.BufferReader(case.encode(rows))), "data.parquet"
    quoted = key.replace("'", "''")
    result = neardup.deduplicate(
        data, read=neardup.ReadOptions(where=f"not id in ('{quoted}', 'x')", id_column="")
    )
    result.write(tmp_path / "out")
    assert result.summary["filtered_rows"] == 1
    assert result.summary["where"] == f"not id in ('{quoted}', 'x')"
    if not len(result.removed):
        expected = [*rows[:2], *rows[3:]]
        written = tmp_path / "out/kept" / converted_name(name, "same")
        if name.endswith(".parquet"):
            assert pq.read_table(written).to_pylist() == expected
        else:
            found = case.what_counts(written.read_bytes())
            assert found == case.what_counts(case.encode(expected))
    assert result.summary["documents_in"] == len(rows) - 1


@pytest.mark.slow
@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_where__kept_rows_are_converted(output_format, tmp_path):
    rows = [{"id": n, "text": f"text {n}", "m": {"n": n}} for n in range(9)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    where = "m.n between 2 and 6"
    result = neardup.deduplicate(tmp_path / "in.jsonl", read=neardup.ReadOptions(where=where))
    result.write(tmp_path / "out", format=output_format)
    kept = neardup.deduplicate(tmp_path / "out/kept").kept
    assert kept["id"].to_pylist() == [2, 3, 4, 5, 6]
