from __future__ import annotations

import io
import random

import odfdo
import pytest

from neardup.files.office_documents import odt_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.archives import zip_of
from tests.documents import odt_of
from tests.each import each_of


def text_of(data: bytes) -> str:
    return odt_text(data, InputOptions())


def p(content: str = "") -> str:
    return f"<text:p>{content}</text:p>"


def cell(*content: str) -> str:
    return f"<table:table-cell>{''.join(content)}</table:table-cell>"


NOTE = (
    "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    f"{p('at the foot')}</text:note-body></text:note>"
)
CASES = {
    "paragraphs": (f"<text:h>Title</text:h>{p('one')}{p()}{p('two')}", "Title\none\ntwo"),
    "white space": (p("\n  a \t b<text:span> c</text:span>  d\n"), "a b c d "),
    "characters": (
        p('a<text:s/><text:s text:c="3"/>b<text:tab/>c<text:line-break/>d'),
        "a    b\tc\nd",
    ),
    "space behind an element": (p("a<text:tab/> b"), "a\t b"),
    "list": (f"<text:list><text:list-item>{p('a')}</text:list-item></text:list>{p('b')}", "a\nb"),
    "table": (
        "<table:table>"
        f"<table:table-row>{cell(p('a'))}{cell(p('b'), p('c'))}</table:table-row>"
        f"<table:table-row>{cell(p('d'))}{cell()}</table:table-row></table:table>{p('e')}",
        "a\tb\nc\nd\ne",
    ),
    "notes": (p(f"be{NOTE}fore") + p("after"), "before\nafter\nat the foot"),
    "space around notes": (p(f"a {NOTE} b"), "a b\nat the foot"),
    "comments": (p(f"a<office:annotation>{p('why?')}</office:annotation>b"), "ab"),
    "deleted": (f"<text:tracked-changes>{p('gone')}</text:tracked-changes>{p('here')}", "here"),
    "frames": (
        p(
            f"out<draw:frame><draw:text-box>{p('in')}</draw:text-box><svg:desc>?</svg:desc></draw:frame>"
        ),
        "out\nin",
    ),
    "contents": (
        "<text:table-of-content><text:table-of-content-source><text:index-title-template>T"
        "</text:index-title-template></text:table-of-content-source><text:index-body>"
        f"{p('1 One')}</text:index-body></text:table-of-content>",
        "1 One",
    ),
    "nothing": ("", ""),
}


@each_of(("body", "expected"), CASES.values(), ids=CASES)
def test_extract__what_a_reader_sees(body, expected):
    assert text_of(odt_of(body)) == expected


def test_extract__as_another_reader():
    rng = random.Random(2)
    document = odfdo.Document("text")
    document.body.clear()
    expected = []
    for _ in range(60):
        words = " ".join(rng.choices(["one", "zwei", "trois", "<&>", "é\u0301", "四"], k=9))
        kind = odfdo.Header(1, words) if rng.random() < 0.2 else odfdo.Paragraph(words)
        document.body.append(kind)
        expected.append(words)
    out = io.BytesIO()
    document.save(out)
    assert text_of(out.getvalue()).split("\n") == expected


@pytest.mark.slow
def test_extract__long_line_and_deep_nesting():
    assert text_of(odt_of(p("x" * 12_000_000))) == "x" * 12_000_000
    depth = 100_000
    assert text_of(odt_of(p("<text:span>" * depth + "a" + "</text:span>" * depth))) == "a"


@each_of(
    ("data", "facts"),
    [
        (b"text", "OpenDocument text: .*zip"),
        (zip_of([("a", b"")]), r"OpenDocument text: .*content\.xml"),
        (odt_of("", kind="spreadsheet"), "another OpenDocument"),
        (odt_of("<text:p>"), r"^content\.xml .*mismatched tag"),
    ],
)
def test_extract__what_cannot_be_read(data, facts):
    with pytest.raises(UnreadableFileError, match=facts):
        text_of(data)


def test_extract__spaces_that_are_a_bomb():
    text = text_of(odt_of(p('<text:s text:c="99999999999"/><text:s text:c="x"/>a')))
    assert text == " " * 101 + "a"
