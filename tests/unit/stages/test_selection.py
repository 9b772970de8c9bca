"""Tables of a selection: made some rows at a time when written, all at once when asked for."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

import neardup
from neardup.stages import selection

TABLES = ("removed", "clusters")


@pytest.fixture
def result(tmp_path):
    """Deduplicate files, one of them empty and one with a bad row, against another collection."""
    for name, numbers in {"a": range(9), "b": [], "c": range(3, 12), "other/a": range(5)}.items():
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f'{{"text": "row {i % 7}"}}\n' for i in numbers))
    with (tmp_path / "c.jsonl").open("a") as file:
        file.write('{"text": 5}\n{"text": "row 0"}\n')
    return neardup.deduplicate(
        [tmp_path / f"{name}.jsonl" for name in "abc"],
        against=tmp_path / "other",
        read=neardup.ReadOptions(on_error="skip"),
    )


@pytest.mark.parametrize("at_once", [1, 4, 1 << 16])
def test_write__tables_are_those_of_the_result(tmp_path, monkeypatch, result, at_once):
    monkeypatch.setattr(selection, "ROWS_AT_ONCE", at_once)
    result.write(tmp_path / "out")
    for name in TABLES:
        written, table = pq.read_table(tmp_path / f"out/{name}.parquet"), getattr(result, name)
        assert written.equals(table)
        assert written.schema == table.schema
        assert [column.num_chunks for column in table.columns] == [1] * table.num_columns
    rows = result.removed.to_pylist()
    assert {row["file"] for row in rows} == {"a.jsonl", "c.jsonl"}
    assert [row["id"] for row in rows] == [f"{row['file']}:{row['row']}" for row in rows]
    assert {row["kept_in"] for row in rows} == {"input", "against"}
    keepers = [row["kept_id"].removeprefix("against/") for row in rows]
    assert keepers == [f"{row['kept_file']}:{row['kept_row']}" for row in rows]
    assert len(rows) == 17
    assert len(result.clusters) == 19
