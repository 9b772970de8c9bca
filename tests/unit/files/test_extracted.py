from __future__ import annotations

import json

import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files import formats, plain
from neardup.files.plain import ExtractedFileSource, UnreadableFileError
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions


def upper(data: bytes, options: InputOptions) -> str:
    """Extract capital letters; the word BAD is none that can be read."""
    if data == b"BAD":
        raise UnreadableFileError("it says BAD; say something else")
    if data == b"SURROGATE":
        return "\ud800"
    return data.decode(options.encoding or "utf-8").upper()


def source_of(path, encoding: str | None = None, **settings: int) -> ExtractedFileSource:
    return ExtractedFileSource(
        str(path),
        path.name,
        extract=upper,
        options=InputOptions(encoding=encoding),
        kind="a shout",
        **settings,
    )


def test_extracted_file__too_long_a_text_is_a_bad_row(make_file, monkeypatch):
    monkeypatch.setattr(plain, "MAX_TEXT_BYTES", 4)
    [block] = source_of(make_file("a.shout", b"12345")).blocks()
    with pytest.raises(InvalidInputError, match="longer than"):
        block.parse(ColumnNames())


@pytest.mark.parametrize("name", ["a.shout", "a.shout.gz"])
def test_extracted_file__too_long_a_file_is_a_bad_row_copied_whole(
    make_file, write_rows, read_back, monkeypatch, name
):
    monkeypatch.setattr(plain, "MAX_FILE_BYTES", 1000)
    data = b"a" * 100_000
    source = source_of(make_file(name, data), block_bytes=500)
    [block] = source.blocks()
    assert len(block.raw.data) <= 2000
    with pytest.raises(InvalidInputError, match="file is longer"):
        block.parse(ColumnNames())
    assert read_back(write_rows(source, lambda _: True)) == data


def test_extracted_file__cut_refuses_before_it_reads(make_file, monkeypatch):
    path = make_file("a.jsonl", json.dumps({"text": "a b"}).encode())
    make = lambda *_: source_of(path)  # noqa: E731
    monkeypatch.setattr(formats.FileFormat, "open", make)
    monkeypatch.setattr(ExtractedFileSource, "blocks", None)
    with pytest.raises(InvalidInputError, match=r"shout.*format='jsonl'$"):
        neardup.cut(path)
