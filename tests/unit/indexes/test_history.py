"""The history of an index: every change that came to be has its line, and no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import neardup
from neardup.errors import IndexFormatError
from neardup.indexes.folder import changing, create_index
from neardup.indexes.history import HISTORY, Change, note_change, read_history, trim_history
from neardup.indexes.manifest import Manifest, load_manifest, store_manifest
from tests.document_indexes import OPTIONS, small_pieces, text_of


@pytest.fixture
def folder(tmp_path):
    """Make an index of five changes, of which nothing but the history tells."""
    create_index(tmp_path / "index", Manifest({}))
    for generation in range(1, 6):
        note_change(tmp_path / "index", Manifest({}, generation), Change("add", added=generation))
    store_manifest(tmp_path / "index", Manifest({}, 5))
    return tmp_path / "index"


def added(folder, generation=5):
    return [each.added for each in read_history(folder, Manifest({}, generation))]


def test_read__changes_up_to_a_manifest(folder):
    entries = read_history(folder, Manifest({}, 5))
    assert [each.generation for each in entries] == [1, 2, 3, 4, 5]
    age = datetime.now(UTC) - datetime.fromisoformat(entries[-1].at)
    assert timedelta(0) <= age < timedelta(minutes=5)
    assert added(folder, 3) == [1, 2, 3]
    (folder / HISTORY).unlink()
    assert read_history(folder, Manifest({}, 5)) == []


def test_next_writer__cuts_off_what_has_not_come_to_be(folder):
    """A whole line, or a part of one, or both."""
    path = folder / HISTORY
    whole = path.read_bytes()
    note_change(folder, Manifest({}, 6), Change("remove", removed=1))
    line = path.read_bytes()[len(whole) :]
    for left in (line, line[:-1], line[:1], line[: len(line) // 2], line + line[:20], b""):
        path.write_bytes(whole + left)
        assert added(folder) == [1, 2, 3, 4, 5]
        with changing(folder):
            pass
        assert path.read_bytes() == whole
    # Of an index whose first change has failed nothing is left.
    for left in (line, line[:9]):
        path.write_bytes(left)
        trim_history(folder, 0)
        assert not path.exists()


def test_damage__is_told_and_stays(folder):
    path = folder / HISTORY
    whole = path.read_bytes()
    for place in (0, 20, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        damaged = path.read_bytes()
        with pytest.raises(IndexFormatError, match=r"history\.log: line \d is damaged; take the"):
            added(folder)
        trim_history(folder, 5)
        assert path.read_bytes() == damaged


def test_failure__of_a_change_leaves_no_line(folder):
    before = (folder / HISTORY).read_bytes()

    def fail():
        with changing(folder) as old:
            note_change(folder, Manifest({}, old.generation + 1), Change("add"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (folder / HISTORY).read_bytes() == before


def kinds_of(folder):
    manifest = load_manifest(folder)
    entries = read_history(folder, manifest)
    documents = 0
    for entry in entries:
        documents += entry.added + entry.inserted - entry.removed
        assert entry.documents == documents
    if entries:
        assert entries[-1].segments == len(manifest.segments)
    return [entry.kind for entry in entries]


def test_changes__of_an_index_of_documents(tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    rows = [{"id": str(number), "text": text_of(number)} for number in range(20)]
    with small_pieces():
        assert kinds_of(index.folder) == []
        index.add([*rows[:5], {"id": "unlike", "text": "not like any other one"}], id_column="id")
        for row in rows[5:11]:
            index.insert_if_new(row["id"], row["text"])
            index.commit()
        # These wait in a tail, until the next change.
        assert kinds_of(index.folder) == ["add"]
        index.remove(["1", "3", "unlike"], deny=True)
        index.add(rows[11:16], id_column="id")
        again = [{"id": "again", "text": "not like any other one"}, *rows[16:]]
        neardup.deduplicate(again, against=index.folder, add=True, id_column="id")
        index.refresh()
        index.compact()
    kinds = [kind for kind in kinds_of(index.folder) if kind != "merge"]
    assert kinds == ["add", "insert", "remove", "add", "add", "compact"]
    entries = read_history(index.folder, load_manifest(index.folder))
    changes = [each for each in entries if each.kind != "merge"]
    assert [each.added for each in changes[:2]] == [6, 0]
    assert changes[1].inserted + changes[1].gone == 6
    assert (changes[2].removed, changes[2].denied) == (3, index.info()["denied_documents"])
    assert changes[4].left_out == 1
    assert changes[4].added + changes[4].gone == 4
    assert changes[-1].bytes == index.info()["bytes"]
    assert changes[-1].documents == len(index)
    assert any(each.kind == "merge" for each in entries)


def test_changes__of_an_index_of_passages(tmp_path):
    index = neardup.PassageIndex.create(tmp_path / "idx", min_tokens=5, num_perm=16)
    index.add([{"id": number, "text": text_of(number)} for number in range(3)], id_column="id")
    index.remove(["1"])
    index.compact()
    assert kinds_of(index.folder) == ["add", "remove", "compact"]


def test_info__checks_the_history(tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "idx", **OPTIONS)
    index.add([{"id": number, "text": text_of(number)} for number in range(3)], id_column="id")
    path = index.folder / HISTORY
    path.write_bytes(b"x" + path.read_bytes())
    assert len(index.query(text_of(1))) > 0
    with pytest.raises(IndexFormatError, match="line 1 is damaged"):
        index.info()
