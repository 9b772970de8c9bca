"""Where passages begin as people cite it, against definitions by Python's own means."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidParameterError
from neardup.files.extracted import ExtractedFileSource, PartedText
from neardup.files.office import docx, epub, odt, pdf
from neardup.files.rows import Parts, SomeRows
from neardup.options.groups import InputOptions
from neardup.passages.places import Marker, place_in
from tests.documents import docx_of, epub_of, odt_of, pdf_of
from tests.each import each_of
from tests.oracles.places import line_and_column
from tests.strategies import any_text

# In all of these RE2 and Python's regular expressions are of one mind.
PATTERNS = {
    "verse": r"^([A-Z][a-z]+ [0-9]+:[0-9]+)",
    "no group": r"[0-9]+:[0-9]+",
    "a group that may be empty": r"<([a-z]*)>",
    "one in another": r"((?:[a-z]+)) =",
    "alternatives": r"^Act ([IV]+)|^Scene ([0-9])",
    "any case": r"(?i)(chapter [0-9])",
    "end of a line": r"([a-z]+)$",
}
marked_texts = st.lists(
    st.sampled_from(
        [
            *(
                "Gen 1:1",
                "Ex 12:3",
                "<>",
                "<abc>",
                "abc =",
                "Act IV",
                "Scene 2",
                "cHapter 1",
                "é🙂",
            ),
            *("é🙂", "\n", "\n", " ", "x", "\ufdd0", "\ufdd1", r"\1", r"\0"),
        ]
    ),
    max_size=30,
).map("".join)


@given(any_text, st.data())
def test_line__as_counting_tells_it(text, data):
    place = data.draw(st.integers(0, len(text)))
    assert place_in(text, None, None)(place) == (line_and_column(text, place), False)


def check_marker(pattern, text):
    """Compare the places of all characters with those by Python's regular expressions."""
    groups = re.compile(pattern).groups
    found = [
        (match.start(), " ".join((match[1 if groups else 0] or "").split()))
        for match in re.compile(pattern, re.MULTILINE).finditer(text)
    ]
    found = [(start, name) for start, name in found if name]
    starts, names = Marker(pattern).find(text)
    assert list(zip(starts, names, strict=True)) == found
    place_of = place_in(text, None, Marker(pattern))
    usual = place_in(text, None, None)
    for place in range(len(text) + 1):
        before = [name for start, name in found if start <= place]
        assert place_of(place) == ((before[-1], True) if before else usual(place))
    return found


@each_of("pattern", PATTERNS.values(), ids=PATTERNS)
def test_marker__one_behind_the_other(pattern):
    text = "none yet\nGen 1:1 Gen 1:2 <a> abc =\nAct IV\ufdd0 <>\nScene 2 x\ncHapter 1 <b>\nEx 12:3"
    assert check_marker(pattern, text + "\nabc = ü🙂 Gen 3:4\nAct I")


@given(st.sampled_from(sorted(PATTERNS)), marked_texts)
def test_marker__the_last_one_at_or_before(name, text):
    check_marker(PATTERNS[name], text)


def test_marker__long_names_are_cut_and_in_one_line():
    text = "[" + "word \n" * 40 + "] rest"
    [name] = Marker(r"\[([^\]]*)\]").find(text)[1]
    assert name == "word " * 16 + "…"


def test_marker__no_regular_expression():
    for pattern in ("(", "a)(b", "(?=x)", "[", r"\2"):
        with pytest.raises(InvalidParameterError, match="place_marker must be a regular express"):
            neardup.align(["a b c"], place_marker=pattern)


def test_marker__time_grows_with_the_text_alone():
    """Python's own engine would not come back from this one."""
    assert Marker(r"^(a|a|aa)+$").find("a" * 50_000 + "b") == ([], [])


def test_parts__an_empty_one_begins_where_the_next_does():
    parts = Parts("page", [0, 4, 4, 9])
    assert [parts(place) for place in (0, 3, 4, 8, 9)] == [
        "page 1", "page 1", "page 3", "page 3", "page 4",
    ]  # fmt: skip


def test_parts__of_some_rows(tmp_path):
    """Those that a condition leaves keep their parts."""
    (tmp_path / "a.txt").write_text("abcdef")
    source = ExtractedFileSource(
        str(tmp_path / "a.txt"),
        "a.txt",
        extract=lambda data, _: PartedText.of(data.decode(), "page", [0, 3]),
        options=InputOptions(),
        kind="a document",
    )
    rows = SomeRows(next(iter(source.blocks())), np.array([True]))
    [parts] = rows.parts(np.array([True]))
    assert (parts(2), parts(3)) == ("page 1", "page 2")
    assert rows.parts(np.array([False])) == []


def p(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{p(cell)}</w:tc>' for cell in cells)}</w:tr>"


NOTE = (
    "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    "<text:p>foot</text:p></text:note-body></text:note>"
)
FILES = {
    "docx": (
        docx.extract,
        docx_of(
            p("one") + p("") + f"<w:tbl>{row('', 'two')}{row('three', 'a')}</w:tbl>" + p("four"),
            notes=f"<w:footnote>{p('five')}</w:footnote>",
        ),
        # An empty cell stands at the end of the line before: the first row is one with it.
        {"one": "paragraph 1", "three": "paragraph 2", "four": "paragraph 3"}
        | {"five": "paragraph 4"},
    ),
    "docx that begins with a row": (
        docx.extract,
        docx_of(f"<w:tbl>{row('', 'one')}</w:tbl>" + p("two")),
        {"one": "paragraph 1", "two": "paragraph 2"},
    ),
    "odt": (
        odt.extract,
        odt_of(f"<text:h>one</text:h><text:p/><text:p>two{NOTE}</text:p><text:p>three</text:p>"),
        {"one": "paragraph 1", "two": "paragraph 2", "three": "paragraph 3", "foot": "paragraph 4"},
    ),
    "odt of notes alone": (
        odt.extract,
        odt_of(f"<text:p>{NOTE}</text:p>"),
        {"foot": "paragraph 1"},
    ),
    "epub": (
        epub.extract,
        epub_of(
            {"a.xhtml": "<p>one</p><p>two</p>", "b.xhtml": "<img/>", "c.xhtml": "<p>three</p>"}
        ),
        {"one": "chapter 1", "two": "chapter 1", "three": "chapter 2"},
    ),
    "pdf": (
        pdf.extract,
        pdf_of(["one"], [], ["two"], ["three"], []),
        {"one": "page 1", "two": "page 3", "three": "page 4"},
    ),
}


@each_of(("extract", "data", "places"), FILES.values(), ids=FILES)
def test_parts__of_files(extract, data, places):
    text = extract(data, InputOptions())
    starts = text.parts.starts
    assert starts[0] == 0
    assert all(a <= b for a, b in pairwise(starts))
    assert all(text[start - 1] == "\n" for start in starts if 0 < start < len(text))
    assert {word: text.parts(text.index(word)) for word in places} == places


def test_parts__pages_as_another_reader_counts_them():
    import pypdf

    data = pdf_of(*([f"word{k} of page"] for k in range(7)))
    text = pdf.extract(data, InputOptions())
    for number, page in enumerate(pypdf.PdfReader(io.BytesIO(data)).pages, 1):
        [word] = re.findall(r"word\d", page.extract_text())
        assert text.parts(text.index(word)) == f"page {number}"
