"""Whatever happens to a file of an index of documents: no answer is wrong, and info says so."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from neardup import DocumentIndex, PassageIndex, ReadOptions
from neardup.documents.index import DocumentHandle
from neardup.errors import IndexFormatError, ReadError
from neardup.index.store import FILE
from neardup.passages.index import PassageHandle
from neardup.runs.runner import Runner
from tests.calls import grouped
from tests.document_indexes import (
    OPTIONS,
    QUERIES,
    WEIGHTED,
    build,
    small_pieces,
    text_of,
)
from tests.faults import at_calls
from tests.indexes import held, tree

# Of each file, beside a few that every file gets.
N_DAMAGES = int(os.environ.get("NEARDUP_TEST_DAMAGES", "80"))
N_STEPS = 9
KINDS = {"jaccard": OPTIONS, "weighted": WEIGHTED | {"idf": "smooth"}}


def make(folder: Path, options: dict) -> None:
    """Make an index that has every kind of file."""
    with small_pieces(fanout=8), at_calls(lambda _: None):
        if options.get("idf") != "smooth":
            build(folder, N_STEPS, options)
            return
        index = DocumentIndex.create(folder, **grouped(**options))
        rows = [{"id": str(n), "text": text_of(n)} for n in range(30)]
        index.add(rows[:20], read=ReadOptions(id_column="id"))
        for row in rows[20:]:
            index.insert_if_new(row["id"], row["text"])
        index.commit()
        index.add([{"id": "more", "text": text_of(3)}], read=ReadOptions(id_column="id"))
        index.remove(["3", "21" if "21" in index else "22", "4"])


@pytest.fixture(scope="module", params=KINDS)
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "index"
    make(folder, KINDS[request.param])
    # And a tail, of two commits.
    index = DocumentIndex.open(folder)
    index.insert("last", f"{text_of(5)} and more")
    assert index.insert_if_new("went", f"{text_of(5)} and more") is not None
    index.commit()
    index.insert("very last", text_of(77))
    index.commit()
    index._handle.database.close()
    return folder


def damages(data: bytes, others: list[bytes], generator: np.random.Generator):
    """Yield a file in other forms: flipped, cut, grown, overwritten with zeros, or another one."""
    yield b""
    yield data[:-1]
    yield data + b"\0"
    yield bytes([data[0] ^ 1]) + data[1:]
    yield data[:-1] + bytes([data[-1] ^ 128])
    for number in range(N_DAMAGES):
        place = int(generator.integers(len(data)))
        match number % 4:
            case 0:
                yield data[:place]
            case 1:
                yield data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]
            case 2:
                stop = min(len(data), place + 1 + int(generator.integers(200)))
                yield data[:place] + bytes(stop - place) + data[stop:]
            case _:
                yield others[int(generator.integers(len(others)))]


def questions(index: DocumentIndex):
    """Yield what can be asked, by a name; each has one right answer."""
    for text in QUERIES:
        yield f"query {text[:20]}", lambda text=text: index.query(text)
    for name in ("0", "5", "7", "12", "29", "more", "last", "went", "very last"):
        yield f"get {name}", lambda name=name: index.get(name)
        yield f"has {name}", lambda name=name: name in index
    yield "all", lambda: index.documents(0, 1000)
    yield "search", lambda: index.search(QUERIES).matches.to_pylist()

    def insert_if_new():
        found = []
        with contextlib.suppress(ZeroDivisionError), index:
            found += [index.insert_if_new(f"new {n}", text) for n, text in enumerate(QUERIES)]
            # So that nothing is committed.
            raise ZeroDivisionError
        return found

    yield "insert_if_new", insert_if_new


@pytest.mark.damage
def test_answers__after_damage_of_any_file(made, tmp_path):
    generator = np.random.default_rng(7)
    folder = tmp_path / "index"
    shutil.copytree(made, folder)
    right = {name: ask() for name, ask in questions(DocumentIndex.open(made))}
    files = held(made)
    n_damages = n_told = 0
    for name, data in files.items():
        others = [other for other in files.values() if other != data]
        for changed in [None, *damages(data, others, generator)]:
            if changed == data:
                continue
            if changed is None:
                (folder / name).unlink()
            else:
                (folder / name).write_bytes(changed)
            n_damages += 1
            n_told += look(folder, name, right)
            try:
                DocumentIndex.open(folder).info()
            except (IndexFormatError, ReadError):
                pass
            else:
                # Not every byte of a database has a meaning.
                assert name == FILE
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
    assert n_damages > 300
    # Some lie where nothing that was asked has looked.
    assert n_told > n_damages // 2
    assert DocumentIndex.open(folder).info() == DocumentIndex.open(made).info() | {
        "folder": str(folder)
    }


def look(folder: Path, name: str, right: dict) -> bool:
    """Ask all there is to ask; return whether the damage was met."""
    try:
        index = DocumentIndex.open(folder)
    except (IndexFormatError, ReadError) as error:
        check_name(error, name)
        return True
    is_met = False
    for question, ask in questions(index):
        try:
            found = ask()
        except IndexFormatError as error:
            check_name(error, name)
            is_met = True
        else:
            assert found == right[question], (name, question)
    return is_met


def check_name(error: Exception, name: str) -> None:
    assert Path(name).name in str(error)


@pytest.mark.damage
def test_change__of_a_damaged_index(made, tmp_path):
    """A compaction reads all, and fails, or writes what was right; nothing is made worse."""
    folder = tmp_path / "index"
    answers = [DocumentIndex.open(made).query(text) for text in QUERIES]
    for name, data in tree(made).items():
        if name == FILE:
            continue
        shutil.copytree(made, folder)
        place = len(data) // 2
        (folder / name).write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        before = tree(folder)
        try:
            with at_calls(lambda _: None):
                DocumentIndex.open(folder).compact()
        except IndexFormatError as error:
            check_name(error, name)
            assert tree(folder) == before
        else:
            index = DocumentIndex.open(folder)
            index.info()
            assert [index.query(text) for text in QUERIES] == answers
        shutil.rmtree(folder)


def test_open__what_is_no_index_of_documents(tmp_path):
    documents = DocumentIndex.create(tmp_path / "documents", **grouped(**OPTIONS))
    passages = PassageIndex.create(tmp_path / "passages", min_tokens=5)
    with pytest.raises(IndexFormatError, match="this is an index of passages, not of documents"):
        DocumentIndex.open(passages.folder)
    with pytest.raises(IndexFormatError, match="this is an index of documents, not of passages"):
        PassageIndex.open(documents.folder)
    with pytest.raises(ReadError, match="no index: folder not found"):
        DocumentIndex.open(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match=r"no index: the folder has no index\.sqlite"):
        DocumentIndex.open(tmp_path / "empty")
    for handle in (DocumentHandle(passages.folder), PassageHandle(documents.folder)):
        with pytest.raises(IndexFormatError, match="this is an index of"):
            handle.remove(["a"], Runner(1))
