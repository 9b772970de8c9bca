from __future__ import annotations

import re

import pytest

from neardup.errors import InvalidInputError, MissingExtraError
from neardup.files import html as module
from neardup.files.formats import file_source
from neardup.files.html import as_html
from neardup.files.rows import ColumnNames
from neardup.options.groups import InputOptions
from neardup.version import pip_install
from tests.each import each_of


def text_of(path, **options) -> str:
    source = file_source(str(path), path.name, InputOptions(**options))
    [block] = source.blocks()
    [text] = block.parse(ColumnNames()).text.to_pylist()
    return text


def test_html__as_chosen(make_file):
    for name in ("page", "a.txt", "a.php"):
        assert text_of(make_file(name, b"<p>a<p>b"), input_format="html") == "a\n\nb"


def test_html__encoding(make_file, write_rows):
    path = make_file("a.html", b"<meta charset=latin1>caf\xe9")
    assert text_of(path) == "café"
    assert text_of(make_file("b.html", b"caf\x82"), encoding="cp437") == "café"
    assert text_of(make_file("c.html", "<p>é".encode("utf-16-le")), encoding="utf-16-le") == "é"
    source = file_source(str(path), path.name, InputOptions(encoding="utf-8"))
    assert write_rows(source, lambda _: True).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7", "a PDF document"),
        (b"\x1f\x8b\x08", r"compressed with gzip; let its name end in \.gz"),
        (b"<p>\0\0", "binary data"),
        (b"<p>\xe9", "not valid UTF-8 at byte 4 of the page"),
    ],
)
def test_html__what_is_no_page_is_a_bad_row(make_file, data, reason):
    path = make_file("a.html", data)
    with pytest.raises(InvalidInputError, match=reason):
        text_of(path)
    [block] = file_source(str(path), path.name).blocks()
    rows = block.parse(ColumnNames(), skip_bad=True)
    assert rows.text.to_pylist() == [None]


def test_html__needs_the_extra(make_file, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=re.escape(pip_install("pages"))):
        text_of(make_file("a.html", b""))


@each_of(
    ("page", "expected"),
    [
        (b"<script src='a>b'/><p>x</p>", b"<script src='a>b'></script><p>x</p>"),
        (b"<a id='1' /><br/><title/>", b"<a id='1' ></a><br/><title></title>"),
        (b"<![CDATA[a<b & c]]>", b"a&lt;b &amp; c"),
        (b"<![CDATA[a<b]]><![CDATA[c<d]]", b"a&lt;b<![CDATA[c<d]]"),
        (b"a <b / c/>", b"a <b / c/>"),
        (b"a<?b x > y?>c<?d?><e/>", b"ac<e></e>"),
        (b"a<?b > <i/><![CDATA[<]]>", b"a<?b > <i></i>&lt;"),
        (b"a<!-- <?b --><i/><!--> <?c?> <![CDATA[ -->d?>", b"a<i></i>d?>"),
        (b"<!--a<i/><?b?>", b"<!--a<i></i>"),
        (b"<![CDATA[<!--<?a?>--><b/>]]>", b"&lt;!--&lt;?a?>-->&lt;b/>"),
    ],
)
def test_as_html__what_xml_writes_otherwise(page, expected):
    assert as_html(page).replace(b" >", b">") == expected.replace(b" >", b">")


@pytest.mark.parametrize(
    "instruction",
    [
        '<?xml-stylesheet href="a.css"?>',
        "<?dp n='5' folio=\"v\" ?>",
        "<?php if (a > 1 < 2) b(); ?>",
    ],
)
def test_html__instructions_of_xml_are_nothing(make_file, instruction):
    """Wherever they are, whatever they hold, as a parser of XML has it."""
    for place in ("{}<html><body><p hidden=''>a</p>b", "<html><body><p hidden=''>{}a</p>b{}"):
        for end in ("</body></html>", "<table><tr>{}<td>c{}</td></tr></table></body></html>"):
            page = '<?xml version="1.0"?>' + place + end
            seen = text_of(make_file("a.xhtml", page.replace("{}", instruction).encode()))
            assert seen == ("b\nc" if "table" in end else "b")
