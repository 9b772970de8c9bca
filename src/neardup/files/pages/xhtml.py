"""XHTML as HTML: what is written another way in XML, rewritten for a parser of HTML."""

from __future__ import annotations

import re

# Elements that have no content in HTML either, where a slash means nothing.
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_EMPTY = re.compile(
    rb"""<([A-Za-z][\w:.-]*+)((?:\s++[^\s=/>"'<]++(?:\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))?+)*+)\s*+/>"""
)
# One without an end goes on to that of the page, so that nobody looks for it again and again.
_CDATA = re.compile(rb"<!\[CDATA\[(?:(.*?)\]\]>|.*+)", re.DOTALL)


def as_html(page: bytes) -> bytes:
    """Return a page of XML as HTML: empty elements with an end tag, sections of text as text."""
    page = _CDATA.sub(_escaped, page)
    return _EMPTY.sub(_with_end_tag, page)


def _with_end_tag(match: re.Match[bytes]) -> bytes:
    name = match[1]
    if name.lower() in _VOID:
        return match[0]
    return b"<%s%s></%s>" % (name, match[2], name)


def _escaped(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return match[0]
    return match[1].replace(b"&", b"&amp;").replace(b"<", b"&lt;")
