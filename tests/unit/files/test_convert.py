from __future__ import annotations

import datetime
import decimal
import json
import math
import re
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
import neardup.cli
from neardup.errors import InvalidInputError
from neardup.files.formats import file_source
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import MemorySource, rows_source
from neardup.files.streams import LocalDestination
from neardup.files.writers import Conversion, check_conversion, converted_name
from tests.each import each_of


@pytest.fixture
def convert(tmp_path, copy):
    """Convert all rows of a source; give the path of the output."""

    def run(source, output_format, keep=lambda _: True):
        with Conversion(source, output_format).writer(LocalDestination(tmp_path / "out")) as writer:
            copy(source, writer.write, keep)
        return tmp_path / "out" / converted_name(source.written_name, output_format)

    return run


@each_of(
    ("name", "jsonl", "parquet"),
    [
        ("a.jsonl", "a.jsonl", "a.parquet"),
        ("a.b.ndjson.gz", "a.b.jsonl.gz", "a.b.parquet"),
        ("x/a.csv.ZST", "x/a.jsonl.ZST", "x/a.parquet"),
        ("x.y/a.parquet", "x.y/a.jsonl", "x.y/a.parquet"),
    ],
)
def test_converted_name(name, jsonl, parquet):
    assert converted_name(name, "jsonl") == jsonl
    assert converted_name(name, "parquet") == parquet
    assert converted_name(name, "same") == name


def test_jsonl__from_json_byte_for_byte(make_file, convert, read_back):
    lines = b'{"text": "a", "n": 1.10}\n \n{"text":"b"}'
    source = file_source(str(make_file("a.ndjson.gz", lines)), "a.ndjson.gz")
    assert read_back(convert(source, "jsonl")) == b'{"text": "a", "n": 1.10}\n{"text":"b"}'
    array = b'[{"text": "a\\n  b", "n": 1.10}\n,{\r\n  "text": "c  d",\n\t"x": [1,\n 2]\n}]'
    source = file_source(str(make_file("a.json", array)), "a.json")
    expected = b'{"text": "a\\n  b", "n": 1.10}\n{"text": "c  d","x": [1,2]}\n'
    assert read_back(convert(source, "jsonl")) == expected


def test_jsonl__from_csv(make_file, convert, read_back):
    source = file_source(
        str(make_file("a.csv.xz", b'text,n\n"\xc3\xa9\n""",007\nb,\n')), "a.csv.xz"
    )
    path = convert(source, "jsonl", lambda i: i == 0)
    assert path.name == "a.jsonl.xz"
    assert read_back(path) == '{"text": "é\\n\\"", "n": "007"}\n'.encode()


def test_jsonl__from_table(convert):
    table = pa.table(
        {
            "text": ["a"],
            "f": [math.nan],
            "l": pa.array([[1.5, math.inf]]),
            "s": [{"x": math.nan, "y": datetime.date(2020, 1, 2)}],
            "t": pa.array([1], pa.timestamp("ns")),
            "d": [decimal.Decimal("1.10")],
            "n": pa.nulls(1),
        }
    )
    [line] = convert(MemorySource(table), "jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "text": "a",
        "f": None,
        "l": [1.5, None],
        "s": {"x": None, "y": "2020-01-02"},
        "t": "1970-01-01 00:00:00.000000001",
        "d": "1.10",
        "n": None,
    }


def test_jsonl__repeated_names(make_file, convert):
    source = file_source(str(make_file("a.csv", b"a,a\n1,2\n")), "a.csv")
    with pytest.raises(InvalidInputError, match=r"same name.*format='parquet'"):
        convert(source, "jsonl")


@each_of("block_bytes", [30, 60, 1 << 20])
@each_of(
    ("values", "kind", "expected"),
    [
        ([1, 2, 5.0, None], pa.float64(), [1, 2, 5, None]),
        ([2**53 + 1, 0.5], pa.large_string(), [str(2**53 + 1), "0.5"]),
        ([1980, 1980.0, "n/a", True], pa.large_string(), ["1980", "1980", "n/a", "true"]),
        ([1, {}, [2]], pa.large_string(), ["1", "{}", "[2]"]),
        ([{"a": 1}, {"b": "x"}], None, [{"a": 1, "b": None}, {"a": None, "b": "x"}]),
        ([2**63, -1], pa.large_string(), [str(2**63), "-1"]),
        ([2**63, 1], pa.uint64(), [2**63, 1]),
    ],
)
def test_parquet__types_do_not_depend_on_blocks(
    make_file, convert, block_bytes, values, kind, expected
):
    lines = [json.dumps({"text": f"{i}", "n": value}) for i, value in enumerate(values)]
    path = make_file("a.jsonl", "\n".join([*lines, '{"text": "z", "new": 1}']).encode())
    source = JsonLinesSource(str(path), "a.jsonl", block_bytes=block_bytes)
    table = pq.read_table(convert(source, "parquet"))
    assert table.column_names == ["text", "n", "new"]
    assert table["n"].to_pylist() == [*expected, None]
    assert table["new"].to_pylist() == [*[None] * len(values), 1]
    if kind is not None:
        assert table.schema.field("n").type == kind


@pytest.mark.parametrize("output_format", ["jsonl", "parquet", "same"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_convert__no_rows(make_file, convert, name, output_format):
    data = {"a.jsonl": b"", "a.json": b"[]", "a.csv": b"text\n"}[name]
    path = convert(file_source(str(make_file(name, data)), name), output_format)
    if output_format == "parquet":
        assert pq.read_table(path).num_rows == 0
    else:
        expected = b"" if output_format == "jsonl" else {"a.json": b"[]\n"}.get(name, data)
        assert path.read_bytes() == expected


def nested(levels: int, opening: str, closing: str) -> bytes:
    # Brackets in strings, and any number of them next to each other, are no levels.
    flat = ", ".join(["[]"] * 60)
    inner = opening * levels + "1" + closing * levels
    return f'{{"text": "[[[{{\\"[", "x": {inner}, "y": [{flat}]}}\n'.encode()


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_parquet__from_json_nested_as_deep_as_goes(make_file, convert, brackets):
    path = make_file("a.jsonl", nested(40, *brackets))
    found = pq.read_table(convert(JsonLinesSource(str(path), path.name), "parquet"))
    value = found["x"][0].as_py()
    for _ in range(40):
        [value] = value if isinstance(value, list) else value.values()
    assert value == 1


@pytest.mark.parametrize("levels", [41, 400, 100_000])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_parquet__from_json_nested_deeper(make_file, convert, name, brackets, levels):
    rows = [b'{"text": "b"}', nested(levels, *brackets).strip()]
    content = b"\n".join(rows) if name == "a.jsonl" else b"[" + b",".join(rows) + b"]"
    path = make_file(name, content)
    facts = f"^{re.escape(str(path))}, row 2: .*nested deeper than 40"
    with pytest.raises(InvalidInputError, match=facts):
        convert(file_source(str(path), path.name), "parquet")


@pytest.mark.parametrize("levels", [41, 2_000])
def test_rows_in_memory__nested_deeper(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    with pytest.raises(InvalidInputError, match=r"'x'.*nested deeper than 40"):
        rows_source([{"text": "a"}, {"text": "b", "x": value}])
    assert rows_source([{"text": "b", "x": [[1, 2, 3]]}]).column_names() == ["text", "x"]


def test_jsonl__string_of_parquet_that_is_not_utf8(tmp_path, convert):
    values = pa.array([b"fine", b"\xff"])
    column = pa.Array.from_buffers(pa.string(), 2, values.buffers())
    pq.write_table(pa.table({"text": ["a", "b"], "x": column}), tmp_path / "a.parquet")
    source = file_source(str(tmp_path / "a.parquet"), "a.parquet")
    with pytest.raises(InvalidInputError, match=r"a\.parquet, row 2: 'utf-8'"):
        convert(source, "jsonl")


def test_parquet__column_that_it_cannot_hold(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), ["x", "y"])
    table = pa.table({"text": ["a", "b"], "runs": runs})
    with pytest.raises(InvalidInputError, match="hold a column"):
        MemorySource(table).writer(LocalDestination(tmp_path))


@each_of(
    ("kind", "output_format", "facts"),
    [
        (pa.binary(), "jsonl", "'x' holds binary .*JSON"),
        (pa.list_(pa.large_binary()), "jsonl", "'x' holds list<item: large_binary> .*JSON"),
        (pa.struct([("y", pa.binary(3))]), "jsonl", "JSON.* binary"),
        (pa.struct([]), "parquet", "'x'.*empty objects.*Parquet"),
        (pa.list_(pa.struct([])), "parquet", "empty objects"),
        (pa.month_day_nano_interval(), "parquet", "month_day_nano_interval .*Parquet"),
    ],
)
def test_check_conversion__types_before_any_work(kind, output_format, facts):
    table = pa.table({"text": ["a"], "x": pa.nulls(1).cast(kind)})
    source = MemorySource(table)
    for fine in {"same", "jsonl", "parquet"} - {output_format}:
        if not (fine == "jsonl" and kind == pa.month_day_nano_interval()):
            check_conversion([source], fine)
    with pytest.raises(InvalidInputError, match=facts):
        check_conversion([source], output_format)
    # A result says so before it writes.
    with pytest.raises(InvalidInputError, match=facts):
        neardup.deduplicate(table).write("never", format=output_format)


def test_jsonl__dates_that_python_lacks(tmp_path):
    days = pa.array([{"d": 0}, {"d": 10**9}], pa.struct([("d", pa.date32())]))
    result = neardup.deduplicate(pa.table({"text": ["a", "b"], "day": days}))
    with pytest.raises(InvalidInputError, match=r"^data, row 2: .*while writing") as caught:
        result.write(tmp_path / "out", format="jsonl")
    # Whatever the traceback keeps, no thread is among it.
    assert caught.tb is not None
    assert not [each for each in threading.enumerate() if each.name.startswith("neardup")]


def test_kept__of_values_without_a_type_in_common(make_file):
    paths = [make_file("a.jsonl", b'{"text": "a", "n": 1}\n'), make_file("b.jsonl", b"")]
    paths.append(make_file("c.jsonl", b'{"text": "c", "n": "x"}\n{"text": "d", "n": 1.0}\n'))
    assert neardup.deduplicate(paths).kept["n"].to_pylist() == ["1", "x", "1"]
    paths[2].write_bytes(b'{"text": "c", "n": 0.5, "more": []}\n')
    rows = neardup.deduplicate(paths).kept.to_pylist()
    assert [(row["n"], row["more"]) for row in rows] == [(1, None), (0.5, [])]
