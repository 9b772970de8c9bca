"""Rows that count, by a condition or by their tokens, and others are on Spark as in threads."""

from __future__ import annotations

import json
import random

import pytest

import neardup
from neardup.engine.spark import cluster
from neardup.files.jsonlines import JsonLinesSource
from tests.calls import grouped
from tests.spark import on_session
from tests.spark.runs import assert_same, summary_of

WHERE = "status = 200 and meta.lang like 'e%'"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Three files, each of some blocks, which several tasks read."""
    monkeypatch.setattr(cluster, "_LEAST_BYTES", 3000)
    monkeypatch.setitem(JsonLinesSource.__init__.__kwdefaults__, "block_bytes", 700)
    draw = random.Random(7)
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "abc":
        lines = []
        for number in range(80):
            row = {
                "id": f"{name}{number}",
                "text": " ".join(draw.choices("abcdef", k=6)) + f"\nline {draw.randrange(9)} of it",
                "status": draw.choice([200, "200", 404, None]) if name != "b" else 500,
                "meta": {"lang": draw.choice(["en", "es", "de"])},
            }
            lines.append(json.dumps(row) + "\n" if number != 5 else "no object\n")
        (folder / f"{name}.jsonl").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("job", ["deduplicate", "cut"])
def test_where(in_process, data, tmp_path, job):
    options = {
        "deduplicate": {"threshold": 0.5, "ngram": 1},
        "cut": {"exact": True, "unit": "lines", "min_tokens": 1},
    }[job]
    options |= {"where": WHERE, "on_error": "skip"}
    getattr(neardup, job)(data, **grouped(workers=2, **options)).write(tmp_path / "threads")
    on_spark = getattr(on_session, job)(in_process, str(data), **options)
    on_spark.write(tmp_path / "spark")
    assert_same(tmp_path / "spark", tmp_path / "threads")
    summary = summary_of(tmp_path / "spark")
    assert summary["skipped_rows"] == 3
    assert 100 < summary["filtered_rows"] == 3 * 79 - summary["documents_in"] < 220
