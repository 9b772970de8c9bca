"""Rows in several files each are those of one file, in its order, of every format."""

from __future__ import annotations

import json
import resource
from pathlib import PurePath

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidParameterError
from neardup.files import rawsource
from neardup.files.convert import converted_name
from neardup.outputs.folder import numbered_name
from neardup.stages.output import open_output
from tests.protocols.format_cases import CASES
from tests.protocols.format_reading import FILES


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_per_file(case, block_bytes, workers, tmp_path, monkeypatch):
    monkeypatch.setitem(rawsource.RawSource.__init__.__kwdefaults__, "block_bytes", block_bytes)
    rows = case.some_rows(1 if case.is_one_row else 8)
    name = case.name
    if case in FILES:
        (tmp_path / name).write_bytes(case.encode(rows))
        data = str(tmp_path / name)
    else:
        data, name = pq.read_table(pa.BufferReader(case.encode(rows))), "data.parquet"
    result = neardup.deduplicate(data, workers=workers, id_column="", lines=case.lines)
    result.write(tmp_path / "one")
    result.write(tmp_path / "some", rows_per_file=3)
    stays = [True] * len(rows)
    for row in result.removed["row"].to_pylist():
        stays[row - 1] = False
    for side, is_there in (("kept", True), ("removed", False)):
        here = [row for row, is_so in zip(rows, stays, strict=True) if is_so == is_there]
        parts = [here[start : start + 3] for start in range(0, len(here), 3)] or [[]]
        written = sorted((tmp_path / "some" / side).iterdir())
        if case.is_one_row and not here:
            assert written == []
            continue
        assert [path.name for path in written] == [
            numbered_name(converted_name(name, "same"), number) for number in range(len(parts))
        ]
        for path, part in zip(written, parts, strict=True):
            if name.endswith(".parquet"):
                assert pq.read_table(path).to_pylist() == part
            else:
                found = case.what_counts(path.read_bytes())
                assert found == case.what_counts(case.encode(part))


@pytest.mark.slow
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=20),
    st.integers(1, 7),
    st.sampled_from(["same", "jsonl", "parquet"]),
)
@example(list("aaaaaaaab"), 3, "same")
def test_rows_per_file__read_back(tmp_path_factory, words, most, output_format):
    folder = tmp_path_factory.mktemp("rows")
    rows = [{"id": n, "text": f"{word} {word}"} for n, word in enumerate(words)]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = neardup.deduplicate(folder / "in.jsonl", ngram=1)
    result.write(folder / "out", format=output_format, rows_per_file=most)
    read = neardup.deduplicate(folder / "out/kept", method="exact").kept
    assert read["id"].to_pylist() == result.kept["id"].to_pylist()
    assert json.loads((folder / "out/summary.json").read_text())["rows_per_file"] == most
    neardup.report(folder / "out").write(folder / "page.html")
    output = open_output(folder / "out")
    for row, document in enumerate(rows, 1):
        side = "removed" if document["id"] in result.removed["id"].to_pylist() else "kept"
        assert output.texts(side, "in.jsonl", [row]) == [document["text"]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", "a-00007.jsonl"),
        ("a/b.c.jsonl.GZ", "a/b.c-00007.jsonl.GZ"),
        ("a.b/c", "a.b/c-00007"),
        ("a.zst", "a-00007.zst"),
        (".jsonl", ".jsonl-00007"),
    ],
)
def test_numbered_name(name, expected):
    assert numbered_name(name, 7) == expected
    assert PurePath(expected).parent == PurePath(name).parent


def test_rows_per_file__refused(tmp_path):
    result = neardup.deduplicate(["a b c d e f"])
    with pytest.raises(InvalidParameterError, match="rows_per_file has no effect with tables_only"):
        result.write(tmp_path / "out", rows_per_file=3, tables_only=True)
    for wrong in (0, 2**70):
        with pytest.raises(InvalidParameterError, match=f"rows_per_file must lie .*, got {wrong}"):
            result.write(tmp_path / "out", rows_per_file=wrong)
    assert not (tmp_path / "out").exists()


def test_rows_per_file__many_files_of_one_block(tmp_path):
    """Files are open one after the other, however many a block fills; any number is taken."""
    lines = [json.dumps({"id": n, "text": f"word{n} other{n}"}) + "\n" for n in range(3000)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    result = neardup.deduplicate(tmp_path / "in.jsonl", ngram=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        result.write(tmp_path / "small", rows_per_file=2)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    written = sorted((tmp_path / "small/kept").iterdir())
    assert len(written) == 1500
    assert "".join(path.read_text() for path in written) == "".join(lines)
    result.write(tmp_path / "large", rows_per_file=2**31)
    assert (tmp_path / "large/kept/in-00000.jsonl").read_text() == "".join(lines)
    result.write(tmp_path / "whole")
    assert "rows_per_file" not in json.loads((tmp_path / "whole/summary.json").read_text())
