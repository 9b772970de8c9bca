"""What a search, an alignment and an addition return, for people, notebooks and other libraries."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup import InvalidInputError, OutputExistsError, PassageIndex
from neardup.cli import run
from neardup.stages.index_changes import RemovalResult

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
    made.add([{"id": "raven", "text": TEXT}], id_column="id")
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
    result = index.search(queries, "0.7", **QUERY_ROWS)
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
    }  # fmt: skip
    assert result.summary["predicted_recall"] >= 0.99
    [skipped] = result.summary["skipped"]
    assert (skipped["file"], skipped["row"]) == ("queries.jsonl", 2)
    told = printed(
        capsys, "search", index.folder, queries, "--id-column", "id", "--on-error", "skip",
        "--threshold", "0.7", "--json", "-o", tmp_path / "hits.parquet",
    )  # fmt: skip
    assert without_seconds(told) == without_seconds(result.summary)
    assert list(told) == list(result.summary)
    assert pq.read_table(tmp_path / "hits.parquet").equals(result.passages)


def test_align__summary_is_that_of_the_command(index, queries, tmp_path, capsys):
    documents = tmp_path / "documents.jsonl"
    documents.write_text(json.dumps({"id": "raven", "text": TEXT}) + "\n")
    others = {"folder": index.folder, "index": index, "documents": documents}
    for kind, other in others.items():
        options = {"min_tokens": 5} if kind == "documents" else {}
        result = neardup.align(queries, other, threshold="0.7", **options, **QUERY_ROWS)
        assert repr(result) == "PassageResult(3 documents and 1 document: 1 passage)"
        assert result.summary["skipped"][0]["row"] == 2
        named = index.folder if kind == "index" else other
        told = printed(
            capsys, "align", queries, "--against", named, "--id-column", "id", "--on-error", "skip",
            "--threshold", "0.7", "--json", "-o", tmp_path / f"{kind}.parquet",
            *(["--min-tokens", "5"] if options else []),
        )  # fmt: skip
        assert without_seconds(told) == without_seconds(result.summary)
        assert list(told) == list(result.summary)
        assert pq.read_table(tmp_path / f"{kind}.parquet").equals(result.passages)


def test_align__options_of_an_index(index):
    message = "^seed has no effect with an index, which has its own; leave it out"
    for other in (index, index.folder, str(index.folder)):
        with pytest.raises(neardup.InvalidParameterError, match=message):
            neardup.align([TEXT], other, seed=1)
    # A tokenizer is what a folder may need to be opened; an open index has its own.
    found = neardup.align([TEXT], index.folder, tokenizer="words")
    assert len(found) == 1
    with pytest.raises(neardup.InvalidParameterError, match=r"^tokenizer has no effect with"):
        neardup.align([TEXT], index, tokenizer="words")


def test_align__shortest_passage(tmp_path):
    """Of documents 50 tokens, though shorter ones are indexed; of an index that is its own."""
    text = " ".join(f"w{i}" for i in range(45))
    assert len(neardup.align([text], [text])) == 0
    assert len(neardup.align([text], [text], min_tokens=45)) == 1
    made = PassageIndex.create(tmp_path / "index", min_tokens=30)
    made.add([text])
    assert len(neardup.align([text], made)) == 1
    assert len(neardup.align([text], made, min_tokens=46)) == 0


def test_align__a_list_of_texts_names_no_index(index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = neardup.align(["index of all"], ["index"], min_tokens=1, threshold="0.3")
    assert found.passages["doc_id"].to_pylist() == ["0"]
    with pytest.raises(neardup.ReadError, match="File name too long"):
        neardup.align([TEXT], "x" * 5000 + ".jsonl")


def test_search__a_string_that_names_a_file(index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("raven.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    Path("raven").mkdir()
    for name in ("raven.jsonl", "raven", str(tmp_path / "raven.jsonl")):
        message = (
            f"queries is taken for a text, but {name!r} is also the name of a file or folder; "
            f"write Path({name!r}) to look for what is in it, [{name!r}] to look for the text"
        )
        with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}$"):
            index.search(name)
        assert len(index.search([name])) == 0
    assert len(index.search(Path("raven.jsonl"), "1")) == 1
    for text in ("raven.txt", "", "nul \0", TEXT * 50):
        index.search(text)


def test_result__for_other_libraries(index, tmp_path):
    result = index.search(TEXT, "1", with_text=True)
    expected = result.passages.to_pylist()
    assert pa.table(result).to_pylist() == expected
    assert pl.DataFrame(result).to_dicts() == expected
    assert pd.DataFrame(result.table.to_pandas()).to_dict("records") == expected
    result.write(tmp_path / "hits.jsonl")
    assert json.loads((tmp_path / "hits.jsonl").read_text()) == expected[0]
    with pytest.raises(OutputExistsError):
        result.write(tmp_path / "hits.jsonl")
    result.write(tmp_path / "hits.jsonl", overwrite=True)
    assert '<th scope="col">doc_text</th>' in result._repr_html_()


def test_add__result(index, queries, tmp_path, capsys):
    result = index.add(queries, id_column="id", on_error="skip")
    assert repr(result) == "AdditionResult(3 documents: 8 tokens)"
    counts = (result.n_documents, result.n_tokens, result.n_empty, result.n_short)
    assert counts == (3, 8, 1, 1)
    assert [row[:2] for row in result.skipped] == [("queries.jsonl", 2)]
    other = tmp_path / "other"
    PassageIndex.create(other, min_tokens=4, num_perm=16)
    options = ("--id-column", "id", "--on-error", "skip", "--json")
    told = printed(capsys, "index", "add", other, queries, *options)
    assert without_seconds(told) == without_seconds(result.summary)
    assert list(told) == list(result.summary)


def test_change__of_an_index(tmp_path):
    made = PassageIndex.create(tmp_path / "index", min_tokens=2, num_perm=8)
    for number in range(3):
        made.add([{"id": f"{number}", "text": f"a b c {number}"}], id_column="id")
    removal = made.remove(["0", "2"])
    assert repr(removal) == "RemovalResult(2 documents removed: 1 left)"
    assert repr(RemovalResult(1, 2)) == "RemovalResult(1 document removed: 2 left)"
    assert removal.seconds > 0
    assert {**removal.summary, "seconds": 0} == {"removed": 2, "documents": 1, "seconds": 0}
    assert made.remove(["1"]).n_documents == 0
    made.add(["a b c d"])
    before = made.info()["bytes"]
    compaction = made.compact()
    assert (compaction.n_segments, compaction.n_documents) == (1, 1)
    assert compaction.n_freed_bytes == before - made.info()["bytes"] > 0
    assert repr(compaction) == (
        f"CompactionResult(1 document: 1 segment, {compaction.n_freed_bytes:,} bytes freed)"
    )
    assert compaction.summary.keys() == {"segments", "documents", "freed_bytes", "seconds"}
