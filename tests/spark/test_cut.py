"""Cuts write the same files on Spark as in threads."""

from __future__ import annotations

import gc
import gzip
import json
import random
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.engine.spark import cluster
from neardup.errors import InvalidInputError, InvalidParameterError, NeardupError, ReadError
from neardup.jobs.cut import equal_units, passages
from neardup.stages import decide
from tests.spark import on_session
from tests.spark.mishaps import dies_once, replace_stage, shuffled
from tests.spark.runs import assert_same, run_spark, run_threads, summary_of
from tests.spilling import spilling

CUT: dict[str, Any] = {"job": "cut", "exact": True, "min_tokens": 3}
OPTIONS: dict[str, dict[str, Any]] = {
    "by number": {"unit": "lines", "keep": "max:score", "min_documents": 3},
    "none": {"unit": "lines", "keep": "none"},
    "two columns": {"unit": "lines", "text_column": ["text", "more"]},
    "passages, longest": {"min_tokens": 5, "keep": "longest", "replacement": "…"},
    "passages, menus": {"min_tokens": 6, "keep": "max:score", "min_documents": 3},
    "passages, bytes": {"min_tokens": 21, "tokenizer": "bytes"},
}
# Of lines and paragraphs; the pool has few words, so that many lines are similar.
SIMILAR: dict[str, dict[str, Any]] = {
    "by number": {"threshold": "0.5", "keep": "max:score", "min_documents": 3},
    "paragraphs": {"unit": "paragraphs", "threshold": "0.5", "min_tokens": 1, "ngram": 2},
}
# Of passages of any similarity.
PASSAGES: dict[str, dict[str, Any]] = {
    "by number": {"keep": "max:score", "min_documents": 3},
    "by min-hashes": {"recall": "0.9", "num_perm": 16},
}
# What tasks run, and those to which rows come in any order.
STAGES = tuple(
    f"engine.spark.{name}"
    for name in ("read._read", "engine._send_rows", "engine._work", "engine._send_by_document")
)
STAGES += ("engine.spark.read._write",)
OF_PASSAGES = ("engine.spark.read._read_again",)
OF_SIMILAR = ("engine.spark.engine._give_rows",)
OF_SIMILAR_UNITS = ("engine.spark.engine._send_texts",)

# What is cut of ``few``, or of all, of each kind.
KINDS: dict[str, dict[str, Any]] = {
    "lines": {"unit": "lines"},
    "passages": {"unit": "passages"},
    "similar lines": {"unit": "lines", "exact": False, "threshold": "0.5", "ngram": 1},
    "similar passages": {"unit": "passages", "exact": False, "min_tokens": 8},
}
kinds = pytest.mark.parametrize("kind", KINDS)


def make_rows(n: int, seed: int) -> list[dict[str, Any]]:
    """Make documents of lines, many of which others have, some blank, some with other endings."""
    draw = random.Random(seed)
    pool = [
        " ".join(f"w{draw.randrange(60)}é" for _ in range(draw.randrange(1, 9))) for _ in range(150)
    ]
    rows = []
    for number in range(n):
        lines = [
            draw.choice(pool) if draw.random() < 0.6 else f"only {seed} {number} {line}"
            for line in range(draw.choice([0, 1, 4, 12]))
        ]
        text = "".join(line + draw.choice(["\n", "\r\n", "\n\n", "\n \n"]) for line in lines)
        more = draw.choice(pool)
        score = draw.randrange(9)
        rows.append({"id": f"{seed}-{number}", "text": text, "more": more, "score": score})
    return rows


def json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    own, other = folder / "own", folder / "other"
    own.mkdir()
    other.mkdir()
    (folder / "none").mkdir()
    (own / "a.jsonl").write_bytes(json_lines(make_rows(700, 1)))
    (own / "b.jsonl.gz").write_bytes(gzip.compress(json_lines(make_rows(200, 2))))
    pq.write_table(pa.Table.from_pylist(make_rows(200, 3)), own / "c.parquet", row_group_size=70)
    for number, row in enumerate(make_rows(20, 4)):
        (own / f"d{number:02d}.jsonl").write_bytes(json_lines([row]))
    (own / "e.jsonl").write_bytes(b"")
    few = folder / "few"
    few.mkdir()
    (few / "a.jsonl").write_bytes(json_lines(make_rows(260, 1)))
    (few / "b.jsonl.gz").write_bytes(gzip.compress(json_lines(make_rows(60, 2))))
    (other / "other.jsonl").write_bytes(json_lines([*make_rows(30, 5), *make_rows(15, 1)]))
    (folder / "none/none.jsonl").write_bytes(b"")
    return folder


@pytest.mark.parametrize("name", OPTIONS)
def test_options(in_process, texts, tmp_path, small_tasks, name):
    data, options = str(texts / "own"), CUT | OPTIONS[name]
    expected = run_threads(data, tmp_path / "threads", **options)
    assert summary_of(expected)["spans"] > 100
    assert_same(run_spark(in_process, data, tmp_path / "spark", **options), expected)


@pytest.mark.parametrize("name", SIMILAR)
def test_similar_units(in_process, texts, tmp_path, small_tasks, name):
    common = {"unit": "lines", "exact": False, "ngram": 1}
    data, options = str(texts / "own"), CUT | common | SIMILAR[name]
    expected = run_threads(data, tmp_path / "threads", **options)
    exact = {"exact": True, "threshold": None, "recall": None, "ngram": None}
    alone = run_threads(data, tmp_path / "alone", **options | exact)
    assert summary_of(expected)["spans"] > summary_of(alone)["spans"] > 100
    assert_same(run_spark(in_process, data, tmp_path / "spark", **options), expected)


@pytest.mark.parametrize("name", PASSAGES)
def test_similar_passages(in_process, texts, tmp_path, small_tasks, name):
    data, options = str(texts / "few"), CUT | {"exact": False, "min_tokens": 8} | PASSAGES[name]
    expected = run_threads(data, tmp_path / "threads", **options)
    assert summary_of(expected)["spans"] > 50
    assert_same(run_spark(in_process, data, tmp_path / "spark", **options), expected)


@kinds
def test_bad_rows_are_skipped(in_process, texts, tmp_path, small_tasks, kind):
    lines = (texts / "few/a.jsonl").read_bytes().splitlines()
    for number in (3, 150, 259):
        lines[number] = b'{"id": "bad", "text": 5}'
    data, options = tmp_path / "data.jsonl", CUT | KINDS[kind] | {"on_error": "skip"}
    data.write_bytes(b"\n".join(lines) + b"\n")
    expected = run_threads(str(data), tmp_path / "threads", **options)
    assert summary_of(expected)["skipped_rows"] == 3
    assert_same(run_spark(in_process, str(data), tmp_path / "spark", **options), expected)


@kinds
def test_memory_of_a_task_and_of_the_driver(
    in_process, texts, tmp_path, small_tasks, monkeypatch, kind
):
    """What does not fit goes to files, and is settled in passes; samples go to more partitions."""
    from neardup.engine.spark import cluster as sessions

    monkeypatch.setattr(sessions, "_task_bytes", lambda _: 5_000)
    folder, memory = ("few", 120_000) if kind == "similar passages" else ("own", 30_000)
    data, options = str(texts / folder), CUT | KINDS[kind] | {"keep": "longest"}
    expected = run_threads(data, tmp_path / "threads", **options)
    options |= {"memory": "16MB", "work": tmp_path / "work"}
    with spilling(memory):
        assert_same(run_spark(in_process, data, tmp_path / "spark", **options), expected)
    gc.collect()
    assert not (tmp_path / "work").exists()


def test_rows_in_any_order(session, texts, tmp_path, small_tasks, monkeypatch):
    data, options = str(texts / "own"), CUT | {"unit": "lines", "keep": "longest"}
    expected = run_threads(data, tmp_path / "threads", **options)
    replace_stage(monkeypatch, "engine.spark.engine._work", shuffled, 1)
    replace_stage(monkeypatch, "engine.spark.engine._send_by_document", shuffled, 2)
    assert_same(run_spark(session, data, tmp_path / "spark", **options), expected)


# What is done between the first look at texts and the second one.
BETWEEN = {
    "passages": (equal_units, "find_repeats"),
    "similar lines": (decide, "find_components"),
    "similar passages": (passages, "_find_similar"),
}


@pytest.mark.parametrize("kind", BETWEEN)
def test_a_text_changes(in_process, texts, tmp_path, small_tasks, monkeypatch, kind):
    path = tmp_path / "a.jsonl"
    path.write_bytes((texts / "few/a.jsonl").read_bytes())
    module, name = BETWEEN[kind]
    find = getattr(module, name)

    def found(*arguments, **options):
        shorter = []
        for line in path.read_text().splitlines():
            row = json.loads(line)
            # Of the same size, so that blocks are where they were.
            shorter.append(json.dumps(row | {"text": row["text"][9:]}).ljust(len(line)) + "\n")
        path.write_text("".join(shorter))
        return find(*arguments, **options)

    monkeypatch.setattr(module, name, found)
    with pytest.raises(ReadError, match="changed") as caught:
        on_session.cut(in_process, str(path), **{"exact": True, "min_tokens": 3} | KINDS[kind])
    assert str(path) in str(caught.value)


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("victim", ["worker", "executor"])
@pytest.mark.parametrize("stage", STAGES + OF_PASSAGES + OF_SIMILAR + OF_SIMILAR_UNITS)
def test_killed(session, texts, tmp_path, monkeypatch, small_tasks, stage, victim):
    mark, options = tmp_path / "was-killed", CUT | {"unit": "lines", "keep": "longest"}
    if stage in OF_PASSAGES:
        options |= {"unit": "passages", "min_tokens": 6}
    elif stage in OF_SIMILAR:
        options |= KINDS["similar passages"]
    elif stage in OF_SIMILAR_UNITS:
        options |= KINDS["similar lines"]
    data = str(texts / ("few" if stage in OF_SIMILAR else "own"))
    expected = run_threads(data, tmp_path / "threads", **options)
    replace_stage(monkeypatch, stage, dies_once, str(mark), victim)
    output = run_spark(session, data, tmp_path / "out", **options)
    assert mark.exists()
    assert_same(output, expected)


@pytest.mark.parametrize("line", ['{"id": "x", "text": 5}', "no JSON", '{"id": "1-3", "text": ""}'])
def test_bad_row__is_the_same_error(in_process, texts, tmp_path, small_tasks, line):
    lines = (texts / "own/a.jsonl").read_text().splitlines()
    lines[400] = line
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    said = []
    for cut in (neardup.cut, lambda *data, **how: on_session.cut(in_process, *data, **how)):
        with pytest.raises(NeardupError) as caught:
            cut(str(tmp_path / "a.jsonl"), exact=True, unit="lines")
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"unit": "lines", "against": "other"}, "against"),
        ({"exact": True, "unit": "lines", "threshold": "0.5"}, "threshold"),
    ],
)
def test_refuses__what_needs_all_texts(in_process, texts, options, named):
    if "against" in options:
        options |= {"against": str(texts / options["against"])}
    with pytest.raises(InvalidParameterError, match=named):
        on_session.cut(in_process, str(texts / "own"), **options)


def test_spans_that_end_early(in_process, texts, tmp_path, small_tasks, monkeypatch):
    """Where executors are lost Spark ends the rows of a task, which writes nothing of them."""
    result = on_session.cut(in_process, str(texts / "own"), exact=True, unit="lines")
    work = cluster._work_on_all
    monkeypatch.setattr(
        cluster, "_work_on_all", lambda write, rows: work(write, islice(list(rows), 2))
    )
    with pytest.raises(Exception, match="executors were lost"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_refuses__data_in_memory_and_an_index(in_process, texts, tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "index")
    index.add(["some words of a text"])
    with pytest.raises(InvalidInputError, match="not data in memory"):
        on_session.cut(in_process, ["a text"], exact=True, unit="lines")
    with pytest.raises(InvalidInputError, match="not an index"):
        on_session.cut(
            in_process, str(texts / "own"), against=tmp_path / "index", exact=True, unit="lines"
        )
