from __future__ import annotations

import random
import time

import pytest

from neardup.files.extracted import UnreadableFileError
from neardup.files.pages import encoding as module
from neardup.files.pages.encoding import page_in_utf8
from neardup.files.pages.html import page_text
from neardup.options.groups import InputOptions
from tests.each import each_of
from tests.oracles.page_encoding import said_encoding


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
        (b"<meta name=description content='Of charset=koi8-r'><meta charset=utf-8>", "utf-8"),
        (b"<meta http-equiv=refresh content='text/html; charset=koi8-r'>", "utf-8"),
        (b"<meta content='charset=koi8-r' http-equiv=content-TYPE charset=none>", "utf-8"),
        (b"<title a='<meta charset=koi8-r>'>", "utf-8"),
        (b"<!--><meta charset=koi8-r>-->", "koi8-r"),
        (b"<!-- --!><meta charset=koi8-r> --><p>", "utf-8"),
        (b"<!x <meta charset=koi8-r><meta charset=x-cp1251>", "cp1251"),
        (b"<metadata charset=koi8-r></meta charset=koi8-r>", "utf-8"),
        (b"<meta charset=none><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r", "utf-8"),
        (b'<?xml version="1.0" encoding="koi8-r"?><meta charset=windows-1251>', "cp1251"),
        (b'<?xml version="1.0" encoding="koi8-r"?><meta charset=none>', "koi8-r"),
        (b"<script></script>" + b" " * 2000 + b"<meta charset=koi8-r>", "koi8-r"),
        (b"<script>" + b" " * 2000 + b"<meta charset=koi8-r></script>", "utf-8"),
        (b"<title>" + b" " * 2000 + b"</title ><meta charset=koi8-r>", "koi8-r"),
        (b"<p>" + b" " * 2000 + b"<meta charset=koi8-r>", "utf-8"),
        (b"<p>" + b" " * 1000 + b"<meta charset=koi8-r>", "koi8-r"),
        (b"<script>" + b" " * 1000 + b"<meta charset=koi8-r></script>", "koi8-r"),
        (b" " * 8180 + b"<meta charset=koi8-r>", "utf-8"),
    ],
)
def test_page_in_utf8__as_the_page_says(page, label):
    assert page_in_utf8(page + "город".encode(label)) == page + "город".encode()


@each_of(
    ("label", "data", "expected"),
    [
        ("iso-8859-1", b"\x93a\x94", "“a”"),
        ("latin1", b"\x80", "€"),
        ("us-ascii", b"\xe9", "é"),
        ("gb2312", "镕".encode("gbk"), "镕"),
        ("shift_jis", "①".encode("cp932"), "①"),
        ("utf-16", "é".encode(), "é"),
        ("utf-16be", "é".encode(), "é"),
        ("ucs-2", "é".encode(), "é"),
        ("x-user-defined", b"\xe9", "é"),
        ("iso8859-11", "\u0e01".encode("cp874") + b"\x80", "\u0e01€"),
        ("ks_c_5601-1989", "똠".encode("cp949"), "똠"),
        (" logical ", "א".encode("iso8859-8"), "א"),
        ("cp850", b"\x82", "é"),
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


def test_page_in_utf8__of_xml():
    """In XML its declaration is what counts, and what elements say only where there is none."""
    declared = b"<?xml version='1.0' encoding='koi8-r'?>"
    page = meta("windows-1251") + "ж".encode("koi8-r")
    assert page_in_utf8(declared + page, is_xml=True).decode().endswith("ж")
    assert not page_in_utf8(declared + page).decode().endswith("ж")
    assert page_in_utf8(meta("koi8-r") + "ж".encode("koi8-r"), is_xml=True).decode().endswith("ж")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_page_in_utf8__units_of_two_bytes(codec):
    """Without a mark they are known by a declaration of XML, or by what a server says."""
    page = "<?xml version='1.0'?><p>ж</p>"
    assert page_in_utf8(page.encode(codec)) == page.encode()
    label = codec.replace("6-", "6")
    assert page_in_utf8("<p>ж".encode(codec), header=label) == "<p>ж".encode()
    assert page_text(page.encode(codec), InputOptions()) == "ж"
    assert page_text("<p>ж".encode(codec), InputOptions(), header=label) == "ж"


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
    *("cp037", "utf-32", "utf-7"),
    *("nonsense", "base64", "rot13", "zip", "undefined", "\xe9", "x" * 99),
    *("idna", "punycode", "unicode_escape", "raw-unicode-escape"),
]


@each_of("label", NO_LABELS)
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


@each_of(
    "piece",
    [
        *(b"<meta ", b"<!--", b"<?xml ", b"<meta charset", b"charset=", b"<script>", b"<meta a="),
        *(b"<?xml encoding", b"<a b='c' ", b"<meta http-equiv=content-type content='charset"),
    ],
)
def test_page_in_utf8__long_beginnings_take_no_time(piece):
    start = time.process_time()
    page_in_utf8(piece * 200_000)
    assert time.process_time() - start < 5


def said(data: bytes) -> str | None:
    """Return the first encoding that browsers know of those that a page names."""
    found = (module._BY_LABEL.get(label) for label in module._own_labels(data, False))
    return next((codec for codec in found if codec is not None), None)


_PIECES = [
    *(b"<meta ", b"<META/", b"<meta", b"charset", b"=", b"koi8-r", b"utf-8", b"utf-16", b"none"),
    *(b"charset=koi8-r", b"charset='utf-8'", b'charset="latin1', b" content=", b"content='"),
    *(
        b"http-equiv=content-type ",
        b"HTTP-EQUIV='Content-Type'",
        b"http-equiv=refresh",
        b"text/html",
    ),
    *(
        b"<!--",
        b"-->",
        b"<!-->",
        b"--",
        b">",
        b">",
        b">",
        b"/>",
        b"<a ",
        b"</p ",
        b"<p/",
        b"<title>",
    ),
    *(b"<?x ", b"</ ", b"<!x", b"'", b'"', b" ", b"\n", b"\x0c", b"/", b";", b"x", b"=", b"name="),
]
_PARTS = [
    *(b"<meta charset=koi8-r>", b"<meta charset = 'latin1' />", b"<p title='<meta charset=gbk>'>"),
    b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>",
    b'<META CONTENT="a; charset = big5;b" HTTP-EQUIV="content-type" charset=none>',
    b"<meta name=description content='pages with charset=euc-jp'><!-- <meta charset=sjis> -->",
    b"<?xml version='1.0' encoding='euc-kr' ?>",
]


@pytest.mark.slow
@each_of("seed", range(20))
def test_own_labels__are_those_of_the_standard(seed):
    """Against the steps of the standard, for pages that end within what it searches."""
    made = random.Random(seed)
    known = 0
    for _ in range(150):
        page = b"".join(made.choices(_PARTS, k=made.randint(1, 3)))
        for _ in range(made.randint(0, 6)):
            place = made.randrange(len(page))
            removed = made.choice([0, 0, 1, made.randint(1, 12)])
            page = page[:place] + made.choice([b"", *_PIECES]) + page[place + removed :]
        expected = said_encoding(
            page, lambda label: module._BY_LABEL.get(label.strip().lower().decode())
        )
        assert said(page) == expected, page
        known += expected is not None
    assert known >= 40
