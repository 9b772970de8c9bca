"""Modules, tests and commands that docs/papers.md names exist."""

from __future__ import annotations

import re

import pytest

from neardup.cli import run
from tests.docs.pages import ROOT, page
from tests.each import each_of

TABLE = "docs/papers.md"
# A module, a folder of benchmarks, or a use of a command or of an option.
PLACE = re.compile(r"[\w/]+\.py|neardup( \w+)+|--[\w-]+.*")
NOTHING = "–"


def rows() -> list[list[str]]:
    """Give the cells of all rows of the tables of parts, without the tables' heads."""
    tables = re.findall(r"(?m)^\| what \|.*\n\| ---.*\n((?:\|.*\n)+)", page(TABLE))
    assert len(tables) == 5
    lines = "".join(tables).splitlines()
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in lines]


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.slow
@each_of("row", rows(), ids=lambda row: row[0])
def test_table__names_what_there_is(row):
    """Each row has all cells, and says where it is, or why it is not."""
    part, where, tests, note = row
    assert part
    for span in spans(where):
        assert PLACE.fullmatch(span), span
        if span.endswith(".py"):
            folder = ROOT if span.startswith(("benchmarks/", "examples/")) else ROOT / "src/neardup"
            assert (folder / span).is_file(), span
    for span in spans(tests):
        name, _, function = span.partition("::")
        text = (ROOT / "tests" / name).read_text(encoding="utf-8")
        if function:
            assert f"\ndef {function}(" in text, span
    # A part that is nowhere and untested has a reason, and so has a part that is different.
    if where == tests == NOTHING or note.startswith("different"):
        assert len(note) > 20


@pytest.mark.slow
def test_table__commands_exist(capsys):
    used = {span for row in rows() for span in spans(row[1]) if span.startswith("neardup ")}
    assert used
    for command in sorted(used):
        assert run([*command.split()[1:], "--help"]) == 0, command
    capsys.readouterr()
