"""Commits of a few documents go into a tail, which is an index as much as segments are."""

from __future__ import annotations

import threading
from unittest.mock import patch

import numpy as np
import pytest

from neardup import DocumentIndex
from neardup.documents.lookup import find_hits
from neardup.documents.one_text import make_query
from neardup.documents.pending import Pending
from neardup.indexes.manifest import load_manifest
from tests.document_indexes import OPTIONS, WEIGHTED, check_names


@pytest.fixture(autouse=True)
def _nothing_waits_for_the_disk(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)


def logs(folder):
    return sorted((folder / "tail").iterdir()) if (folder / "tail").is_dir() else []


def test_tail__grows_and_becomes_a_segment(tmp_path):
    index = DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    reader = DocumentIndex.open(tmp_path / "idx")
    sizes = []
    with patch("neardup.documents.additions.MOST_IN_TAIL", 3):
        for number in range(4):
            index.insert(str(number), f"text number {number}")
            index.commit()
            check_names(index.folder)
            assert [row["id"] for row in reader.documents()] == [str(n) for n in range(number + 1)]
            sizes += [log.stat().st_size for log in logs(index.folder)]
            info = index.info()
            assert (info["documents"], info["tokens"]) == (number + 1, 3 * (number + 1))
    assert sizes == sorted(set(sizes))
    assert len(sizes) == 3
    # The fourth has put all of them into one segment.
    assert (logs(index.folder), index.info()["segments"]) == ([], 1)


@pytest.mark.parametrize("options", [OPTIONS, OPTIONS | {"with_text": False}, WEIGHTED])
def test_tail__gives_what_was_put_in(tmp_path, options):
    """Of each kind of document, from another process's view and after it is a segment."""
    index = DocumentIndex.create(tmp_path / "idx", **options, columns=["c", "d"])
    given = [
        (1, {"text": "a b c d"}, {"c": 1}),
        ("x", {"tokens": ["a", "b", "e", "f"]}, {"c": "text", "d": [1, 2]}),
        (-5, {"text": ""}, {}),
        (2**63, {"text": "é ü ß"}, {"d": None, "c": {"k": 0.5}}),
    ]
    for identifier, document, columns in given:
        index.insert(identifier, **document, **columns)
        assert index.commit() == 1
    assert index.insert_if_new("went", "a b c d x") == "1"
    index.commit()
    wanted = list(index.documents())
    assert [row["id"] for row in wanted] == ["1", "x", "-5", str(2**63)]
    queries = [{"text": "a b c"}, {"tokens": ["a", "b", "e", "f"]}, {"text": "é ü"}]
    found = [index.query(**query) for query in queries]
    assert [[match.id for match in matches] for matches in found] == [["1"], ["x"], [str(2**63)]]
    for _ in range(2):
        for each in (index, DocumentIndex.open(index.folder)):
            assert list(each.documents()) == wanted
            assert [each.query(**query) for query in queries] == found
            assert each.insert_if_new("went again", "a b c d x") == "1"
            each._session.discard()
            assert [each.get(row["id"]) for row in wanted] == wanted
            assert "went" not in each
        assert index.info()["gone_documents"] == 1
        index.compact()
        assert logs(index.folder) == []


def test_tail__a_view_stays_what_it_is(tmp_path):
    """Whoever has one looks at it while commits put more behind it."""
    index = DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    index.insert("a", "one two three")
    index.commit()
    with index._session.shared() as view:
        query = make_query("one two three", None, view.scheme)
        for number in range(5):
            index.insert_if_new(f"b{number}", f"one two three {number}")
            index.insert(f"c{number}", "one two three")
            index.commit()
            with index._session.shared():
                pass
            (tail,) = view.segments
            assert isinstance(tail, Pending)
            assert (len(tail), tail.n_gone) == (1, 0)
            assert view.list_ids(view.live(0, 10)) == ["a"]
            assert (view.has_id("a"), view.has_id("c0")) == (True, False)
            assert view.documents_of_ids(tail.ids_of(np.array([0]))).tolist() == [0]
            assert find_hits(view, query, view.scheme.measure).documents.tolist() == [0]
    assert len(index) == 6


@pytest.mark.slow
def test_tail__read_while_it_is_written(tmp_path):
    index = DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    errors, ended = [], threading.Event()

    def read():
        reader = DocumentIndex.open(tmp_path / "idx")
        n_before = 0
        while not ended.is_set():
            n_found = len(reader.query("one two three", limit=1000))
            if n_found < n_before:
                errors.append((n_before, n_found))
            n_before = n_found

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    with patch("neardup.documents.additions.MOST_IN_TAIL", 20):
        for number in range(60):
            index.insert(number, "one two three")
            index.commit()
    ended.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(index.query("one two three", limit=1000)) == 60


def test_tail__what_a_killed_writer_left_behind_it(tmp_path):
    """It is no part of the index, and the next commit writes over it."""
    index = DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    index.insert("a", "one two three")
    index.commit()
    (log,) = logs(index.folder)
    with log.open("ab") as file:
        file.write(b"torn" * 1000)
    other = DocumentIndex.open(index.folder)
    assert [row["id"] for row in other.documents()] == ["a"]
    other.insert("b", "one two four")
    other.commit()
    assert log.stat().st_size == load_manifest(index.folder).tail.file.size
    assert [row["id"] for row in index.documents()] == ["a", "b"]
    index.info()
