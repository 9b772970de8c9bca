"""XHTML as HTML: what is written another way in XML, rewritten for a parser of HTML."""

from __future__ import annotations

import re

# Elements that have no content in HTML either, where a slash means nothing.
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
_WRITTEN_OTHERWISE = re.compile(
    rb"(?P<begin><!--|<!\[CDATA\[|<\?)"
    rb"""|<([A-Za-z][\w:.-]*+)((?:\s++[^\s=/>"'<]++(?:\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))?+)*+)\s*+/>"""
)
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}


def as_html(page: bytes) -> bytes:
    """Return a page of XML as HTML.

    Empty elements get an end tag, sections of text become text; comments and processing
    instructions, which XML ends elsewhere than HTML, are left out.
    """
    parts: list[bytes] = []
    done = at = 0
    # What begins one, and never ends: nobody looks for that end again and again.
    endless: set[bytes] = set()
    while (match := _WRITTEN_OTHERWISE.search(page, at)) is not None:
        start, at = match.span()
        begin = match["begin"]
        if begin is None:
            if match[2].lower() in _VOID:
                continue
            written = b"<%s%s></%s>" % (match[2], match[3], match[2])
        else:
            stop = -1 if begin in endless else page.find(_ENDS[begin], at)
            if stop < 0:
                endless.add(begin)
                continue
            written = page[at:stop] if begin == b"<![CDATA[" else b""
            written = written.replace(b"&", b"&amp;").replace(b"<", b"&lt;")
            at = stop + len(_ENDS[begin])
        parts += (page[done:start], written)
        done = at
    return b"".join([*parts, page[done:]])
