"""removed.parquet with texts: those of the input, whatever format, memory and number of workers."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import ReadError
from neardup.stages import output
from neardup.stages.output import open_output
from tests.calls import grouped
from tests.spilling import spilling

RNG = np.random.default_rng(8)
TEXTS = [f"text {n} with some words\nand a line of {n}" for n in RNG.integers(0, 40, 300).tolist()]
OTHER = [f"text {n} with some words\nand a line of {n}" for n in (3, 7, 7, 21)]


@pytest.fixture
def files(tmp_path):
    """Write two collections, one with bad rows and blank lines; return texts by file and row."""
    lines = [json.dumps({"text": text}) for text in TEXTS]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text("\n\n".join([*lines[:100], "{}"]) + "\n")
    (tmp_path / "in/b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[100:200]).encode()))
    rows = "".join(f'"{text}",x\n' for text in TEXTS[200:])
    (tmp_path / "in/c.csv").write_text(f"text,n\n{rows}")
    (tmp_path / "other.json").write_text(json.dumps([{"text": text} for text in OTHER]))
    found = {("a.jsonl", 2 * i + 1): text for i, text in enumerate(TEXTS[:100])}
    found |= {("b.jsonl.gz", i + 1): text for i, text in enumerate(TEXTS[100:200])}
    return found | {("c.csv", i + 1): text for i, text in enumerate(TEXTS[200:])}


def deduplicated(folder, **options):
    options = {"ngram": 1, "threshold": "0.9", "on_error": "skip", **options}
    return neardup.deduplicate(folder / "in", **grouped(**options))


def check(folder, result, expected, other=()):
    table = pq.read_table(folder / "removed.parquet")
    assert table.column_names[-2:] == ["text", "kept_text"]
    assert table.drop_columns(["text", "kept_text"]).equals(result.removed)
    assert len(table)
    for row in table.to_pylist():
        assert row["text"] == expected[row["file"], row["row"]]
        keepers = dict(enumerate(other, start=1))
        if row["kept_in"] == "against":
            assert row["kept_text"] == keepers.get(row["kept_row"])
        else:
            assert row["kept_text"] == expected[row["kept_file"], row["kept_row"]]


@pytest.mark.slow
@pytest.mark.parametrize("group_bytes", [100, 1 << 20])
def test_write(tmp_path, monkeypatch, files, group_bytes):
    monkeypatch.setattr(output, "_GROUP_BYTES", group_bytes)
    result = deduplicated(tmp_path, against=tmp_path / "other.json")
    result.write(tmp_path / "out", with_text=True)
    check(tmp_path / "out", result, files, OTHER)
    assert set(result.removed["kept_in"].to_pylist()) == {"input", "against"}
    metadata = pq.ParquetFile(tmp_path / "out/removed.parquet").metadata
    rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    # Each has two texts of 45 characters.
    assert max(rows) <= max(1, group_bytes // 80)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("clusters.parquet", "kept", "removed", "removed.parquet"),
        *("skipped", "skipped.parquet", "summary.json"),
    ]
    every = np.arange(len(result.removed))
    assert open_output(tmp_path / "out").removed.take(every).equals(result.removed)


@pytest.mark.slow
def test_write__same_bytes_for_any_workers_and_memory(tmp_path, monkeypatch, files):
    monkeypatch.setattr(output, "_GROUP_BYTES", 900)
    deduplicated(tmp_path, workers=1).write(tmp_path / "one", with_text=True)
    deduplicated(tmp_path, workers=3).write(tmp_path / "three", with_text=True)
    with spilling():
        result = deduplicated(tmp_path, work=tmp_path / "work")
        result.write(tmp_path / "spilled", with_text=True)
    expected = (tmp_path / "one/removed.parquet").read_bytes()
    for name in ("three", "spilled"):
        assert (tmp_path / name / "removed.parquet").read_bytes() == expected


@pytest.mark.parametrize("method", ["minhash", "exact"])
def test_write__against_an_index(tmp_path, files, method):
    with neardup.DocumentIndex.create(
        tmp_path / "index", text=neardup.TextOptions(ngram=1)
    ) as index:
        index.add(OTHER[:1])
        result = deduplicated(tmp_path, against=index, ngram=None, threshold=None, method=method)
        result.write(tmp_path / "out", with_text=True)
    check(tmp_path / "out", result, files)


def test_write__a_file_that_has_changed(tmp_path, files):
    result = deduplicated(tmp_path)
    (tmp_path / "in/c.csv").write_text("text,n\nshort,1\n")
    with pytest.raises(ReadError):
        result.write(tmp_path / "out", with_text=True)
    assert not (tmp_path / "out").exists()
