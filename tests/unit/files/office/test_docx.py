from __future__ import annotations

import io
import random

import docx as python_docx
import pytest

from neardup.files.office_documents import docx_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.archives import zip_of
from tests.documents import docx_of, relationships, word_part
from tests.each import each_of


def text_of(data: bytes) -> str:
    return docx_text(data, InputOptions())


def p(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


CASES = {
    "paragraphs": (p(r("one"), r(" two")) + p() + p(r("three")), "one two\nthree"),
    "characters": (
        p("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/></w:r>"),
        "a\tb\nc\N{NON-BREAKING HYPHEN}",
    ),
    "tab stops": (p("<w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>", r("a")), "a"),
    "table": (
        "<w:tbl>"
        + f"<w:tr><w:tc>{p(r('a'))}</w:tc><w:tc>{p(r('b'))}{p(r('c'))}</w:tc></w:tr>"
        + f"<w:tr><w:tc>{p(r('d'))}</w:tc><w:tc>{p()}</w:tc></w:tr></w:tbl>"
        + p(r("e")),
        "a\tb\nc\nd\ne",
    ),
    "tracked changes": (
        p(
            r("kept "),
            f"<w:ins>{r('new')}</w:ins>",
            f"<w:del><w:r><w:delText>old</w:delText></w:r>{r('gone')}</w:del>",
            f"<w:moveFrom>{r('from')}</w:moveFrom><w:moveTo>{r(' to')}</w:moveTo>",
        ),
        "kept new to",
    ),
    "deleted mark of a paragraph": (
        p("<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>", r("a")) + p(r("b")),
        "a\nb",
    ),
    "links, controls and tags": (
        p(f"<w:hyperlink>{r('link')}</w:hyperlink><w:smartTag>{r(' tag')}</w:smartTag>")
        + f"<w:sdt><w:sdtContent>{p(r('control'))}</w:sdtContent></w:sdt>",
        "link tag\ncontrol",
    ),
    "fields": (p("<w:r><w:instrText>PAGE</w:instrText></w:r>", r("7")), "7"),
    "hidden": (
        p(r("a"), r("b", "<w:vanish/>"), r("c", '<w:vanish w:val="false"/>'), r("d")),
        "acd",
    ),
    "hidden mark of a paragraph": (
        p("<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>", r("a")),
        "a",
    ),
    "text box, once": (
        p(
            r("out"),
            "<mc:AlternateContent><mc:Choice><w:txbxContent>",
            p(r("in")),
            "</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>",
            p(r("in")),
            "</w:txbxContent></mc:Fallback></mc:AlternateContent>",
            r("side"),
        ),
        "out\nin\nside",
    ),
    "entities": (p(r("a &lt; b &amp; c &#233; é")), "a < b & c é é"),
    "nothing": ("", ""),
}


@each_of(("body", "expected"), CASES.values(), ids=CASES)
def test_extract__what_a_reader_sees(body, expected):
    assert text_of(docx_of(body)) == expected


def test_extract__notes_come_behind():
    notes = f"<w:footnote>{p(r('first'))}</w:footnote><w:footnote>{p(r('second'))}</w:footnote>"
    assert text_of(docx_of(p(r("body")), notes)) == "body\nfirst\nsecond"


def test_extract__notes_that_are_named_twice_come_once():
    named_twice = relationships(**{"footnotes": "footnotes.xml", "x/footnotes": "./footnotes.xml"})
    parts = [
        ("_rels/.rels", relationships(officeDocument="word/document.xml")),
        ("word/document.xml", word_part(f"<w:body>{p(r('body'))}</w:body>")),
        ("word/_rels/document.xml.rels", named_twice),
        ("word/footnotes.xml", word_part(f"<w:footnote>{p(r('note'))}</w:footnote>", "footnotes")),
    ]
    assert text_of(zip_of([(name, text.encode()) for name, text in parts])) == "body\nnote"


def test_extract__strict_variant():
    data = docx_of(p(r("a")))
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    parts = [
        ("_rels/.rels", relationships(officeDocument="/doc.xml").encode()),
        ("doc.xml", f'<w:document xmlns:w="{strict}">{p(r("a"))}</w:document>'.encode()),
    ]
    assert text_of(zip_of(parts)) == text_of(data) == "a"


def test_extract__as_another_reader():
    """python-docx reads paragraphs and tables, too."""
    rng = random.Random(2)
    document = python_docx.Document()
    expected = []
    for _ in range(60):
        words = " ".join(rng.choices(["one", "zwei", "trois", "<&>", "é\u0301", "四"], k=9))
        if rng.random() < 0.2:
            document.add_heading(words, 1)
        elif rng.random() < 0.2:
            table = document.add_table(2, 2)
            for number, row in enumerate(table.rows):
                for cell in row.cells:
                    cell.text = f"{words} {number}"
                expected.append("\t".join(cell.text for cell in row.cells))
            continue
        else:
            paragraph = document.add_paragraph(words[:5])
            paragraph.add_run(words[5:]).bold = True
        expected.append(document.paragraphs[-1].text)
    document.sections[0].header.paragraphs[0].text = "a header"
    out = io.BytesIO()
    document.save(out)
    assert text_of(out.getvalue()).split("\n") == expected


def test_extract__deep_nesting():
    depth = 100_000
    data = docx_of(p("<w:smartTag>" * depth, r("a"), "</w:smartTag>" * depth))
    assert text_of(data) == "a"


@each_of(
    ("data", "facts"),
    [
        (b"", "Word document: .*zip file"),
        (b"text", "Word document: .*zip file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Word document.*older"),
        (zip_of([("a.txt", b"")]), "Word document: .*what"),
        (
            zip_of([("_rels/.rels", relationships(officeDocument="a.xml").encode())]),
            r"Word document: .*a\.xml",
        ),
        (docx_of("<w:p>"), r"word/document\.xml .*mismatched tag"),
    ],
)
def test_extract__what_cannot_be_read(data, facts):
    with pytest.raises(UnreadableFileError, match=facts):
        text_of(data)


@pytest.mark.slow
def test_extract__bombs(monkeypatch):
    lines = ['<!DOCTYPE l [<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)]
    laughs = docx_of(p(r("&a9;")), prolog="".join([*lines, "]>"]))
    with pytest.raises(UnreadableFileError, match="amplification"):
        text_of(laughs)
    monkeypatch.setattr("neardup.files.office_documents.MOST_XML_BYTES", 1_000_000)
    with pytest.raises(UnreadableFileError, match="more than 0 MB"):
        text_of(docx_of(p() * 200_000))
    monkeypatch.undo()
    with pytest.raises(UnreadableFileError, match="elements 1,048,576 deep"):
        text_of(docx_of("<a>" * 1_100_000))


def test_extract__document_type_of_another_file():
    """As older programs wrote it; the file is not looked for."""
    prolog = '<!DOCTYPE document PUBLIC "-//X//Y" "file:///etc/passwd">'
    assert text_of(docx_of(p(r("a")), prolog=prolog)) == "a"


def test_extract__encrypted_part():
    data = bytearray(docx_of(p(r("a"))))
    places = [
        data.index(b"PK\x03\x04", 40) + 6,
        data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 9) + 8,
    ]
    for place in places:
        data[place] |= 1
    with pytest.raises(UnreadableFileError, match="is encrypted"):
        text_of(bytes(data))
