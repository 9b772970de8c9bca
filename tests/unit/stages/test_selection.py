"""Tables of a selection: made some rows at a time when written, all at once when asked for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.outputs.table_files import write_parquet_parts
from neardup.stages import selection
from neardup.stages.selection import in_batches

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
        on_error="skip",
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


def test_write__tables_beyond_a_part_are_folders(tmp_path, monkeypatch, result):
    monkeypatch.setitem(write_parquet_parts.__kwdefaults__, "part_rows", 18)
    result.write(tmp_path / "out")
    assert (tmp_path / "out/removed.parquet").is_file()
    assert sorted(path.name for path in (tmp_path / "out/clusters.parquet").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert pq.read_table(tmp_path / "out/clusters.parquet").equals(result.clusters)
    before = sorted(tmp_path.rglob("*"))
    result.write(tmp_path / "out", overwrite=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_in_batches__rows_are_made_when_they_are_read(monkeypatch):
    monkeypatch.setattr(selection, "ROWS_AT_ONCE", 2)
    asked = []

    def rows_of(documents):
        asked.append(documents.tolist())
        return pa.table({"n": documents})

    reader = in_batches(rows_of, np.arange(5))
    assert reader.schema == pa.schema({"n": pa.int64()})
    assert asked == [[]]
    assert reader.read_next_batch().to_pydict() == {"n": [0, 1]}
    assert asked == [[], [0, 1]]
    assert reader.read_all().to_pydict() == {"n": [2, 3, 4]}
    of_mask = in_batches(rows_of, np.array([True, False, False, True, True]))
    assert of_mask.read_all().to_pydict() == {"n": [0, 3, 4]}
