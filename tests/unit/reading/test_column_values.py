"""Values by which documents are counted: as text, whatever format and type."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files import rawsource
from neardup.reading import column_values
from tests.each import each_of
from tests.spilling import spilling

VALUES = ["web", None, "7", "", "books", "7", "web", " ", "Δ"]
TEXTS = [f"text {i % 4} of words" for i in range(9)]


def write(path: Path) -> None:
    rows = [{"text": text, "source": value} for text, value in zip(TEXTS, VALUES, strict=True)]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".csv":
        path.write_text(
            "source,text\n"
            + "".join(f'"{v or ""}",{t}\n' for v, t in zip(VALUES, TEXTS, strict=True))
        )
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        del rows[1]["source"]
        rows[2]["source"] = 7
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def counts(summary):
    return {row["value"]: row["documents_in"] for row in summary["by"]["counts"]}


@each_of("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
@each_of("block_bytes", [30, 1 << 20])
def test_values(tmp_path, monkeypatch, name, block_bytes):
    monkeypatch.setitem(rawsource.RawSource.__init__.__kwdefaults__, "block_bytes", block_bytes)
    write(tmp_path / name)
    result = neardup.deduplicate(tmp_path / name, by="source", ngram=1)
    assert counts(result.summary) == {"7": 2, "books": 1, "web": 2, "Δ": 1, None: 3}
    assert [row["value"] for row in result.summary["by"]["counts"]] == [
        "7",
        "books",
        "web",
        "Δ",
        None,
    ]
    assert result.removed["by"].to_pylist() == ["books", "7", "web", None, "Δ"]
    assert result.removed["kept_by"].to_pylist() == ["web", None, "7", None, "web"]


def test_values__of_all_types():
    day = datetime.date(2026, 11, 22)
    columns = {
        "float": pa.array([1.0, 2.5, None]),
        "nan": pa.array([1.0, np.nan, np.inf]),
        "date": pa.array([day, day, None]),
        "bool": pa.array([True, False, None]),
        "dictionary": pa.array(["a", "b", None]).dictionary_encode(),
    }
    table = pa.table({"text": ["x", "y", "z"], **columns})
    found = {name: list(counts(neardup.deduplicate(table, by=name).summary)) for name in columns}
    assert found == {
        "float": ["1", "2.5", None],
        "nan": ["1", "inf", None],
        "date": ["2026-11-22", None],
        "bool": ["false", "true", None],
        "dictionary": ["a", "b", None],
    }


def test_values__that_are_no_numbers_are_equal_to_nothing():
    table = pa.table({"text": ["one two"] * 3, "price": [np.nan, np.nan, 1.0]})
    assert len(neardup.find_pairs(table, ngram=1, blocking="price").pairs) == 0


def test_values__beside_bad_rows_and_other_files(tmp_path):
    """Files without columns, and rows without text, have no value."""
    (tmp_path / "a.jsonl").write_text('{"source": "x"}\n{"text": "one", "source": "y"}\nbad\n')
    (tmp_path / "b.txt").write_text("one")
    result = neardup.deduplicate(tmp_path, by="source", on_error="skip")
    assert counts(result.summary) == {"y": 1, None: 1}
    assert result.removed.select(["by", "kept_by"]).to_pylist() == [{"by": None, "kept_by": "y"}]


def test_values__of_keepers_in_another_collection():
    rows = [{"text": "one", "source": "x"}, {"text": "two", "source": "y"}] * 2
    result = neardup.deduplicate(rows, against=[{"text": "two"}], by="source")
    removed = result.removed.select(["by", "kept_by"]).to_pylist()
    assert [tuple(row.values()) for row in removed] == [("y", None), ("x", "x"), ("y", None)]
    pairs = {
        (row["value"], row["kept_value"], row["kept_in"]): row["documents_removed"]
        for row in result.summary["by"]["pairs"]
    }
    assert pairs == {("y", None, "against"): 2, ("x", "x", "input"): 1}


@pytest.mark.parametrize("method", ["minhash", "exact"])
def test_values__against_an_index(tmp_path, method):
    rows = [{"text": "one", "source": "x"}, {"text": "two", "source": "y"}] * 2
    with neardup.DocumentIndex.create(tmp_path / "index") as index:
        index.add(["two"])
        result = neardup.deduplicate(rows, against=index, by="source", method=method)
    assert result.removed["kept_by"].to_pylist() == [None, "x", None]
    assert counts(result.summary) == {"x": 2, "y": 2}


def test_values__of_pairs_and_of_another_threshold():
    rows = [{"text": "one", "source": source} for source in "aab"]
    pairs = neardup.find_pairs(rows, ngram=1)
    chosen = neardup.choose(pairs, rows, by="source")
    assert counts(chosen.summary) == {"a": 2, "b": 1}
    assert chosen.rethreshold("0.9", pairs).summary["by"] == chosen.summary["by"]
    with pytest.raises(InvalidParameterError, match="by has no effect without data"):
        neardup.choose(pairs, by="source")


def test_values__refusals(monkeypatch):
    rows = [{"text": "one", "source": [1]}, {"text": "two", "source": [2]}]
    with pytest.raises(InvalidInputError, match=r"'source' holds list.* values; by needs strings"):
        neardup.deduplicate(rows, by="source")
    with pytest.raises(
        InvalidInputError, match=r"no column 'sauce', .* columns are 'source', 'text'"
    ):
        neardup.deduplicate(rows, by="sauce")
    monkeypatch.setattr(column_values, "_MOST_VALUES", 1)
    with pytest.raises(InvalidInputError, match="more than 1 different values"):
        neardup.deduplicate(rows, by="text")


@pytest.mark.slow
def test_values__spilled_and_by_any_number_of_workers(tmp_path):
    rng = np.random.default_rng(3)
    lines = [
        json.dumps({"text": f"words of {n}", "source": f"s{n % 7}"})
        for n in rng.integers(0, 300, 2000).tolist()
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    options = {"by": "source", "ngram": 2}
    found = [neardup.deduplicate(tmp_path / "a.jsonl", workers=n, **options) for n in (1, 3)]
    with spilling():
        found.append(neardup.deduplicate(tmp_path / "a.jsonl", work=tmp_path, **options))
        assert found[2].removed.equals(found[0].removed)
    assert found[1].removed.equals(found[0].removed)
    assert found[0].summary["by"] == found[1].summary["by"] == found[2].summary["by"]
