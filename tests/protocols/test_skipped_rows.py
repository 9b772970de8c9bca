"""What holds for bad rows of every format: they are put apart as they are, and never converted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from tests.protocols.format_cases import Case
from tests.protocols.format_reading import every_case_with_bad_rows

FORMATS = ("same", "jsonl", "parquet")


def put(case: Case, folder: Path) -> tuple[object, str, list[bytes]]:
    """Write five rows, the third of them bad, and return what to read of it and of the others.

    Where a file is one row there are as many files. Returned are input, name of the file with the
    bad row, the content of a file of it alone, and that of a file of all others.
    """
    rows = case.some_rows(5)
    if not case.is_one_row:
        content = case.spoilt(rows, 2)
        alone = case.spoilt([rows[2]], 0)
        others = [case.encode([row for i, row in enumerate(rows) if i != 2])]
        if case.suffix is None:
            return pq.read_table(pa.BufferReader(content)), "data.parquet", [alone, *others]
        (folder / case.name).write_bytes(content)
        return folder, case.name, [alone, *others]
    alone = case.spoilt(rows, 0)
    others = [case.encode([{"id": "k", "text": f"text {i} é"}]) for i in range(4)]
    for name, content in zip("abzcd", [*others[:2], alone, *others[2:]], strict=True):
        (folder / name).mkdir()
        (folder / name / case.name).write_bytes(content)
    return folder, f"z/{case.name}", [alone, *others]


def texts_in(folder: Path) -> list[str]:
    """Return the texts of all converted files, by the names of these."""
    texts = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if path.suffix == ".parquet":
            # A file of JSON without a document has no columns.
            table = pq.read_table(path)
            texts += table["text"].to_pylist() if table.num_columns else []
        else:
            content = path.read_bytes()
            lines = gzip.decompress(content) if path.suffix == ".gz" else content
            texts += [json.loads(line)["text"] for line in lines.splitlines()]
    return texts


@pytest.mark.slow
@every_case_with_bad_rows
def test_skipped_rows__are_apart_and_the_others_are_converted(case, tmp_path):
    (tmp_path / "in").mkdir()
    data, name, [alone, *others] = put(case, tmp_path / "in")
    result = neardup.deduplicate(
        data, threshold=1, read=neardup.ReadOptions(on_error="skip", document=case.document)
    )
    counts = result.summary
    rows_in = counts["documents_kept"] + counts["documents_removed"] + counts["skipped_rows"]
    assert (rows_in, counts["documents_in"], counts["skipped_rows"]) == (5, 4, 1)
    kept = [f"text {i} é" for i in ((0, 1, 2, 3) if case.is_one_row else (0, 1, 3, 4))]
    assert sorted(result.kept["text"].to_pylist()) == kept
    [skipped] = result.skipped.to_pylist()
    # What is in memory has no file, and gets one when it is written.
    file = "data" if case.suffix is None else name
    assert (skipped["file"], skipped["row"]) == (file, 1 if case.is_one_row else 3)
    assert [skipped] == counts["skipped"]
    for output_format in FORMATS:
        out = tmp_path / output_format
        result.write(out, format=output_format)
        written = [path for path in (out / "skipped").rglob("*") if path.is_file()]
        assert written == [out / "skipped" / name]
        assert case.what_counts(written[0].read_bytes()) == case.what_counts(alone)
        assert pq.read_table(out / "skipped.parquet").to_pylist() == [skipped]
        if output_format != "same":
            assert sorted(texts_in(out / "kept")) == kept
            continue
        files = sorted(path for path in (out / "kept").rglob("*") if path.is_file())
        found = [case.what_counts(path.read_bytes()) for path in files]
        assert found == [case.what_counts(content) for content in others]


@every_case_with_bad_rows
def test_skipped_rows__where_all_are_bad(case, tmp_path):
    rows = case.some_rows(1)
    content = case.spoilt(rows, 0)
    data: object = tmp_path / case.name
    if case.suffix is None:
        data = pq.read_table(pa.BufferReader(content))
    else:
        (tmp_path / case.name).write_bytes(content)
    result = neardup.deduplicate(
        data, read=neardup.ReadOptions(on_error="skip", document=case.document)
    )
    for output_format in FORMATS:
        result.write(tmp_path / output_format, format=output_format)
        [skipped] = [p for p in (tmp_path / output_format / "skipped").rglob("*") if p.is_file()]
        assert case.what_counts(skipped.read_bytes()) == case.what_counts(content)
        if output_format != "same":
            assert texts_in(tmp_path / output_format / "kept") == []
    assert len(result.kept) == 0


def test_skipped_rows__none(tmp_path):
    """Only the table is there, without rows; and not even that where bad rows are errors."""
    data = tmp_path / "a.txt"
    data.write_text("text")
    for on_error, names in (("skip", {"skipped.parquet"}), ("raise", set())):
        out = tmp_path / on_error
        neardup.deduplicate(data, read=neardup.ReadOptions(on_error=on_error)).write(out)
        assert {path.name for path in out.glob("skipped*")} == names
    table = pq.read_table(tmp_path / "skip/skipped.parquet")
    assert table.schema.types == [pa.string(), pa.int64(), pa.string()]
    assert table.to_pydict() == {"file": [], "row": [], "reason": []}
