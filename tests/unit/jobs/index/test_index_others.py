"""Two objects of one index: one waits for the other, and sees what it has committed."""

from __future__ import annotations

import subprocess
import sys
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


def test_refresh_auto__each_look_up_sees_what_was_committed(index):
    """Before and after the object has written itself; with ``manual`` none does."""
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
    for how in ("auto", "manual"):
        others = {name: DocumentIndex.open(index.folder, refresh=how) for name in looks}
        index.insert("a", TEXT)
        assert not any(look(others[name]) for name, look in looks.items())
        index.commit()
        seen = {name for name, look in looks.items() if look(others[name])}
        assert seen == (set(looks) if how == "auto" else set())
        index.remove(["a"])
        assert not any(look(others[name]) for name, look in looks.items())
        others["query"].refresh()


def test_refresh_auto__of_passages(tmp_path):
    index = PassageIndex.create(tmp_path / "index", min_tokens=5, num_perm=16)
    auto, manual = (PassageIndex.open(index.folder, refresh=how) for how in ("auto", "manual"))
    index.add([{"id": "a", "text": "one two three four five six"}])
    assert [len(auto), len(auto.search("one two three four five")), auto.get("a")["id"]] == [
        *(1, 1, "a")
    ]
    assert [len(manual), len(manual.search("one two three four five"))] == [0, 0]
    manual.refresh()
    assert len(manual) == 1


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
    words = "by this process, since .*, and was for the 0.05 seconds of timeout; wait until"
    for act in (
        lambda: hasty.insert_if_new("d", "eight"),
        lambda: hasty.add([{"id": "d", "text": "eight"}]),
        lambda: hasty.remove(["a"]),
        hasty.compact,
    ):
        with pytest.raises(IndexLockedError, match=words):
            act()
    at_once = DocumentIndex.open(index.folder, timeout=0)
    with pytest.raises(IndexLockedError, match=r"by this process, since [^,]*; wait until"):
        at_once.insert("d", "eight")
    index.commit()
    hasty.insert("d", "eight")
    assert hasty.commit() == 1


@pytest.mark.parametrize("how", ["auto", "manual"])
def test_insert__by_weights_that_another_has_decided(tmp_path, how):
    """The first addition counts; who had opened the index before it weighs by its counts."""
    folder = tmp_path / "index"
    DocumentIndex.create(folder, **grouped(**WEIGHTED | {"idf": "smooth", "with_text": True}))
    early = DocumentIndex.open(folder, refresh=how)
    assert len(early) == 0
    rows = [{"id": f"r{n}", "text": f"often w{n} w{n + 1}"} for n in range(9)]
    DocumentIndex.open(folder).add(rows, read=ReadOptions(id_column="id"))
    assert early.insert_if_new("new", tokens=["often", "other"]) is None
    assert early.insert_if_new("x", tokens=["often", "w1", "w2"]) == "r1"
    early.insert("newer", tokens=["seldom", "often"])
    early.commit()
    late = DocumentIndex.open(folder)
    for tokens in (["often", "other"], ["seldom", "often"]):
        assert late.query(tokens=tokens, limit=1)[0].similarity == 1.0


CUT_OFF = """
import neardup, os, pathlib, sys
index = neardup.open_index(sys.argv[1])
assert index.query(sys.argv[2])
for path in sorted(pathlib.Path(sys.argv[1], "segments").iterdir()):
    data = path.read_bytes()
    os.truncate(path, 0)
    for use in (index.refresh, lambda: index.query(sys.argv[2])):
        try:
            use()
        except neardup.IndexFormatError as error:
            assert str(path) in str(error), error
        else:
            raise AssertionError(path)
    path.write_bytes(data)
    assert index.query(sys.argv[2])
    print(path.name)
"""


@pytest.mark.slow
def test_cut_off__any_file_of_an_open_index(index):
    """In a process of its own, which the system would end."""
    index.insert("a", TEXT)
    index.compact()
    names = {path.name for path in (index.folder / "segments").iterdir()}
    command = [sys.executable, "-c", CUT_OFF, str(index.folder), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split()) == names
