"""``index.remove(ids, deny=True)``: what was taken out does not come back."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

import neardup
from neardup import DocumentIndex, InvalidParameterError, PassageIndex
from neardup.errors import DeniedError
from tests.calls import grouped

WORDS = [f"w{number}" for number in range(2000)]


def text_of(number: int, n_words: int = 300) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=n_words))


def changed(number: int, n_words: int) -> str:
    """Give a text with other words at its end, so that so many 3-grams differ and two more."""
    words = text_of(number).split()
    return " ".join([*words[:-n_words], *(f"new{place}" for place in range(n_words))])


ROWS = [{"id": f"d{number}", "text": text_of(number)} for number in range(12)]


@pytest.fixture
def index(tmp_path):
    made = DocumentIndex.create(
        tmp_path / "idx", threshold="0.8", text=neardup.TextOptions(ngram=3)
    )
    made.add(ROWS, read=neardup.ReadOptions(id_column="id"))
    return made


def denied_of(index) -> int:
    return index.info()["denied_documents"]


def test_deny__left_out_of_additions(index):
    removal = index.remove(["d0", "d1", "d2"], deny=True)
    assert (removal.n_removed, removal.n_documents, removal.n_denied) == (3, 9, 3)
    assert removal.summary["denied"] == denied_of(index) == 3
    rows = [
        {"id": "same", "text": text_of(0)},
        # The id that a denied document had is free for another text.
        {"id": "d1", "text": text_of(50)},
        {"id": "near", "text": changed(1, 8)},
        {"id": "case", "text": text_of(2).upper()},
    ]
    addition = index.add(rows, read=neardup.ReadOptions(id_column="id"))
    found = [(each.id, each.denied_id, each.row) for each in addition.denied]
    assert found == [("same", "d0", 1), ("case", "d2", 4)]
    assert addition.n_documents == 2
    assert [each["id"] for each in addition.summary["denied"]] == ["same", "case"]
    assert "d1" in index
    assert "near" in index


def test_deny__with_what_had_gone_for_it(index):
    """It was compared when it went, so that its digest is proof enough."""
    near = changed(3, 25)
    assert index.insert_if_new("near", near) == "d3"
    index.insert_if_new("other", changed(4, 25))
    index.commit()
    removal = index.remove(["d3"], deny=True)
    assert removal.orphans["id"].to_pylist() == ["near"]
    assert removal.n_denied == 2
    with pytest.raises(DeniedError, match=r"'again'.*'near'") as e:
        index.insert("again", near)
    assert e.value.denied_id == "near"
    # What went for one that stays is free to come.
    index.remove(["d4"])
    index.insert("free", changed(4, 25))


def test_deny__refused_insertions(index):
    index.remove(["d0", "d1"], deny=True)
    for insert in (index.insert, index.insert_if_new):
        with pytest.raises(DeniedError, match=r"'x'.*'d0'"):
            insert("x", text_of(0))
        insert(f"free {insert.__name__}", text_of(30 if insert == index.insert else 31))
    # The lock is not held by what was refused.
    index.commit()
    with pytest.raises(DeniedError):
        index.insert("x", text_of(0))
    DocumentIndex.open(index.folder, timeout=0).insert("y", text_of(40))
    index.commit()


@pytest.mark.parametrize("add", [True, False])
def test_deny__dedup_against(index, add):
    index.remove(["d0", "d1", "d2"], deny=True)
    rows = [
        {"id": "d0", "text": text_of(0)},
        {"id": "copy", "text": text_of(1).upper()},
        {"id": "there", "text": text_of(5)},
        {"id": "far", "text": changed(2, 90)},
        {"id": "within", "text": changed(2, 88)},
    ]
    found = neardup.deduplicate(
        rows, against=index.folder, add=add, read=neardup.ReadOptions(id_column="id")
    )
    removed = [
        (row["id"], row["kept_id"].removeprefix("against/"), row["kept_in"], row["exact_copy"])
        for row in found.removed.to_pylist()
    ]
    assert removed == [
        ("d0", "d0", "denied", True),
        ("copy", "d1", "denied", True),
        ("there", "d5", "against", True),
        ("within", "far", "input", False),
    ]
    assert found.summary["documents_denied"] == 2
    assert found.kept["id"].to_pylist() == ["far"]
    assert ("far" in index) == add
    # Nothing is noted to have gone for a denied document: its id may come again, with another text.
    assert index.info()["gone_documents"] == 2 * add
    if add:
        index.add([{"id": "d1", "text": text_of(60)}], read=neardup.ReadOptions(id_column="id"))
        assert index.remove(["d1"]).orphans.num_rows == 0


@pytest.fixture
def with_copies(index):
    """Make an index that denies a document of which it has copies, in a segment and in its tail."""
    index.add(
        [{"id": "copy", "text": text_of(0).upper()}], read=neardup.ReadOptions(id_column="id")
    )
    index.insert("tail", text_of(0))
    index.commit()
    index.remove(["d0", "d1"], deny=True)
    return index


@pytest.mark.parametrize("memory", [None, "16MB"])
@pytest.mark.parametrize("add", [False, True])
def test_deny__an_equal_text_is_denied_beside_a_copy_that_is_there(with_copies, add, memory):
    """Also a document that is there itself, when it comes again."""
    rows = [
        {"id": "again", "text": text_of(0)},
        {"id": "copy", "text": text_of(0).upper()},
        {"id": "more", "text": text_of(0)},
        {"id": "there", "text": text_of(5)},
    ]
    found = neardup.deduplicate(
        rows,
        against=with_copies.folder,
        add=add,
        read=neardup.ReadOptions(id_column="id"),
        run=neardup.RunOptions(memory=memory),
    )
    removed = [
        (row["id"], row["kept_in"], row["kept_id"].removeprefix("against/"), row["exact_copy"])
        for row in found.removed.to_pylist()
    ]
    assert removed == [
        ("again", "denied", "d0", True),
        ("copy", "denied", "d0", True),
        ("more", "denied", "d0", True),
        ("there", "against", "d5", True),
    ]
    assert found.summary["documents_denied"] == 3
    if add:
        assert (found.summary["documents_added"], found.summary["documents_known"]) == (0, 0)


def test_deny__dedup_of_all_texts_is_refused(index):
    index.remove(["d0"], deny=True)
    for option in ({"method": "exact"}, {"clusters": "components"}, {"audit": 5}):
        with pytest.raises(InvalidParameterError, match="denied"):
            neardup.deduplicate(ROWS, **grouped(id_column="id", against=index.folder, **option))


def test_deny__is_refused_of_passages(tmp_path):
    index = PassageIndex.create(tmp_path / "idx", min_tokens=5)
    index.add(ROWS, read=neardup.ReadOptions(id_column="id"))
    with pytest.raises(InvalidParameterError, match=r"^deny.*passages"):
        index.remove(["d0"], deny=True)
    assert "d0" in index


def test_deny__damage_is_noticed(index):
    index.remove(["d0"], deny=True)
    with closing(sqlite3.connect(index.folder / "index.sqlite")) as connection, connection:
        (data,) = connection.execute("SELECT data FROM denied").fetchone()
        for damaged in (data[:-1] + bytes([data[-1] ^ 1]), data[:-1], b""):
            connection.execute("UPDATE denied SET data = ?", (damaged,))
            connection.commit()
            with pytest.raises(neardup.IndexFormatError):
                DocumentIndex.open(index.folder).info()
        connection.execute("UPDATE denied SET data = ?", (data,))
    DocumentIndex.open(index.folder).info()
