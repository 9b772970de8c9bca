"""What summaries say of inputs, and of how they were read."""

from __future__ import annotations

import json
from pathlib import Path

import neardup
from neardup.files.memory import rows_source
from neardup.files.rows import Source
from neardup.stages.options import describe_inputs

ROWS = [{"text": "one two three", "title": "a"}, {"text": "one two three", "title": "b"}]


def source(name: str, origin: str) -> Source:
    made = rows_source(ROWS)
    made.name, made.origin = name, origin
    return made


def test_describe_inputs__what_gives_access_is_left_out():
    urls = [
        ("s3://key:secret@bucket/a.jsonl", "s3://bucket/a.jsonl"),
        ("https://host/a.jsonl?signature=5#x", "https://host/a.jsonl"),
        ("data/a@b.jsonl", "data/a@b.jsonl"),
    ]
    described = describe_inputs([source("a.jsonl", url) for url, _ in urls], [])
    assert [each["origin"] for each in described["inputs"]] == [shown for _, shown in urls]
    assert (described["against_files"], described["against"]) == (0, [])


def test_summary__inputs_and_reading(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS)
        Path(f"{name}.jsonl").write_bytes(lines.encode("latin-1"))
    result = neardup.deduplicate(
        "a.jsonl",
        against="b.jsonl",
        read=neardup.ReadOptions(
            text_column=["title", "text"], against_text_column="text", encoding="latin-1"
        ),
    )
    expected = {
        "input_files": 1,
        "inputs": [{"name": "a.jsonl", "origin": "a.jsonl"}],
        "against_files": 1,
        "against": [{"name": "b.jsonl", "origin": "b.jsonl"}],
        "reading": {
            "text_column": ["title", "text"],
            "against_text_column": "text",
            "id_column": None,
            "input_format": "auto",
            "encoding": "latin-1",
            "delimiter": None,
            "document": None,
            "main_text": False,
        },
    }
    assert {name: result.summary[name] for name in expected} == expected
    result.write("out", format="parquet")
    written = json.loads(Path("out/summary.json").read_text())
    assert written == result.summary
    assert written["output_format"] == "parquet"
