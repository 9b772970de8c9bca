from __future__ import annotations

import io
import os
import re
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError, ReadError
from neardup.files.delimited import DelimitedSource
from neardup.files.formats import KNOWN_SUFFIXES, format_of
from neardup.files.inputs import list_endings, passed_over, resolve_inputs, resolve_paths
from neardup.files.jsonarrays import JsonArraySource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import FrameSource, MemorySource
from neardup.files.parquet import ParquetSource
from neardup.files.plain import TextFileSource, TextLinesSource
from neardup.options.groups import InputOptions
from tests.each import each_of

LINE = b'{"text": "a"}\n'


@pytest.fixture
def corpus(make_file, monkeypatch) -> Path:
    """Make a folder of a few files and work in the folder above it."""
    for name in ("corpus/b.jsonl", "corpus/a.jsonl.gz", "corpus/sub/c.csv", "corpus/README.md"):
        make_file(name, LINE)
    make_file("corpus/.hidden/d.jsonl", LINE)
    folder = make_file("corpus/.e.jsonl", LINE).parent
    monkeypatch.chdir(folder.parent)
    return folder


def names(*paths: str, **options: Any) -> list[str]:
    return [source.name for source in resolve_paths(paths, InputOptions(**options))]


def test_resolve_paths__folder(corpus):
    assert names("corpus") == ["a.jsonl.gz", "b.jsonl", "sub/c.csv"]
    assert names(str(corpus)) == names("corpus/")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("corpus/*.jsonl*", ["a.jsonl.gz", "b.jsonl"]),
        ("corpus/**/*.csv", ["c.csv"]),
        ("corp*", ["a.jsonl.gz", "b.jsonl", "sub/c.csv"]),
        ("corpus/[bs]*", ["b.jsonl", "sub/c.csv"]),
    ],
)
def test_resolve_paths__globs(corpus, pattern, expected):
    assert names(pattern) == expected


def test_resolve_paths__order_of_arguments_and_no_repeats(corpus):
    mentioned = ("corpus/sub", "./corpus/*.jsonl", "corpus", str(corpus / "b.jsonl"))
    assert names(*mentioned[:3]) == ["sub/c.csv", "b.jsonl", "a.jsonl.gz"]


def test_resolve_paths__brackets_in_a_file_name(make_file):
    assert names(str(make_file("a[1].jsonl", LINE))) == ["a[1].jsonl"]


def test_resolve_paths__file_url(corpus):
    assert names(f"file://{corpus}/b.jsonl") == ["b.jsonl"]


def test_resolve_paths__urls(make_file):
    import fsspec

    for name in ("x/a.jsonl", "x/b/c.csv", "x/other.bin"):
        with fsspec.open(f"memory://{name}", "wb") as file:
            file.write(LINE)
    assert names("memory://x") == ["a.jsonl", "b/c.csv"]
    assert names("memory://x/*.jsonl") == ["a.jsonl"]
    assert names("memory://x/**") == ["a.jsonl", "b/c.csv"]
    assert names("memory://x/b/c.csv") == ["c.csv"]
    mixed = names("memory://x/a.jsonl", str(make_file("l.jsonl", LINE)))
    assert mixed[0] == "memory/x/a.jsonl"
    assert mixed[1].endswith("in/l.jsonl")
    [source] = resolve_paths(["memory://x/a.jsonl"])
    assert sum(len(block) for block in source.blocks()) == 1
    with pytest.raises(ReadError, match=r"^memory://x/none\.csv: no such file$"):
        resolve_paths(["memory://x/none.csv"])
    with pytest.raises(InvalidInputError, match=r"pattern 'memory://x/\*\.q'"):
        resolve_paths(["memory://x/*.q"])
    for url in ("memory://x/*.bin", "memory://x/other.bin"):
        [source] = resolve_paths([url])
        assert (source.name, type(source)) == ("other.bin", TextFileSource)
    for url in ("memory://x", "memory://x/**"):
        assert resolve_paths([url]).passed_over == {".bin": 1}
    assert names("memory://x", input_format="jsonl") == ["a.jsonl", "b/c.csv", "other.bin"]


@pytest.mark.parametrize("scheme", ["", "memory://"])
def test_resolve_paths__folders_called_like_files(tmp_path, scheme):
    """A folder of a table is a file of its own, next to tables that are files."""
    import fsspec

    top = f"memory://{tmp_path}" if scheme else str(tmp_path)
    parts = ["part-00000.parquet", "part-00001.parquet"]
    for name in ("y.parquet", "x.parquet/part-00000.parquet", "x.parquet/part-00001.parquet"):
        with fsspec.open(f"{top}/{name}", "wb", auto_mkdir=True) as file:
            file.write(b"PAR1")
    assert names(f"{top}/x.parquet") == parts
    assert names(f"{top}/x.parquet/part-00001.parquet") == parts[1:]
    both = [f"x.parquet/{part}" for part in parts] + ["y.parquet"]
    assert names(f"{top}/x.parquet", f"{top}/y.parquet") == both
    assert names(top) == both


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"text": "a"}]', JsonArraySource),
        (b"\xef\xbb\xbf \n[]", JsonArraySource),
        (b" " * 10_000 + b"[]", JsonArraySource),
        (LINE, JsonLinesSource),
        (b"", JsonLinesSource),
    ],
)
def test_resolve_paths__json_by_first_byte(make_file, data, expected):
    [source] = resolve_paths([str(make_file("a.json.gz", data))])
    assert type(source) is expected


def test_resolve_paths__no_input():
    with pytest.raises(InvalidInputError, match="at least one"):
        resolve_paths([])


def test_resolve_paths__unknown_suffix_is_text_if_it_is_named(corpus):
    [source] = resolve_paths(["corpus/README.md"])
    assert (source.name, type(source)) == ("README.md", TextFileSource)
    [source] = resolve_paths(["corpus/README.md"], InputOptions(document="line"))
    assert type(source) is TextLinesSource
    assert names("corpus/*") == ["README.md", "a.jsonl.gz", "b.jsonl", "sub/c.csv"]


def test_resolve_paths__passed_over_in_folders(corpus, make_file):
    for name in (
        "x.DOC",
        "y.doc",
        "sub/notes.md.gz",
        "sub/Makefile",
        ".hidden.doc",
        "z.parquet.gz",
    ):
        make_file(f"corpus/{name}", LINE)
    expected = {".doc": 2, "": 1, ".md": 1, ".md.gz": 1, ".parquet.gz": 1}
    for paths in (["corpus"], ["corpus/**"], ["corp*"], ["corpus", "corpus/sub", str(corpus)]):
        found = resolve_paths(paths)
        assert passed_over(found) == expected
        assert list(passed_over(found)) == [".doc", "", ".md", ".md.gz", ".parquet.gz"]
    named = resolve_paths(["corpus", "./corpus/README.md"])
    assert passed_over(named) == {name: n for name, n in expected.items() if name != ".md"}
    assert "README.md" in [source.name for source in named]
    assert passed_over(resolve_paths(["corpus/b.jsonl"]), resolve_inputs(["x"]), []) == {}
    assert passed_over(found, found) == {ending: 2 * n for ending, n in expected.items()}


def test_list_endings__names_eight_and_counts_the_others():
    eight = {f".{letter}": 2000 for letter in "abcdefgh"}
    names = ", ".join(f"{ending} 2,000" for ending in eight)
    assert list_endings({"": 1}) == "1 file passed over: without ending 1"
    assert list_endings(eight) == f"16,000 files passed over: {names}"
    others = "and 2 more endings"
    assert list_endings(eight | {".i": 3, "": 1}) == f"16,004 files passed over: {names}, {others}"


def test_resolve_paths__passed_over_name_that_is_not_unicode(corpus):
    with open(b"corpus/a.\xff", "wb"):
        pass
    assert passed_over(resolve_paths(["corpus"])) == {".md": 1, ".\\udcff": 1}


@pytest.mark.parametrize(
    ("input_format", "expected"),
    [
        ("text", TextFileSource),
        ("jsonl", JsonLinesSource),
        ("json", JsonLinesSource),
        ("csv", DelimitedSource),
        ("tsv", DelimitedSource),
        ("parquet", ParquetSource),
    ],
)
def test_resolve_paths__format_that_is_chosen(corpus, monkeypatch, input_format, expected):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINE)))
    (corpus / "a.jsonl.gz").unlink()
    found = resolve_paths(["corpus", "-"], InputOptions(input_format=input_format))
    assert {type(source) for source in found} == {expected}
    assert [source.name for source in found][:-1] == ["README.md", "b.jsonl", "sub/c.csv"]
    assert format_of(found[-1].name) == format_of("", InputOptions(input_format=input_format))
    assert found.passed_over == {}


def test_resolve_paths__file_called_as_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(b"a text")
    [source] = resolve_paths(["./-"])
    assert (source.name, source.origin) == ("-", "./-")
    assert sum(len(block) for block in source.blocks()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("pattern", ["corpus", "corp*", "corpus/**", "corpus/*.jsonl"])
def test_resolve_paths__pipes_and_sockets_in_folders_are_passed_over(corpus, pattern, monkeypatch):
    os.mkfifo(corpus / "pipe.jsonl")
    (corpus / "link.jsonl").symlink_to("pipe.jsonl")
    monkeypatch.chdir(corpus)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket.jsonl")
    monkeypatch.chdir("..")
    found = resolve_paths([pattern])
    assert "b.jsonl" in [source.name for source in found]
    assert passed_over(found)["(pipe, device or socket)"] == 2


def test_resolve_paths__links_in_circles(corpus):
    (corpus / "sub" / "up").symlink_to("..")
    assert names("corpus") == ["a.jsonl.gz", "b.jsonl", "sub/c.csv"]
    assert names("corpus/**") == names("corpus")
    assert names("corpus/**/*.csv") == ["c.csv"]
    assert names("corpus/*/*.csv") == ["c.csv"]
    # What is named itself may be a link.
    assert names("corpus/sub/up/*.jsonl") == ["b.jsonl"]
    (corpus / "self.jsonl").symlink_to("self.jsonl")
    with pytest.raises(ReadError, match=r"self\.jsonl"):
        list(resolve_paths(["corpus"])[-1].blocks())


def test_resolve_paths__links_to_other_folders(corpus, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "d.jsonl").write_bytes(LINE)
    (corpus / "sub" / "link").symlink_to(elsewhere)
    assert names("corpus") == names("corpus/**") == ["a.jsonl.gz", "b.jsonl", "sub/c.csv"]
    assert names("corpus/sub/link") == ["d.jsonl"]


def test_resolve_paths__file_of_two_names(corpus):
    (corpus / "latest.jsonl").symlink_to("b.jsonl")
    assert names("corpus") == ["a.jsonl.gz", "b.jsonl", "sub/c.csv"]
    assert names("corpus/latest.jsonl", "corpus/b.jsonl") == ["latest.jsonl"]


@pytest.mark.parametrize(("document", "name"), [(None, "stdin.jsonl"), ("line", "stdin.txt")])
def test_resolve_paths__standard_input(monkeypatch, document, name):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINE)))
    [source] = resolve_paths(["-", "-"], InputOptions(document=document))
    assert source.name == name
    assert [sum(len(block) for block in source.blocks()) for _ in range(2)] == [1, 1]
    assert (source.origin, source.size) == ("standard input", len(LINE))


def test_resolve_paths__standard_input_twice(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINE)))
    resolve_paths(["-"])
    with pytest.raises(InvalidInputError, match=r"^standard input can be read only once"):
        resolve_paths(["-"])


def test_resolve_paths__closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ReadError, match=r"^standard input is closed"):
        resolve_paths(["-"])


def test_resolve_paths__two_of_one_name(make_file, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINE)))
    with pytest.raises(InvalidInputError, match=r"both .*'stdin\.jsonl'"):
        resolve_paths(["-", str(make_file("stdin.jsonl", LINE))])


def test_resolve_inputs__paths(corpus):
    assert [source.name for source in resolve_inputs("corpus/*.jsonl")] == ["b.jsonl"]
    assert [source.name for source in resolve_inputs(Path("corpus"))] == names("corpus")
    paths = [Path("corpus/b.jsonl"), Path("corpus/sub/c.csv")]
    assert [source.name for source in resolve_inputs(paths)] == ["b.jsonl", "sub/c.csv"]


@each_of(
    "data",
    [
        ["x", "y"],
        (text for text in ["x", "y"]),
        [{"text": "x"}, {"text": "y"}],
        pa.table({"text": ["x", "y"]}),
        pa.record_batch({"text": ["x", "y"]}),
        pa.chunked_array([["x"], ["y"]]),
        pa.array(["x", "y"]),
        pa.table({"text": ["x", "y"]}).to_reader(),
        pd.DataFrame({"text": ["x", "y"]}),
        pd.Series(["x", "y"]),
        pl.DataFrame({"text": ["x", "y"]}),
        pl.Series(["x", "y"]),
    ],
    ids=[
        *("strings", "generator", "dictionaries", "table", "batch", "chunked_array", "array"),
        *("reader", "pandas", "pandas_series", "polars", "polars_series"),
    ],
)
def test_resolve_inputs__memory(data):
    [source] = resolve_inputs(data)
    assert type(source) is (FrameSource if isinstance(data, pd.DataFrame) else MemorySource)
    [block] = source.blocks()
    assert block.to_table().to_pydict() == {"text": ["x", "y"]}


@pytest.mark.parametrize(
    "data",
    [5, b"text", None, {}, {"text": ["x"]}, pl.LazyFrame({"text": ["x"]}), np.array("text")],
)
def test_resolve_inputs__something_else(data):
    with pytest.raises(InvalidInputError, match=f" {type(data).__name__}$"):
        resolve_inputs(data)


def test_resolve_paths__empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none").mkdir()
    endings = re.escape(KNOWN_SUFFIXES)
    with pytest.raises(InvalidInputError, match=rf"known format.*'none'.*{endings}$"):
        resolve_paths(["none"])
    with pytest.raises(InvalidInputError, match=rf"known format.*'n\*'.*{endings}"):
        resolve_paths(["n*"])
    (tmp_path / "none/a.md").touch()
    with pytest.raises(InvalidInputError, match=rf"'none'.*{endings}.*\.md 1.*input_format text"):
        resolve_paths(["none"])
