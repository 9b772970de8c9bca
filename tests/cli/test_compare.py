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


@pytest.mark.usefixtures("pair")
def test_compare__quiet(run):
    assert run("compare", "a.txt", "b.md", "--quiet").out == ""


@pytest.mark.usefixtures("pair")
def test_compare__json(run):
    outcome = run("compare", "a.txt", "b.md", "--json", "--ngram", 2)
    assert (outcome.code, outcome.err) == (0, "")
    expected = neardup.compare(A, B, text=neardup.TextOptions(ngram=2)).to_dict()
    assert json.loads(outcome.out) == expected | {"names": ["a.txt", "b.md"]}
    assert expected["options"]["ngram"] == 2


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
    assert named == neardup.compare(A, B).report().html
    mode = stat.S_IMODE((here / "a.txt").stat().st_mode)
    assert stat.S_IMODE((here / "c.html").stat().st_mode) == mode
    assert sorted(path.name for path in here.iterdir()) == ["a.txt", "b.md", "c.html"]
    told = run("compare", "a.txt", "a.txt", "--report", "c.html", "--overwrite", "--json")
    assert json.loads(told.out)["names"] == ["a.txt", "a.txt"]
    assert (here / "c.html").read_text(encoding="utf-8") != page


def test_compare__endings_name_the_language(run, fails, write_file):
    """In Java // begins a comment, which is no token; in Python it is an operator."""
    write_file("A.java", "int f(int a) { return a; } // the same")
    write_file("B.java", "int g(int b) { return b; }")
    write_file("b.py", "b")
    told = run("compare", "A.java", "B.java", "--tokenizer", "code", "--ngram", 2, "--json").out
    result = json.loads(told)
    assert (result["options"]["tokenizer"], result["measures"]["jaccard"]) == ("code:java", 1)
    error = (
        "--tokenizer must name the language, such as code:java, because the endings of A.java and "
        "b.py do not mean one for both"
    )
    fails("compare", "A.java", "b.py", "--tokenizer", "code", error=error)


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
