"""What each format does with the bytes around a span that is cut out of a text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from neardup.errors import InvalidInputError
from neardup.files.cuts import Cuts
from neardup.files.formats import file_source
from neardup.files.memory import MemorySource
from neardup.files.rows import Source
from neardup.files.streams import LocalDestination
from neardup.files.writers import Conversion
from neardup.options.choices import OutputFormat
from neardup.options.groups import InputOptions
from tests.each import each_of


def write(
    source: Source,
    folder: Path,
    spans: list[tuple[int, int, int]],
    replacement: str = "",
    columns: tuple[str, ...] = ("text",),
) -> bytes:
    """Write all rows of a source of one block, with spans cut out."""
    arrays = (np.array([span[k] for span in spans], np.int64) for k in range(3))
    [block] = source.blocks()
    with source.writer(LocalDestination(folder / "out")) as writer:
        writer.write(
            block.with_cuts(Cuts(columns, *arrays, replacement)), np.ones(len(block), np.bool_)
        )
    return (folder / "out" / source.written_name).read_bytes()


def cut(
    folder: Path,
    name: str,
    content: bytes,
    spans: list[tuple[int, int, int]],
    replacement: str = "",
    columns: tuple[str, ...] = ("text",),
    options: InputOptions | None = None,
) -> bytes:
    (folder / name).write_bytes(content)
    source = file_source(str(folder / name), name, options or InputOptions())
    return write(source, folder, spans, replacement, columns)


@each_of(
    ("row", "spans", "expected"),
    [
        # The text stays of ASCII, and all else stays as it was.
        (
            rb'{ "n":1.50, "text" : "a\/b\u00e9\tcd" , "x":[ ]}',
            [(0, 0, 1), (0, 4, 5)],
            rb'{ "n":1.50, "text" : "/b\u00e9cd" , "x":[ ]}',
        ),
        # A pair of surrogates is one character.
        (rb'{"text":"a\ud83d\ude00b\\\"c"}', [(0, 1, 2), (0, 3, 5)], rb'{"text":"abc"}'),
        (rb'{"text":"a\ud83d\ude00b\\\"c"}', [(0, 2, 4)], rb'{"text":"a\ud83d\ude00\"c"}'),
        # The member may be written with escapes, stand deep inside, or twice.
        (rb'{"\u0074ext":"abc","y":{"text":"xyz"}}', [(0, 0, 2)], None),
        (rb'{"y":["text"],"text":"xyz","text":"abc"}', [(0, 0, 2)], None),
        (rb'{"y":"\"text\":\"xyz\"","text":"abc"}', [(0, 0, 2)], None),
        (b'\t{"text":"abc"} \r', [(0, 0, 3)], b'\t{"text":""} \r'),
        # Half a pair elsewhere is nobody's business, nor are numbers that JSON lacks.
        (rb'{"x":"\ud83d","text":"abc"}', [(0, 0, 2)], None),
        (rb'{"x":-Infinity,"text":"abc"}', [(0, 0, 2)], None),
    ],
)
def test_json_lines__what_stays_keeps_its_bytes(tmp_path, row, spans, expected):
    expected = expected or row.replace(b"abc", b"c")
    others = b'{"text": "x", "y": 1e5}\n'
    found = cut(tmp_path, "a.jsonl", row + b"\n" + others, spans)
    assert found == expected + b"\n" + others


@each_of(
    ("row", "name", "expected"),
    [
        (rb'{"doc":{"x":[1] , "text":"abc"}}', "doc.text", rb'{"doc":{"x":[1] , "text":"c"}}'),
        (rb'{"a":{"b":{"t":"abc"}}}', "a.b.t", rb'{"a":{"b":{"t":"c"}}}'),
        # A member of that very name comes first.
        (rb'{"a":{"t":"xyz"},"a.t":"abc"}', "a.t", rb'{"a":{"t":"xyz"},"a.t":"c"}'),
    ],
)
def test_json_lines__text_within_another_value(tmp_path, row, name, expected):
    written = cut(tmp_path, "a.jsonl", row + b"\n", [(0, 0, 2)], columns=(name,))
    assert written == expected + b"\n"


@each_of(
    ("row", "spans", "replacement", "expected"),
    [
        (b"1,abc,x", [(0, 0, 1)], "", b"1,bc,x"),
        (b'1,"a,b",x', [(0, 1, 2)], "", b"1,ab,x"),
        (b'"1","a""b""c" ,"x""y"', [(0, 0, 2)], "", b'1,"b""c ","x""y"'),
        # A quote inside a field without quotes must not come to open one.
        (b'1,a"b",x', [(0, 0, 1)], "", b'1,"""b""",x'),
        (b"1,abc,x", [(0, 1, 2)], ",", b'1,"a,c",x'),
        (b"1,abc,x", [(0, 1, 2)], "\r\n", b'1,"a\r\nc",x'),
        (b"1,abc,x", [(0, 0, 3)], "", b"1,,x"),
        (b'1,"a\r\nb",x', [(0, 0, 3)], "", b"1,b,x"),
        (b"1,,x\n2,abc,y", [(1, 0, 1)], "", b"1,,x\n2,bc,y"),
    ],
)
@each_of("end", [b"\n", b"\r\n", b""])
def test_csv__quoted_as_must_be(tmp_path, row, spans, replacement, expected, end):
    header = b"\xef\xbb\xbfid,text,more" + (end or b"\n")
    found = cut(tmp_path, "a.csv", header + end + row + end, spans, replacement)
    assert found == header + expected.replace(b"\n2", (end or b"\n") + b"2") + (end or b"\n")


def test_csv__a_row_never_becomes_an_empty_line(tmp_path):
    found = cut(tmp_path, "a.csv", b"text\nabc\ndef\n", [(0, 0, 3), (1, 0, 1)])
    assert found == b'text\n""\nef\n'


def test_text_file__keeps_its_mark(tmp_path):
    found = cut(tmp_path, "a.txt", b"\xef\xbb\xbfone\r\ntwo\n", [(0, 0, 3), (0, 5, 6)], "\n")
    assert found == b"\xef\xbb\xbf\n\r\n\nwo\n"
    assert cut(tmp_path, "a.txt", b"one", [(0, 0, 3)]) == b""


@each_of(
    ("content", "spans", "replacement", "expected"),
    [
        (b"\n one\r\n \ntwo", [(0, 0, 2), (1, 0, 1)], "", b"ne\r\nwo"),
        # A line stays one line, and there as many as before.
        (b"one\ntwo\r\n", [(0, 1, 2), (1, 0, 3)], "\n\r\n", b"o  e\n  \r\n"),
        (b"one\ntwo\n", [(0, 0, 3)], "", b"\ntwo\n"),
        # What belongs to the text must not become a part of the line's end.
        (b"a\rb\nc\n", [(0, 2, 3)], "", b"a\r\r\nc\n"),
    ],
)
def test_lines__each_stays_one(tmp_path, content, spans, replacement, expected):
    options = InputOptions(document="line")
    assert cut(tmp_path, "a.txt", content, spans, replacement, options=options) == expected


@each_of("encoding", ["latin-1", "cp932", "utf-16", "utf-16-be", "utf-32", "gb18030"])
def test_encodings__rows_stay_in_theirs(tmp_path, encoding):
    options = InputOptions(encoding=encoding)
    content = "id,text\n1,ab©d\n2,x\n" if encoding == "latin-1" else "id,text\n1,ab語d\n2,x\n"
    data = content.encode(encoding)
    found = cut(tmp_path, "a.csv", data, [(0, 0, 1), (0, 3, 4)], "?", options=options)
    assert found == content.replace(",ab", ",?b").replace("d\n2", "?\n2").encode(encoding)
    if encoding.startswith("utf"):
        return
    rows = '{"text":"ab"}\n{"text":"x"}\n{"text":"yz"}'.encode(encoding)
    found = cut(tmp_path, "a.jsonl", rows, [(0, 1, 2), (2, 0, 1)], options=options)
    assert found.decode(encoding) == '{"text":"a"}\n{"text":"x"}\n{"text":"z"}'


def test_encodings__replacement_that_cannot_be_written(tmp_path):
    options = InputOptions(encoding="latin-1")
    with pytest.raises(InvalidInputError, match=r"replacement '…'.*iso8859-1.*'…'"):
        cut(tmp_path, "a.txt", b"abc", [(0, 0, 1)], "…", options=options)


@each_of(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.large_string()),
        pa.string_view(),
    ],
)
def test_tables__schema_and_metadata_stay(tmp_path, kind):
    field = pa.field("text", kind, nullable=False, metadata={"about": "texts"})
    schema = pa.schema([pa.field("n", pa.list_(pa.int16())), field], {"origin": "here"})
    columns = [pa.array([[1], None], pa.list_(pa.int16())), pa.array(["abc", "xyz"]).cast(kind)]
    table = pa.Table.from_arrays(columns, schema=schema)
    shorter = ["ac", "xyz"]
    found = pq.read_table(pa.BufferReader(write(MemorySource(table), tmp_path, [(0, 1, 2)])))
    assert found["text"].to_pylist() == shorter
    assert found["n"].to_pylist() == [[1], None]
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, schema) as writer:
        writer.write_table(table)
    content = cut(tmp_path, "a.arrow", sink.getvalue().to_pybytes(), [(0, 1, 2)])
    found = ipc.open_file(pa.py_buffer(content)).read_all()
    if kind == pa.string_view():
        # Arrow cannot filter views.
        schema = schema.set(1, field.with_type(pa.large_string()))
    assert found.schema.equals(schema, check_metadata=True)
    assert found["text"].to_pylist() == shorter
    if kind != pa.string_view():
        pq.write_table(table, tmp_path / "b.parquet")
        expected = pq.read_schema(tmp_path / "b.parquet")
        content = cut(tmp_path, "a.parquet", (tmp_path / "b.parquet").read_bytes(), [(0, 1, 2)])
        file = pq.ParquetFile(pa.BufferReader(content))
        assert file.schema_arrow.equals(expected, check_metadata=True)
        assert file.read()["text"].to_pylist() == shorter


def test_tables__null_columns_of_several(tmp_path):
    table = pa.table({"a": ["abc", None], "n": pa.nulls(2), "b": ["de", "fg"]})
    # "abc\n\nde" and "\n\nfg".
    found = write(MemorySource(table), tmp_path, [(0, 1, 6), (1, 0, 3)], "-", ("a", "n", "b"))
    assert pq.read_table(pa.BufferReader(found)).to_pylist() == [
        {"a": "a-", "n": None, "b": "e"},
        {"a": None, "n": None, "b": "-g"},
    ]


def test_tables__dictionary_that_is_full():
    texts = pa.array([f"{i} a" for i in range(128)])
    table = pa.table({"text": texts.take(pa.array([*range(128), 0]))})
    kind = pa.dictionary(pa.int8(), pa.string())
    [block] = MemorySource(table.cast(pa.schema([("text", kind)]))).blocks()
    cuts = Cuts(("text",), np.array([128]), np.array([0]), np.array([1]))
    with pytest.raises(InvalidInputError, match=r"'text'.*dictionary<"):
        block.with_cuts(cuts)


@pytest.mark.parametrize("name", ["a.arrow", "a.parquet"])
def test_tables__dictionaries_of_many_batches(tmp_path, name):
    """Each batch has a dictionary of its own then, which a file of Arrow's cannot have."""
    texts = pa.array([f"text {i}" for i in range(9000)]).cast(
        pa.dictionary(pa.int32(), pa.string())
    )
    table = pa.table({"text": texts})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name)
    else:
        with ipc.new_file(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    source = file_source(str(tmp_path / name), name)
    cuts = Cuts(("text",), np.array([1]), np.array([0]), np.array([5]))

    def write_all(output_format: OutputFormat) -> pa.Table:
        folder = LocalDestination(tmp_path / output_format)
        with Conversion(source, output_format).writer(folder) as writer:
            for block in source.blocks():
                writer.write(block.with_cuts(cuts), np.ones(len(block), np.bool_))
        return pq.read_table(tmp_path / output_format / "a.parquet")

    if name == "a.arrow":
        with pytest.raises(InvalidInputError, match="cannot hold"):
            write_all("same")
    found = write_all("parquet" if name == "a.arrow" else "same")
    assert found["text"].to_pylist()[8192:8195] == ["text 8192", "8193", "text 8194"]
    assert found["text"].to_pylist()[:3] == ["text 0", "1", "text 2"]
