from __future__ import annotations

import pytest

from neardup.files.html import decode_page, page_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.each import each_of


def meta(label: str) -> bytes:
    return f'<meta charset="{label}">'.encode()


@each_of(
    ("page", "label"),
    [
        (b"<meta charset=windows-1251>", "cp1251"),
        (b"<META CHARSET = 'windows-1251' >", "cp1251"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>", "cp1251"),
        (b'<?xml version="1.0" encoding="windows-1251"?>', "cp1251"),
        (b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>", "koi8-r"),
        (b"<meta name=charset><meta charset=koi8-r>", "koi8-r"),
        (b"<metadata charset=koi8-r></meta charset=koi8-r>", "utf-8"),
        (b"<meta charset=none><meta charset=koi8-r>", "koi8-r"),
        (b"<title>" + b" " * 2000 + b"</title ><meta charset=koi8-r>", "koi8-r"),
        (b" " * 8180 + b"<meta charset=koi8-r>", "utf-8"),
    ],
)
def test_decode_page__as_the_page_names_it(page, label):
    assert decode_page(page + "город".encode(label), None) == page.decode() + "город"


@each_of(
    ("label", "data", "expected"),
    [
        ("iso-8859-1", b"\x93a\x94", "“a”"),
        ("latin1", b"\x80", "€"),
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("shift_jis", "ア".encode("shift_jis"), "ア"),
        ("utf-16", "é".encode(), "é"),
        ("windows-1252", b"a\x81b", "a\ufffdb"),
        ("utf-8", b"a\xffb", "a\ufffdb"),
    ],
)
def test_decode_page__labels_as_browsers_take_them(label, data, expected):
    assert decode_page(meta(label) + data, None) == meta(label).decode() + expected


def test_decode_page__mark_then_header_then_page_then_choice():
    page = meta("koi8-r") + "ж".encode("cp1251")
    expected = meta("koi8-r").decode() + "ж"
    assert decode_page(page, None, header="windows-1251") == expected
    assert decode_page(page, "koi8-r", header="windows-1251") == expected
    assert decode_page(meta("windows-1251") + page, "koi8-r").endswith("ж")
    assert decode_page(meta("nonsense") + "ж".encode("cp1251"), "cp1251").endswith("ж")
    marked = b"\xef\xbb\xbf" + meta("koi8-r") + "ж".encode()
    assert decode_page(marked, "cp1251", header="koi8-r") == expected
    for codec, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        assert decode_page(mark + expected.encode(codec), "cp1251") == expected


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_decode_page__units_of_two_bytes_by_the_header(codec):
    label = codec.replace("6-", "6")
    assert decode_page("<p>ж".encode(codec), None, header=label) == "<p>ж"
    assert page_text("<p>ж".encode(codec), InputOptions(), header=label) == "ж"


@each_of(
    ("page", "named"),
    [(b"", "names none"), (meta("nonsense"), "unknown.*'nonsense'")],
)
def test_decode_page__no_known_encoding(page, named):
    assert decode_page(page + "é".encode(), None).endswith("é")
    assert decode_page(page + b"\xe9", "latin-1").endswith("é")
    facts = f"UTF-8 at byte {len(page) + 1} .*{named}"
    with pytest.raises(UnreadableFileError, match=facts):
        decode_page(page + b"\xe9", None)


def test_decode_page__plain_text_names_nothing():
    page = meta("windows-1251") + "é".encode()
    assert decode_page(page, None, is_html=False) == page.decode()
    page = meta("x") + b"\xe9"
    assert decode_page(page, None, header="latin1", is_html=False).endswith("é")
