"""A passage index as Python users meet it."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from dataclasses import replace

import pytest

from neardup import (
    IndexFormatError,
    InvalidInputError,
    InvalidParameterError,
    PassageIndex,
    ReadOptions,
    RunOptions,
    SketchMismatchError,
    TextOptions,
)
from neardup.index.store import Database
from neardup.types import PassageResult
from tests.indexes import tree

TEXT = "Once upon a midnight dreary, while I pondered, weak and weary"
ROWS = [
    {"id": "raven", "text": TEXT},
    {"id": "lake", "text": "Here once, through an alley Titanic"},
]


@pytest.fixture
def index(tmp_path) -> PassageIndex:
    made = PassageIndex.create(tmp_path / "index", min_tokens=4, num_perm=16)
    made.add(ROWS, read=ReadOptions(id_column="id"))
    return made


def ids_of(found: PassageResult) -> list[str]:
    return found.passages["doc_id"].to_pylist()


@pytest.mark.parametrize(("tf", "idf"), [("binary", "unary"), ("raw", "unary"), ("log", "smooth")])
def test_add__same_bytes_for_any_workers(tmp_path, monkeypatch, tf, idf):
    monkeypatch.setattr("neardup.passages.open_passages.MOST_PENDING", 0)
    generator = random.Random(1)
    words = [f"wörd{i}" for i in range(400)]
    rows = [
        {"id": f"d{i}", "text": " ".join(generator.choices(words, k=generator.randint(0, 300)))}
        for i in range(60)
    ]
    trees = []
    for workers in (1, 3):
        made = PassageIndex.create(
            tmp_path / str(workers), min_tokens=8, num_perm=16, text=TextOptions(tf=tf, idf=idf)
        )
        made.add(rows[:40], read=ReadOptions(id_column="id"), run=RunOptions(workers=workers))
        made.add(rows[40:], read=ReadOptions(id_column="id"), run=RunOptions(workers=workers))
        made.remove(["d7", "d50"])
        before = tree(made.folder)
        made.compact(run=RunOptions(workers=workers))
        trees.append((before, tree(made.folder)))
    assert trees[0] == trees[1]
    assert len(trees[0][0]) >= 3


def test_search__text_and_documents(index):
    table = index.search("a midnight dreary while I pondered weak", "0.7", with_text=True).passages
    (row,) = table.to_pylist()
    assert row["doc_text"] == TEXT[row["doc_start"] : row["doc_end"]]
    assert row["doc_text"] == "a midnight dreary, while I pondered, weak"
    assert row["query_text"] == "a midnight dreary while I pondered weak"
    assert (row["query_id"], row["doc_id"], row["similarity"]) == ("0", "raven", 1.0)
    assert ids_of(index.search([{"text": TEXT}], "1")) == ["raven"]
    assert len(index) == 2
    assert repr(index) == f"PassageIndex({str(index.folder)!r}: 2 documents)"


def change_manifest(index: PassageIndex, change) -> None:
    """Change the scheme as another version would have written it."""
    database = Database(index.folder)
    with database.writing(0):
        contents = database.read()
        manifest = replace(contents.manifest, **change(contents.manifest))
        database.commit(replace(contents, manifest=manifest))


def test_open__newer_format(index):
    with contextlib.closing(sqlite3.connect(index.folder / "index.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexFormatError, match=r"format 99.* 7\b"):
        PassageIndex.open(index.folder)


@pytest.mark.parametrize(
    ("field", "value"), [("unicode_version", "99.0.0"), ("hash_version", 99), ("new_option", "x")]
)
def test_open__other_scheme(index, field, value):
    change_manifest(index, lambda m: {"scheme": {**m.scheme, field: value}})
    for use in (index.compact, lambda: PassageIndex.open(index.folder), lambda: index.add(["a"])):
        with pytest.raises(SketchMismatchError, match=f"{field} {value!r}") as caught:
            use()
        assert list(caught.value.differences) == [field]


def test_remove__unknown_ids(index):
    before = tree(index.folder)
    for ids, message in (
        (["lake", "bog"], "'bog'"),
        (["lake", "a", "b"], "'a' and 1 more"),
        (["c", "a", "b"], "'a' and 2 more"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            index.remove(ids)
        assert tree(index.folder) == before
    for wrong, message in (
        ("lake", r"'lake'.*\['lake'\]"),
        (7, r" 7.*\[7\]"),
        (None, "NoneType"),
    ):
        with pytest.raises(InvalidParameterError, match=f"^ids.*{message}"):
            index.remove(wrong)
    assert index.remove([]).n_removed == 0
    assert tree(index.folder) == before
    assert index.remove(["lake", "lake"]).n_removed == 1
    with pytest.raises(InvalidInputError, match="'lake'"):
        index.remove(["lake"])
    assert ids_of(index.search(TEXT, "1")) == ["raven"]


@pytest.mark.slow
def test_search__windows_wider_than_16_bits(tmp_path):
    words = [f"w{i}" for i in range(200_000)]
    made = PassageIndex.create(tmp_path / "index", min_tokens=65_536, num_perm=8)
    made.add(["short", " ".join(words)])
    (row,) = made.search(" ".join(words[1000:181_000]), "0.99").passages.to_pylist()
    assert (row["doc_id"], row["similarity"]) == ("1", 1.0)
    assert row["doc_end"] - row["doc_start"] == row["query_end"]
