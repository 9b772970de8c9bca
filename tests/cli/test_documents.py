"""Office documents and PDF in commands."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from neardup.files import formats
from neardup.version import pip_install
from tests.documents import docx_of, odt_of
from tests.protocols.format_cases import pdf_document

SENTENCE = "one two three four five six seven eight"


def word(text: str) -> bytes:
    return docx_of(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")


@pytest.fixture
def documents(here, write_file):
    """Make documents of one text in four formats, and one of another text."""
    write_file("in/a.docx", word(SENTENCE))
    write_file("in/b.odt", odt_of(f"<text:p>{SENTENCE}</text:p>"))
    write_file("in/c.pdf", pdf_document([{"text": SENTENCE}]))
    write_file("in/d.txt", SENTENCE)
    write_file("in/e.docx", word("something else in another document"))
    return "in"


def test_dedup__one_text_in_four_formats(run, documents, here):
    outcome = run("dedup", documents, "-o", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("5 documents: 2 kept, 3 removed (3 exact copies, 0 near-dup")
    for side, names in (("kept", ("a.docx", "e.docx")), ("removed", ("b.odt", "c.pdf", "d.txt"))):
        for name in names:
            assert (here / "out" / side / name).read_bytes() == (here / "in" / name).read_bytes()


def test_search__offsets_are_of_the_text(run, documents, here):
    assert run("index", "build", "idx", "in/c.pdf", "--min-tokens", 4).code == 0
    (here / "q.txt").write_text("three four five six")
    assert run("search", "idx", "q.txt", "-o", "out.jsonl").code == 0
    [row] = [json.loads(line) for line in (here / "out.jsonl").read_text().splitlines()]
    assert SENTENCE[row["doc_start"] : row["doc_end"]] == row["doc_text"] == "three four five six"


def test_cut__refuses(run, documents):
    outcome = run("cut", documents, "-o", "out", "--unit", "lines")
    assert outcome.err.startswith("error: in/a.docx: text cannot be cut out of a Word document, ")


def test_bad_documents__are_rows(run, documents, here, write_file):
    write_file("in/bad.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    outcome = run("dedup", documents, "-o", "out")
    assert outcome.err == (
        "error: in/bad.docx, row 1: not a Word document but an older one of Microsoft Office, or "
        "one with a password; save it without, in the newer format\n"
    )
    assert run("dedup", documents, "-o", "out", "--on-error", "skip").code == 0
    [skipped] = json.loads((here / "out/summary.json").read_text())["skipped"]
    assert skipped["file"] == "bad.docx"
    assert (here / "out/skipped/bad.docx").read_bytes() == (here / "in/bad.docx").read_bytes()


def test_missing_extra(run, documents, monkeypatch):
    monkeypatch.setattr(formats, "_is_installed", lambda package: False)
    outcome = run("dedup", documents, "-o", "out")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("4 documents: ")
    place = lines.index(
        "1 file passed over: .pdf 1; name them, or give --input-format, to have them read"
    )
    assert lines[place + 1] == f"to read .pdf files: {pip_install('documents')}"
    outcome = run("dedup", documents, "in/c.pdf", "-o", "other")
    advice = f"needs an extra: {pip_install('documents')}\n"
    assert outcome.err == f"error: a file of format pdf {advice}"


@pytest.mark.slow
def test_memory__is_bounded(here, write_file):
    """A bomb of elements without text takes no more memory than a small document."""
    write_file("a.docx", docx_of("<w:p/>" * 4_000_000))
    write_file("b.docx", docx_of("<w:p/>"))
    script = """
import resource
from neardup.version import pip_install
from neardup.files.office_documents import docx_text as extract
sizes = []
for name in ("b.docx", "a.docx"):
    extract(open(name, "rb").read(), None)
    sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(sizes[1] - sizes[0])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert int(done.stdout) < 20_000
