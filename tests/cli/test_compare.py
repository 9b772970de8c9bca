"""``neardup compare`` on the command line: table, JSON, page, and what can go wrong."""

from __future__ import annotations

import io
import json
import re
import stat
import sys
from pathlib import Path

import pytest

import neardup

A = "It was the best of times, it was the worst of times, it was the age of wisdom"
B = A.replace("times", "days").upper() + " 🙂 -- and the age of nothing at all"


CP1252 = (
    "; if it is in cp1252, as programs for Windows write it, or in Latin-1, read it with "
    "--encoding cp1252"
)


@pytest.fixture
def pair(write_file):
    """Write two texts."""
    write_file("a.txt", A)
    write_file("b.md", B)


MORE = ["", "--all shows every measure"]


def shown_in_docs() -> list[str]:
    """Return what docs/reports.md shows of a run."""
    page = Path(__file__).parents[2] / "docs/reports.md"
    [block] = re.findall(r"(?s)```text\n\$ neardup compare .*?\n(.*?)```", page.read_text("utf-8"))
    return block.splitlines()


def test_compare__answers_first(run, write_file):
    write_file("old.txt", "The cat sat on the mat today.")
    write_file("new.txt", "Yesterday the cat sat on the mat.")
    lines = run("compare", "old.txt", "new.txt", "--ngram", 2).out.splitlines()
    assert lines == shown_in_docs()
    assert lines[0].startswith("jaccard 0.7143 over words 2-grams; edit similarity ")
    assert lines[-2:] == MORE


@pytest.mark.usefixtures("pair")
def test_compare__all(run):
    outcome = run("compare", "a.txt", "b.md", "--all")
    assert (outcome.code, outcome.err) == (0, "")
    result = neardup.compare(A, B)
    expected = result.to_text(full=True).splitlines()
    assert len(outcome.out.splitlines()) == len(expected)
    # Names aside, it is what Python shows.
    table = [line for line in expected if line.startswith(("measure", "jaccard ", "edit-distance"))]
    assert table[1:]
    assert set(table[1:]) <= set(outcome.out.splitlines())
    short = run("compare", "a.txt", "b.md").out.splitlines()
    assert short[-2:] == MORE
    assert short[:-2] == outcome.out.splitlines()[: len(short) - 2]
    assert str(result).splitlines() == expected[: len(short) - 2]
    assert run("compare", "a.txt", "b.md", "--quiet").out == ""


@pytest.mark.parametrize(
    ("option", "value"),
    [("tf", "log"), ("idf", "smooth")],
)
@pytest.mark.usefixtures("pair")
def test_compare__options_of_what_is_not_shown(run, fails, option, value):
    error = (
        f"--{option} has no effect without --all, --json or --report; leave it out, or add --all"
    )
    fails("compare", "a.txt", "b.md", f"--{option}", value, error=error)
    for shown in (["--all"], ["--json"], ["--report", "c.html"]):
        assert run("compare", "a.txt", "b.md", f"--{option}", value, *shown).code == 0


@pytest.mark.usefixtures("pair")
def test_compare__json(run):
    outcome = run("compare", "a.txt", "b.md", "--json", "--ngram", 2, "--tf", "log")
    assert (outcome.code, outcome.err) == (0, "")
    expected = neardup.compare(A, B, text=neardup.TextOptions(ngram=2, tf="log")).to_dict()
    assert json.loads(outcome.out) == expected | {"names": ["a.txt", "b.md"]}
    assert expected["options"]["ngram"] == expected["options"]["weighted_ngram"] == 2


@pytest.mark.parametrize("name", ["b.jsonl", "b.ndjson.gz", "b.CSV", "b.tsv", "b.parquet"])
def test_compare__files_of_rows_are_refused(run, fails, write_file, name):
    """Before anything is read; as one text they compare under another name."""
    rows = '{"text": "one"}\n{"text": "two"}\n'
    write_file("a.txt", rows)
    error = (
        f"{name}: the file holds rows, and compare takes one text a file; `neardup pairs` compares "
        "rows, `neardup align` finds what rows of two files share; to compare the whole file as "
        "one text give it a name that ends in .txt"
    )
    fails("compare", "a.txt", name, error=error)
    fails("compare", name, "a.txt", error=error)
    told = json.loads(run("compare", "a.txt", "a.txt", "--json").out)
    assert told["sizes"]["a"]["tokens"] == 4


@pytest.mark.usefixtures("pair")
def test_compare__standard_input(run, fails, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(B.encode())))
    told = json.loads(run("compare", "a.txt", "-", "--json").out)
    assert told == neardup.compare(A, B).to_dict() | {"names": ["a.txt", "-"]}
    error = "only one of the two texts can be standard input; name a file for the other"
    fails("compare", "-", "-", error=error)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\xff")))
    error = f"standard input, row 1: not valid UTF-8 at byte 3 of column 'text'{CP1252}"
    fails("compare", "-", "a.txt", error=error)


@pytest.mark.usefixtures("pair")
def test_compare__page(run, here):
    outcome = run("compare", "a.txt", "b.md", "--report", "c.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("written to c.html\n")
    page = (here / "c.html").read_text(encoding="utf-8")
    # The same page but for the names.
    named = page.replace("a.txt", "a").replace("b.md", "b")
    assert named == neardup.compare(A, B).html()
    mode = stat.S_IMODE((here / "a.txt").stat().st_mode)
    assert stat.S_IMODE((here / "c.html").stat().st_mode) == mode
    assert sorted(path.name for path in here.iterdir()) == ["a.txt", "b.md", "c.html"]
    told = run("compare", "a.txt", "a.txt", "--report", "c.html", "--overwrite", "--json")
    assert json.loads(told.out)["names"] == ["a.txt", "a.txt"]
    assert (here / "c.html").read_text(encoding="utf-8") != page


@pytest.mark.usefixtures("pair")
def test_compare__input_that_cannot_be_read(fails, write_file, here):
    (here / "folder").mkdir()
    write_file("bad.txt", b"ab\xffcd")
    write_file("bad.gz", b"no gzip")
    fails("compare", "a.txt", "c.txt", error="c.txt: no such file")
    fails("compare", "folder", "a.txt", error="folder: expected a file, this is a folder")
    fails(
        "compare",
        "bad.txt",
        "a.txt",
        error=f"bad.txt, row 1: not valid UTF-8 at byte 3 of column 'text'{CP1252}",
    )
    arguments = ("compare", "a.txt", "bad.txt", "--report", "c.html")
    fails(*arguments, error=f"bad.txt, row 1: not valid UTF-8 at byte 3 of column 'text'{CP1252}")
