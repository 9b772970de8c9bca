"""Tables of results, as they come back from each format."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files import parquet
from neardup.runs.runner import Runner
from neardup.stages.result_tables import open_table


def read_table(data, runner):
    rows, summary = open_table(data, runner)
    return pa.concat_tables([rows.schema.empty_table(), *rows.batches()]), summary


TEXTS = ["one two three", "one two three four", "something else"]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_read_table__numbers_are_numbers(tmp_path, suffix):
    result = neardup.find_pairs(TEXTS, threshold="0.5", text=neardup.TextOptions(ngram=1))
    path = tmp_path / f"pairs.{suffix}"
    result.write(path)
    table, summary = read_table(path, Runner(1))
    assert table.select(["id_a", "id_b", "similarity", "overlap"]).to_pylist() == (
        result.pairs.to_pylist()
    )
    assert (summary is not None) == (suffix == "parquet")
    assert summary is None or summary["threshold"] == 0.5


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_read_table__without_a_row(tmp_path, suffix):
    neardup.find_pairs(TEXTS, threshold="1").write(tmp_path / f"pairs.{suffix}")
    if suffix == "jsonl":
        # Nothing says which table it is.
        assert read_table(tmp_path / "pairs.jsonl", Runner(1))[0].column_names == []
    else:
        table, _ = read_table(tmp_path / f"pairs.{suffix}", Runner(1))
        assert len(table) == 0
        assert table.column_names[:3] == ["id_a", "id_b", "similarity"]


def test_read_table__what_is_no_number(tmp_path):
    (tmp_path / "pairs.csv").write_text("id_a,id_b,similarity\nx,y,much\n")
    with pytest.raises(InvalidInputError, match=r"'similarity'.*numbers"):
        read_table(tmp_path / "pairs.csv", Runner(1))


def test_read_table__without_an_id():
    given = pa.table({"id_a": ["x", "y"], "id_b": ["y", None], "similarity": [0.5, 0.5]})
    with pytest.raises(InvalidInputError, match=r"row 2\b.*'id_b'"):
        read_table(given, Runner(1))


def test_open_table__names_rows_of_later_blocks(tmp_path, monkeypatch):
    for name in ("_MIN_ROWS", "_MAX_ROWS"):
        monkeypatch.setattr(parquet, name, 2)
    table = pa.table({"id_a": list("abcde"), "id_b": ["x", "y", "z", None, "v"]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    rows, _ = open_table(tmp_path / "pairs.parquet", Runner(1))
    with pytest.raises(InvalidInputError, match=r"row 4\b.*'id_b'"):
        list(rows.batches())
