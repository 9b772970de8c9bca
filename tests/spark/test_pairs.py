"""Pairs are the same rows on Spark as in threads."""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.errors import (
    InvalidInputError,
    NeardupError,
    ResultLimitError,
)
from tests.calls import grouped
from tests.spark import on_session
from tests.spark.mishaps import dies_once, replace_stage, shuffled_behind_first
from tests.spark.runs import summary_of_pairs

OPTIONS: dict[str, dict[str, Any]] = {
    "jaccard": {"threshold": "0.6", "ngram": 1},
    "overlap": {"measure": "overlap", "threshold": 6, "ngram": 1, "method": "ppjoin"},
    "weighted": {"measure": "weighted-jaccard", "threshold": "0.6"},
    "edit by block": {"measure": "edit", "threshold": "0.7", "blocking": "place"},
    "top of each": {"top": 2, "per_document": True, "ngram": 1, "measure": "dice"},
    "one to one": {"threshold": "0.4", "ngram": 1, "one_to_one": True},
}
IN_BUCKETS: dict[str, dict[str, Any]] = {
    "minhash, weighted": {"method": "minhash", "measure": "weighted-jaccard", "threshold": "0.6"},
    "minhash by block": {
        "method": "minhash",
        "measure": "dice",
        "threshold": "0.6",
        "ngram": 1,
        "blocking": "place",
        "columns": ["n"],
    },
    "minhash, one to one": {
        "method": "minhash",
        "measure": "containment",
        "threshold": "0.7",
        "ngram": 1,
        "one_to_one": True,
    },
}
OPTIONS |= IN_BUCKETS
# What tasks run, and those to which rows come in any order.
STAGES = (
    "engine.spark.read._read",
    "engine.spark.engine._send_to_groups",
    "engine.spark.engine._work_on_group",
)


def make_rows(n: int, seed: int) -> list[dict[str, Any]]:
    """Make records of few words, half of them like an earlier one, of many sizes and some empty."""
    draw = random.Random(seed)
    words = [f"{a}{b}" for a in "abcdefgh" for b in "aeiou"]
    texts: list[list[str]] = []
    for _ in range(n):
        text = draw.choices(words, k=draw.choice([0, 1, 4, 9, 14, 30]))
        if texts and draw.random() < 0.5:
            text = list(draw.choice(texts))
            if text and draw.random() < 0.7:
                text[draw.randrange(len(text))] = draw.choice(words)
        texts.append(text)
    return [
        {
            "id": f"{seed}-{number}",
            "text": " ".join(text),
            "place": draw.choice(["here", "there", None]),
            "n": draw.randrange(2),
            "title": draw.choice([None, *words[:5]]),
        }
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    (folder / "own").mkdir()
    rows = make_rows(900, 1)
    for name, part in (("own/a", rows[:500]), ("own/b", rows[500:]), ("other", make_rows(250, 1))):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in part))
    other = (folder / "other.jsonl").read_text().replace('"id": "1-', '"id": "2-')
    (folder / "other.jsonl").write_text(other)
    (folder / "none.jsonl").write_text("")
    return folder


def check(session: Any, records: Path, *more: str, **options: Any) -> neardup.types.PairResult:
    """Hold pairs of Spark to those of threads, and return these."""
    named = [str(records / name) for name in ("own", *more)]
    expected = neardup.find_pairs(*named, **grouped(workers=2, **options))
    found = on_session.find_pairs(session, *named, **options)
    assert found.pairs.equals(expected.pairs)
    assert found.pairs.schema.metadata == expected.pairs.schema.metadata
    assert summary_of_pairs(found) == summary_of_pairs(expected)
    if options.get("method") == "minhash":
        # By the other method it depends on blocks what filters see.
        assert found.counts == expected.counts
    assert (found.summary["engine"], found.summary["workers"]) == ("spark", 2)
    return expected


@pytest.mark.parametrize("name", OPTIONS)
def test_options(in_process, records, small_tasks, name):
    assert len(check(in_process, records, **OPTIONS[name])) > 10


@pytest.mark.parametrize("name", ["jaccard", "weighted", "minhash by block"])
def test_memory_of_a_task_and_of_the_driver(in_process, records, small_tasks, monkeypatch, name):
    """Many blocks, of sets that go to files."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 150_000)
    check(in_process, records, **OPTIONS[name])


def test_equal_texts_of_different_blocks(in_process, tmp_path, monkeypatch):
    """They are two records where they meet in a partition."""
    from neardup.engine.spark import engine

    monkeypatch.setattr(engine, "_COMPARED_A_SLOT", 1)
    rows = make_rows(9, 1)[1:] * 8
    for number, row in enumerate(rows):
        rows[number] = {**row, "id": number, "place": f"place {number % 3}"}
    (tmp_path / "own").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = IN_BUCKETS["minhash by block"] | {"input_format": "jsonl"}
    assert 10 < len(check(in_process, tmp_path, **options)) < 300


def test_a_component_over_the_memory_of_a_task(in_process, records, small_tasks, monkeypatch):
    """Its records are joined block against block."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 10_000)
    check(in_process, records, **IN_BUCKETS["minhash by block"])


@pytest.fixture(scope="module")
def index(records: Path) -> Path:
    """Give an index of several segments, which has lost some documents."""
    folder = records / "index"
    index = neardup.DocumentIndex.create(folder, threshold="0.4", text=neardup.TextOptions(ngram=1))
    rows = [json.loads(line) for line in (records / "other.jsonl").read_text().splitlines()]
    index.add(rows[:100])
    index.add(rows[100:])
    index.remove([row["id"] for row in rows[50:60]])
    return folder


@pytest.mark.parametrize(
    "options",
    [{}, {"threshold": "0.7", "id_column": ""}, {"where": "n = 1", "on_error": "skip"}],
)
def test_index(in_process, records, index, small_tasks, options):
    found = on_session.find_pairs(in_process, str(records / "own"), index, **options)
    expected = neardup.find_pairs(records / "own", index, **grouped(workers=2, **options))
    assert len(expected) > 10
    assert found.pairs.equals(expected.pairs)
    assert found.pairs.schema.metadata == expected.pairs.schema.metadata
    assert summary_of_pairs(found) == summary_of_pairs(expected)
    assert found.counts == expected.counts
    assert (found.summary["engine"], found.summary["workers"]) == ("spark", 2)


def test_index__errors(in_process, records, index, small_tasks, tmp_path):
    """They are those of threads."""
    lines = (records / "own/a.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "bad.jsonl").write_text("".join([*lines[:300], '{"id": "x", "text": 5}\n']))
    for options in ({}, {"limit": 3}, {"measure": "dice"}, {"top": 3, "method": "minhash"}):
        said = []
        for find in (neardup.find_pairs, partial(on_session.find_pairs, in_process)):
            with pytest.raises(NeardupError) as caught:
                find(str(tmp_path / "bad.jsonl"), index, **options)
            said.append((type(caught.value), str(caught.value)))
        assert said[0] == said[1]
    unseen = partial(on_session.find_pairs, in_process)
    with pytest.raises(InvalidInputError, match="not data in memory"):
        unseen(["a text"], index)


def test_limit(in_process, records):
    for name in ("jaccard", "minhash by block"):
        with pytest.raises(ResultLimitError):
            on_session.find_pairs(in_process, str(records / "own"), limit=5, **OPTIONS[name])


def test_rows_in_any_order(session, records, small_tasks, monkeypatch):
    replace_stage(monkeypatch, "engine.spark.engine._work_on_group", shuffled_behind_first, 1)
    check(session, records, **OPTIONS["jaccard"])


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("victim", ["worker", "executor"])
@pytest.mark.parametrize("stage", STAGES)
def test_killed(session, records, tmp_path, monkeypatch, small_tasks, stage, victim):
    mark = tmp_path / "was-killed"
    replace_stage(monkeypatch, stage, dies_once, str(mark), victim)
    check(session, records, **OPTIONS["jaccard"])
    assert mark.exists()
