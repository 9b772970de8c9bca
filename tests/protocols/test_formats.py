"""What holds for every format: rows come out as they went in, however they were read."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from itertools import compress as chosen_of
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError, ReadError
from neardup.files.compression import COMPRESSIONS
from neardup.files.convert import OUTPUT_FORMATS, converted_name, converted_writer
from neardup.files.formats import FORMATS, KNOWN_SUFFIXES, file_source, format_of
from neardup.files.rows import ColumnNames, ParsedRows, Source
from tests.examples import examples
from tests.files import compress, copy_rows, decompress
from tests.protocols.format_cases import CASES, Case, Row

FILES = [case for case in CASES if case.suffix is not None]
COMPRESSIBLE = [case for case in FILES if format_of(f"{case.name}.gz") is not None]
BY_BYTES = [case for case in CASES if case.messy is not None]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_file = pytest.mark.parametrize("case", FILES, ids=str)


def columns(case: Case) -> ColumnNames:
    return ColumnNames(id="id", order="id") if case.has_columns else ColumnNames()


def read(source: Source, case: Case, *, skip_bad: bool = False) -> list[tuple[object, ...]]:
    """Return number, id and text of every row; bad ones have no text."""
    rows: list[tuple[object, ...]] = []
    for block in source.blocks():
        parsed = block.parse(columns(case), skip_bad=skip_bad)
        assert len(block) == len(block.numbers) == len(parsed.text) > 0
        ids = [None] * len(block) if parsed.id is None else parsed.id.to_pylist()
        rows += zip(block.numbers.tolist(), ids, parsed.text.to_pylist(), strict=True)
    return rows


def expected(rows: list[Row], case: Case) -> list[tuple[object, ...]]:
    return [
        (case.first + i, row["id"] if case.has_columns else None, row["text"])
        for i, row in enumerate(rows)
    ]


def write(source: Source, folder: Path, keep: list[bool]) -> Path:
    """Write the rows that are to be kept; return the path of the output."""
    with source.writer(folder) as writer:
        copy_rows(source, writer.write, keep.__getitem__)
    return folder / source.name


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
    assert read(source, case) == read(whole, case) == expected(rows, case)
    outputs = [write(s, tmp_path / f"out{i}", keep) for i, s in enumerate((source, whole))]
    counts = [case.what_counts(path.read_bytes()) for path in outputs]
    assert counts[0] == counts[1]


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


@pytest.mark.parametrize("case", BY_BYTES, ids=str)
@examples(60)
@given(data=st.data())
def test_blocks__cuts_do_not_matter_in_any_file(case, data):
    content = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data.draw(case.messy)
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
    """The name of the file and the number of the row; the number alone in memory."""
    source = case.open(tmp_path, case.encode(case.some_rows(3)))
    numbers = np.array([0, 7, 10**12])
    prefix = f"{case.name}:" if case.suffix is not None else ""
    assert source.default_ids(numbers).to_pylist() == [f"{prefix}{n}" for n in numbers]
    assert source.name == case.name


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
@pytest.mark.parametrize("wanted", [ColumnNames(id="none"), ColumnNames(order="none")])
def test_columns__that_are_not_there(case, tmp_path, wanted):
    source = case.open(tmp_path, case.encode(case.some_rows(3)))
    [block] = source.blocks()
    with pytest.raises(InvalidInputError, match="no column 'none'; columns are ") as caught:
        block.parse(wanted)
    assert caught.value.path == source.origin


@every_case
def test_bad_rows__raise_or_are_skipped(case, tmp_path):
    rows = case.some_rows(5)
    bad = min(2, len(rows) - 1)
    content = case.spoilt(rows, bad)
    source = case.open(tmp_path / "in", content)
    number = case.first + bad
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


@every_case
def test_bad_rows__that_are_not_selected(case, tmp_path):
    rows = case.some_rows(5)
    [block] = case.open(tmp_path, case.spoilt(rows, 0)).blocks()
    others = np.arange(len(rows)) > 0
    parsed = block.parse(columns(case), select=others)
    assert parsed == ParsedRows(parsed.text, parsed.id, parsed.order, [])
    assert parsed.text.to_pylist() == [row["text"] for row in rows[1:]]


@pytest.mark.parametrize("case", [case for case in CASES if not case.is_one_row], ids=str)
def test_no_rows__is_a_file_that_can_be_read(case, tmp_path):
    source = case.open(tmp_path / "in", case.encode(case.some_rows(3)))
    path = write(source, tmp_path / "out", [False] * 3)
    for content in (path.read_bytes(), case.encode([])):
        empty = case.open(tmp_path / "again", content)
        assert list(empty.blocks()) == []
        written = write(empty, tmp_path / "last", [])
        assert case.what_counts(written.read_bytes()) == case.what_counts(case.encode([]))


@every_case
def test_one_row(case, tmp_path):
    rows = case.some_rows(1)
    source = case.open(tmp_path / "in", case.encode(rows))
    assert read(source, case) == expected(rows, case)
    path = write(source, tmp_path / "out", [True])
    assert case.what_counts(path.read_bytes()) == case.what_counts(case.encode(rows))


@every_file
def test_source__knows_its_file(case, tmp_path):
    content = case.encode(case.some_rows(3))
    source = case.open(tmp_path, content)
    assert (source.origin, source.size) == (str(tmp_path / case.name), len(content))


@every_file
def test_source__of_a_url(case):
    import fsspec

    rows = case.some_rows(30)
    url = f"memory://formats/{case}/{case.name}"
    with fsspec.open(url, "wb") as file:
        file.write(case.encode(rows))
    source = file_source(url, case.name, lines=case.lines)
    assert type(source) is type(case.make(url, case.name))
    assert (source.origin, source.size) == (url, None)
    assert read(source, case) == expected(rows, case)


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
@pytest.mark.parametrize("case", BY_BYTES, ids=str)
def test_writer__byte_for_byte(case, tmp_path, suffix):
    content, half = case.half
    name = case.name + suffix
    (tmp_path / name).write_bytes(compress(name, content))
    source = file_source(str(tmp_path / name), name, lines=case.lines)
    path = write(source, tmp_path / "out", [True, False, True])
    assert path.name == name
    assert decompress(path) == half


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("case", COMPRESSIBLE, ids=str)
def test_compressed__as_plain(case, tmp_path, suffix):
    rows, name = case.some_rows(5), case.name + suffix
    (tmp_path / name).write_bytes(compress(name, case.encode(rows)))
    source = file_source(str(tmp_path / name), name, lines=case.lines)
    assert read(source, case) == expected(rows, case)
    nothing = write(source, tmp_path / "none", [False] * len(rows))
    if case.is_one_row:
        assert not nothing.exists()
    else:
        assert list(file_source(str(nothing), name, lines=case.lines).blocks()) == []


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("case", COMPRESSIBLE, ids=str)
def test_compressed__damaged(case, tmp_path, suffix):
    name = case.name + suffix
    whole = compress(name, case.encode(case.some_rows(50)))
    for content in (whole[:-10], whole[:5], b"", case.encode(case.some_rows(1))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReadError) as caught:
            read(file_source(str(tmp_path / name), name, lines=case.lines), case)
        assert caught.value.path == str(tmp_path / name)


def broken_files() -> list[bytes]:
    generator = random.Random(5)
    others = [case.encode(case.some_rows(4)) for case in CASES]
    return [*others, b"\xff" + generator.randbytes(2000), bytes(100), b"PAR1", b'"', b"[{", b"\n,"]


def use(case: Case, path: Path) -> list[tuple[object, ...]]:
    """Read a file in all ways and write it; return its rows."""
    source = file_source(str(path), case.name, lines=case.lines)
    rows = read(source, case)
    for block in source.blocks():
        block.to_table()
    write(source, path.parent / "out", [True] * len(rows))
    return rows


def refusal(case: Case, path: Path) -> ReadError | InvalidInputError | None:
    """Return the error that a file gets, None if it can be used; other errors are not caught."""
    try:
        use(case, path)
    except (ReadError, InvalidInputError) as error:
        return error
    return None


@every_file
def test_content__of_any_other_kind(case, tmp_path):
    """Either it can be read, as a text nearly always can, or the error is one for users."""
    n_refused = 0
    for content in broken_files():
        path = tmp_path / case.name
        path.write_bytes(content)
        error = refusal(case, path)
        if error is not None:
            n_refused += 1
            assert error.path == str(path)
    assert n_refused


@every_file
def test_content__that_ends_too_early(case, tmp_path):
    """Rows before the end are as they were, or there is an error."""
    rows = case.some_rows(4)
    whole, path = case.encode(rows), tmp_path / case.name
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        error = refusal(case, path)
        if error is None:
            found = use(case, path)
            assert found[:-1] == expected(rows, case)[: max(len(found) - 1, 0)]
        else:
            assert error.path == str(path)


@every_file
def test_content__that_is_gone(case, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.encode(case.some_rows(1)))
    source = case.make(str(path), case.name)
    path.unlink()
    with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: no such file$"):
        read(source, case)
    with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: no such file$"):
        file_source(str(path), case.name, lines=case.lines)


@every_case
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_conversion__has_the_same_rows(case, tmp_path, output_format):
    rows = case.some_rows(5)
    source = case.open(tmp_path / "in", case.encode(rows))
    keep = [i != 1 for i in range(len(rows))]
    with converted_writer(source, tmp_path / "out", output_format) as writer:
        copy_rows(source, writer.write, keep.__getitem__)
    name = converted_name(source.name, output_format)
    again = file_source(str(tmp_path / "out" / name), name, lines=case.lines)
    texts = [text for _, _, text in read(again, case)]
    assert texts == [row["text"] for row in chosen_of(rows, keep)]
    if output_format == "parquet":
        assert pq.read_schema(tmp_path / "out" / name).field("text").type == pa.string()


def test_formats__all_have_a_case():
    known = {suffix for found in FORMATS for suffix in found.suffixes}
    covered = {format_of(case.name) for case in FILES}
    assert covered == set(FORMATS)
    assert {case.suffix for case in FILES} <= known


@every_file
def test_formats__by_suffix(case):
    found = format_of(case.name)
    assert found is not None
    assert case.suffix in found.suffixes
    for suffix in COMPRESSIONS:
        assert format_of(case.name + suffix) == (found if found.is_compressible else None)


def test_formats__in_words():
    suffixes = [suffix for found in FORMATS for suffix in found.suffixes]
    plain = [s for found in FORMATS for s in found.suffixes if not found.is_compressible]
    but = f"all but {', '.join(plain)} also with .gz, .zst, .xz, .bz2"
    assert KNOWN_SUFFIXES.split("; ") == [", ".join(suffixes), but]
    assert KNOWN_SUFFIXES.startswith(".jsonl, .ndjson, .json, .csv, .tsv, .txt, .parquet")


def test_formats__in_the_docs():
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    table = page.read_text().partition("### Inputs")[2].partition("### Output")[0]
    for found in FORMATS:
        for suffix in found.suffixes:
            assert f"`{suffix}`" in table


def test_formats__are_loaded_when_a_file_is_opened():
    modules = {found.module for found in FORMATS}
    code = "import sys, neardup.files.formats; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert modules.isdisjoint(result.stdout.split())
    assert "neardup.files.formats" in result.stdout.split()
