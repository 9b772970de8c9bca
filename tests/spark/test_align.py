"""Shared passages are the same rows on Spark as in threads."""

from __future__ import annotations

import gzip
import json
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import neardup
import neardup.cli
from neardup.errors import InvalidInputError, NeardupError
from tests.calls import grouped
from tests.spark import on_session
from tests.spark.conftest import cut_small
from tests.spark.mishaps import dies_once, replace_stage

# Memory of a task at most, below that of this process.
TASK_BYTES = 1 << 29

# What is looked up in what, and by which options.
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "two": (("own", "other.jsonl"), {"with_text": True}),
    "one": (("own",), {"summary": "documents"}),
    "within": (("own",), {"within": True, "max_documents": 4, "with_text": True}),
    "hits": (("own",), {"hits": 3, "num_perm": 16}),
    "ignored": (("own", "other.jsonl"), {"ignore": "form.txt", "summary": "documents"}),
    "places": (("own", "other.jsonl"), {"place_marker": r"(c\d+)", "with_text": True}),
    "index": (("own", "index"), {"max_documents": 4, "hits": 2, "summary": "documents"}),
}


def make_texts(n: int, seed: int) -> list[str]:
    """Make texts of which most have a passage of a few, with changes, or of a form."""
    few = random.Random(8)
    shared = [[f"w{few.randrange(300)}" for _ in range(40)] for _ in range(9)]
    form = [f"f{k}" for k in range(30)]
    draw = random.Random(seed)
    texts = []
    for k in range(n):
        words = [f"w{draw.randrange(300)}é" for _ in range(draw.choice([0, 5, 30]))]
        for _ in range(draw.choice([0, 1, 1])):
            passage = list(draw.choice(shared))
            for _ in range(draw.choice([0, 0, 3])):
                passage[draw.randrange(40)] = f"c{k}"
            words += [*passage, *(f"o{seed}-{k}-{j}" for j in range(draw.choice([2, 25])))]
        texts.append(" ".join([*words, *(form if draw.random() < 0.4 else [])]))
    return texts


def json_lines(texts: list[str], prefix: str) -> bytes:
    rows = ({"id": f"{prefix}{k}", "text": text} for k, text in enumerate(texts))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "own").mkdir()
    (folder / "own/a.jsonl").write_bytes(json_lines(make_texts(24, 1), "a"))
    (folder / "own/b.jsonl.gz").write_bytes(gzip.compress(json_lines(make_texts(10, 2), "b")))
    (folder / "own/c.jsonl").write_bytes(json_lines(make_texts(1, 3), "c"))
    (folder / "own/d.jsonl").write_bytes(b"")
    (folder / "other.jsonl").write_bytes(json_lines(make_texts(20, 5), "o"))
    (folder / "few.jsonl").write_bytes(json_lines(make_texts(4, 6), "f"))
    (folder / "form.txt").write_text(" ".join(f"f{k}" for k in range(30)))
    index = neardup.PassageIndex.create(folder / "index", min_tokens=17, num_perm=16)
    for k in range(4):
        rows = enumerate(make_texts(5, 10 + k))
        index.add([{"id": f"{k}-{number}", "text": text} for number, text in rows])
    # As segments; the database alone goes to executors with the task.
    index.compact()
    index.remove(["1-3", "2-0"])
    return folder


def named(texts: Path, names: tuple[str, ...]) -> list[str]:
    return [str(texts / name) for name in names]


def run(align: Any, texts: Path, names: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Return passages, pairs of documents, and the summary without what the run took."""
    more = dict(options) if "index" in names else {"min_tokens": 25, **options}
    if "ignore" in more:
        more["ignore"] = str(texts / more["ignore"])
    found = align(*named(texts, names), **grouped(**more))
    left_out = {"seconds", "engine", "workers"}
    summary = {name: value for name, value in found.summary.items() if name not in left_out}
    return found.passages, found.document_pairs, summary


@pytest.fixture
def few_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give several tasks, and every task several segments."""
    from neardup.jobs import align_other as other

    cut_small(monkeypatch, 2_000, 1_000)
    found = other.segment_tokens_within

    def few(workspace: Any) -> int:
        return 300 if workspace.memory <= TASK_BYTES else found(workspace)

    monkeypatch.setattr(other, "segment_tokens_within", few)


def check(session: Any, texts: Path, names: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Hold passages of Spark to those of threads."""

    def on_spark(*data: str, **more: Any) -> neardup.types.PassageResult:
        found = on_session.align(session, *data, **more)
        assert (found.summary["engine"], found.summary["workers"]) == ("spark", 2)
        return found

    expected = run(neardup.align, texts, names, options)
    found = run(on_spark, texts, names, options)
    assert found[0].equals(expected[0])
    assert found[0].schema.metadata == expected[0].schema.metadata
    assert found[1] is expected[1] or found[1].equals(expected[1])
    assert found[2] == expected[2]
    return expected


@pytest.mark.parametrize("name", CASES)
def test_options(in_process, texts, few_tokens, name):
    assert len(check(in_process, texts, *CASES[name])[0]) > 5


@pytest.mark.parametrize("name", ["one", "within"])
def test_memory_of_a_task(in_process, texts, few_tokens, monkeypatch, name):
    """Segments take turns, and queries are put together."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 30_000)
    check(in_process, texts, *CASES[name])


def test_bad_rows(in_process, texts, tmp_path, few_tokens):
    """They are the same error, or the same rows that are left out; repeated ids are an error."""
    data = tmp_path / "data.jsonl"
    lines = (texts / "own/a.jsonl").read_bytes().splitlines(keepends=True)
    lines[20] = b'{"id": "x", "text": 5}\n'
    data.write_bytes(b"".join(lines))
    (tmp_path / "again.jsonl").write_bytes(lines[1] + lines[2] + lines[1])
    said = []
    for align in (neardup.align, partial(on_session.align, in_process)):
        for named in (["data.jsonl"], ["again.jsonl"], ["data.jsonl", "again.jsonl"]):
            with pytest.raises(NeardupError) as caught:
                align(*(str(tmp_path / name) for name in named))
            said.append((type(caught.value), str(caught.value)))
    assert said[:3] == said[3:]
    assert len(set(said)) == 3
    skipping = {"on_error": "skip", "min_tokens": 25}
    found = check(in_process, tmp_path, ("data.jsonl",), skipping)
    assert found[2]["skipped_rows"] == 1


def test_an_index_that_executors_do_not_see(in_process, texts, monkeypatch, tmp_path):
    """Or of which a segment has gone."""
    from neardup.index.index import SeenFolder

    for folder, said in (
        (tmp_path / "x", "executors do not see"),
        (tmp_path, "the file is missing"),
    ):
        monkeypatch.setattr("neardup.index.handle.SeenFolder", lambda _, to=folder: SeenFolder(to))
        with pytest.raises(NeardupError, match=said):
            on_session.align(in_process, str(texts / "own"), str(texts / "index"))


def test_refuses(in_process, texts, tmp_path):
    own = str(texts / "own")
    with pytest.raises(InvalidInputError, match="not data in memory"):
        on_session.align(in_process, ["a text"], own)
    index = neardup.DocumentIndex.create(tmp_path / "index")
    index.add(["some words of a text"])
    with pytest.raises(InvalidInputError, match="not an index"):
        on_session.align(in_process, own, tmp_path / "index")


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("victim", ["executor", "worker"])
def test_killed(session, texts, tmp_path, monkeypatch, few_tokens, victim):
    """What an executor has stored goes with it, and is read again."""
    mark = tmp_path / "was-killed"
    replace_stage(monkeypatch, "engine.spark.engine._stream", dies_once, str(mark), victim)
    check(session, texts, *CASES["two"])
    assert mark.exists()
