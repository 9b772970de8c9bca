"""What holds for every format: rows come out as they went in, whatever the compression."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.files.compression import COMPRESSIONS
from neardup.files.delimited import DelimitedSource
from neardup.files.formats import file_source
from neardup.files.jsonarray import JsonArraySource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.plain import TextFileSource, TextLinesSource
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, Source

# Name, content, and what is to be written if every other row is kept.
FILES = [
    (
        "a.jsonl",
        b'{"text": "\xc3\xa4"}\n \n{"text":"b" , "x": 1.10}\r\n{"text": "c"}',
        b'{"text": "\xc3\xa4"}\n{"text": "c"}',
    ),
    (
        "a.json",
        b'\n[ {"text": "a,]}"},{"text":"b", "x": [1, {"y": "\\"]"}]},\n {"text"\n: "c"} ]',
        b'[\n{"text": "a,]}"},\n{"text"\n: "c"}\n]\n',
    ),
    (
        "a.csv",
        b'\xef\xbb\xbfid,text\r\n1,"a\n""b"""\r\n\r\n2,b\n3,c',
        b'\xef\xbb\xbfid,text\r\n1,"a\n""b"""\r\n3,c',
    ),
    ("a.tsv", b"id\ttext\n1\ta,b\n2\tb\n3\t\n", b"id\ttext\n1\ta,b\n3\t\n"),
    ("a.txt", b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\ntwo"),
]


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
@pytest.mark.parametrize(("name", "data", "half"), FILES)
def test_writer__byte_for_byte(make_file, write_rows, read_back, name, data, half, suffix):
    [source] = resolve_paths([str(make_file(name + suffix, data))])
    path = write_rows(source, lambda i: i % 2 == 0)
    assert path.name == name + suffix
    assert read_back(path) == half


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.parquet"])
def test_writer__no_rows(make_file, write_rows, tmp_path, name, suffix):
    if name == "a.parquet":
        if suffix:
            return
        path = tmp_path / name
        pq.write_table(pa.table({"text": ["a"]}), path)
    else:
        path = make_file(name + suffix, next(data for other, data, _ in FILES if other == name))
    [source] = resolve_paths([str(path)])
    [empty] = resolve_paths([str(write_rows(source, lambda _: False))])
    rows = [text for block in empty.blocks() for text in block.parse(ColumnNames()).text]
    assert rows == []


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
def test_writer__no_file_for_a_text_that_is_elsewhere(make_file, write_rows, suffix):
    [source] = resolve_paths([str(make_file("a.txt" + suffix, b"one text"))])
    assert not write_rows(source, lambda _: False).exists()
    assert write_rows(source, lambda _: True).exists()


LINES = st.lists(
    st.sampled_from(
        [
            b'{"text": "a"}',
            b' {"text":"\xc3\xa9\\n", "id": 7}\t',
            b'{"text": "b", "id": "x"}\r',
            b"",
            b" ",
            b"\r",
            b'{"text": ""}',
        ]
    ),
    max_size=8,
)
CSV_FIELD = st.sampled_from(["", "a", " ", '"', "\n", "\r\n", "\r", ",", "é", 'a"b', "1"])
ELEMENT = st.sampled_from(
    ['{"text": "a"}', '{"text":"]}\\",{", "x":[{}]}', '{\n"text" : "é"\n}', '{"text": "\\\\"}']
)
GAP = st.sampled_from(["", " ", "\n", "\r\n\t"])


@st.composite
def json_arrays(draw: st.DrawFn) -> bytes:
    elements = draw(st.lists(st.tuples(GAP, ELEMENT, GAP), max_size=6))
    inner = ",".join("".join(parts) for parts in elements) or draw(GAP)
    return f"{draw(GAP)}[{inner}]{draw(GAP)}".encode()


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    def field() -> str:
        value = draw(CSV_FIELD)
        must = value.strip("a 1é") != "" and value != 'a"b'
        return '"' + value.replace('"', '""') + '"' if must or draw(st.booleans()) else value

    end = st.sampled_from(["\n", "\r\n", "\r"])
    rows = [f"{field()},{field()}{draw(end)}" for _ in range(draw(st.integers(0, 6)))]
    text = f"text,id{draw(end)}" + "".join(row + draw(st.sampled_from(["", "\n"])) for row in rows)
    return text.encode()[: None if draw(st.booleans()) else len(text.rstrip("\r\n").encode())]


def snapshot(source: Source, folder: Path) -> tuple[list[object], bytes]:
    """Read all rows and write some: those whose number is not a multiple of three."""
    rows: list[object] = []
    with source.writer(folder) as writer:
        for block in source.blocks():
            parsed = block.parse(ColumnNames(), skip_bad=True)
            mask = block.numbers % 3 != 0
            some = block.parse(ColumnNames(), select=mask, skip_bad=True)
            assert some.text.equals(parsed.text.filter(pa.array(mask)))
            assert some.skipped == [bad for bad in parsed.skipped if bad[0] % 3]
            writer.write(block, mask)
            rows += zip(block.numbers.tolist(), parsed.text.to_pylist(), strict=True)
            rows += parsed.skipped
    # Bad rows are listed block by block.
    return sorted(rows, key=repr), (folder / source.name).read_bytes()


@pytest.mark.parametrize(
    ("kind", "name", "files"),
    [
        (JsonLinesSource, "a.jsonl", LINES.map(b"\n".join)),
        (TextLinesSource, "a.txt", LINES.map(b"\n".join)),
        (TextFileSource, "a.txt", LINES.map(b"\n".join)),
        (JsonArraySource, "a.json", json_arrays()),
        (DelimitedSource, "a.csv", csv_files()),
    ],
    ids=["jsonl", "lines", "text", "array", "csv"],
)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_blocks__size_of_blocks_changes_nothing(kind, name, files, data):
    content = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data.draw(files)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        reference = snapshot(kind(str(path), name), Path(folder, "out"))
        for size in (1, 2, 3, 7, 20):
            other = kind(str(path), name, block_bytes=size)
            assert snapshot(other, Path(folder, "out")) == reference


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, data, _ in FILES])
def test_writer__kept_and_removed_have_all_rows(make_file, write_rows, name, data):
    path = make_file(name, data)
    source = file_source(str(path), name)
    everything = rows_of(source)
    paths = [write_rows(source, lambda i: i == 1), write_rows(source, lambda i: i != 1, "removed")]
    kept, removed = (rows_of(file_source(str(p), name)) if p.exists() else [] for p in paths)
    if name != "a.txt":
        assert len(kept) == 1
    assert sorted([*kept, *removed]) == sorted(everything)


def rows_of(source: Source) -> list[str]:
    return [
        text for block in source.blocks() for text in block.parse(ColumnNames()).text.to_pylist()
    ]


def test_writer__large_file_with_random_rows(make_file, tmp_path):
    lines = [b'{"text": "%d"}\n' % i for i in range(50_000)]
    source = JsonLinesSource(
        str(make_file("a.jsonl", b"".join(lines))), "a.jsonl", block_bytes=9999
    )
    keep = np.random.default_rng(5).random(len(lines)) < 0.5
    with source.writer(tmp_path) as writer:
        for block in source.blocks():
            writer.write(block, keep[block.numbers - 1])
    expected = b"".join(line for line, kept in zip(lines, keep, strict=True) if kept)
    digest = hashlib.sha256((tmp_path / "a.jsonl").read_bytes()).digest()
    assert digest == hashlib.sha256(expected).digest()
