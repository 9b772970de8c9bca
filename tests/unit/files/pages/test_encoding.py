from __future__ import annotations

import time

import pytest

from neardup.files.extracted import UnreadableFileError
from neardup.files.pages.encoding import page_in_utf8


def meta(label: str) -> bytes:
    return f'<meta charset="{label}">'.encode()


@pytest.mark.parametrize(
    ("page", "label"),
    [
        (b"<meta charset=windows-1251>", "cp1251"),
        (b"<META CHARSET = 'windows-1251' >", "cp1251"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>", "cp1251"),
        (b'<?xml version="1.0" encoding="windows-1251"?>', "cp1251"),
        (b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>", "koi8-r"),
        (b"<meta name=charset><meta charset=koi8-r>", "koi8-r"),
    ],
)
def test_page_in_utf8__as_the_page_says(page, label):
    assert page_in_utf8(page + "город".encode(label)) == page + "город".encode()


@pytest.mark.parametrize(
    ("label", "data", "expected"),
    [
        ("iso-8859-1", b"\x93a\x94", "“a”"),
        ("latin1", b"\x80", "€"),
        ("us-ascii", b"\xe9", "é"),
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("shift_jis", "①".encode("cp932"), "①"),
        ("utf-16", "é".encode(), "é"),
        ("UTF-8", "é".encode(), "é"),
        ("windows-1252", b"a\x81b", "a\ufffdb"),
        ("utf-8", b"a\xffb", "a\ufffdb"),
    ],
)
def test_page_in_utf8__labels_as_browsers_take_them(label, data, expected):
    assert page_in_utf8(meta(label) + data) == meta(label) + expected.encode()


def test_page_in_utf8__mark_then_header_then_page_then_choice():
    page = meta("koi8-r") + "ж".encode("cp1251")
    expected = meta("koi8-r") + "ж".encode()
    assert page_in_utf8(page, header="windows-1251") == expected
    assert page_in_utf8(page, chosen="koi8-r", header="windows-1251") == expected
    assert page_in_utf8(meta("windows-1251") + page, chosen="koi8-r").endswith("ж".encode())
    unknown = meta("nonsense") + "ж".encode("cp1251")
    assert page_in_utf8(unknown, chosen="cp1251").endswith("ж".encode())
    marked = b"\xef\xbb\xbf" + meta("koi8-r") + "ж".encode()
    assert page_in_utf8(marked, chosen="cp1251", header="koi8-r") == expected
    for codec, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        wide = mark + expected.decode().encode(codec)
        assert page_in_utf8(wide, chosen="cp1251") == expected


def test_page_in_utf8__says_nothing():
    assert page_in_utf8("é".encode()) == "é".encode()
    with pytest.raises(
        UnreadableFileError,
        match="not valid UTF-8 at byte 3 of the page, which "
        "says no encoding; name its encoding with encoding",
    ):
        page_in_utf8(b"ab\xe9")
    assert page_in_utf8(b"ab\xe9", chosen="latin-1") == "abé".encode()


NO_LABELS = [
    *("nonsense", "base64", "rot13", "zip", "undefined", "\xe9", "x" * 99),
    *("utf-7", "idna", "punycode", "unicode_escape", "raw-unicode-escape"),
]


@pytest.mark.parametrize("label", NO_LABELS)
def test_page_in_utf8__label_that_is_none(label):
    page = f"<meta charset={label}>".encode()
    assert page_in_utf8(page + b"a") == page + b"a"
    with pytest.raises(UnreadableFileError, match="says an encoding that is not known, "):
        page_in_utf8(page + b"\xff")


def test_page_in_utf8__plain_text_says_nothing_itself():
    page = meta("windows-1251") + "é".encode()
    assert page_in_utf8(page, is_html=False) == page
    page = page_in_utf8(meta("x") + b"\xe9", header="latin1", is_html=False)
    assert page == meta("x") + "é".encode()


@pytest.mark.parametrize("piece", [b"<meta ", b"<!--", b"<?xml ", b"<meta charset", b"charset="])
def test_page_in_utf8__long_beginnings_take_no_time(piece):
    start = time.process_time()
    page_in_utf8(piece * 200_000)
    assert time.process_time() - start < 5
