"""The encoding of a web page: by its mark, as it says itself, as it was chosen, else UTF-8.

Labels mean what they mean in browsers: ``iso-8859-1`` is windows-1252. Bytes that an encoding lacks
become U+FFFD, as in browsers, where the encoding was chosen or the page says it; a page that says
nothing and is not UTF-8 is refused, since any other encoding would be a guess.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from neardup.files.arrowcolumns import is_utf8
from neardup.files.encodings import encoding_by_mark
from neardup.files.extracted import UnreadableFileError
from neardup.files.problems import not_utf8
from neardup.files.rawrows import BYTE_ORDER_MARK

# How much of a page is searched for what it says of itself.
_HEAD_BYTES = 1 << 13

_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
# Of small letters: a search for letters of either case is slow.
_META = re.compile(rb"<meta\s(?:[^>]*?[\s\"';])?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)")
_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)[\"']")

# What browsers take labels for, where Python's names mean another encoding or none.
_BY_LABEL = {
    **dict.fromkeys(
        ("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"),
        "cp1252",
    ),
    **dict.fromkeys(("x-user-defined", "windows-1252", "x-cp1252", "ansi_x3.4-1968"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "latin5", "windows-1254", "x-cp1254"), "cp1254"),
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk", "chinese", "csgb2312"), "gb18030"),
    **dict.fromkeys(
        ("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji"), "cp932"
    ),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "korean", "windows-949"), "cp949"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "windows-874", "dos-874"), "cp874"),
    **dict.fromkeys(("big5", "big5-hkscs", "x-x-big5", "cn-big5", "csbig5"), "big5hkscs"),
    **dict.fromkeys(("x-cp1250", "windows-1250"), "cp1250"),
    **dict.fromkeys(("x-cp1251", "windows-1251"), "cp1251"),
    # A page in which this can be read is none of these.
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16be", "utf-32", "unicode", "ucs-2"), "utf-8"),
}
# Python's codecs that no page is written in, or that browsers refuse.
_NO_TEXT = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "mbcs", "oem")
_LABEL_LENGTH = 40


def page_in_utf8(
    data: bytes, *, chosen: str | None = None, header: str | None = None, is_html: bool = True
) -> bytes:
    """Return a page in UTF-8, without a byte-order mark.

    Parameters
    ----------
    data
        The page.
    chosen
        The encoding that the user has chosen for pages that say none, by Python's name.
    header
        The label in the header with which a server sent the page.
    is_html
        The page may say itself what its encoding is; plain text does not.

    Raises
    ------
    UnreadableFileError
        If the page does not say its encoding and is not UTF-8.
    """
    if data.startswith(BYTE_ORDER_MARK):
        return _in_utf8(data[len(BYTE_ORDER_MARK) :], "utf-8")
    marked = encoding_by_mark(data[:4])
    if marked is not None:
        # The decoder of Python takes the order of bytes from the mark, and leaves that out.
        return _in_utf8(data, marked)
    labels = [label for label in (header, *(_own_labels(data) if is_html else ())) if label]
    for label in labels:
        codec = _codec(label)
        if codec is not None:
            return _in_utf8(data, codec)
    # Pages of many servers come together: what one says of itself is better known than by all.
    if chosen is not None:
        return _in_utf8(data, codecs.lookup(chosen).name)
    if is_utf8(data):
        return data
    raise UnreadableFileError(_not_utf8(data, labels))


def _own_labels(data: bytes) -> list[str]:
    """Return what a page says to be its encoding, the most reliable first."""
    head = data[:_HEAD_BYTES].lower()
    found = [_XML.match(head), _META.search(_COMMENT.sub(b"", head))]
    return [match[1].decode("latin-1") for match in found if match is not None]


@lru_cache(256)
def _codec(label: str) -> str | None:
    """Return Python's name of the encoding that a label means in browsers; None for no such."""
    label = label.strip().strip("\"'").lower()
    name = _BY_LABEL.get(label, label)
    try:
        codec = codecs.lookup(name[:_LABEL_LENGTH].encode("ascii").decode()).name
        # Python has codecs that are none of texts, and says so where they are used.
        b"a".decode(codec)
    except (LookupError, ValueError):
        return None
    return None if codec in _NO_TEXT else codec


def _in_utf8(data: bytes, codec: str) -> bytes:
    if codec in ("utf-8", "utf-8-sig") and is_utf8(data):
        return data
    return data.decode(codec, "replace").encode("utf-8", "replace")


def _not_utf8(data: bytes, labels: list[str]) -> str:
    """Say where a page is not UTF-8, and what to do."""
    said = "says no encoding"
    if labels:
        said = f"says an encoding that is not known, {labels[0][:40]!r}"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        where = not_utf8(error, "the page")
    return (
        f"{where}, which {said}; name its encoding with encoding (--encoding), such as windows-1252"
    )
