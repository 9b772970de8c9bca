"""Files that are not UTF-8: read as if they were, and written back byte for byte."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from itertools import compress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError
from neardup.files.encodings import encoding_by_mark
from neardup.files.formats import file_source
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rawrows import encoding_of
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import LocalDestination
from neardup.files.writers import Conversion
from neardup.options.groups import InputOptions
from tests.examples import examples
from tests.files import copy_rows
from tests.protocols.format_cases import Case
from tests.protocols.format_reading import BY_BYTES, expected, read, write

# What each can write down beside ASCII; for some a second byte is that of a bracket or a bar.
LETTERS = {
    "latin-1": "éß÷\xa0\x85",
    "cp1252": "é€ß\xa0",
    "shift_jis": "表ソ十ア",
    "gb18030": "表俊é𝄞",
    "utf-8-sig": "é表𝄞",
    "utf-16": "é表𝄞\u0a0a\u0d0d\u2c22",
    "utf-16-be": "é表𝄞\u0a0a\u0d0d\u2c22",
    "utf-32": "é表𝄞\u0a0a\u0d0d",
}
every_encoding = pytest.mark.parametrize("encoding", LETTERS)
AS_TEXT = [case for case in BY_BYTES if case.can_be_cut]

# Encodings of several bytes per character are read whole, or decoded before fields are found.
WIDE = [case for case in AS_TEXT if case.is_one_row or case.suffix in (".csv", ".tsv")]
every_case = pytest.mark.parametrize("case", AS_TEXT, ids=str)


def can_cut(case: Case, encoding: str) -> bool:
    if encoding.startswith(("utf-16", "utf-32")):
        return case in WIDE
    return case.suffix != ".json" or encoding in ("latin-1", "cp1252", "utf-8-sig")


def encoded(content: bytes, encoding: str) -> bytes:
    return content.decode().encode(encoding)


def open_case(
    case: Case, folder: Path, content: bytes, encoding: str, block: int | None = None
) -> Source:
    case.open(folder, content)
    options = {} if block is None else {"block_bytes": block}
    return partial(case.make, encoding=encoding)(str(folder / case.name), case.name, **options)


@pytest.mark.slow
@every_case
@every_encoding
@examples(9)
@given(data=st.data())
def test_rows__as_in_utf8_and_back(case, encoding, data):
    if not can_cut(case, encoding):
        return
    text = st.text(st.sampled_from("ab ,;\"'\\[]{}" + LETTERS[encoding]), min_size=1, max_size=9)
    texts = text.filter(lambda text: text.strip() != "")
    n = 1 if case.is_one_row else 4
    drawn = data.draw(st.lists(texts, min_size=n, max_size=n))
    rows = [{"id": f"k{i}", "text": value} for i, value in enumerate(drawn)]
    keep = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    content = encoded(case.encode(rows), encoding)
    with tempfile.TemporaryDirectory() as folder:
        source = open_case(case, Path(folder, "in"), content, encoding)
        assert read(source, case) == expected(rows, case)
        for size in (1, 3, 40):
            small = open_case(case, Path(folder, f"in-{size}"), content, encoding, size)
            assert read(small, case) == expected(rows, case)
        tables = [block.to_table() for block in source.blocks()]
        assert [t for table in tables for t in table["text"].to_pylist()] == [
            row["text"] for row in rows
        ]
        path = write(source, Path(folder, "out"), keep)
        if case.is_one_row and not any(keep):
            assert not path.exists()
            return
        chosen = case.encode(list(compress(rows, keep)))
        # A mark of UTF-8 before JSON and lines is dropped, as in files that are read as UTF-8.
        drops_mark = encoding == "utf-8-sig" and case.suffix not in (".csv", ".tsv")
        wanted = "utf-8" if drops_mark and not case.is_one_row else encoding
        assert path.read_bytes() == encoded(chosen, wanted)
        again = open_case(case, Path(folder, "again"), path.read_bytes(), encoding)
        assert [text for _, _, text in read(again, case)] == [
            row["text"] for row in compress(rows, keep)
        ]


@pytest.mark.parametrize("case", WIDE, ids=str)
@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16__order_of_bytes_by_mark(case, tmp_path, mark):
    rows = case.some_rows(3)
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}[mark]
    content = mark + encoded(case.encode(rows), codec)
    for name in ("utf-16", codec):
        source = open_case(case, tmp_path, content, name)
        assert read(source, case) == expected(rows, case)
        assert write(source, tmp_path / "out", [True] * 3).read_bytes() == content


@every_case
def test_rows__that_cannot_be_decoded(case, tmp_path):
    """They are bad rows, and written as they are."""
    rows = [{**row, "text": f"text {i} x"} for i, row in enumerate(case.some_rows(3))]
    bad = len(rows) // 2
    content = case.encode(rows).replace(b"text %d x" % bad, b"text \x81 x")
    source = open_case(case, tmp_path, content, "cp1252")
    found = read(source, case, skip_bad=True)
    assert [text for _, _, text in found] == [
        None if i == bad else row["text"] for i, row in enumerate(rows)
    ]
    with pytest.raises(InvalidInputError, match=r", row \d: .*cp1252 at byte \d+ "):
        read(source, case)
    assert write(source, tmp_path / "out", [True] * 3).read_bytes() == content


@pytest.mark.parametrize("case", WIDE, ids=str)
def test_utf16__that_ends_within_a_character(case, tmp_path):
    content = encoded(case.encode(case.some_rows(2)), "utf-16")
    source = open_case(case, tmp_path, content[:-1], "utf-16")
    with pytest.raises(InvalidInputError, match=r"row \d: .*utf-16-le at byte \d+ "):
        read(source, case)


def test_utf16__of_lines_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "a"}\n'.encode("utf-16"))
    source = JsonLinesSource(str(tmp_path / "a.jsonl"), "a.jsonl", encoding="utf-16")
    with pytest.raises(InvalidInputError, match="iconv -f utf-16-le -t utf-8"):
        next(source.blocks())


@every_case
def test_utf16__unasked_for(case, tmp_path):
    content = encoded(case.encode(case.some_rows(2)), "utf-16")
    with pytest.raises(InvalidInputError, match=r"encoding utf-16$|iconv -f utf-16 -t utf-8 FILE$"):
        read(case.open(tmp_path, content), case)


@pytest.mark.parametrize("encoding", ["latin-1", "gb18030"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_conversion__is_utf8(make_file, tmp_path, encoding, name, output_format):
    contents = {
        "a.jsonl": '{"text": "é", "n": 1.10}\n{"text": "b", "n": 2}\n',
        "a.json": '[{"text": "é", "n": 1.10}, {"text": "b", "n": 2}]',
        "a.csv": "text,n\né,1.10\nb,2\n",
    }
    if name == "a.json":
        encoding = "latin-1"
    path = make_file(name, contents[name].encode(encoding))
    source = file_source(str(path), name, InputOptions(encoding=encoding))
    with Conversion(source, output_format).writer(LocalDestination(tmp_path / "out")) as writer:
        copy_rows(source, writer.write, lambda index: index == 0)
    [written] = (tmp_path / "out").iterdir()
    [block] = file_source(str(written), written.name).blocks()
    assert block.to_table()["text"].to_pylist() == ["é"]
    if output_format == "jsonl":
        assert json.loads(written.read_bytes())["text"] == "é"
        assert name == "a.csv" or b'"n": 1.10' in written.read_bytes()


def test_json_array__encodings_that_cannot_be_cut(make_file):
    path = str(make_file("a.json", '[{"text": "表"}]'.encode("shift_jis")))
    with pytest.raises(InvalidInputError, match=r"JSON array.* iconv -f shift_jis -t utf-8"):
        file_source(path, "a.json", InputOptions(encoding="sjis"))
    lines = str(make_file("b.json", '{"text": "表"}\n'.encode("shift_jis")))
    [block] = file_source(lines, "b.json", InputOptions(encoding="sjis")).blocks()
    assert block.parse(ColumnNames()).text.to_pylist() == ["表"]


def test_csv__header_in_its_encoding(make_file):
    path = str(make_file("a.csv", "téxt,id\na,1\n".encode("latin-1")))
    [block] = file_source(path, "a.csv", InputOptions(encoding="latin-1")).blocks()
    assert block.parse(ColumnNames("téxt")).text.to_pylist() == ["a"]
    with pytest.raises(InvalidInputError, match=r"UTF-8 at byte 2 .*encoding cp1252"):
        list(file_source(path, "a.csv").blocks())
    with pytest.raises(InvalidInputError, match="ascii at byte 2 "):
        list(file_source(path, "a.csv", InputOptions(encoding="ascii")).blocks())


def test_encoding_of__by_name_and_mark():
    def found(name: str | None, head: bytes = b"") -> tuple[str, bytes]:
        encoding = encoding_of(name, lambda: head)
        return encoding.codec, encoding.mark

    assert found(None) == found("UTF8") == found("utf-8-sig") == ("utf-8", b"\xef\xbb\xbf")
    assert found("latin1", b"\xff\xfe") == ("iso8859-1", b"")
    assert found("utf-16") == found("utf-16-le") == ("utf-16-le", b"")
    assert found("utf-16", b"\xfe\xff\0a") == ("utf-16-be", b"\xfe\xff")
    # To UTF-16 this is its mark and a zero.
    assert found("utf-16", b"\xff\xfe\0\0") == ("utf-16-le", b"\xff\xfe")
    assert found("utf-32", b"\xff\xfe\0\0") == ("utf-32-le", b"\xff\xfe\0\0")
    assert found("utf-16-be", b"\xff\xfe") == ("utf-16-be", b"")


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_encoding__files_of_two(make_file, name):
    """Of one byte a character: what is UTF-8 beyond ASCII is read so, and is written so."""
    content = {"a.txt": "é", "a.jsonl": '{"text": "é"}\n', "a.csv": "text\né\n"}[name]
    for codec in ("utf-8", "cp1252"):
        path = make_file(name, content.encode(codec))
        source = file_source(str(path), name, InputOptions(encoding="cp1252"))
        [block] = source.blocks()
        assert block.parse(ColumnNames()).text.to_pylist() == ["é"]
    path = make_file(name, content.encode())
    source = file_source(str(path), name, InputOptions(encoding="cp932"))
    [block] = source.blocks()
    assert block.parse(ColumnNames(), skip_bad=True).text.to_pylist() != ["é"]


def test_encoding_by_mark():
    for name in ("utf-16", "utf-32"):
        assert encoding_by_mark("a".encode(name)) == name
    assert encoding_by_mark(b"\xef\xbb\xbfa") is encoding_by_mark(b"") is None
