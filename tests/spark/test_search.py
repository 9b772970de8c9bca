"""What a search of an index finds is the same on Spark as in threads, of either kind of index."""

from __future__ import annotations

import gzip
import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.errors import NeardupError
from tests.calls import grouped
from tests.spark import on_session
from tests.spark.conftest import cut_small

PASSAGES: dict[str, dict[str, Any]] = {
    "texts": {"threshold": "0.4", "with_text": True},
    "containment": {"threshold": "0.6", "measure": "containment"},
    "places": {"threshold": "0.5", "place_marker": r"(c\d+)", "with_text": True},
    "some": {"threshold": "0.5", "where": "number < 30"},
}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "all": {},
    "limit": {"limit": 2},
    "top": {"top": 3},
    "top of some": {"top": 1, "with_columns": True},
}


def make_rows(n: int, seed: int, prefix: str) -> list[dict[str, Any]]:
    """Make short texts of few kinds, many with changes, which long ones have as passages."""
    few, draw = random.Random(8), random.Random(seed)
    kinds = [[f"w{few.randrange(300)}é" for _ in range(30)] for _ in range(9)]
    rows = []
    for number in range(n):
        words = list(draw.choice(kinds)) if draw.random() < 0.8 else ["of", "its", "own", "kind"]
        for _ in range(draw.choice([0, 0, 2, 9])):
            words[draw.randrange(len(words))] = f"c{number}"
        if prefix == "d":
            words += [f"{prefix}{seed}-{number}-{k}" for k in range(draw.choice([0, 3, 40]))]
        text = " ".join(words) if draw.random() < 0.9 else ""
        rows.append({"id": f"{prefix}{seed}-{number}", "text": text, "number": number})
    return rows


def json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give queries in several files, and both kinds of index, of several segments."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "own").mkdir()
    (folder / "own/a.jsonl").write_bytes(json_lines(make_rows(40, 1, "q")))
    (folder / "own/b.jsonl.gz").write_bytes(gzip.compress(json_lines(make_rows(15, 2, "q"))))
    (folder / "own/c.jsonl").write_bytes(b"")
    # Ids of queries may come again.
    (folder / "own/d.jsonl").write_bytes(json_lines(make_rows(9, 1, "q")))
    passages = neardup.PassageIndex.create(folder / "passages", min_tokens=9, num_perm=16)
    documents = neardup.DocumentIndex.create(
        folder / "documents", threshold="0.4", columns=["number"], text=neardup.TextOptions(ngram=1)
    )
    for index in (passages, documents):
        for seed in range(4):
            index.add(make_rows(12, 10 + seed, "d"))
        index.remove(["d11-3", "d12-0"])
    # In the tail.
    documents.insert("late", make_rows(1, 1, "q")[0]["text"], number=50)
    documents.commit()
    return folder


@pytest.fixture
def few_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give several tasks of several blocks."""
    cut_small(monkeypatch, 2_000, 1_000)


def of_the_answer(result: Any) -> dict[str, Any]:
    left_out = {"seconds", "engine", "workers"}
    return {name: value for name, value in result.summary.items() if name not in left_out}


def check(session: Any, folder: Path, kind: str, options: dict[str, Any]) -> Any:
    """Hold what is found on Spark to what threads find."""
    index = neardup.open_index(folder / kind)
    queries = folder / "own"
    expected = index.search(queries, **grouped(**options))
    search = getattr(on_session, f"search_{kind}")
    found = search(session, str(folder / kind), str(queries), **options)
    assert (found.summary["engine"], found.summary["workers"]) == ("spark", 2)
    tables = [each.passages if kind == "passages" else each.matches for each in (found, expected)]
    assert tables[0].equals(tables[1])
    assert tables[0].schema.metadata == tables[1].schema.metadata
    assert of_the_answer(found) == of_the_answer(expected)
    return expected


@pytest.mark.parametrize("name", PASSAGES)
def test_passages(in_process, folder, few_tokens, name):
    found = check(in_process, folder, "passages", PASSAGES[name])
    assert len(found.passages) > 20
    assert found.summary["empty_queries"] > 0


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(in_process, folder, few_tokens, name):
    found = check(in_process, folder, "documents", DOCUMENTS[name])
    assert len(found.matches) > 20
    assert found.summary["empty_queries"] > 0


def test_slots(folder, few_tokens, monkeypatch):
    """However many tasks there are, and in whatever order their rows come."""
    pytest.importorskip("pyspark")
    from neardup.engine.spark import cluster
    from tests.spark.in_process import InProcess

    monkeypatch.setattr(cluster.gc, "freeze", lambda: None)
    for kind, options in (("passages", PASSAGES["texts"]), ("documents", {})):
        search = partial(
            getattr(on_session, f"search_{kind}"),
            index=folder / kind,
            queries=str(folder / "own"),
            **options,
        )
        found = [search(InProcess(slots, seed)) for slots, seed in ((1, 1), (3, 2), (16, 3))]
        tables = [each.passages if kind == "passages" else each.matches for each in found]
        assert all(table.equals(tables[0]) for table in tables)


def test_memory_of_a_task(in_process, folder, few_tokens, monkeypatch):
    """Segments take turns, and queries are put together."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 30_000)
    check(in_process, folder, "passages", PASSAGES["texts"])


@pytest.mark.parametrize("kind", ["passages", "documents"])
def test_bad_rows(in_process, folder, few_tokens, tmp_path, kind):
    """They are the same error, or the same rows that are left out."""
    lines = json_lines(make_rows(40, 1, "q")).splitlines(keepends=True)
    lines[20] = b'{"id": "x", "text": 5, "number": 1}\n'
    (tmp_path / "own").mkdir()
    (tmp_path / "own/bad.jsonl").write_bytes(b"".join(lines))
    (tmp_path / kind).symlink_to(folder / kind)
    on_spark = partial(getattr(on_session, f"search_{kind}"), in_process, tmp_path / kind)
    said = []
    for search in (neardup.open_index(folder / kind).search, on_spark):
        with pytest.raises(NeardupError) as caught:
            search([tmp_path / "own"])
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]
    found = check(in_process, tmp_path, kind, {"on_error": "skip"})
    assert found.summary["skipped_rows"] == 1


def test_sees_what_was_inserted(in_process, folder, tmp_path):
    """An object's insertions are seen before they are committed, as by threads."""
    index = neardup.DocumentIndex.create(tmp_path / "index", text=neardup.TextOptions(ngram=1))
    text = make_rows(1, 1, "q")[0]["text"]
    index.insert("new", text)
    found = on_session.search_documents(in_process, index, str(folder / "own"))
    assert set(found.matches["doc_id"].to_pylist()) == {"new"}
