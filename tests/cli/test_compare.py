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
from tests.documents import docx_of, pdf_of

A = "It was the best of times, it was the worst of times, it was the age of wisdom"
B = A.replace("times", "days").upper() + " 🙂 -- and the age of nothing at all"


CP1252 = (
    "; if it is in cp1252, as programs for Windows write it, or in Latin-1, read it with encoding "
    "cp1252 (--encoding cp1252)"
)


@pytest.fixture
def pair(write_file):
    """Write two texts."""
    write_file("a.txt", A)
    write_file("b.md", B)


MORE = ["", "--all shows every measure, and what sketches would have estimated"]


def shown_in_docs() -> list[str]:
    """Return what docs/compare.md shows of a run."""
    page = Path(__file__).parents[2] / "docs/compare.md"
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
    [("tf", "log"), ("idf", "smooth"), ("num-perm", 8), ("size", 8), ("compression", 3)],
)
@pytest.mark.usefixtures("pair")
def test_compare__options_of_what_is_not_shown(run, fails, option, value):
    error = f"--{option} has no effect without --all, --json or --html; leave it out, or add --all"
    fails("compare", "a.txt", "b.md", f"--{option}", value, error=error)
    for shown in (["--all"], ["--json"], ["--html", "c.html"]):
        assert run("compare", "a.txt", "b.md", f"--{option}", value, *shown).code == 0


@pytest.mark.usefixtures("pair")
def test_compare__json(run):
    outcome = run("compare", "a.txt", "b.md", "--json", "--ngram", 2, "--tf", "log", "--seed", 1)
    assert (outcome.code, outcome.err) == (0, "")
    expected = neardup.compare(A, B, ngram=2, tf="log", seed=1).to_dict()
    assert json.loads(outcome.out) == expected | {"names": ["a.txt", "b.md"]}
    assert expected["options"]["ngram"] == expected["options"]["weighted_ngram"] == 2


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": "0.3", "min_tokens": 7, "edit_limit": 3},
        {"num_perm": 16, "size": 20, "compression": 3},
        {"tokenizer": "characters", "unicode_form": "NFKC", "strip_accents": True},
        {"casefold": True, "idf": "smooth"},
    ],
)
@pytest.mark.usefixtures("pair")
def test_compare__options(run, options):
    arguments = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        arguments += [option] if value is True else [option, value]
    told = json.loads(run("compare", "a.txt", "b.md", "--json", *arguments).out)
    assert told == neardup.compare(A, B, **options).to_dict() | {"names": ["a.txt", "b.md"]}


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz", ".bz2"])
def test_compare__compressed_files_and_byte_order_marks(run, write_file, suffix):
    write_file("a.txt", A)
    name = f"a.anything{suffix}"
    write_file(name, b"\xef\xbb\xbf" + A.encode())
    told = json.loads(run("compare", "a.txt", name, "--json").out)
    assert told["measures"][0]["exact"] == 1
    assert told["sizes"]["a"] == told["sizes"]["b"]


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
def test_compare__same_file_twice(run):
    told = json.loads(run("compare", "a.txt", "a.txt", "--json").out)
    exact = {measure["name"]: measure["exact"] for measure in told["measures"]}
    assert exact["jaccard"] == exact["edit-similarity"] == exact["weighted-jaccard"] == 1
    assert exact["edit-distance"] == 0
    assert told["differences"]["a"] == told["differences"]["b"] == []


@pytest.mark.usefixtures("pair")
def test_compare__standard_input(run, fails, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(B.encode())))
    told = json.loads(run("compare", "a.txt", "-", "--json").out)
    assert told == neardup.compare(A, B).to_dict() | {"names": ["a.txt", "-"]}
    error = "only one of the two texts can be standard input; name a file for the other"
    fails("compare", "-", "-", error=error)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\xff")))
    error = f"standard input: not valid UTF-8 at byte 3 of the text{CP1252}"
    fails("compare", "-", "a.txt", error=error)


@pytest.mark.usefixtures("pair")
def test_compare__page(run, here):
    outcome = run("compare", "a.txt", "b.md", "--html", "c.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("written to c.html\n")
    page = (here / "c.html").read_text(encoding="utf-8")
    assert page == neardup.compare(A, B).html().replace(">a<", ">a.txt<").replace(
        ">b<", ">b.md<"
    ).replace(">a and b<", ">a.txt and b.md<").replace(" of a and", " of a.txt and").replace(
        "those of b<", "those of b.md<"
    )
    mode = stat.S_IMODE((here / "a.txt").stat().st_mode)
    assert stat.S_IMODE((here / "c.html").stat().st_mode) == mode
    assert sorted(path.name for path in here.iterdir()) == ["a.txt", "b.md", "c.html"]
    told = run("compare", "a.txt", "a.txt", "--html", "c.html", "--overwrite", "--json")
    assert json.loads(told.out)["names"] == ["a.txt", "a.txt"]
    assert (here / "c.html").read_text(encoding="utf-8") != page


@pytest.mark.usefixtures("pair")
def test_compare__page_that_cannot_be_written(fails, write_file, here):
    write_file("c.html", "mine")
    (here / "folder.html").mkdir()
    arguments = ("compare", "a.txt", "b.md", "--html")
    error = "c.html exists; choose another name, or replace it with --overwrite"
    fails(*arguments, "c.html", error=error)
    # Told before anything is read.
    fails("compare", "missing.txt", "b.md", "--html", "c.html", error=error)
    fails(*arguments, "c.txt", error="the output file must end in .html, .htm, got 'c.txt'")
    error = "folder.html is a folder; name a file"
    fails(*arguments, "folder.html", "--overwrite", error=error)
    error = "cannot write no/c.html: No such file or directory; nothing was written"
    fails(*arguments, "no/c.html", error=error)
    error = "c.html is an input, and would be replaced; choose another name"
    fails("compare", "c.html", "b.md", "--html", "c.html", "--overwrite", error=error)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_compare__documents(run, fails, write_file, suffix):
    """Their texts are compared, by what their names end in."""
    word = docx_of("<w:p><w:r><w:t>one two three four</w:t></w:r></w:p>")
    for name, data in (("a.docx", word), ("b.pdf", pdf_of(["one two three four"]))):
        write_file(f"{name}{suffix}", data)
    outcome = run("compare", f"a.docx{suffix}", f"b.pdf{suffix}", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    told = json.loads(outcome.out)
    assert [told["sizes"][side]["characters"] for side in "ab"] == [18, 18]
    assert told["measures"][0]["exact"] == 1
    write_file("c.docx", b"no document")
    assert run("compare", "c.docx", "a.docx").code == 1
    for name, data, kind in (
        ("a.bin", word, "a ZIP archive, as .docx, .xlsx, .odt and .epub files are"),
        ("b", pdf_of(["one"]) + b"\xff", "a PDF document"),
    ):
        write_file(name, data)
        fails(
            *("compare", name, name),
            error=f"{name}: this is {kind}, not text; documents are read from files whose names "
            "end in .docx, .odt, .epub or .pdf",
        )


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
        error=f"bad.txt: not valid UTF-8 at byte 3 of the text{CP1252}",
    )
    arguments = ("compare", "a.txt", "bad.txt", "--html", "c.html")
    fails(*arguments, error=f"bad.txt: not valid UTF-8 at byte 3 of the text{CP1252}")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--threshold", "80"], "--threshold must lie in (0, 1], got 80; write 0.8 for 80 %"),
        (["--min-tokens", "0"], "--min-tokens must be at least 1, got 0"),
        (["--edit-limit", "-1"], "--edit-limit must be at least 0, got -1"),
        (["--ngram", "0"], "--ngram must lie between 1 and 65536, got 0"),
        (["--num-perm", "0"], "--num-perm must lie between 1 and 65536, got 0"),
        (["--size", "0"], "--size must lie between 1 and 1,048,576, got 0"),
        (["--compression", "0"], "--compression must lie between 1 and 1,048,576, got 0"),
        (
            ["--tokenizer", "bytes", "--strip-accents"],
            "--tokenizer bytes has nothing to fold away; leave out --strip-accents, or choose "
            "another --tokenizer",
        ),
    ],
)
@pytest.mark.usefixtures("pair")
def test_compare__bad_option(fails, options, error):
    fails("compare", "a.txt", "b.md", *options, error=error)


def test_compare__empty_files(run, write_file):
    write_file("a.txt", "")
    write_file("b.txt", "?!\n")
    outcome = run("compare", "a.txt", "b.txt", "--html", "c.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert "0 shared passages" in outcome.out


def test_compare__edit_limit(run, write_file):
    write_file("a.txt", "x" * 30)
    write_file("b.txt", "y" * 20)
    assert "too long" in run("compare", "a.txt", "b.txt", "--edit-limit", 24, "--all").out
    assert "too long" not in run("compare", "a.txt", "b.txt", "--edit-limit", 25, "--all").out
