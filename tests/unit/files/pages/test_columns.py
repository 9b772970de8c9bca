from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions

HTML = InputOptions(input_format="html")
ROWS = [
    {"id": "a", "text": "<p>one &amp; <b>two</b>", "n": 1.50},
    {"id": "b", "text": "<script>x</script>three", "n": 2},
]


def json_lines(rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def csv(rows) -> bytes:
    return ("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows)).encode()


def parquet(rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "encode"),
    [("a.jsonl", json_lines), ("a.csv", csv), ("a.parquet", parquet)],
)
def test_columns__text_is_what_is_visible_and_rows_stay(make_file, write_rows, name, encode):
    path = make_file(name, encode(ROWS))
    source = file_source(str(path), name, HTML)
    [block] = source.blocks()
    rows = block.parse(ColumnNames(id="id"))
    assert rows.text.to_pylist() == ["one & two", "three"]
    assert rows.id.to_pylist() == ["a", "b"]
    assert block.to_table().column("text").to_pylist() == [row["text"] for row in ROWS]
    assert list(source.column_names())[:2] == ["id", "text"]
    written = write_rows(source, lambda _: True)
    if name == "a.parquet":
        assert pq.read_table(written).equals(pq.read_table(path))
    else:
        assert written.read_bytes() == path.read_bytes()


def test_columns__bad_rows_of_both_kinds(make_file):
    rows = [ROWS[0], {"text": None}, {"text": "<div>" * 100_000}, {"text": "<i>z"}]
    path = make_file("a.jsonl", json_lines(rows))
    [block] = file_source(str(path), path.name, HTML).blocks()
    parsed = block.parse(ColumnNames(), skip_bad=True)
    assert parsed.text.to_pylist() == ["one & two", None, None, "z"]
    assert [number for number, _ in parsed.skipped] == [2, 3]
    with pytest.raises(InvalidInputError, match="row 2"):
        block.parse(ColumnNames())
    selected = block.parse(ColumnNames(), select=block.numbers == 3, skip_bad=True)
    assert [number for number, _ in selected.skipped] == [3]
    [one] = block.parse(ColumnNames(), select=block.numbers == 4).text.to_pylist()
    assert one == "z"


def test_columns__encoding_is_that_of_the_table(make_file):
    path = make_file("a.csv", "text\n<meta charset=utf-8>é\n".encode("latin-1"))
    options = InputOptions(input_format="html", encoding="latin-1")
    [block] = file_source(str(path), path.name, options).blocks()
    assert block.parse(ColumnNames()).text.to_pylist() == ["é"]


@pytest.mark.parametrize(
    "data",
    [
        ["<p>a b c d e f", "<div>a b c d e f</div>"],
        [{"id": 1, "text": "<p>a b c d e f"}, {"id": 2, "text": "a b c <i>d</i> e f"}],
        pa.table({"text": ["<p>a b c d e f", "<b>a</b> b c d e f"]}),
    ],
    ids=["strings", "dictionaries", "table"],
)
def test_columns__in_memory(data):
    assert neardup.deduplicate(data).summary["exact_copies"] == 0
    result = neardup.deduplicate(data, read=neardup.ReadOptions(input_format="html"))
    assert result.summary["exact_copies"] == 1
    assert "<" in result.kept.column("text").to_pylist()[0]


def test_columns__two_collections_in_memory():
    one, other = ["<p>a b c d e f", "<p>g h i j k l"], ["<p>m n o p q r", "<p>g h i j k l"]
    read = neardup.ReadOptions(input_format="html")
    result = neardup.find_pairs(one, against=other, read=read)
    assert [(row["id_a"], row["id_b"]) for row in result.table.to_pylist()] == [("1", "1")]


def test_columns__cut_refuses():
    with pytest.raises(InvalidInputError, match="cannot be cut out of HTML in a column"):
        neardup.cut(["<p>a"], read=neardup.ReadOptions(input_format="html"))
