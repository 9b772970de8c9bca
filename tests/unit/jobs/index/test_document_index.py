"""What users of an index of documents do with it, and what they get."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from neardup import (
    DocumentIndex,
    InvalidInputError,
    InvalidParameterError,
    PassageIndex,
    ReadOptions,
    RunOptions,
)
from neardup.documents.document_handle import DocumentHandle
from neardup.errors import IndexFormatError, ReadError
from neardup.passages.open_passages import PassageHandle
from neardup.runs.runner import Runner
from tests.calls import grouped
from tests.document_indexes import OPTIONS, small_pieces
from tests.indexes import tree
from tests.oracles.measures import MEASURES

TEXTS = ["the cat sat on the mat", "the cat sat on a mat", "", "a dog", "the cat sat on the mat"]


@pytest.fixture
def new(tmp_path):
    """Make empty indexes."""
    made = []

    def create(**options):
        made.append(tmp_path / f"index{len(made)}")
        return DocumentIndex.create(made[-1], **grouped(**OPTIONS | options))

    return create


def fill(index, texts=TEXTS):
    for number, text in enumerate(texts):
        index.insert(f"d{number}", text)
    return index


def seen(index, texts=TEXTS):
    """Give all that an index says."""
    return (
        index.documents(0, 1000),
        [index.query(text) for text in texts if text],
        index.search(texts).matches.to_pylist(),
        [index.get(row["id"]) for row in index.documents(0, 1000)],
        len(index),
    )


def test_add__a_number_is_the_same_id_in_text(new, tmp_path):
    index = new()
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    files[0].write_text('{"id": 1, "text": "a cat"}\n')
    files[1].write_text('{"id": "1", "text": "a dog"}\n')
    with pytest.raises(InvalidInputError, match=r"'1'.*a\.jsonl, row 1"):
        index.add(files)
    assert len(index) == 0


@pytest.mark.slow
@pytest.mark.parametrize("measure", [*MEASURES, "weighted-jaccard"])
def test_pending__are_found_as_committed_ones(new, measure):
    """And as those that came in at once, by any number of workers; the files are the same.

    So they are where they were in a tail in between.
    """
    options = {"measure": measure}
    if measure == "weighted-jaccard":
        options |= {"tf": "raw", "idf": "unary"}
    index = fill(new(**options))
    before = seen(index)
    assert index.commit() == len(TEXTS)
    assert seen(index) == seen(DocumentIndex.open(index.folder)) == before
    assert not (index.folder / "segments").exists()
    assert index.compact().n_segments == 1
    (segment,) = (index.folder / "segments").iterdir()
    trees = [{"g000001-0000": segment.read_bytes()}]
    for workers in (1, 2, 3):
        other = new(**options)
        rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)]
        other.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=workers))
        assert seen(other) == before
        trees.append(tree(other.folder / "segments"))
    assert trees[1] == trees[2] == trees[3] == trees[0]


def test_query__limit_and_threshold(new):
    index = fill(new())
    assert [match.id for match in index.query(TEXTS[0])] == ["d0", "d4", "d1"]
    assert [match.id for match in index.query(TEXTS[0], limit=2)] == ["d0", "d4"]
    assert [match.id for match in index.query(TEXTS[0], threshold=1)] == ["d0", "d4"]
    with pytest.raises(InvalidParameterError, match=r"threshold.*0\.5"):
        index.query(TEXTS[0], threshold="0.49")
    assert index.query("") == index.query("...") == []
    assert "d2" in index


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([np.int64(5), np.uint8(6)], [5, 6]),
        ([2**63, 2**64 - 1, 0], [2**63, 2**64 - 1, 0]),
        ([-(2**63), 2**63], [str(-(2**63)), str(2**63)]),
        (["1", 2], ["1", "2"]),
        (["", "é", "01", "1"], ["", "é", "01", "1"]),
    ],
)
def test_ids__keep_their_type_if_they_have_one(new, ids, expected):
    index = new()
    for number, identifier in enumerate(ids):
        index.insert(identifier, f"text{number} a b")
    for _ in range(2):
        assert [row["id"] for row in index.documents()] == expected
        for number, identifier in enumerate(ids):
            (match,) = index.query(f"text{number} a b", threshold=1)
            assert match.id == expected[number]
            assert identifier in index
            assert index.get(identifier)["text"] == f"text{number} a b"
        index.commit()
    index.remove(ids[:1])
    assert [row["id"] for row in index.documents()] == expected[1:]


def test_ids__are_compared_as_text(new):
    """1 and "1" are one id; "01" is another one."""
    index = new()
    index.insert(1, "a b")
    for identifier in (1, "1", np.int32(1)):
        assert identifier in index
        with pytest.raises(InvalidInputError, match=rf"\b{identifier}\b.*already"):
            index.insert(identifier, "c d")
    assert "01" not in index
    index.commit()
    assert index.documents()[0]["id"] == 1
    index.insert("01", "e f")
    index.commit()
    # Now that not all are numbers, none is.
    assert [row["id"] for row in index.documents()] == ["1", "01"]


@pytest.mark.parametrize("bad", [None, 1.5, True, b"x", ("a",), 2**64, -(2**63) - 1, "\ud800"])
def test_ids__of_other_kinds(new, bad):
    """They are refused when they come, and do not stay in the way of a commit."""
    index = fill(new())
    for act in (index.insert, index.insert_if_new):
        with pytest.raises(InvalidInputError, match=r"\bid\b"):
            act(bad, TEXTS[0])
    with pytest.raises(InvalidInputError, match=r"\bid\b"):
        index.get(bad)
    assert index.commit() == len(TEXTS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": "\ud800"}, "text.*valid"),
        ({"text": "z", "c": object()}, "column 'c'"),
        ({"text": "z", "c": 2**70}, "column 'c'"),
        ({"text": "x", "other": 1}, r"column 'other'.*\bc\b"),
        ({"text": 5}, "text.*int"),
        ({"text": None}, "text.*NoneType"),
    ],
)
def test_insert__refuses_and_goes_on(new, arguments, words):
    index = new(columns="c")
    index.insert("a", "x y")
    for act in (index.insert, index.insert_if_new):
        with pytest.raises((InvalidInputError, InvalidParameterError), match=words):
            act("bad", **arguments)
    assert index.commit() == 1
    assert [row["id"] for row in index.documents()] == ["a"]


def test_columns__of_any_types_stay_what_they_are(new):
    """Before and after commits and compactions, whatever stands beside them."""
    index = new(columns=["c", "d"])
    values = [1, None, "s", 2.5, 1, [1, 2], ["a"], {"x": 1}, None, 2**40, True]
    for number, value in enumerate(values):
        index.insert(number, f"text {number}", c=value, d=number)
        if number % 4 == 3:
            index.commit()
    rows = index.documents()
    assert [row["c"] for row in rows] == values
    index.commit()
    assert index.documents() == rows
    # Blocks are copied as they are, and then put together.
    for block_bytes, removed in ((100, [0, 5]), (16_384, [1])):
        with small_pieces(block_bytes=block_bytes):
            index.remove(removed)
            index.compact()
        rows = [row for row in rows if row["id"] not in removed]
        assert index.documents() == rows
        assert DocumentIndex.open(index.folder).documents() == rows
    assert index.get(9)["c"] == 2**40


def test_insert_if_new__first_copy_or_most_similar(new):
    index = new()
    texts = {"far": "a b c d e f x y", "reversed": "h g f e d c b a", "copy": "a b c d e f g h"}
    for name, text in texts.items():
        index.insert(name, text)
    for _ in range(2):
        assert index.insert_if_new("new", "a b c d e f g h") == "copy"
        assert index.insert_if_new("new", "a b c d e f g") == "reversed"
        index.commit()


def test_insertion__of_nothing_lets_go_of_the_lock(new):
    """Nobody would ask for a commit of nothing."""
    index = new()
    index.add([{"id": "a", "text": "the cat sat"}])
    with pytest.raises(InvalidInputError, match=r"'a'.*already"):
        index.insert("a", "the dog sat")
    assert index.insert_if_new("a", "the cat sat") == "a"
    other = DocumentIndex.open(index.folder)
    other.insert("b", "a text of its own")
    other.commit()
    assert index.commit() == 0


def test_commit__others_see_it_at_once(new, monkeypatch):
    """What was inserted is not gone in the moment of the commit."""
    index = new()
    index.insert("a", TEXTS[0])
    index.commit()
    assert index.query(TEXTS[0]) == [("a", 1.0)]
    index.insert("b", TEXTS[0])
    found = []
    thread = threading.Thread(target=lambda: found.extend(index.query(TEXTS[0])))
    database = index._handle.database
    commit = database.commit

    def look_at_once(after):
        commit(after)
        thread.start()
        thread.join()

    monkeypatch.setattr(database, "commit", look_at_once)
    assert index.commit() == 1
    assert [match.id for match in found] == ["a", "b"]


def test_index__of_a_path():
    with pytest.raises(TypeError, match=r"DocumentIndex\.open"):
        DocumentIndex("folder")
    with pytest.raises(TypeError, match=r"PassageIndex\.create"):
        PassageIndex("folder")


def test_open__what_is_no_index_of_documents(tmp_path):
    documents = DocumentIndex.create(tmp_path / "documents", **grouped(**OPTIONS))
    passages = PassageIndex.create(tmp_path / "passages", min_tokens=5)
    with pytest.raises(IndexFormatError, match=r"of passages.*documents"):
        DocumentIndex.open(passages.folder)
    with pytest.raises(IndexFormatError, match=r"of documents.*passages"):
        PassageIndex.open(documents.folder)
    with pytest.raises(ReadError, match="not found"):
        DocumentIndex.open(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match=r"no index\.sqlite"):
        DocumentIndex.open(tmp_path / "empty")
    for handle in (DocumentHandle(passages.folder), PassageHandle(documents.folder)):
        with pytest.raises(IndexFormatError, match="index of"):
            handle.remove(["a"], Runner(1))
