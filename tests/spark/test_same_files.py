"""Spark writes the same files as threads, whatever the options and however rows travel."""

from __future__ import annotations

import json
from typing import Any

import pytest

import neardup
from tests.spark import on_session
from tests.spark.runs import assert_same, run_spark, run_threads

OPTIONS: dict[str, dict[str, Any]] = {
    "by origin": {"keep": "priority:origin=book,mail"},
    "components": {"clusters": "components", "threshold": 0.6},
    "numbered": {"occurrences": "numbered", "ngram": 2},
    "without ids": {"id_column": ""},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(in_process, collection, tmp_path, small_tasks, name):
    data = str(collection / "own")
    expected = run_threads(data, tmp_path / "threads", **OPTIONS[name])
    assert_same(run_spark(in_process, data, tmp_path / "spark", **OPTIONS[name]), expected)


def test_as_many_partitions_as_tasks(session, collection, tmp_path):
    """Spark must not take rows for placed because the numbers are the same."""
    data, options = str(collection / "own"), {"against": str(collection / "other")}
    expected = run_threads(data, tmp_path / "threads", **options)
    assert_same(run_spark(session, data, tmp_path / "spark", **options), expected)


def test_bad_rows_are_skipped(in_process, collection, tmp_path, small_tasks):
    data = tmp_path / "data"
    data.mkdir()
    lines = (collection / "own/a.jsonl").read_text().splitlines()
    for number in (3, 250, 599):
        lines[number] = '{"id": "bad", "text": 5}'
    (data / "a.jsonl").write_text("\n".join(lines) + "\n")
    (data / "b.jsonl").write_text('{"text": null}\n')
    expected = run_threads(str(data), tmp_path / "threads", on_error="skip")
    summary = json.loads((expected / "summary.json").read_text())
    assert summary["skipped_rows"] == 4
    assert_same(run_spark(in_process, str(data), tmp_path / "spark", on_error="skip"), expected)
    assert (expected / "skipped/b.jsonl").read_bytes() == (data / "b.jsonl").read_bytes()
    found = on_session.deduplicate(in_process, str(data), on_error="skip")
    found.write(tmp_path / "spark-parquet", format="parquet")
    threads = neardup.deduplicate(str(data), read=neardup.ReadOptions(on_error="skip"))
    threads.write(tmp_path / "threads-parquet", format="parquet")
    assert_same(tmp_path / "spark-parquet", tmp_path / "threads-parquet")


@pytest.mark.parametrize("text", ["", '{"text": ""}\n', '{"text": "one of a kind"}\n'])
def test_next_to_nothing(in_process, tmp_path, text):
    (tmp_path / "data.jsonl").write_text(text)
    data = str(tmp_path / "data.jsonl")
    expected = run_threads(data, tmp_path / "threads")
    assert_same(run_spark(in_process, data, tmp_path / "spark"), expected)


def test_output_at_a_url(in_process, collection, tmp_path, small_tasks):
    """Executors write there, and the marker has their files."""
    data = str(collection / "own")
    url = f"local://{tmp_path}"
    neardup.deduplicate(data).write(f"{url}/threads")
    on_session.deduplicate(in_process, data).write(f"{url}/spark")
    listed = [
        json.loads((tmp_path / name / "_SUCCESS").read_text())["files"]
        for name in ("spark", "threads")
    ]
    for files in listed:
        # It has the seconds of the run.
        [summary] = [file for file in files if file["name"] == "summary.json"]
        files.remove(summary)
    assert listed[0] == listed[1]
    for name in ("spark", "threads"):
        (tmp_path / name / "_SUCCESS").unlink()
    assert_same(tmp_path / "spark", tmp_path / "threads")


def test_component_over_the_memory_of_a_task(in_process, collection, tmp_path, monkeypatch):
    """What does not fit is decided in chunks, from files."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 40_000)
    data, options = str(collection / "own"), {"clusters": "components", "threshold": 0.5}
    expected = run_threads(data, tmp_path / "threads", **options)
    assert_same(run_spark(in_process, data, tmp_path / "spark", **options), expected)
