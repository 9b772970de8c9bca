"""What a search, an alignment and an addition return, for people and other libraries."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import neardup
from neardup import PassageIndex
from neardup.cli import run
from tests.calls import grouped

TEXT = "Once upon a midnight dreary, while I pondered, weak and weary"
QUERIES = [
    {"id": "q", "text": "upon a midnight dreary while I pondered"},
    {"id": "bad", "text": 5},
    {"id": "short", "text": "once"},
    {"id": "none", "text": "?"},
]
QUERY_ROWS = {"id_column": "id", "on_error": "skip", "workers": 1}


@pytest.fixture
def index(tmp_path) -> PassageIndex:
    made = PassageIndex.create(tmp_path / "index", min_tokens=4, num_perm=16)
    made.add([{"id": "raven", "text": TEXT}], read=neardup.ReadOptions(id_column="id"))
    return made


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUERIES))
    return path


def printed(capsys, *arguments) -> dict:
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def without_seconds(summary: dict) -> dict:
    assert summary["seconds"] >= 0
    return {name: value for name, value in summary.items() if name != "seconds"}


def test_search__summary_is_that_of_the_command(index, queries, tmp_path, capsys):
    result = index.search(queries, "0.7", **grouped(**QUERY_ROWS))
    assert repr(result) == "PassageResult(3 queries: 1 passage)"
    assert len(result) == 1
    assert without_seconds(result.summary) == {
        "queries": 3,
        "found_queries": 1,
        "passages": 1,
        "empty_queries": 1,
        "short_queries": 1,
        "least_hits": result.summary["least_hits"],
        "predicted_recall": result.summary["predicted_recall"],
        "skipped_rows": 1,
        "skipped": result.summary["skipped"],
        "passed_over": {},
        "hints": [],
        "id_column": "id",
        "id_column_by_default": False,
        "engine": "threads",
        "workers": 1,
    }  # fmt: skip
    assert result.summary["predicted_recall"] >= 0.99
    [skipped] = result.summary["skipped"]
    assert (skipped["file"], skipped["row"]) == ("queries.jsonl", 2)
    told = printed(
        capsys, "search", index.folder, queries, "--id-column", "id", "--on-error", "skip",
        "--threshold", "0.7", "--workers", 1, "--json", "-o", tmp_path / "hits.parquet",
    )  # fmt: skip
    assert without_seconds(told) == without_seconds(result.summary)
    assert list(told) == list(result.summary)
    assert pq.read_table(tmp_path / "hits.parquet").equals(result.passages)
