"""Folders whose files are one document: which these are, their texts, and what is cut of them."""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np
import pytest

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.folders import SEPARATOR, FolderSource
from neardup.files.inputs import resolve_inputs, resolve_paths
from neardup.files.rows import ColumnNames, Source
from neardup.options.groups import InputOptions, ReadingOptions
from neardup.options.passage_options import AlignOptions

TREE = (
    *("subs/alice/src/a.txt", "subs/alice/src-old/c.txt", "subs/alice/b.txt"),
    *("subs/bob/x.txt", "subs/bob/.git/y.txt"),
    *("book/10.txt", "book/2.txt"),
)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Make folders of files that hold their own paths, and work above them."""
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def documents(*paths: str, **options) -> dict[str, list[str]]:
    """Give the files of each document by its name; a file that is one by itself has none."""
    sources = resolve_paths(paths, InputOptions(document="folder", **options))
    return {
        source.name: source._names if isinstance(source, FolderSource) else () for source in sources
    }


ALICE = ("b.txt", "src-old/c.txt", "src/a.txt")


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["subs"], {"alice": ALICE, "bob": ("x.txt",)}),
        (["subs/*"], {"alice": ALICE, "bob": ("x.txt",)}),
        (["book"], {"book": ("10.txt", "2.txt")}),
        (["book/"], {"book": ("10.txt", "2.txt")}),
        # Several folders are a document each, as the shell makes them of subs/*.
        (["subs/alice", "subs/bob"], {"alice": ALICE, "bob": ("x.txt",)}),
        (["subs/bob", "book"], {"subs/bob": ("x.txt",), "book": ("10.txt", "2.txt")}),
        (["subs/bob", "book/2.txt"], {"subs/bob": ("x.txt",), "book": ("2.txt",)}),
        # Files that are named, in whatever order, and by patterns.
        (["book/2.txt", "book/10.txt"], {"book": ("10.txt", "2.txt")}),
        (["book/*.txt", "subs/*/*.txt"], {
            "book": ("10.txt", "2.txt"), "subs/alice": ("b.txt",), "subs/bob": ("x.txt",),
        }),
        (["subs/**/*.txt"], {
            "alice": ("b.txt",), "alice/src": ("a.txt",), "alice/src-old": ("c.txt",),
            "bob": ("x.txt",),
        }),
        # Beside folders a file is a document by itself.
        (["subs/alice"], {"b.txt": (), "src-old": ("c.txt",), "src": ("a.txt",)}),
        (["."], {
            "book": ("10.txt", "2.txt"),
            "subs": ("alice/b.txt", "alice/src-old/c.txt", "alice/src/a.txt", "bob/x.txt"),
        }),
    ],
)  # fmt: skip
def test_documents__which_folders(tree, paths, expected):
    assert documents(*paths) == expected


def test_documents__folder_above_the_root(tree, monkeypatch):
    """A folder has a name also where nothing but itself is named."""
    monkeypatch.chdir(tree / "book")
    for path in (".", "10.txt", str(tree / "book"), "*.txt", f"file://{tree}/book"):
        assert list(documents(path)) == ["book"]


def test_documents__archives(tree):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in TREE[:4]:
            archive.writestr(name.removeprefix("subs/"), name)
    (tree / "subs.zip").write_bytes(packed.getvalue())
    assert documents("subs.zip") == {"alice": ALICE, "bob": ("x.txt",)}
    (tree / "all").mkdir()
    (tree / "subs.zip").rename(tree / "all/carol.zip")
    names = (*(f"alice/{name}" for name in ALICE), "bob/x.txt")
    assert documents("all") == documents("all/*.zip") == {"carol.zip": names}


def test_documents__urls(tree):
    import fsspec

    for name in TREE:
        with fsspec.open(f"memory://folders/{name}", "wb") as file:
            file.write(name.encode())
    assert documents("memory://folders/book") == {"book": ("10.txt", "2.txt")}
    expected = {"alice": ("b.txt",), "bob": ("x.txt",)}
    assert documents("memory://folders/subs/*/*.txt") == expected
    assert documents("memory://folders/subs")["alice"] == ALICE


def parsed(source: Source):
    [block] = source.blocks()
    return block.parse(ColumnNames())


def test_text__files_in_order_and_where_they_begin(tree):
    alice, bob = resolve_paths(["subs"], InputOptions(document="folder"))
    found = parsed(alice)
    [text], [files] = found.text.to_pylist(), found.files.to_pylist()
    assert text == SEPARATOR.join(f"subs/alice/{name}" for name in ALICE)
    assert [file["name"] for file in files] == list(ALICE)
    for file in files:
        assert text[file["start"] :].startswith(f"subs/alice/{file['name']}")
    assert alice.default_ids(np.array([1])).to_pylist() == ["alice"]
    assert alice.size == sum(len(f"subs/alice/{name}") for name in ALICE)
    assert (alice.origin, bob.origin) == ("subs/alice", "subs/bob")


def test_text__extracted_and_compressed(tree, make_file):
    import gzip

    (tree / "book/3.html").write_text("<p>a <b>page</b></p>")
    (tree / "book/4.txt.gz").write_bytes(gzip.compress(b"packed"))
    [source] = resolve_paths(["book"], InputOptions(document="folder"))
    [text] = parsed(source).text.to_pylist()
    assert text.split(SEPARATOR) == ["book/10.txt", "book/2.txt", "a page", "packed"]
    assert "an HTML page" in [file.uncuttable for file in source.files]


def test_folder__with_more_text_than_a_document_has(tree, monkeypatch):
    monkeypatch.setattr("neardup.files.folders.MAX_ROW_BYTES", 20)
    alice, bob = resolve_paths(["subs"], InputOptions(document="folder"))
    assert parsed(bob).text.to_pylist() == ["subs/bob/x.txt"]
    with pytest.raises(InvalidInputError, match=r"^subs/alice, row 1: .*more than "):
        parsed(alice)


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.parquet", "d.warc"])
def test_table__in_a_folder(tree, name):
    (tree / "subs/bob" / name).write_bytes(b"")
    place = re.escape(f"subs/bob/{name}")
    with pytest.raises(InvalidInputError, match=f"^{place}: .*is a document"):
        documents("subs")
    # As text it is a file like any other; what is named itself is read as ever.
    if name != "d.parquet":
        assert documents("subs", input_format="text")["bob"] == (name, "x.txt")
    assert documents(f"subs/bob/{name}", "book") == {
        f"subs/bob/{name}": (),
        "book": ("10.txt", "2.txt"),
    }


def test_no_text__in_any_folder(tree):
    (tree / "none/deep").mkdir(parents=True)
    with pytest.raises(InvalidInputError, match=r"known format.*'none'"):
        documents("none")


@pytest.mark.parametrize("kind", [InputOptions, ReadingOptions, AlignOptions])
def test_options__that_exclude_each_other(kind):
    with pytest.raises(InvalidParameterError, match=r"^document .*'page'$"):
        kind(document="page")


def test_resolve_inputs__folder_as_a_path(tree):
    [source] = resolve_inputs(tree / "book", InputOptions(document="folder"))
    assert source.name == "book"
