"""Folders that are one document each are read on Spark as in threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import neardup
from neardup.errors import InvalidInputError
from tests.calls import grouped
from tests.spark import on_session
from tests.spark.runs import assert_same, run_spark, run_threads
from tests.spilling import make_rows

FOLDER: dict[str, Any] = {"document": "folder"}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make documents of two files each, in folders of their own."""
    folder = tmp_path_factory.mktemp("books")
    rows = make_rows(3, 40)
    for number, (one, two) in enumerate(zip(rows[::2], rows[1::2], strict=True)):
        for name, row in (("1.txt", one), ("deep/2.txt", two)):
            path = folder / f"b{number}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{row['text']}\n")
    return folder


def test_files__the_same(in_process, books, tmp_path):
    job = {"job": "deduplicate", "threshold": "0.5", "ngram": 1}
    expected = run_threads(str(books), tmp_path / "threads", **job, **FOLDER)
    assert_same(run_spark(in_process, str(books), tmp_path / "spark", **job, **FOLDER), expected)


def test_passages__the_same_places(in_process, books, tmp_path):
    found = on_session.align(in_process, str(books), min_tokens=10, **FOLDER).passages
    assert found.equals(neardup.align(str(books), **grouped(min_tokens=10, **FOLDER)).passages)
    assert {place.split(",")[0] for place in found["doc_place"].to_pylist()} == {
        "1.txt",
        "deep/2.txt",
    }
    index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=10)
    index.add(str(books), **grouped(**FOLDER))
    looked_up = {"threshold": "0.5", "places": True}
    expected = index.search(Path(books / "b1"), **grouped(**looked_up, **FOLDER)).passages
    found = on_session.search_passages(in_process, index, str(books / "b1"), **looked_up, **FOLDER)
    assert found.passages.equals(expected)
    assert len(expected) > 0


def test_errors__name_the_file_as_the_user_does(in_process, books, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        (tmp_path / f"in/b{number}").mkdir(parents=True)
        (tmp_path / f"in/b{number}/a.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidInputError, match=r"^in/b1/a\.txt, row 1: not valid UTF-8"):
        on_session.deduplicate(in_process, "in", **FOLDER)
