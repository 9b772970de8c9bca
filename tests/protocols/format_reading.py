"""Reading and writing the sources of all formats, for the suites that hold for every one."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.files.formats import format_of
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import LocalDestination
from tests.files import copy_rows
from tests.protocols.format_cases import CASES, Case, Row

FILES = [case for case in CASES if case.suffix is not None]
COMPRESSIBLE = [case for case in FILES if format_of(f"{case.name}.gz") is not None]
BY_BYTES = [case for case in CASES if case.messy is not None]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_case_with_bad_rows = pytest.mark.parametrize(
    "case", [case for case in CASES if case.has_bad_rows], ids=str
)
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
        (i, row["id"] if case.has_columns else None, row["text"]) for i, row in enumerate(rows, 1)
    ]


def write(source: Source, folder: Path, keep: list[bool]) -> Path:
    """Write the rows that are to be kept; return the path of the output."""
    with source.writer(LocalDestination(folder)) as writer:
        copy_rows(source, writer.write, keep.__getitem__)
    return folder / source.written_name
