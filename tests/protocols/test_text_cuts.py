"""What holds for every format when spans are cut out of texts: nothing else of a row changes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.files.cuts import Cuts
from neardup.files.rawrows import RawBlock
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import COMPRESSIONS, LocalDestination
from neardup.files.writers import Conversion, converted_name
from tests.cuts import Span, cut, spans_of
from tests.each import each_of
from tests.examples import examples
from tests.files import compress, decompress
from tests.protocols.format_cases import CASES, Case, Row
from tests.protocols.format_reading import BY_BYTES, COMPRESSIBLE, expected, read

every_cuttable = pytest.mark.parametrize(
    "case", [case for case in CASES if case.can_be_cut], ids=str
)
REPLACEMENTS = st.sampled_from(["", "[…]", '"\\,', "\n", " \t"])


def cuts_of(spans: list[Span], replacement: str = "", columns: tuple[str, ...] = ("text",)) -> Cuts:
    rows, starts, stops = (np.array([span[k] for span in spans], np.int64) for k in range(3))
    return Cuts(columns, rows, starts, stops, replacement)


def cut_blocks(source: Source, spans: list[Span], replacement: str = "") -> list[RowBlock]:
    """Cut spans of a source's rows, counted over all blocks, out of each block."""
    blocks, first = [], 0
    for block in source.blocks():
        own = [(row - first, a, b) for row, a, b in spans if first <= row < first + len(block)]
        blocks.append(block.with_cuts(cuts_of(own, replacement)))
        first += len(block)
    return blocks


def write_blocks(source: Source, folder: Path, blocks: list[RowBlock]) -> Path:
    with source.writer(LocalDestination(folder)) as writer:
        for block in blocks:
            writer.write(block, np.ones(len(block), np.bool_))
    return folder / source.written_name


def cut_rows(rows: list[Row], spans: list[Span], replacement: str = "") -> list[Row]:
    return [
        {**row, "text": cut(str(row["text"]), [s[1:] for s in spans if s[0] == i], replacement)}
        for i, row in enumerate(rows)
    ]


def put_in(case: Case, replacement: str) -> str:
    return replacement.replace("\n", " ") if case.document else replacement


@every_cuttable
@examples(30)
@given(data=st.data())
def test_with_cuts__as_if_the_texts_had_been_so(case, data):
    """What is written is what a file of the shorter texts would be."""
    rows = data.draw(case.rows())
    spans = data.draw(spans_of([str(row["text"]) for row in rows]))
    replacement = data.draw(REPLACEMENTS)
    shorter = cut_rows(rows, spans, put_in(case, replacement))
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder, "in"), case.encode(rows))
        blocks = cut_blocks(source, spans, replacement)
        path = write_blocks(source, Path(folder, "out"), blocks)
        found = case.what_counts(path.read_bytes())
        assert found == case.what_counts(case.encode(shorter))
        texts = [text for block in blocks for text in block.to_table()["text"].to_pylist()]
        assert texts == [row["text"] for row in shorter]


@every_cuttable
@pytest.mark.parametrize("block", [1, 70])
def test_with_cuts__blocks_do_not_matter(case, tmp_path, block):
    rows = case.some_rows(50)
    spans = [(row, 1, 4) for row in range(0, len(rows), 3)]
    source = case.open(tmp_path / "in", case.encode(rows), block)
    path = write_blocks(source, tmp_path / "out", cut_blocks(source, spans, "é"))
    found = case.open(tmp_path / "again", path.read_bytes())
    assert read(found, case) == expected(cut_rows(rows, spans, "é"), case)


@every_cuttable
def test_with_cuts__of_some_rows(case, tmp_path):
    """Rows keep their numbers, and are chosen as before."""
    rows = case.some_rows(5)
    [block] = case.open(tmp_path, case.encode(rows)).blocks()
    spans = [(0, 0, 5)] if case.is_one_row else [(1, 0, 5), (4, 2, 3)]
    shorter = cut_rows(rows, spans)
    found = block.with_cuts(cuts_of(spans))
    assert found.numbers.tolist() == block.numbers.tolist()
    mask = np.arange(len(rows)) % 2 == 0
    assert found.parse(ColumnNames(), select=mask).text.to_pylist() == [
        row["text"] for row in shorter[::2]
    ]
    assert found.to_table(mask)["text"].to_pylist() == [row["text"] for row in shorter[::2]]
    # The block that they are of has not changed.
    assert block.parse(ColumnNames()).text.to_pylist() == [row["text"] for row in rows]
    again = found.with_cuts(cuts_of([(0, 0, 1)])).parse(ColumnNames()).text.to_pylist()
    assert again == [row["text"] for row in cut_rows(shorter, [(0, 0, 1)])]


@every_cuttable
def test_with_cuts__several_columns(case, tmp_path):
    """A span over the newline between two columns is cut in both, the newline is in neither."""
    rows: list[Row] = [{"id": "abc", "text": "défg"}, {"id": "h", "text": "ij"}]
    rows = rows[: 1 if case.is_one_row else 2]
    [block] = case.open(tmp_path, case.encode(rows)).blocks()
    names = ("text", "id")
    if not case.has_columns:
        found = block.with_cuts(cuts_of([(0, 0, 2)], columns=names))
        assert found.parse(ColumnNames(names)).text[0].as_py() == "fg"
        return
    # défg\nabc, ij\nh
    spans = [(0, 0, 1), (0, 2, 6), (1, 2, 4)]
    found = block.with_cuts(cuts_of(spans, "[x]", names))
    assert found.to_table().select(["id", "text"]).to_pylist() == [
        {"id": "bc", "text": "[x]é[x]"},
        {"id": "[x]", "text": "ij"},
    ]


@pytest.mark.parametrize("case", [case for case in BY_BYTES if case.can_be_cut], ids=str)
@examples(60)
@given(data=st.data())
def test_with_cuts__other_rows_byte_for_byte(case, data):
    """In files as users have them, bad rows among them; ids stay what they are."""
    replacement = data.draw(REPLACEMENTS)
    with tempfile.TemporaryDirectory() as folder:
        source = case.open(Path(folder), data.draw(case.messy))
        for block in source.blocks():
            texts = block.parse(ColumnNames(), skip_bad=True).text.to_pylist()
            spans = data.draw(spans_of([text or "" for text in texts]))
            found = block.with_cuts(cuts_of(spans, replacement))
            parsed = found.parse(ColumnNames(), skip_bad=True)
            assert parsed.text.to_pylist() == [
                None
                if text is None
                else cut(text, [s[1:] for s in spans if s[0] == i], put_in(case, replacement))
                for i, text in enumerate(texts)
            ]
            if isinstance(block, RawBlock):
                assert isinstance(found, RawBlock)
                for i in {*range(len(block))} - {span[0] for span in spans}:
                    assert found.raw[i] == block.raw[i]
            if case.has_columns:
                names = ColumnNames("id")
                others = (b.parse(names, skip_bad=True).text.to_pylist() for b in (block, found))
                assert next(others) == next(others)


@each_of("suffix", COMPRESSIONS)
@each_of("case", [case for case in COMPRESSIBLE if case.can_be_cut], ids=str)
def test_with_cuts__compressed(case, tmp_path, suffix):
    rows = case.some_rows(5)
    name = case.name + suffix
    (tmp_path / name).write_bytes(compress(name, case.encode(rows)))
    source = case.make(str(tmp_path / name), name)
    path = write_blocks(source, tmp_path / "out", cut_blocks(source, [(0, 0, 2)], "é"))
    assert decompress(path) == case.encode(cut_rows(rows, [(0, 0, 2)], "é"))


@every_cuttable
def test_with_cuts__converted(case, tmp_path):
    rows = case.some_rows(5)
    source = case.open(tmp_path / "in", case.encode(rows))
    shorter = cut_rows(rows, [(0, 0, 2)], "\n")
    if case.document:
        shorter = cut_rows(rows, [(0, 0, 2)], " ")
    for output_format in ("jsonl", "parquet"):
        out = tmp_path / output_format
        with Conversion(source, output_format).writer(LocalDestination(out)) as writer:
            for block in cut_blocks(source, [(0, 0, 2)], "\n"):
                writer.write(block, np.ones(len(block), np.bool_))
        path = out / converted_name(source.written_name, output_format)
        if output_format == "jsonl":
            found = [json.loads(line) for line in path.read_bytes().splitlines()]
        else:
            found = pq.read_table(path).to_pylist()
        assert [row["text"] for row in found] == [row["text"] for row in shorter]
        if case.has_columns:
            assert [row["id"] for row in found] == [row["id"] for row in shorter]
