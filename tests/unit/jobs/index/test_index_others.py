"""Two objects of one index: one waits for the other, and sees what it has committed."""

from __future__ import annotations

import threading
import time

import pytest

from neardup import DocumentIndex, PassageIndex, ReadOptions, find_pairs
from neardup.errors import IndexLockedError
from tests.calls import grouped
from tests.document_indexes import OPTIONS, WEIGHTED

TEXT = "one two three four five"


@pytest.fixture
def index(tmp_path):
    return DocumentIndex.create(tmp_path / "index", **grouped(**OPTIONS))


def test_view__each_look_up_sees_what_was_committed(index):
    looks = {
        "query": lambda other: other.query(TEXT) != [],
        "search": lambda other: len(other.search(TEXT)) > 0,
        "get": lambda other: other.get("a") is not None,
        "in": lambda other: "a" in other,
        "len": lambda other: len(other) > 0,
        "documents": lambda other: other.documents() != [],
        "info": lambda other: other.info()["documents"] > 0,
        "pairs": lambda other: len(find_pairs([TEXT], other)) > 0,
    }
    others = {name: DocumentIndex.open(index.folder) for name in looks}
    index.insert("a", TEXT)
    assert not any(look(others[name]) for name, look in looks.items())
    index.commit()
    assert all(look(others[name]) for name, look in looks.items())
    index.remove(["a"])
    assert not any(look(others[name]) for name, look in looks.items())


def test_view__of_passages(tmp_path):
    index = PassageIndex.create(tmp_path / "index", min_tokens=5, num_perm=16)
    other = PassageIndex.open(index.folder)
    index.add([{"id": "a", "text": "one two three four five six"}])
    assert [len(other), len(other.search("one two three four five")), other.get("a")["id"]] == [
        *(1, 1, "a")
    ]


def test_insert__waits_for_the_lock(index):
    """As long as ``timeout`` says, and no longer; then the line says so."""
    other = DocumentIndex.open(index.folder, timeout=60)
    index.insert("a", TEXT)
    found = []
    thread = threading.Thread(target=lambda: found.append(other.insert_if_new("b", TEXT)))
    thread.start()
    time.sleep(0.05)
    assert found == []
    index.commit()
    thread.join(60)
    assert found == ["a"]
    other.commit()
    index.insert("c", "six seven")
    hasty = DocumentIndex.open(index.folder, timeout=0.05)
    for act in (
        lambda: hasty.insert_if_new("d", "eight"),
        lambda: hasty.add([{"id": "d", "text": "eight"}]),
        lambda: hasty.remove(["a"]),
        hasty.compact,
    ):
        with pytest.raises(IndexLockedError, match=r"this process, since .*\b0\.05\b"):
            act()
    at_once = DocumentIndex.open(index.folder, timeout=0)
    with pytest.raises(IndexLockedError, match=r"this process, since [^,]*;"):
        at_once.insert("d", "eight")
    index.commit()
    hasty.insert("d", "eight")
    assert hasty.commit() == 1


def test_insert__by_weights_that_another_has_decided(tmp_path):
    """The first addition counts; who had opened the index before it weighs by its counts."""
    folder = tmp_path / "index"
    DocumentIndex.create(folder, **grouped(**WEIGHTED | {"idf": "smooth"}))
    early = DocumentIndex.open(folder)
    assert len(early) == 0
    rows = [{"id": f"r{n}", "text": f"often w{n} w{n + 1}"} for n in range(9)]
    DocumentIndex.open(folder).add(rows, read=ReadOptions(id_column="id"))
    assert early.insert_if_new("new", "often other") is None
    assert early.insert_if_new("x", "often w1 w2") == "r1"
    early.insert("newer", "seldom often")
    early.commit()
    late = DocumentIndex.open(folder)
    for text in ("often other", "seldom often"):
        assert late.query(text, limit=1)[0].similarity == 1.0
