"""Results are pickled, copied and sent to other processes; a copy answers as the original does."""

from __future__ import annotations

import copy
import io
import json
import multiprocessing
import pickle
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.results import Result
from neardup.stages.selection import write_rows_by
from tests.calls import grouped
from tests.each import each_of
from tests.spilling import spilling

ROWS = [
    {"id": f"d{i}", "text": f"some words that are here {i // 2} and then again {i // 2} {i % 3}"}
    for i in range(12)
]
TEXTS = [row["text"] for row in ROWS]
WAYS = {
    "pickle": lambda result: pickle.loads(pickle.dumps(result)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
HOW = {"ngram": 1, "threshold": "0.6"}
every_way = pytest.mark.parametrize("way", WAYS)


def json_lines(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def archive(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        file.write(json_lines(path.with_suffix(".jsonl")), "in.jsonl")
    return path


def written(write: Any, path: Path) -> Path:
    write(pa.Table.from_pylist(ROWS), path)
    return path


INPUTS = {
    "texts": lambda here: TEXTS,
    "generator": lambda here: (text for text in TEXTS),
    "rows": lambda here: ROWS,
    "pandas": lambda here: pd.DataFrame(ROWS),
    "polars": lambda here: pl.DataFrame(ROWS),
    "arrow": lambda here: pa.Table.from_pylist(ROWS),
    "reader": lambda here: pa.Table.from_pylist(ROWS).to_reader(),
    "json lines": lambda here: json_lines(here / "in.jsonl"),
    "archive": lambda here: archive(here / "in.zip"),
    "csv": lambda here: written(lambda table, to: table.to_pandas().to_csv(to), here / "in.csv"),
    "parquet": lambda here: written(pq.write_table, here / "in.parquet"),
    "arrow file": lambda here: written(pyarrow.feather.write_feather, here / "in.arrow"),
}


def tree(folder: Path) -> dict[str, Any]:
    """Return all files of an output; of the summary what does not depend on times."""
    files: dict[str, Any] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    summary = json.loads(files["summary.json"])
    for name in ("seconds", "peak_memory_bytes", "digest"):
        del summary[name]
    return files | {"summary.json": summary}


def check_tables(result: DeduplicationResult, other: DeduplicationResult) -> None:
    for name in ("kept", "removed", "clusters", "table"):
        assert getattr(other, name).equals(getattr(result, name))
    assert other.summary == result.summary
    assert repr(other) == repr(result)
    assert pa.table(other).equals(pa.table(result))


def check_written(result: DeduplicationResult, other: DeduplicationResult, here: Path) -> None:
    for name, each in (("a", result), ("b", other)):
        each.write(here / name)
    assert tree(here / "a") == tree(here / "b")


@pytest.mark.slow
@each_of("kind", INPUTS)
def test_deduplication__of_any_input(tmp_path, kind):
    result = neardup.deduplicate(INPUTS[kind](tmp_path), **grouped(**HOW))
    # Before and after its tables were made.
    copies = {way: make(result) for way, make in WAYS.items()}
    assert len(result.kept) + len(result.removed) == len(result.clusters) == len(ROWS)
    copies["of one in use"] = pickle.loads(pickle.dumps(result))
    for way, other in copies.items():
        check_tables(result, other)
        assert WAYS["pickle"](other).kept.equals(result.kept), way
    check_written(result, copies["pickle"], tmp_path)


@every_way
def test_deduplication__every_method(way):
    result = neardup.deduplicate(ROWS, **grouped(**HOW))
    other = WAYS[way](result)
    gone = result.removed["id"][0].as_py()
    assert other.explain(gone).to_dict() == result.explain(gone).to_dict()
    assert other.report().html == result.report().html


@every_way
def test_deduplication__of_two_collections(tmp_path, way):
    index = neardup.DocumentIndex.create(tmp_path / "idx", **grouped(**HOW))
    index.add(ROWS[:6])
    index.close()
    for against in (ROWS[:6], tmp_path / "idx"):
        result = neardup.deduplicate(ROWS[4:], against=against)
        check_tables(result, WAYS[way](result))


@pytest.mark.slow
def test_deduplication__files_of_the_run_are_gone(tmp_path):
    """Ids that did not fit into memory go into the copy by their values, and nothing else does."""
    rows = [{"id": f"{i:0100}", "text": f"{i}"} for i in range(2000)]
    path = written(
        lambda _, to: pq.write_table(pa.Table.from_pylist(rows), to), tmp_path / "a.parquet"
    )
    with spilling():
        result = neardup.deduplicate(
            path,
            read=neardup.ReadOptions(id_column="id"),
            run=neardup.RunOptions(memory="1GB", work=tmp_path),
        )
        assert any(each.is_file() for each in tmp_path.rglob("*") if each != path)
        data = pickle.dumps(result)
        expected = result.clusters
    del result
    assert pickle.loads(data).clusters.equals(expected)
    # Ids, a row number, a number of tokens, what the document went for.
    assert len(data) < 2000 * (108 + 40) + 10_000


def test_deduplication__on_spark():
    """A session is of its process: a copy is as of threads."""
    result = neardup.deduplicate(ROWS, **grouped(**HOW))
    write_rows_by(result, Lock())
    for way in WAYS.values():
        other = way(result)
        assert other._engine is None
        assert other.kept.equals(result.kept)


@every_way
def test_deduplication__of_standard_input(monkeypatch, way):
    rows = "".join(json.dumps(row) + "\n" for row in ROWS)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    result = neardup.deduplicate("-", **grouped(**HOW))
    check_tables(result, WAYS[way](result))


def others(here: Path) -> dict[str, Any]:
    """Return a result of every other kind that is public."""
    documents = neardup.DocumentIndex.create(here / "documents", **grouped(**HOW))
    documents.add(ROWS)
    passages = neardup.PassageIndex.create(here / "passages", min_tokens=5)
    passages.add(ROWS)
    sketches = neardup.sketch(ROWS, text=neardup.TextOptions(ngram=1))
    path = json_lines(here / "in.jsonl")
    aligned = neardup.align(ROWS, min_tokens=5)
    found = {
        "cut": neardup.cut(path, min_tokens=3, exact=True),
        "pairs": neardup.find_pairs(ROWS, **grouped(**HOW)),
        "pairs of buckets": neardup.find_pairs(
            path, **grouped(memory="70MB", method="minhash", **HOW)
        ),
        "align": aligned,
        "documents": documents.search(ROWS),
        "passages": passages.search(ROWS),
        "sketches": sketches,
        "estimate": neardup.estimate(sketches, threshold="0.3"),
        "clusters": neardup.cluster_sketches(neardup.sketch(ROWS, kind="modulo")),
        "compare": neardup.compare(TEXTS[0], TEXTS[1]),
        "explain": neardup.deduplicate(ROWS, **grouped(**HOW)).explain("d1"),
        "report": neardup.deduplicate(ROWS, **grouped(**HOW)).report(),
        "banding": neardup.choose_banding(0.8, 0.9, 128),
    }
    documents.close()
    return found


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return others(tmp_path_factory.mktemp("results"))


@every_way
def test_others(results, way):
    kinds = {type(each) for each in results.values()} | {DeduplicationResult}
    public = {getattr(neardup, name) for name in neardup.__all__}
    assert {each for each in public if isinstance(each, type) and issubclass(each, Result)} <= kinds
    for name, result in results.items():
        other = WAYS[way](result)
        assert type(other) is type(result), name
        assert repr(other) == repr(result), name
        for part in ("table", "kept", "removed", "pairs"):
            if hasattr(result, part):
                assert getattr(other, part).equals(getattr(result, part)), name
        for part in ("summary", "to_dict", "html"):
            found = [getattr(each, part, None) for each in (result, other)]
            first, second = (each() if callable(each) else each for each in found)
            assert first == second, name


@pytest.mark.slow
def test_other_process(tmp_path):
    result = neardup.deduplicate(json_lines(tmp_path / "in.jsonl"), **grouped(**HOW))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(kept_and_itself, result).result()
    assert there[0].equals(result.kept)
    check_tables(result, there[1])


def kept_and_itself(result: DeduplicationResult) -> tuple[pa.Table, DeduplicationResult]:
    """Answer in another process."""
    return result.kept, result
