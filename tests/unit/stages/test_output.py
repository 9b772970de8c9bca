"""An output folder opened again: texts at their places whatever format and side, and refusals."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError, ReadError
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rawrows import RawSource
from neardup.outputs.output_tables import TableRows
from neardup.stages.output import open_output


def whole(rows: TableRows) -> pa.Table:
    return pa.concat_tables(rows.batches())


TEXTS = [f"text {i % 7} of some words\nand a line {i % 7}" for i in range(20)]
LAST = "a text behind bad rows"


def write_inputs(folder: Path) -> dict[tuple[str, int], str]:
    """Write the texts in every form, with bad rows and blank lines; return them by their places."""
    folder.mkdir()
    lines = [json.dumps({"text": text, "n": i}) for i, text in enumerate(TEXTS)]
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(("\n\n".join(lines) + "\n").encode()))
    (folder / "b").mkdir()
    rows = "".join(f'"{text}",{i}\n' for i, text in enumerate(TEXTS))
    (folder / "b/b.csv").write_text(f"text,n\n{rows}")
    (folder / "c.json").write_text(json.dumps([json.loads(line) for line in lines]))
    pq.write_table(pa.table({"n": range(20), "text": TEXTS}), folder / "d.parquet")
    bad = [*lines[:2], '{"n": 5}', *lines[2:], '{"text": null}', json.dumps({"text": LAST})]
    (folder / "e.jsonl").write_text("\n".join(bad) + "\n")
    (folder / "f.txt").write_text(TEXTS[3])
    (folder / "g.txt").write_text("another text that is one of its kind")
    with zipfile.ZipFile(folder / "h.zip", "w") as archive:
        archive.writestr("in/h.jsonl", "\n".join(lines[3:6]))
    found = {("f.txt", 1): TEXTS[3], ("g.txt", 1): "another text that is one of its kind"}
    for i, text in enumerate(TEXTS):
        found["a.jsonl.gz", 2 * i + 1] = text
        for name in ("b/b.csv", "c.json", "d.parquet"):
            found[name, i + 1] = text
        found["e.jsonl", i + 1 if i < 2 else i + 2] = text
    found["e.jsonl", 23] = LAST
    return found | {("h.zip/in/h.jsonl", i - 2): TEXTS[i] for i in (3, 4, 5)}


@pytest.fixture
def expected(tmp_path):
    """Texts by file and row."""
    return write_inputs(tmp_path / "in")


@pytest.mark.slow
@pytest.mark.parametrize("output_format", ["same", "jsonl", "parquet"])
@pytest.mark.parametrize("block_bytes", [64, 1 << 20])
def test_texts(tmp_path, monkeypatch, expected, output_format, block_bytes):
    for source in (JsonLinesSource, DelimitedSource, RawSource):
        monkeypatch.setitem(source.__init__.__kwdefaults__, "block_bytes", block_bytes)
    result = neardup.deduplicate(
        tmp_path / "in",
        threshold=1,
        text=neardup.TextOptions(ngram=1),
        read=neardup.ReadOptions(on_error="skip"),
    )
    result.write(tmp_path / "out", format=output_format)
    output = open_output(tmp_path / "out")
    assert whole(output.removed).equals(result.removed)
    assert whole(output.clusters).equals(result.clusters)
    assert output.documents.files == list(dict.fromkeys(file for file, _ in sorted(expected)))
    found = {}
    for row in result.clusters.to_pylist():
        side = "removed" if row["is_duplicate"] else "kept"
        found[row["file"], row["row"]], *_ = output.texts(side, row["file"], [row["row"]])
    assert found == expected


def test_open_output__at_a_url(tmp_path, expected):
    result = neardup.deduplicate(tmp_path / "in", read=neardup.ReadOptions(on_error="skip"))
    result.write(f"local://{tmp_path}/out")
    output = open_output(f"local://{tmp_path}/out")
    assert whole(output.removed).equals(result.removed)
    assert output.texts("kept", "a.jsonl.gz", [3]) == [TEXTS[1]]
    with pytest.raises((ReadError, InvalidInputError)):
        open_output(f"local://{tmp_path}/in")


def test_open_output__refusals(tmp_path):
    with pytest.raises(ReadError, match="folder"):
        open_output(tmp_path / "none")
    with pytest.raises(InvalidInputError, match="no summary"):
        open_output(tmp_path)
    for content, reason in (("{", "JSON"), ("{}", "of no")):
        (tmp_path / "summary.json").write_text(content)
        with pytest.raises(InvalidInputError, match=reason):
            open_output(tmp_path)
    (tmp_path / "summary.json").write_text('{"documents_removed": 0, "keep": "first"}')
    with pytest.raises(InvalidInputError):
        open_output(tmp_path)
    neardup.cut(["one two three"]).write(tmp_path / "cut")
    with pytest.raises(InvalidInputError):
        open_output(tmp_path / "cut")


def test_output__changed_since(tmp_path, expected):
    neardup.deduplicate(tmp_path / "in", read=neardup.ReadOptions(on_error="skip")).write(
        tmp_path / "out"
    )

    def copied() -> Path:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        return shutil.copytree(tmp_path / "out", tmp_path / "copy")

    with pytest.raises(InvalidInputError, match=r"'a\.jsonl\.gz', row 2\b.*kept"):
        open_output(copied()).texts("kept", "a.jsonl.gz", [1, 2])
    with pytest.raises(InvalidInputError, match=r"'z', row 1\b.*removed"):
        open_output(copied()).texts("removed", "z", np.array([1]))
    (copied() / "removed/d.parquet").unlink()
    with pytest.raises(InvalidInputError, match=r"removed/d\.parquet"):
        open_output(tmp_path / "copy").texts("removed", "d.parquet", [8])
    (copied() / "removed.parquet").unlink()
    with pytest.raises(InvalidInputError, match=r"no removed\.parquet"):
        _ = open_output(tmp_path / "copy").removed
    (copied() / "removed/c.json").write_text('[{"text": "short"}]')
    with pytest.raises(InvalidInputError):
        open_output(tmp_path / "copy").texts("removed", "c.json", [18])
    pq.write_table(pq.read_table(copied() / "clusters.parquet")[1:], tmp_path / "c.parquet")
    (tmp_path / "c.parquet").replace(tmp_path / "copy/clusters.parquet")
    with pytest.raises(InvalidInputError, match=r"clusters\.parquet is not"):
        _ = open_output(tmp_path / "copy").documents
