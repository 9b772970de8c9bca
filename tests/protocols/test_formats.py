"""What holds for every format: rows come out as they went in, however they were read."""

from __future__ import annotations

import json
import os
import tempfile
from itertools import compress as chosen_of
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError, ReadError
from neardup.files import rawrows
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.rows import ColumnNames, ParsedRows, Source
from neardup.files.streams import LocalDestination
from neardup.files.writers import converted_name
from tests.each import each_of
from tests.examples import examples
from tests.protocols.format_cases import CASES
from tests.protocols.format_reading import (
    BY_BYTES,
    FILES,
    columns,
    every_case,
    every_case_with_bad_rows,
    expected,
    read,
    write,
)


@pytest.mark.slow
@every_case
@examples(25)
@given(data=st.data())
def test_rows__as_they_were_put_in(case, data):
    rows = data.draw(case.rows())
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder), case.encode(rows))
        assert read(source, case) == expected(rows, case)
        # A source may be read again and gives the same.
        assert read(source, case) == expected(rows, case)
        tables = [block.to_table() for block in source.blocks()]
        texts = [text for table in tables for text in table["text"].to_pylist()]
        assert texts == [row["text"] for row in rows]


@every_case
@examples(25)
@given(data=st.data())
def test_some_columns__those_that_are_there(case, data):
    """As the table of all columns has them; a name that is given twice counts once."""
    rows = data.draw(case.rows())
    keep = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder), case.encode(rows))
        first = 0
        for block in source.blocks():
            select = np.array(keep[first : first + len(block)], np.bool_)
            first += len(block)
            found = block.some_columns(["text", "none", "text"], select)
            assert found.to_pylist() == [
                {"text": row["text"]} for row in block.to_table(select).to_pylist()
            ]
            assert block.some_columns(["none"]).num_columns == 0


@every_case
@examples(25)
@given(data=st.data())
def test_writer__the_chosen_rows_and_no_others(case, data):
    """What is written is what a file of the chosen rows alone would be: kept and removed are all.

    A file that is one document is in one of them only.
    """
    rows = data.draw(case.rows())
    keep = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder, "in"), case.encode(rows))
        for side, chosen in (("kept", keep), ("removed", [not stays for stays in keep])):
            path = write(source, Path(folder, side), chosen)
            if case.is_one_row and not any(chosen):
                assert not path.exists()
                continue
            found = case.what_counts(path.read_bytes())
            assert found == case.what_counts(case.encode(list(chosen_of(rows, chosen))))


@every_case
@pytest.mark.parametrize("block", [1, 70, 1 << 20])
def test_blocks__cuts_do_not_matter(case, tmp_path, block):
    rows = case.some_rows(200)
    content = case.encode(rows)
    source = case.open(tmp_path / "in", content, block)
    keep = [i % 3 == 0 for i in range(len(rows))]
    whole = case.open(tmp_path / "whole", content)
    # The second pass takes rows from the first.
    for _ in range(2):
        assert read(source, case) == read(whole, case) == expected(rows, case)
    outputs = [write(s, tmp_path / f"out{i}", keep) for i, s in enumerate((source, whole))]
    counts = [case.what_counts(path.read_bytes()) for path in outputs]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "case",
    [case for case in BY_BYTES if case.name in ("a.jsonl", "a.json") or case.document],
    ids=str,
)
def test_blocks__file_has_changed(case, tmp_path):
    content = case.encode(case.some_rows(20))
    source = case.open(tmp_path, content)
    assert list(source.blocks())
    path = Path(source.location)
    # Of the same size, or with less at the end.
    for changed in [content[:5] + b"x" + content[6:], content[:-1]]:
        path.write_bytes(changed)
        os.utime(path, ns=(0, 0))
        with pytest.raises(ReadError, match="changed"):
            list(source.blocks())
    path.write_bytes(content)


def test_blocks__file_shrinks_during_a_later_pass(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n' * 100)
    source = JsonLinesSource(str(path), "a.jsonl", block_bytes=70)
    assert sum(map(len, source.blocks())) == 100
    blocks = source.blocks()
    next(blocks)
    os.truncate(path, 1000)
    with pytest.raises(ReadError, match="changed"):
        list(blocks)


def snapshot(source: Source, folder: Path) -> tuple[list[object], bytes]:
    """Read all rows and write some: those whose number is not a multiple of three."""
    rows: list[object] = []
    with source.writer(LocalDestination(folder)) as writer:
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
    return sorted(rows, key=repr), (folder / source.written_name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("case", BY_BYTES, ids=str)
@examples(60)
@given(data=st.data())
def test_blocks__cuts_do_not_matter_in_any_file(case, data):
    # Archives of crawls begin with their first record.
    marks = [b""] if case.name == "a.warc" else [b"", b"\xef\xbb\xbf"]
    content = data.draw(st.sampled_from(marks)) + data.draw(case.messy)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        reference = snapshot(case.open(Path(folder), content), out)
        for size in (1, 2, 3, 7, 20):
            assert snapshot(case.open(Path(folder), content, size), out) == reference


@pytest.mark.parametrize("case", BY_BYTES, ids=str)
@examples(40)
@given(data=st.data())
def test_writer__kept_and_removed_have_all_rows_of_any_file(case, data):
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder, "in"), data.draw(case.messy))
        rows = texts_of(source)
        keep = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
        for side, chosen in (("kept", keep), ("removed", [not stays for stays in keep])):
            path = write(source, Path(folder, side), chosen)
            found = texts_of(case.make(str(path), case.name)) if path.exists() else []
            assert found == list(chosen_of(rows, chosen))


def texts_of(source: Source) -> list[str | None]:
    parts = [block.parse(ColumnNames(), skip_bad=True).text for block in source.blocks()]
    return [text for part in parts for text in part.to_pylist()]


@every_case
def test_parse__of_selected_rows(case, tmp_path):
    rows = case.some_rows(9)
    [block] = case.open(tmp_path, case.encode(rows)).blocks()
    whole = block.parse(columns(case))
    for mask in (np.arange(len(rows)) % 2 == 0, np.zeros(len(rows), np.bool_)):
        some = block.parse(columns(case), select=mask)
        for name in ("text", "id", "order"):
            array = getattr(whole, name)
            assert (array is None) == (getattr(some, name) is None)
            if array is not None:
                chosen = list(chosen_of(array.to_pylist(), mask))
                assert getattr(some, name).to_pylist() == chosen
        table = block.to_table(mask)
        assert len(table) == mask.sum()
        if len(table):
            assert table["text"].to_pylist() == list(chosen_of(whole.text.to_pylist(), mask))


@every_case
def test_ids__by_default(case, tmp_path):
    """The name of the file and the number of the row, if it may have several; in memory, from 0."""
    source = case.open(tmp_path, case.encode(case.some_rows(3)))
    numbers = np.array([1, 7, 10**12])
    ids = [str(n - 1) if case.suffix is None else f"{case.name}:{n}" for n in numbers]
    if case.is_one_row:
        ids = [case.name] * len(numbers)
    assert source.default_ids(numbers).to_pylist() == ids
    assert source.written_name == converted_name(case.name, "same")
    assert source.name == ("data" if case.suffix is None else case.name)


@every_case
def test_columns__by_any_name(case, tmp_path):
    rows = case.some_rows(3)
    [block] = case.open(tmp_path, case.encode(rows)).blocks()
    if case.has_columns:
        parsed = block.parse(ColumnNames("id", id="text", order="text"))
        assert parsed.text.to_pylist() == [row["id"] for row in rows]
        assert parsed.id.to_pylist() == parsed.order.to_pylist() == [row["text"] for row in rows]
    else:
        assert block.parse(ColumnNames("any")).text.to_pylist() == [row["text"] for row in rows]


@every_case
def test_columns__several_of_the_text(case, tmp_path):
    """They are joined with newlines, in the order in which they are named."""
    rows = case.some_rows(3)
    [block] = case.open(tmp_path, case.encode(rows)).blocks()
    mask = np.array([True, False, True])[: len(rows)]
    if case.has_columns:
        parsed = block.parse(ColumnNames(("text", "id"), id="id"), select=mask)
        expected = [f"{row['text']}\n{row['id']}" for row in chosen_of(rows, mask)]
        assert parsed.text.to_pylist() == expected
        assert parsed.id.to_pylist() == [row["id"] for row in chosen_of(rows, mask)]
        with pytest.raises(InvalidInputError, match=r"column 'none'.*columns"):
            block.parse(ColumnNames(("text", "none")))
    else:
        texts = block.parse(ColumnNames(("any", "other"))).text
        assert texts.to_pylist() == [row["text"] for row in rows]


@every_case
@pytest.mark.parametrize("wanted", [ColumnNames(id="none"), ColumnNames(order="none")])
def test_columns__that_are_not_there(case, tmp_path, wanted):
    source = case.open(tmp_path, case.encode(case.some_rows(3)))
    [block] = source.blocks()
    with pytest.raises(InvalidInputError, match=r"column 'none'.*columns") as caught:
        block.parse(wanted)
    assert caught.value.path == source.origin


@every_case_with_bad_rows
def test_bad_rows__raise_or_are_skipped(case, tmp_path):
    rows = case.some_rows(5)
    bad = min(2, len(rows) - 1)
    content = case.spoilt(rows, bad)
    source = case.open(tmp_path / "in", content)
    number = 1 + bad
    with pytest.raises(InvalidInputError) as caught:
        read(source, case)
    assert (caught.value.path, caught.value.row) == (source.origin, number)
    place = f"row {number}: " if source.origin is None else f"{source.origin}, row {number}: "
    reason = str(caught.value).removeprefix(place)
    assert reason != str(caught.value)
    parsed = [block.parse(columns(case), skip_bad=True) for block in source.blocks()]
    skipped = [row for part in parsed for row in part.skipped]
    assert skipped == [(number, reason)]
    texts = [text for _, _, text in read(source, case, skip_bad=True)]
    assert texts == [None if i == bad else row["text"] for i, row in enumerate(rows)]
    # A bad row is written as it is.
    path = write(source, tmp_path / "out", [True] * len(rows))
    assert case.what_counts(path.read_bytes()) == case.what_counts(content)


@every_case_with_bad_rows
def test_bad_rows__that_are_not_selected(case, tmp_path):
    rows = case.some_rows(5)
    [block] = case.open(tmp_path, case.spoilt(rows, 0)).blocks()
    others = np.arange(len(rows)) > 0
    parsed = block.parse(columns(case), select=others)
    assert parsed == ParsedRows(parsed.text, parsed.id, parsed.order, [])
    assert parsed.text.to_pylist() == [row["text"] for row in rows[1:]]


@each_of("case", [case for case in CASES if not case.is_one_row], ids=str)
def test_no_rows__is_a_file_that_can_be_read(case, tmp_path):
    source = case.open(tmp_path / "in", case.encode(case.some_rows(3)))
    path = write(source, tmp_path / "out", [False] * 3)
    for content in (path.read_bytes(), case.encode([])):
        empty = case.open(tmp_path / "again", content)
        assert list(empty.blocks()) == []
        written = write(empty, tmp_path / "last", [])
        assert case.what_counts(written.read_bytes()) == case.what_counts(case.encode([]))


WITH_COLUMNS = [case for case in CASES if case.has_columns and not case.is_one_row]


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", [50, 1 << 20])
@pytest.mark.parametrize("case", WITH_COLUMNS, ids=str)
def test_where__rows_are_as_they_came_in(case, block_bytes, tmp_path, monkeypatch):
    monkeypatch.setitem(rawrows.RawSource.__init__.__kwdefaults__, "block_bytes", block_bytes)
    rows = [{**row, "text": f"{row['text']} one two three"} for row in case.some_rows(7)]
    if not all(row["id"] for row in rows):
        rows = [{**row, "id": f"row {n}"} for n, row in enumerate(rows)]
    key = rows[2]["id"]
    if case in FILES:
        (tmp_path / case.name).write_bytes(case.encode(rows))
        data, name = str(tmp_path / case.name), case.name
    else:
        data, name = pq.read_table(pa.BufferReader(case.encode(rows))), "data.parquet"
    quoted = key.replace("'", "''")
    result = neardup.deduplicate(
        data, read=neardup.ReadOptions(where=f"not id in ('{quoted}', 'x')", id_column="")
    )
    result.write(tmp_path / "out")
    assert result.summary["filtered_rows"] == 1
    assert result.summary["where"] == f"not id in ('{quoted}', 'x')"
    if not len(result.removed):
        expected = [*rows[:2], *rows[3:]]
        written = tmp_path / "out/kept" / converted_name(name, "same")
        if name.endswith(".parquet"):
            assert pq.read_table(written).to_pylist() == expected
        else:
            found = case.what_counts(written.read_bytes())
            assert found == case.what_counts(case.encode(expected))
    assert result.summary["documents_in"] == len(rows) - 1


@pytest.mark.slow
@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_where__kept_rows_are_converted(output_format, tmp_path):
    rows = [{"id": n, "text": f"text {n}", "m": {"n": n}} for n in range(9)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    where = "m.n between 2 and 6"
    result = neardup.deduplicate(tmp_path / "in.jsonl", read=neardup.ReadOptions(where=where))
    result.write(tmp_path / "out", format=output_format)
    kept = neardup.deduplicate(tmp_path / "out/kept").kept
    assert kept["id"].to_pylist() == [2, 3, 4, 5, 6]
