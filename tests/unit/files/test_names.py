"""Names of files, of which ids are made: below the folder that is named, and told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from neardup.files.inputs import name_apart, resolve_paths
from neardup.options.groups import InputOptions
from tests.archives import zip_of


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return what writes files in the working folder."""
    monkeypatch.chdir(tmp_path)

    def write(*names: str) -> None:
        for name in names:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'{"text": "one"}\n{"text": "two"}\n')

    return write


def names(*paths: str, **options: str) -> list[str]:
    return [source.name for source in resolve_paths(paths, InputOptions(**options))]


def ids(*paths: str, **options: object) -> list[str]:
    return [
        key
        for source in resolve_paths(paths, InputOptions(**options))
        for block in source.blocks()
        for key in source.default_ids(block.numbers).to_pylist()
    ]


def test_names__below_the_folder_that_is_named(files):
    """What is in it plays no part, so that they stay when more comes."""
    files("essays/2026/a.txt")
    assert names("essays") == ["2026/a.txt"]
    files("essays/2027/a.txt")
    assert names("essays") == names("essays/") == names("./essays/../essays")
    assert names("essays") == ["2026/a.txt", "2027/a.txt"]
    assert names("essays/2026") == ["a.txt"]
    assert names("essays/2026/a.txt") == ["a.txt"]


def test_names__of_several(files):
    files("modern/henry_v.txt", "folio1623/henry_v.txt", "folio1623/x/lear.txt")
    both = ["modern/henry_v.txt", "folio1623/henry_v.txt", "folio1623/x/lear.txt"]
    assert names("modern", "folio1623") == both
    assert names("modern/henry_v.txt", "folio1623") == both
    assert names("folio1623/x/lear.txt", "folio1623/x") == ["lear.txt"]
    assert names("folio1623", "folio1623/x") == ["henry_v.txt", "x/lear.txt"]
    assert names("*/henry_v.txt") == ["folio1623/henry_v.txt", "modern/henry_v.txt"]


def test_names__in_archives_and_at_urls(files):
    import fsspec

    Path("a.zip").write_bytes(zip_of([("x/y/a.txt", b"a")]))
    assert names("a.zip") == ["x/y/a.txt"]
    with fsspec.open("memory://names/x/y/a.txt", "wb") as file:
        file.write(b"a")
    assert names("memory://names/x") == ["y/a.txt"]


def test_ids__with_the_row_where_there_may_be_several(files):
    files("in/a.txt", "in/b.jsonl", "in/c.dat")
    assert ids("in") == ["a.txt", "b.jsonl:1", "b.jsonl:2"]
    assert ids("in/a.txt", document="line") == ["a.txt:1", "a.txt:2"]


def apart(own: str, others: str, an_id: str | None = None) -> list[str]:
    found = name_apart(resolve_paths(others.split()), resolve_paths(own.split()), an_id)
    return [source.name for source in found]


def test_told_apart__by_the_folders(files):
    files("modern/henry_v.txt", "folio/henry_v.txt", "folio/lear.txt", "x/y/henry_v.txt")
    assert apart("modern", "folio") == ["folio/henry_v.txt", "folio/lear.txt"]
    assert apart("modern", "x/y") == ["x/y/henry_v.txt"]
    assert apart("x/y", "x/y/../../modern") == ["modern/henry_v.txt"]


def test_told_apart__names_that_differ_stay(files):
    files("modern/henry_v.txt", "folio/lear.txt")
    assert apart("modern", "folio") == ["lear.txt"]


def test_told_apart__one_file_twice_is_one(files):
    files("modern/henry_v.txt", "modern/lear.txt")
    assert apart("modern", "modern") == ["henry_v.txt", "lear.txt"]
    assert apart("modern", "modern/lear.txt") == ["lear.txt"]


def test_told_apart__by_a_folder_above(files):
    """Below the deepest folder of both another name of one's own would come out."""
    files("p/a/x.txt", "p/a/b/x.txt", "p/b/x.txt")
    assert apart("p/a", "p/b") == ["p/b/x.txt"]


def test_told_apart__where_a_table_has_such_ids(files):
    files("modern/henry_v.txt", "folio/henry_v.txt", "folio/plays.jsonl")
    for an_id in ("folio/henry_v.txt", "folio/plays.jsonl:7"):
        assert apart("modern", "folio", an_id)[0] == "folio/henry_v.txt"
    for an_id in ("henry_v.txt", "7", "", "folio/henry_v.txt.bak", "plays.jsonl:7"):
        assert apart("modern", "folio", an_id)[0] == "henry_v.txt"


def test_told_apart__ids_and_texts_are_of_the_file(files):
    files("a/x.jsonl", "b/x.jsonl")
    [own], [other] = (resolve_paths([name]) for name in "ab")
    [found] = name_apart([other], [own])
    assert found.name == "b/x.jsonl"
    assert found.default_ids(np.array([2])).to_pylist() == ["b/x.jsonl:2"]
    assert len(next(iter(found.blocks()))) == 2
    assert own.default_ids(np.array([2])).to_pylist() == ["x.jsonl:2"]
