"""HTML: one page a file, whose visible or main text is its document."""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import TYPE_CHECKING

from neardup.files.binary import HEAD_BYTES, foreign_kind
from neardup.files.extracted import ExtractedFileSource, UnreadableFileError
from neardup.files.pages.encoding import encoding_by_beginning, page_in_utf8
from neardup.files.pages.visible_text import MAX_PAGE_BYTES, need_parser, visible_text, well_formed
from neardup.files.streams import suffix_below

if TYPE_CHECKING:
    from neardup.options.groups import InputOptions

# XHTML as HTML: what is written another way in XML, rewritten for a parser of HTML.

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


# The main text of a page, without what stands around it, as trafilatura finds it.

MAX_MAIN_BYTES = 1 << 24
"""A longer page is refused: rules of main texts are slow, some MB a second."""

# What it notes of each page is of no use to a reader of thousands.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
logging.getLogger("htmldate").setLevel(logging.CRITICAL)


def main_text(page: bytes) -> str:
    """Return the main text of a page in UTF-8; nothing where none is found."""
    from trafilatura import extract

    if len(page) > MAX_MAIN_BYTES:
        message = (
            f"the page is longer than {MAX_MAIN_BYTES >> 20} MB, too long for its main text to be "
            "found; leave it out, or take its visible text"
        )
        raise UnreadableFileError(message)
    # It would take a fragment without the usual beginning for something else.
    tree = well_formed(page)
    try:
        found = extract(tree, include_comments=False)
    except RecursionError:
        message = "elements are too deep in others for the main text to be found; leave it out"
        raise UnreadableFileError(message) from None
    return found or ""


OPTIONS = frozenset({"encoding", "main_text"})
"""Names of the options that say how text comes out of a page."""


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a page."""
    need_parser(main_text=options.main_text)
    is_xml = suffix_below(name) == ".xhtml"
    return ExtractedFileSource(
        location,
        name,
        extract=partial(page_text, is_xml=is_xml),
        options=options,
        kind="an HTML page",
        used=OPTIONS,
        max_bytes=MAX_PAGE_BYTES,
    )


def page_text(
    data: bytes, options: InputOptions, *, header: str | None = None, is_xml: bool = False
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    data
        The page.
    options
        Its encoding if one was chosen, and which text is wanted.
    header
        The label of its encoding that a server has sent with it.
    is_xml
        It is XHTML, where any element may end with its start tag.
    """
    head = data[:HEAD_BYTES]
    is_wide = _has_wide_units(options.encoding) or _has_wide_units(header)
    if encoding_by_beginning(head) is None and not is_wide:
        foreign = foreign_kind(head)
        if foreign is not None:
            raise UnreadableFileError(foreign)
    page = page_in_utf8(data, chosen=options.encoding, header=header, is_xml=is_xml)
    return text_of_html(as_html(page) if is_xml else page, options)


def text_of_html(page: bytes, options: InputOptions) -> str:
    """Return the visible or the main text of a page in UTF-8."""
    if options.main_text:
        # Takes a second to import, and only some runs need it.

        return main_text(page)
    return visible_text(page)


def _has_wide_units(encoding: str | None) -> bool:
    """Return whether an encoding has bytes that are zero in each character."""
    return encoding is not None and encoding.lower().replace("_", "-").startswith(
        ("utf-16", "utf-32", "utf16", "utf32", "u16", "u32")
    )
