"""Arrow's files, streams and tables: nothing in them is taken on trust."""

from __future__ import annotations

import re
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import neardup
from neardup.errors import InvalidInputError, ReadError
from neardup.files.arrow import ArrowSource
from neardup.files.memory import arrow_source
from neardup.files.parquet import ParquetSource
from neardup.files.rows import ColumnNames
from neardup.files.streams import reading
from tests.each import each_of

COLUMNS = ColumnNames(text="text")
N = 12
MARKER = "some text to be found"

OTHERS = {
    "string": pa.array([f"{MARKER} {i}" for i in range(N)]),
    "large_string": pa.array([f"{MARKER} {i}" for i in range(N)], pa.large_string()),
    "string_view": pa.array([f"{MARKER} {i}" for i in range(N)]).cast(pa.string_view()),
    "binary": pa.array([b"value %d" % i for i in range(N)]),
    "list": pa.array([[i, i] for i in range(N)]),
    "list_of_strings": pa.array([[f"tag {i}"] for i in range(N)]),
    "struct": pa.array([{"a": f"{i}"} for i in range(N)]),
    "dictionary": pa.array([f"lang {i % 3}" for i in range(N)]).dictionary_encode(),
    "map": pa.array([[("k", i)] for i in range(N)], pa.map_(pa.string(), pa.int64())),
}


def table_of(other: pa.Array) -> pa.Table:
    return pa.table({"text": [f"text number {i}" for i in range(N)], "other": other})


def broken(array: pa.Array) -> pa.Array:
    """Return the array with one integer, by which others find its values, set far away."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        indices = np.full(N, 1 << 30, np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(indices), array.dictionary, safe=False)
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays([broken(array.field(0))], ["a"])
    validity, offsets, *data = array.buffers()
    content = bytearray(offsets)
    if pa.types.is_string_view(kind):
        # Which buffer a string is in.
        struct.pack_into("<i", content, 16 * (N // 2) + 8, 1 << 20)
    else:
        form = "<q" if pa.types.is_large_string(kind) else "<i"
        struct.pack_into(form, content, struct.calcsize(form) * (N // 2), 1 << 30)
    children = None
    if pa.types.is_map(kind):
        keys = pa.field("key", pa.string(), nullable=False)
        fields = [keys, pa.field("value", pa.int64())]
        children = [pa.StructArray.from_arrays([array.keys, array.items], fields=fields)]
    elif pa.types.is_list(kind):
        children = [array.values]
    buffers = [validity, pa.py_buffer(bytes(content)), *([] if children else data)]
    return pa.Array.from_buffers(kind, N, buffers, children=children)


def written(path, table, new):
    with new(str(path), table.schema) as writer:
        writer.write_table(table)
    return path


@each_of("new", [ipc.new_file, ipc.new_stream])
@each_of("kind", OTHERS)
def test_batch__damaged_in_a_column_nobody_named(tmp_path, kind, new):
    whole, bad = table_of(OTHERS[kind]), table_of(broken(OTHERS[kind]))
    path = tmp_path / "a.arrow"
    with new(str(path), whole.schema) as writer:
        for table in (whole, bad):
            # Nothing is looked at, as it is with whoever wrote a wrong file.
            writer.write_batch(table.to_batches()[0])
    with pytest.raises(InvalidInputError) as caught:
        list(ArrowSource(str(path), "a").blocks())
    assert str(caught.value).startswith(f"{path}: batch 2, column 'other': damaged")
    assert "\n" not in str(caught.value)


@each_of("kind", OTHERS)
def test_table__damaged_in_a_column_nobody_named(kind):
    bad = table_of(broken(OTHERS[kind]))
    with pytest.raises(InvalidInputError, match="'other': damaged"):
        arrow_source(bad)
    with pytest.raises(InvalidInputError, match="damaged"):
        neardup.deduplicate(bad)


def test_file__without_its_end(tmp_path):
    path = written(tmp_path / "a.arrow", table_of(OTHERS["string"]), ipc.new_file)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInputError, match="end is missing"):
        ArrowSource(str(path), "a").schema()


def not_utf8(new_type):
    values = pa.array([b"fine"] * 3 + [b"\xff"] + [b"fine"] * (N - 4))
    return pa.Array.from_buffers(pa.string(), N, values.buffers()).cast(new_type, safe=False)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_strings__not_utf8_in_another_column__are_a_bad_row(tmp_path, kind):
    path = written(tmp_path / "a.arrow", table_of(not_utf8(kind)), ipc.new_stream)
    [block] = ArrowSource(str(path), "a").blocks()
    with pytest.raises(InvalidInputError, match=r"row 4: .*UTF-8 at byte 1 .*'other'"):
        block.parse(COLUMNS)
    assert [row for row, _ in block.parse(COLUMNS, skip_bad=True).skipped] == [4]


def test_strings__not_utf8_in_parquet__are_refused_where_they_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(table_of(not_utf8(pa.string())), path)
    [block] = ParquetSource(str(path), "a").blocks()
    assert not block.parse(COLUMNS).skipped
    assert len(block.to_table()) == N
    with pytest.raises(InvalidInputError, match=r"row 4: .*UTF-8 at byte 1 .*'other'"):
        block.some_columns(["other"])


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_names__not_utf8(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    table = table_of(pa.nulls(N, pa.int64())).rename_columns(["text", "otherother"])
    if suffix == "arrow":
        written(path, table, ipc.new_file)
    else:
        pq.write_table(table, path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"otherother", b"other\xffther"))
    source = {"arrow": ArrowSource, "parquet": ParquetSource}[suffix](str(path), "a")
    with pytest.raises(InvalidInputError) as caught:
        source.column_names()
    assert str(caught.value).startswith(f"{path}: not a")
    assert "\n" not in str(caught.value)


def test_parquet__rows_of_groups_are_not_those_of_the_file(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a b c"] * 600}), path)
    content = path.read_bytes()
    said = []
    # 600 as the format writes it: in the column, the file, the row group.
    for place in (i for i in range(len(content)) if content.startswith(b"\xb0\x09", i)):
        path.write_bytes(content[:place] + b"\xb2\x09" + content[place + 2 :])
        try:
            ParquetSource(str(path), "a").column_names()
        except InvalidInputError as error:
            said.append(re.findall("60[01]", str(error).removeprefix(str(path))))
    assert sorted(said) == [["600", "601"], ["601", "600"]]


@pytest.mark.parametrize("error", [MemoryError(), pa.ArrowMemoryError("malloc of size 7 failed")])
def test_memory__is_not_enough__names_the_file(error):
    with pytest.raises(ReadError, match=r"a\.arrow: .*memory") as caught, reading("a.arrow"):
        raise error
    assert "threshold" not in str(caught.value)
    assert str(error) in str(caught.value)


def compressed(path, new, codec, table):
    options = ipc.IpcWriteOptions(compression=codec)
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table)
    return path


both_kinds = pytest.mark.parametrize("new", [ipc.new_file, ipc.new_stream])


@both_kinds
@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_batch__decompresses_to_more_than_memory_holds(tmp_path, new, codec):
    text = "the same text in every row " * 100
    table = pa.table({"text": [text] * 1000})
    path = compressed(tmp_path / "a.arrow", new, codec, table)
    [block] = ArrowSource(str(path), "a").blocks()
    # Rows that repeat may be many times the file.
    assert len(block) == 1000
    assert block.to_table().nbytes > 50 * path.stat().st_size
    size = struct.pack("<q", len(text) * 1000)
    content = path.read_bytes()
    assert size in content
    for huge in (1 << 31, 1 << 45, (1 << 63) - 1):
        path.write_bytes(content.replace(size, struct.pack("<q", huge)))
        with pytest.raises((InvalidInputError, ReadError), match=r"a\.arrow: (not|reading)"):
            list(ArrowSource(str(path), "a").blocks())


@both_kinds
def test_batch__more_rows_than_a_file_can_have(tmp_path, new):
    path = tmp_path / "a.arrow"
    written(path, pa.table({"text": pa.nulls(1003)}), new)
    # Of the batch, of its column and of the nulls in it.
    count, huge = struct.pack("<q", 1003), struct.pack("<q", 1 << 40)
    assert path.read_bytes().count(count) == 3
    path.write_bytes(path.read_bytes().replace(count, huge))
    with pytest.raises(InvalidInputError, match=r"batch 1 .*1,099,511,627,776 bytes"):
        list(ArrowSource(str(path), "a").blocks())


@both_kinds
def test_batch__lengths_that_lead_out_of_the_file(tmp_path, new):
    # Every length and offset of the messages: where they lead far away, nothing is taken for it.
    path = written(tmp_path / "a.arrow", table_of(OTHERS["binary"]), new)
    content = path.read_bytes()
    said = []
    for place in range(8, len(content) - 8, 8):
        [value] = struct.unpack_from("<q", content, place)
        if not 0 < value < len(content):
            continue
        path.write_bytes(content[:place] + struct.pack("<q", 1 << 40) + content[place + 8 :])
        try:
            list(ArrowSource(str(path), "a").blocks())
        except (InvalidInputError, ReadError) as error:
            said.append(str(error))
    assert len(said) > 3
    assert not [one for one in said if "more memory" in one]


def test_rows__values_that_share_their_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.files.streams.MOST_BYTES", 1 << 20)
    pq.write_table(pa.table({"text": ["some text " * 1000] * 2000}), tmp_path / "a.parquet")

    def read() -> int:
        source = ParquetSource(str(tmp_path / "a.parquet"), "a")
        return sum(len(block.parse(COLUMNS).text) for block in source.blocks())

    with pytest.raises(InvalidInputError, match="bytes of memory"):
        read()
    monkeypatch.undo()
    assert read() == 2000


def test_rows__nothing_is_known_of_a_null_view():
    whole = pa.array(["a", None, "b"]).cast(pa.string_view())
    validity, views = whole.buffers()
    content = bytearray(views)
    struct.pack_into("<i", content, 16, (1 << 31) - 1)
    views = pa.Array.from_buffers(pa.string_view(), 3, [validity, pa.py_buffer(bytes(content))])
    [block] = arrow_source(pa.table({"text": views})).blocks()
    assert block.parse(COLUMNS, skip_bad=True).text.to_pylist() == ["a", None, "b"]
