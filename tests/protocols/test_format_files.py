"""What holds for every format of files: compression, damage, conversion, the table."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from itertools import compress as chosen_of
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import InvalidInputError, ReadError
from neardup.files.formats import FORMATS, file_source, format_of
from neardup.files.streams import COMPRESSIONS, LocalDestination
from neardup.files.writers import Conversion, converted_name
from neardup.options.groups import InputOptions
from tests.each import each_of
from tests.files import compress, copy_rows, decompress
from tests.protocols.format_cases import CASES, Case
from tests.protocols.format_reading import (
    BY_BYTES,
    COMPRESSIBLE,
    FILES,
    every_case,
    every_file,
    expected,
    read,
    write,
)


@every_file
def test_source__knows_its_file(case, tmp_path):
    content = case.encode(case.some_rows(3))
    source = case.open(tmp_path, content)
    assert source.origin == str(tmp_path / case.name)
    assert source.size == len(content) or case.is_copied


@every_file
def test_source__of_a_url(case):
    import fsspec

    rows = case.some_rows(30)
    url = f"memory://formats/{case}/{case.name}"
    with fsspec.open(url, "wb") as file:
        file.write(case.encode(rows))
    source = file_source(url, case.name, InputOptions(document=case.document))
    assert type(source) is type(case.make(url, case.name))
    assert source.origin == url
    assert source.size is None or case.is_copied
    assert read(source, case) == expected(rows, case)


@each_of("suffix", ["", *COMPRESSIONS])
@each_of("case", BY_BYTES, ids=str)
def test_writer__byte_for_byte(case, tmp_path, suffix):
    content, half = case.half
    name = case.name + suffix
    (tmp_path / name).write_bytes(compress(name, content))
    source = file_source(str(tmp_path / name), name, InputOptions(document=case.document))
    path = write(source, tmp_path / "out", [True, False, True])
    assert path.name == name
    assert decompress(path) == half


@each_of("suffix", COMPRESSIONS)
@each_of("case", COMPRESSIBLE, ids=str)
def test_compressed__as_plain(case, tmp_path, suffix):
    rows, name = case.some_rows(5), case.name + suffix
    (tmp_path / name).write_bytes(compress(name, case.encode(rows)))
    source = file_source(str(tmp_path / name), name, InputOptions(document=case.document))
    assert read(source, case) == expected(rows, case)
    nothing = write(source, tmp_path / "none", [False] * len(rows))
    if case.is_one_row:
        assert not nothing.exists()
    else:
        assert (
            list(file_source(str(nothing), name, InputOptions(document=case.document)).blocks())
            == []
        )


@each_of("suffix", COMPRESSIONS)
@each_of("case", COMPRESSIBLE, ids=str)
def test_compressed__damaged(case, tmp_path, suffix):
    name = case.name + suffix
    whole = compress(name, case.encode(case.some_rows(50)))
    for content in (whole[:-10], whole[:5], b"", case.encode(case.some_rows(1))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReadError) as caught:
            read(
                file_source(str(tmp_path / name), name, InputOptions(document=case.document)), case
            )
        assert caught.value.path == str(tmp_path / name)


def broken_files() -> list[bytes]:
    generator = random.Random(5)
    others = [case.encode(case.some_rows(4)) for case in CASES]
    return [*others, b"\xff" + generator.randbytes(2000), bytes(100), b"PAR1", b'"', b"[{", b"\n,"]


def use(case: Case, path: Path) -> list[tuple[object, ...]]:
    """Read a file in all ways and write it; return its rows."""
    source = file_source(str(path), case.name, InputOptions(document=case.document))
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


@pytest.mark.slow
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
    if case.is_copied:
        assert read(source, case) == expected(case.some_rows(1), case)
    else:
        with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: no such"):
            read(source, case)
    with pytest.raises(ReadError, match=rf"^{re.escape(str(path))}: no such"):
        file_source(str(path), case.name, InputOptions(document=case.document))


@every_case
@pytest.mark.parametrize("output_format", ["same", "jsonl", "parquet"])
def test_conversion__has_the_same_rows(case, tmp_path, output_format):
    rows = case.some_rows(5)
    source = case.open(tmp_path / "in", case.encode(rows))
    keep = [i != 1 for i in range(len(rows))]
    with Conversion(source, output_format).writer(LocalDestination(tmp_path / "out")) as writer:
        copy_rows(source, writer.write, keep.__getitem__)
    name = converted_name(source.written_name, output_format)
    again = file_source(str(tmp_path / "out" / name), name, InputOptions(document=case.document))
    texts = [text for _, _, text in read(again, case)]
    assert texts == [row["text"] for row in chosen_of(rows, keep)]
    if output_format == "parquet":
        assert pq.read_schema(tmp_path / "out" / name).field("text").type == pa.string()


def test_formats__all_have_a_case():
    known = {suffix for found in FORMATS for suffix in found.suffixes}
    covered = {format_of(case.name) for case in FILES}
    # A format without endings is read only where it is chosen.
    assert covered == {found for found in FORMATS if found.suffixes}
    assert {case.suffix for case in FILES} <= known


@every_file
def test_formats__by_suffix(case):
    found = format_of(case.name)
    assert found is not None
    assert case.suffix in found.suffixes
    for suffix in COMPRESSIONS:
        assert format_of(case.name + suffix) == (found if found.is_compressible else None)


def test_formats__in_the_docs():
    page = Path(__file__).parents[2] / "docs/inputs.md"
    table = page.read_text().partition("| ending |")[2].partition("\n\n")[0]
    for found in FORMATS:
        for suffix in found.suffixes:
            assert f"`{suffix}`" in table


def test_formats__are_loaded_when_a_file_is_opened():
    modules = {f"neardup.files.{found.opener.partition(':')[0]}" for found in FORMATS}
    code = "import sys, neardup.files.formats; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert modules.isdisjoint(result.stdout.split())
    assert "neardup.files.formats" in result.stdout.split()
