"""Columns by path: the same values from every format that nests, and back into what they are in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc

from neardup.errors import InvalidInputError
from neardup.files.columnpaths import MISSING, path_in, value_in, values_at, with_values_at
from neardup.files.cuts import Cuts
from neardup.files.formats import file_source
from neardup.files.memory import arrow_source, rows_source
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import LocalDestination
from tests.each import each_of
from tests.examples import examples
from tests.oracles.column_paths import NOTHING, lookup

ROWS: list[dict[str, Any]] = [
    {
        "doc": {"text": "one “quoted” text", "id": 7},
        "meta": {"url": "http://a/1", "score": 0.5, "in": {"lang": "de"}},
        "meta.lang": "own",
        "tags": [{"name": "x", "all": ["p", "q"]}, {"name": "y", "all": []}],
    },
    {
        "doc": {"text": "two\nlines", "id": 8},
        "meta": {"url": "http://a/2", "score": 3.0, "in": None},
        "meta.lang": None,
        "tags": [],
    },
    {
        "doc": {"text": "", "id": 9},
        "meta": {"url": "http://b/1", "score": None, "in": {"lang": "fr"}},
        "meta.lang": "own too",
        "tags": [{"name": "z", "all": ["r"]}],
    },
]
KINDS = ["jsonl", "json", "parquet", "arrow", "rows", "table", "pandas", "polars"]


def source_of(kind: str, folder: Path, rows: list[dict[str, Any]] = ROWS) -> Source:
    table = pa.Table.from_pylist(rows)
    if kind == "rows":
        return rows_source(rows)
    if kind == "table":
        # As a slice of a table, whose rows do not begin where its columns do.
        return arrow_source(pa.concat_tables([table, table]).combine_chunks().slice(len(rows)))
    if kind in ("pandas", "polars"):
        made = pytest.importorskip(kind)
        return arrow_source(made.DataFrame(rows))
    path = folder / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=2)
    elif kind == "arrow":
        with ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    elif kind == "json":
        path.write_text(json.dumps(rows, ensure_ascii=False))
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return file_source(str(path), path.name)


def values_of(source: Source, name: str) -> list[Any]:
    """Return what the blocks of a source have by a name, asked for alone."""
    return [
        value
        for block in source.blocks()
        for value in block.some_columns([name]).column(0).to_pylist()
    ]


@each_of("kind", KINDS)
@each_of(
    ("name", "expected"),
    [
        ("meta.url", ["http://a/1", "http://a/2", "http://b/1"]),
        ("meta.lang", ["own", None, "own too"]),
        ("meta.in.lang", ["de", None, "fr"]),
    ],
)
def test_some_columns__by_path(kind, name, expected, tmp_path):
    source = source_of(kind, tmp_path)
    assert values_of(source, name) == expected
    [block, *_] = source.blocks()
    parsed = block.parse(ColumnNames(("doc.text", name))).text.to_pylist()
    assert parsed[0] == f"{ROWS[0]['doc']['text']}\n{expected[0]}"


@each_of("kind", KINDS)
def test_no_column__lists_inner_columns(kind, tmp_path):
    [block, *_] = source_of(kind, tmp_path).blocks()
    names = "'doc.text', 'doc.id', 'meta.url', 'meta.score'"
    with pytest.raises(InvalidInputError, match=f"'url'; .*{names}"):
        block.parse(ColumnNames("url"))
    for name in ("meta.urls", "doc", "doc.text.more", "tags[0]", "tags.name", "nope"):
        with pytest.raises(InvalidInputError, match=r"no column|not text"):
            block.parse(ColumnNames(name))
        if name != "doc":
            assert not block.some_columns([name]).num_columns


@each_of("kind", ["jsonl", "json", "parquet", "arrow"])
def test_with_cuts__changes_nothing_but_the_texts(kind, tmp_path):
    source = source_of(kind, tmp_path)
    columns = ("doc.text", "meta.in.lang")
    blocks = list(source.blocks())
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        for block in blocks:
            texts = block.parse(ColumnNames(columns)).text.to_pylist()
            first = [row for row, text in enumerate(texts) if text.startswith("one")]
            # The first four characters, and all that the second column has.
            starts = np.array([start for _ in first for start in (0, 18)])
            stops = np.array([stop for _ in first for stop in (4, 20)])
            rows = np.repeat(np.array(first, np.int64), 2)
            cuts = Cuts(columns, rows, starts.astype(np.int64), stops.astype(np.int64), "-")
            writer.write(block.with_cuts(cuts), np.ones(len(block), np.bool_))
    expected = json.loads(json.dumps(ROWS))
    expected[0]["doc"]["text"] = "-“quoted” text"
    expected[0]["meta"]["in"]["lang"] = "-"
    written = tmp_path / "out" / source.written_name
    again = file_source(str(written), source.name)
    found = [row for block in again.blocks() for row in block.to_table().to_pylist()]
    assert found == expected
    if kind == "jsonl":
        own, changed = (
            path.read_bytes().splitlines() for path in (tmp_path / source.name, written)
        )
        assert own[1:] == changed[1:]
        assert changed[0] == own[0].replace("one “".encode(), "-“".encode()).replace(
            b'"lang": "de"', b'"lang": "-"'
        )


NAME = st.sampled_from(["a", "b", "a.b", "b.a", "é"])
PATHS = ["a", "a.b", "a.b.a", "b.a", "a.b.b.a", "é.é", "a.é"]
LEAF = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["x", "", "é\n", '"', "😀"])
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(NAME, VALUE, max_size=4), min_size=1, max_size=4)


@pytest.mark.slow
@examples(200)
@given(rows=OBJECTS, spaced=st.booleans(), ascii_only=st.booleans())
def test_json__as_the_oracle(rows, spaced, ascii_only, tmp_path_factory):
    """In the bytes, by the standard library, and where text of a row is read: all mean the same."""
    path = tmp_path_factory.mktemp("paths") / "rows.jsonl"
    separators = (" , ", " : ") if spaced else (",", ":")
    lines = [json.dumps(row, ensure_ascii=ascii_only, separators=separators) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    [block] = file_source(str(path), path.name).blocks()
    for name in PATHS:
        expected = [lookup(row, name) for row in rows]
        for row, value in zip(rows, expected, strict=True):
            found = value_in(row, name)
            assert (found is MISSING) if value is NOTHING else (found == value)
        parsed = block.parse(ColumnNames(name), skip_bad=True)
        texts = [value if isinstance(value, str) else None for value in expected]
        assert parsed.text.to_pylist() == texts
        assert {number for number, _ in parsed.skipped} == {
            number for number, text in enumerate(texts, 1) if text is None
        }


def test_json__one_name_leads_to_two_things_in_two_rows(tmp_path):
    """Each row has its own, whatever the others have; of two of one name the last counts."""
    rows = [
        '{"a.b": "own", "a": {"b": "within"}}',
        '{"a": {"b": "within"}}',
        '{"a.b": null, "a": {"b": "within"}}',
        '{"a.b": {"c": "x", "c": "y"}, "a": {"b.c": "z", "b": "w"}}',
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(rows))
    [block] = file_source(str(path), path.name).blocks()
    first = np.arange(4) < 3
    expected = ["own", "within", None]
    assert block.some_columns(["a.b"], first).column(0).to_pylist() == expected
    assert block.parse(ColumnNames("a.b"), select=first, skip_bad=True).text.to_pylist() == expected
    assert block.parse(ColumnNames("a.b.c"), select=~first).text.to_pylist() == ["y"]


def test_json__odd_rows(tmp_path):
    """A number that the standard library refuses, and bytes that are not UTF-8 elsewhere."""
    path = tmp_path / "odd.jsonl"
    path.write_bytes(
        b'{"n": Inf, "doc": {"text": "2020-01-01"}}\n'
        b'{"raw": "\xe9", "doc": {"text": "here"}}\n'
        b'{"n": Inf, "doc": {"text": null}}\n'
        b'{"doc": {"text": "twice", "text": "last"}}\n'
    )
    [block] = file_source(str(path), path.name).blocks()
    parsed = block.parse(ColumnNames("doc.text"), skip_bad=True)
    assert parsed.text.to_pylist() == [None, "here", None, "last"]
    assert [row for row, _ in parsed.skipped] == [1, 3]


def test_parquet__reads_what_a_path_leads_to_alone(tmp_path, monkeypatch):
    source = source_of("parquet", tmp_path)
    read: list[Any] = []
    original = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile,
        "iter_batches",
        lambda self, *args, **options: (
            read.append(options["columns"]) or original(self, *args, **options)
        ),
    )
    [block, *_] = source.blocks()
    block.parse(ColumnNames("doc.text", "meta.url"))
    block.some_columns(["meta.in.lang", "meta.lang"])
    assert read == [["doc.text", "meta.url"], ["meta.in.lang", "meta.lang"]]


@st.composite
def nested_columns(draw: st.DrawFn) -> pa.ChunkedArray:
    """Draw a column of structures of structures with a text, in chunks that are slices."""
    inner = pa.struct([("t", pa.string()), ("n", pa.int64())])
    text = st.none() | st.sampled_from(["x", "yy", ""])
    structure = st.none() | st.fixed_dictionaries({"t": text, "n": st.integers(0, 9)})
    outer = st.none() | st.fixed_dictionaries({"in": structure, "m": st.integers(0, 9)})
    values = draw(st.lists(outer, min_size=3, max_size=8))
    array = pa.array(values, pa.struct([("in", inner), ("m", pa.int64())]))
    start = draw(st.integers(0, 2))
    return pa.chunked_array([array.slice(start, 1), array.slice(start + 1)])


@examples(100)
@given(column=nested_columns())
def test_with_values_at__all_else_stays(column):
    table = pa.table({"c": column, "other": pa.nulls(len(column))})
    path = path_in(table.schema, "c.in.t")
    assert path == ("c", "in", "t")
    before = values_at(table, path).to_pylist()
    assert before == [lookup(row, "c.in.t") for row in table.to_pylist()]
    changed = with_values_at(table, path, pa.array([f"new {n}" for n in range(len(column))]))
    assert changed.schema == table.schema
    changed.validate(full=True)
    expected = table.to_pylist()
    for number, row in enumerate(expected):
        if row["c"] is not None and row["c"]["in"] is not None:
            row["c"]["in"]["t"] = f"new {number}"
    assert changed.to_pylist() == expected
