"""Errors on executors come out as those of threads; what cannot be had is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import neardup
from neardup.engine.spark import read
from neardup.errors import EngineError, InvalidInputError, NeardupError, ReadError, WriteError
from tests.spark import on_session
from tests.spark.runs import assert_same, run_threads


def message_of(function, *arguments, **options) -> tuple[type, str]:
    with pytest.raises(NeardupError) as caught:
        function(*arguments, **options)
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "line",
    ['{"id": "x", "text": 5}', "no JSON", '{"id": "x"}', '{"id": "1-3", "text": "again"}'],
)
def test_bad_row(session, collection, tmp_path, monkeypatch, small_tasks, line):
    """The same error, with the file as it was named and the row."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    lines = (collection / "own/a.jsonl").read_text().splitlines()
    lines[400] = line
    (tmp_path / "data/a.jsonl").write_text("\n".join(lines))
    if "again" not in line:
        # Ids are compared when all rows have been read.
        (tmp_path / "data/b.jsonl").write_text("no JSON either")
    expected = message_of(neardup.deduplicate, "data")
    assert expected[0] is InvalidInputError
    assert "a.jsonl, row 401" in expected[1]
    assert message_of(on_session.deduplicate, session, "data") == expected


def test_changed_file(in_process, collection, tmp_path, monkeypatch):
    """Between the first and the second time that it is read."""
    from neardup.stages import decide

    path = tmp_path / "a.jsonl"
    lines = (collection / "own/a.jsonl").read_text().splitlines(keepends=True)
    path.write_text("".join(lines))
    find = decide.find_components

    def find_and_change(*arguments):
        path.write_text("".join(lines[:-10]))
        return find(*arguments)

    monkeypatch.setattr(decide, "find_components", find_and_change)
    kind, message = message_of(on_session.deduplicate, in_process, str(path))
    assert kind is ReadError
    assert message.startswith(f"{path}: ")
    assert "changed" in message


def test_other_version(session, collection, monkeypatch):
    monkeypatch.setattr("neardup.engine.spark.cluster.__version__", "0.0.1")
    kind, message = message_of(on_session.deduplicate, session, str(collection / "own"))
    assert kind is EngineError
    assert "0.0.1" in message


@pytest.mark.parametrize("data", [["a text", "another"], [{"text": "a"}]])
def test_data_in_memory(in_process, data):
    with pytest.raises(InvalidInputError, match="data in memory"):
        on_session.deduplicate(in_process, data)


def test_folder_of_the_driver_alone(session, collection, tmp_path, monkeypatch):
    """Executors that write elsewhere would leave an output without rows."""

    result = on_session.deduplicate(session, str(collection / "own"))
    monkeypatch.setattr(read, "_ATTEMPTS", ".only-here")
    kind, message = message_of(result.write, tmp_path / "out")
    assert kind is WriteError
    assert "executors" in message
    assert not (tmp_path / "out").exists()


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "neardup", "dedup", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_command(spark_home, collection, tmp_path):
    """The command begins a session of its own where there is none."""
    data = str(collection / "own")
    run_threads(data, tmp_path / "threads")
    done = command(data, "-o", str(tmp_path / "out"), "--engine", "spark", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["engine"] == "spark"
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary
    assert_same(tmp_path / "out", tmp_path / "threads")


def test_command__in_an_environment_that_is_not_activated(spark_home, collection, tmp_path):
    """Executors take the interpreter of the command, and end without a word."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("python", "python3"):
        (folder / name).symlink_to("/bin/false")
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    submit = "--master local-cluster[2,1,1024] pyspark-shell"
    own = {"PATH": path, "PYSPARK_SUBMIT_ARGS": submit, "SPARK_HOME": str(spark_home)}
    data = str(collection / "own")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "neardup", "dedup", data),
            *("-o", str(tmp_path / "out"), "--engine", "spark", "--json"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | own,
    )
    assert (done.returncode, json.loads(done.stdout)["engine"]) == (0, "spark")
    assert "ERROR" not in done.stderr
    assert "\tat " not in done.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--method", "exact"], "--method"),
        (["--audit", "5"], "--audit"),
        (["--workers", "2"], "--workers"),
    ],
)
def test_command__refuses(collection, tmp_path, words, named):
    out = str(tmp_path / "out")
    done = command(str(collection / "own"), "-o", out, "--engine", "spark", *words)
    assert done.returncode == 2 or done.returncode == 1
    assert done.stderr.startswith("error: " + named) or named in done.stderr
    assert "--engine" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3
