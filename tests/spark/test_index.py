"""Deduplication against an index of documents: same files, and the same index, as in threads."""

from __future__ import annotations

import json
import random
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError, NeardupError
from neardup.index.store import read_manifest
from tests.calls import grouped
from tests.indexes import tree
from tests.spark import on_session
from tests.spark.collection import make_rows
from tests.spark.mishaps import dies_once, replace_stage
from tests.spark.runs import assert_same, run_spark, run_threads, summary_of

# Of the index, and of the run.
OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "default": ({}, {}),
    "containment": ({"measure": "containment", "columns": ["origin"]}, {"keep": "shortest"}),
    "weighted": ({"measure": "weighted-jaccard", "threshold": "0.7"}, {}),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of three files, many like those of the index."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "own").mkdir()
    rows = make_rows(600, 1)
    draw = random.Random(4)
    long = [row for row in make_rows(300, 2) if len(row["text"].split()) >= 80]
    for number, row in enumerate(long):
        # Like one of the index, or a copy of it, and like that, but less like the one of the index.
        text = row["text"]
        for place in range(7 * number % 590, 7 * number % 590 + 3):
            text = changed(text, draw.choice([0, 1, 2, 3]), draw)
            rows[place] = {**rows[place], "text": text}
    for name, part in (("a", rows[:300]), ("b", rows[300:570]), ("c", rows[570:])):
        text = "".join(json.dumps(row) + "\n" for row in part)
        (folder / f"own/{name}.jsonl").write_text(text)
    return folder


def changed(text: str, n_words: int, draw: random.Random) -> str:
    """Put other words in places of a text."""
    words = text.split()
    for place in draw.sample(range(len(words)), n_words):
        words[place] = f"other{draw.randrange(1000)}"
    return " ".join(words)


def make_index(folder: Path, **options: Any) -> Path:
    """Make an index of several segments and a tail, of which some documents are gone or denied."""
    index = neardup.DocumentIndex.create(folder, **grouped(**options))
    rows = make_rows(300, 2)
    for start in range(0, 300, 100):
        index.add(rows[start : start + 100])
    index.remove([row["id"] for row in rows[:300:29]])
    index.insert("late", f"{rows[5]['text']} and more")
    index.commit()
    index.remove([row["id"] for row in rows[8:300:9] if row["id"] in index], deny=True)
    index.insert("later", "a text of which there is no other one, in the tail")
    index.commit()
    return folder


def added(run: Any, data: Path, index: Path, tmp_path: Path, name: str, **options: Any) -> Path:
    """Add to a copy of the index, in its place, and keep what it has become."""
    used = tmp_path / "idx"
    shutil.copytree(index, used)
    output = run(str(data / "own"), tmp_path / name, against=str(used), add=True, **options)
    used.rename(tmp_path / f"{name}-index")
    return output


def assert_same_index(found: Path, expected: Path) -> None:
    """Hold all files and rows of two indexes to each other, but for times of changes."""
    assert tree(found) == tree(expected)


@pytest.mark.parametrize("name", OPTIONS)
def test_against(in_process, data, tmp_path, small_tasks, name):
    of_index, options = OPTIONS[name]
    options = {**options, "against": str(make_index(tmp_path / "idx", **of_index))}
    expected = run_threads(str(data / "own"), tmp_path / "threads", **options)
    assert summary_of(expected)["removed_for_against"] > 20
    assert summary_of(expected)["documents_denied"] > 0
    assert_same(run_spark(in_process, str(data / "own"), tmp_path / "spark", **options), expected)


def test_against__an_index_with_a_copy_of_what_it_denies(in_process, data, tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "idx")
    rows = make_rows(40, 2)
    index.add([{**row, "id": f"{row['id']}-{k}"} for row in rows for k in "ab"])
    index.remove([f"{row['id']}-a" for row in rows], deny=True)
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = str(tmp_path / "own.jsonl"), tmp_path / "threads"
    expected = run_threads(*given, against=str(index.folder))
    removed = pq.read_table(expected / "removed.parquet")
    assert set(removed["kept_in"].to_pylist()) == {"denied"}
    assert len(removed) > 20
    found = run_spark(in_process, given[0], tmp_path / "spark", against=str(index.folder))
    assert_same(found, expected)


@pytest.mark.parametrize("name", OPTIONS)
def test_add(in_process, data, tmp_path, name):
    of_index, options = OPTIONS[name]
    index = make_index(tmp_path / "index", **of_index)
    expected = added(run_threads, data, index, tmp_path, "threads", **options)
    assert summary_of(expected)["documents_added"] > 100
    on_spark = partial(run_spark, in_process)

    found = added(on_spark, data, index, tmp_path, "spark", **options)
    assert_same(found, expected)
    assert_same_index(tmp_path / "spark-index", tmp_path / "threads-index")
    # Who adds them again adds nothing.
    again = added(on_spark, data, tmp_path / "spark-index", tmp_path, "again", **options)
    assert summary_of(again)["documents_added"] == 0
    assert summary_of(again)["documents_known"] == summary_of(expected)["documents_added"]


def test_add__to_an_index_that_weighs_by_its_first_documents(
    in_process, data, tmp_path, small_tasks
):
    """They are counted by tasks, and the index has what they are weighed by."""
    index = tmp_path / "index"
    neardup.DocumentIndex.create(
        index, measure="weighted-jaccard", threshold="0.6", text=neardup.TextOptions(idf="smooth")
    )
    on_spark = partial(run_spark, in_process)

    expected = added(run_threads, data, index, tmp_path, "threads")
    assert_same(added(on_spark, data, index, tmp_path, "spark"), expected)
    counted = [
        read_manifest(tmp_path / f"{name}-index").frequencies for name in ("spark", "threads")
    ]
    assert counted[0].n_documents > 0
    assert counted[0] == counted[1]


@pytest.mark.parametrize("row", [{"id": "x", "text": 5}, {"id": "2-7", "text": "one of a kind"}])
def test_add__nothing_if_it_fails(in_process, data, tmp_path, row):
    """By a bad row, or by an id that the index has; the error is that of threads."""
    index = make_index(tmp_path / "idx")
    before = tree(index)
    (tmp_path / "more").mkdir()
    text = (data / "own/a.jsonl").read_text()
    (tmp_path / "more/a.jsonl").write_text(text + json.dumps(row) + "\n")
    said = []
    for run in (neardup.deduplicate, partial(on_session.deduplicate, in_process)):
        with pytest.raises(NeardupError) as caught:
            run(str(tmp_path / "more"), against=index, add=True)
        said.append((type(caught.value), str(caught.value)))
        assert tree(index) == before
    assert said[0] == said[1]
    assert said[0][0] is InvalidInputError


def test_index_that_is_not_seen(in_process, data, tmp_path, monkeypatch):
    from neardup.index import handle

    index = make_index(tmp_path / "idx")
    monkeypatch.setattr(handle.Path, "absolute", lambda path: path / "elsewhere")
    with pytest.raises(NeardupError, match="executors do not see the index"):
        on_session.deduplicate(in_process, str(data / "own"), against=index)


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_killed(session, data, tmp_path, monkeypatch):
    index, mark = make_index(tmp_path / "index"), tmp_path / "was-killed"
    expected = added(run_threads, data, index, tmp_path, "threads")
    replace_stage(monkeypatch, "engine.spark.read._revisit", dies_once, str(mark), "executor")
    on_spark = partial(run_spark, session)

    assert_same(added(on_spark, data, index, tmp_path, "spark"), expected)
    assert mark.exists()
    assert_same_index(tmp_path / "spark-index", tmp_path / "threads-index")
