from __future__ import annotations

import functools
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InvalidInputError, ReadError, WriteError
from neardup.files import parquet, writers
from neardup.files.parquet import ParquetSource
from neardup.files.rows import ColumnNames
from neardup.files.streams import LocalDestination
from neardup.files.writers import TableWriter
from tests.each import each_of
from tests.files import check_skipped

N = 1000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(parquet, "_MIN_ROWS", 7)
    monkeypatch.setattr(parquet, "_MAX_ROWS", 64)


def table(n: int = N) -> pa.Table:
    columns = {
        "text": [f"text {i} é" for i in range(n)],
        "key": pa.array(range(n), pa.int32()),
        "when": pa.array(range(n), pa.timestamp("us", "UTC")),
        "nested": [{"a": [i], "b": None if i % 2 else "x"} for i in range(n)],
    }
    return pa.table(columns).replace_schema_metadata({"made": "by a test"})


@pytest.fixture
def source(tmp_path):
    def make(data: pa.Table, name: str = "a.parquet", **options) -> ParquetSource:
        pq.write_table(data, tmp_path / name, **{"row_group_size": 300, **options})
        return ParquetSource(str(tmp_path / name), name)

    return make


def test_parse__any_order_any_thread(source):
    made = source(table())
    blocks = list(made.blocks())
    expected = table().column("text").to_pylist()
    shuffled = np.random.default_rng(1).permutation(len(blocks)).tolist()
    columns = [ColumnNames(), ColumnNames(id="key")]

    def check(index: int) -> bool:
        block = blocks[index]
        rows = block.parse(columns[index % 2])
        assert block.to_table().num_rows == len(block)
        return rows.text.to_pylist() == [expected[number - 1] for number in block.numbers]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, shuffled * 2))


def test_writer__schema_and_metadata(source, write_rows):
    made = source(table(), compression="gzip")
    path = write_rows(made, lambda i: i % 3 == 0)
    assert pq.read_table(path).equals(table().filter(pa.array(np.arange(N) % 3 == 0)))
    assert pq.read_schema(path).equals(made.schema(), check_metadata=True)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_writer__row_groups_are_not_blocks(source, write_rows):
    path = write_rows(source(table()), lambda _: True)
    assert pq.ParquetFile(path).metadata.num_row_groups == 1


TEXTS = ["a", "é", "", "a"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(TEXTS, pa.large_string()).dictionary_encode(),
    ],
    ids=["large", "view", "dictionary", "large_dictionary"],
)
def test_parse__kinds_of_strings(source, write_rows, column):
    data = pa.table({"text": column, "n": range(4)})
    made = source(data)
    [block] = made.blocks()
    rows = block.parse(ColumnNames(order="text"))
    assert rows.text.to_pylist() == rows.order.to_pylist() == TEXTS
    assert rows.text.type in (pa.string(), pa.large_string())
    path = write_rows(made, lambda i: i in (0, 1, 3))
    assert pq.read_table(path).to_pylist() == [data.to_pylist()[i] for i in (0, 1, 3)]
    assert pq.read_schema(path).equals(made.schema(), check_metadata=True)


def test_parse__null_and_not_utf8(source):
    bytes_ = pa.array([b"a", None, b"b\xff", b"c"])
    text = pa.Array.from_buffers(pa.string(), 4, bytes_.buffers(), bytes_.null_count)
    made = source(pa.table({"text": text, "key": pa.array([1, 2, 3, None])}))
    [block] = made.blocks()
    facts = f"^{re.escape(made.location)}, row 2: .*'text'.*null"
    with pytest.raises(InvalidInputError, match=facts):
        block.parse(ColumnNames())
    rows = block.parse(ColumnNames(id="key"), skip_bad=True)
    assert rows.text.to_pylist() == ["a", None, None, None]
    not_utf8 = "UTF-8 at byte 2 .*'text'"
    check_skipped(rows.skipped, {2: "'text'.*null", 3: not_utf8, 4: "'key'.*null"})
    with pytest.raises(InvalidInputError, match=f"row 3: .*{not_utf8}"):
        block.parse(ColumnNames(), select=np.array([True, False, True, True]))


@pytest.mark.parametrize(
    ("columns", "facts"),
    [
        (
            ColumnNames("body"),
            r"'body'.* 'text', 'key', 'when', 'nested\.a', 'nested\.b'; .*text_column",
        ),
        (ColumnNames("key"), "'key' holds int32 .*text_column"),
        (ColumnNames(id="when"), r"'when' holds timestamp\[us, tz=UTC\] "),
        (
            ColumnNames(order="nested"),
            "'nested' holds struct<a: list<element: int64>, b: string> ",
        ),
    ],
)
def test_parse__wrong_columns(source, columns, facts):
    made = source(table(3))
    [block] = made.blocks()
    with pytest.raises(InvalidInputError, match=f"^{re.escape(made.location)}: .*{facts}"):
        block.parse(columns)


def test_parse__columns_of_nulls(source):
    [block] = source(pa.table({"text": ["a"], "x": pa.nulls(1)})).blocks()
    assert block.parse(ColumnNames(order="x")).order.to_pylist() == [None]
    with pytest.raises(InvalidInputError, match=r"row 1: .*'x'.*null"):
        block.parse(ColumnNames("x"))


def test_table_writer__flushes_and_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "_GROUP_ROWS", 10)
    writer = TableWriter(LocalDestination(tmp_path / "x" / "a.parquet"), table().schema)
    for _ in range(3):
        writer.append(table(6))
    writer.close()
    writer.close()
    file = pq.ParquetFile(tmp_path / "x" / "a.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [12, 6]
    with pytest.raises(WriteError, match=r"a\.parquet/b\.parquet: "):
        TableWriter(LocalDestination(tmp_path / "x" / "a.parquet" / "b.parquet"), table().schema)


GROUPS: list[list[int]] = [[], [0], [5], [5, 0, 7], [3] * 20, [70_000, 1], [9, 3_000, 3_000, 0, 9]]


@functools.cache
def group_of(n: int) -> pa.Table:
    """Make a row group with columns of several types."""
    schema = pa.schema(
        [
            ("text", pa.string()),
            ("number", pa.int64()),
            ("none", pa.float64()),
            ("list", pa.list_(pa.int32())),
            ("struct", pa.struct([("flag", pa.bool_()), ("bytes", pa.binary())])),
        ],
        {"key": "value"},
    )
    rows = [
        {"text": f"{i % 7}", "number": i * n, "list": [i], "struct": {"flag": i > n // 2}}
        for i in range(n)
    ]
    return pa.Table.from_pylist(rows, schema)


@each_of("sizes", GROUPS, ids=str)
def test_table_writer__groups_and_digest(tmp_path, sizes):
    schema, groups = group_of(0).schema, [group_of(n) for n in sizes]
    digest = hashlib.sha256()
    path = tmp_path / "a.parquet"
    with TableWriter(LocalDestination(path), schema, digest) as writer:
        for group in groups:
            writer.write_group(group)
    assert digest.digest() == hashlib.sha256(path.read_bytes()).digest()
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(len(groups))] == sizes
    assert file.read().equals(pa.concat_tables([group_of(0), *groups]))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_table_writer__disk_full(monkeypatch):
    writer = TableWriter(LocalDestination(Path("/dev/full")), table().schema)
    monkeypatch.setattr("neardup.files.writers._GROUP_ROWS", 10)
    texts = np.random.default_rng(2).bytes(1 << 20).hex()
    large = table(40).set_column(0, "text", pa.array([texts] * 40))
    with pytest.raises(WriteError, match=r"^/dev/full: .*No space left"):
        writer.append(large)
    writer.close()


def test_read__starts_over_after_an_error(source, monkeypatch):
    blocks = list(source(table()).blocks())
    blocks[0].parse(ColumnNames())
    batches = pq.ParquetFile.iter_batches

    def failing(*args, **options):
        yield next(batches(*args, **options))
        raise OSError(5, "the network is gone")

    blocks = list(source(table()).blocks())
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", failing)
    with pytest.raises(ReadError, match=r": .*network is gone$"):
        blocks[2].parse(ColumnNames())
    monkeypatch.undo()
    text = blocks[2].parse(ColumnNames()).text
    assert text[0].as_py() == f"text {blocks[2].numbers[0] - 1} é"


def one_group(folder: Path, data: pa.Table) -> Path:
    path = folder / "one.parquet"
    pq.write_table(data, path, compression="none", write_page_checksum=True)
    return path


def test_checksums__flipped_value__is_refused(tmp_path):
    # Without them Arrow gives other numbers, and no error.
    data = pa.table({"key": pa.array(range(1000, 1600), pa.int64())})
    path = one_group(tmp_path, data)
    content = bytearray(path.read_bytes())
    content[content.index((1234).to_bytes(8, "little"))] ^= 1
    path.write_bytes(content)
    with pytest.raises(ReadError, match="checksum"):
        rows_of(path)


def test_checksums__missing__is_read(tmp_path):
    pq.write_table(table(), tmp_path / "a.parquet", write_page_checksum=False)
    assert rows_of(tmp_path / "a.parquet").equals(table())


def rows_of(path: Path) -> pa.Table:
    return pa.concat_tables(
        [block.to_table() for block in ParquetSource(str(path), path.name).blocks()]
    )
