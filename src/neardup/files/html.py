"""Text of HTML pages.

Resiliparse parses pages as browsers do and takes visible text; trafilatura finds the main text.
"""

from __future__ import annotations

import codecs
import logging
import re

from neardup.files.encodings import HEAD_BYTES, encoding_by_mark, foreign_kind
from neardup.files.plain import UnreadableFileError
from neardup.files.problems import not_utf8
from neardup.options.groups import InputOptions

MAX_PAGE_BYTES = 1 << 26
"""A longer page is refused: the parser needs up to a hundred times as much memory."""

MAX_MAIN_BYTES = 1 << 24
"""A longer page has no main text: trafilatura reads some MB a second."""

# Its notes on each page are of no use to a reader of thousands.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
logging.getLogger("htmldate").setLevel(logging.CRITICAL)


def page_text(data: bytes, options: InputOptions, header: str | None = None) -> str:
    """Return the visible or main text of a page, or raise UnreadableFileError."""
    head = data[:HEAD_BYTES]
    if encoding_by_mark(head[:4]) is None:
        foreign = foreign_kind(head)
        if foreign is not None and not _has_wide_units(header or options.encoding or ""):
            raise UnreadableFileError(foreign)
    page = decode_page(data, options.encoding, header=header)
    _check_cost(page)
    return main_text(page) if options.main_text else visible_text(page)


_HIDDEN = ["[hidden]", "[style*='display:none' i]", "[style*='display: none' i]"]


def visible_text(page: str) -> str:
    """Return the visible text, without hidden elements and controls."""
    from resiliparse.extract.html2text import extract_plain_text

    text: str = extract_plain_text(
        page, preserve_formatting=True, list_bullets=False, alt_texts=False, skip_elements=_HIDDEN
    )
    return text


def main_text(page: str) -> str:
    """Return the main text of a page, empty if none."""
    from resiliparse.parse.html import HTMLTree
    from trafilatura import extract

    if len(page) > MAX_MAIN_BYTES:
        message = (
            f"the page is longer than {MAX_MAIN_BYTES >> 20} MB, too long for its main text to be "
            "found; leave it out, or take its visible text"
        )
        raise UnreadableFileError(message)
    # Trafilatura would take a fragment without the usual beginning for something else.
    tree = str(HTMLTree.parse(page))
    try:
        return extract(tree, include_comments=False) or ""
    except RecursionError:
        message = "elements are too deep in others for the main text to be found; leave it out"
        raise UnreadableFileError(message) from None


# Bounds on hostile pages.

# A parser makes 600 bytes of an element; its time grows with the square of the depth of elements,
# and of the attributes of a tag. Pages below the last length are always harmless.
_MAX_ELEMENTS, _MAX_DEPTH, _MAX_ATTRIBUTES, _HARMLESS_BYTES = 1 << 20, 10_000, 20_000, 100_000

# Elements that the next tag, or nothing, ends.
_FLAT = frozenset(
    "area base body br caption col colgroup dd dt embed head hr html img input li link meta "  # noqa: SIM905
    "optgroup option p param source tbody td tfoot th thead tr track wbr".split()
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_LONG_TAG = re.compile(rf"<[A-Za-z][^>]{{{2 * _MAX_ATTRIBUTES},}}")
_QUOTED = re.compile(r"""=[ \t\n\f\r]*(?:"[^"]*"|'[^']*')""")
_BETWEEN_ATTRIBUTES = str.maketrans("", "", " \t\n\f\r/=")


def _check_cost(page: str) -> None:
    """Check that parsing takes seconds, and at most a gigabyte."""
    if len(page) <= _HARMLESS_BYTES:
        return
    if len(page) > MAX_PAGE_BYTES:
        message = f"the page is longer than {MAX_PAGE_BYTES >> 20} MB; leave it out"
        raise UnreadableFileError(message)
    if page.count("<") > _MAX_ELEMENTS:
        message = f"the page would have more than {_MAX_ELEMENTS:,} elements; leave it out"
        raise UnreadableFileError(message)
    depth = 0
    is_deep = page.count("<") - page.count("</") > _MAX_DEPTH
    for slash, name in _TAG.findall(page) if is_deep else ():
        if name.lower() not in _FLAT:
            depth += -1 if slash else 1
            if depth > _MAX_DEPTH:
                message = f"the page has elements {_MAX_DEPTH:,} deep in others; leave it out"
                raise UnreadableFileError(message)
    for tag in _LONG_TAG.findall(page):
        names = _QUOTED.sub("=", tag)
        if len(names) - len(names.translate(_BETWEEN_ATTRIBUTES)) > _MAX_ATTRIBUTES:
            message = f"the page has a tag of over {_MAX_ATTRIBUTES:,} attributes; leave it out"
            raise UnreadableFileError(message)


# The encoding of a page: by its mark, by the server's header, by the page itself, by the option,
# else UTF-8. Labels are those of browsers: ``iso-8859-1`` is windows-1252. An encoding is never
# guessed.

_HEAD_BYTES = 1 << 13
_DECLARED = re.compile(
    rb"""<!--.*?(?:-->|\Z)|<meta\s[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)"""
    rb"""|<\?xml\s[^>]*?encoding\s*=\s*["']([\w:.-]+)""",
    re.DOTALL | re.IGNORECASE,
)


def decode_page(
    data: bytes, chosen: str | None, *, header: str | None = None, is_html: bool = True
) -> str:
    """Return a page as text, without a byte-order mark."""
    from resiliparse.parse.encoding import map_encoding_to_html5

    marked = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else encoding_by_mark(data[:4])
    if marked is not None:
        return data.decode(marked, "replace")
    matches = _DECLARED.finditer(data[:_HEAD_BYTES]) if is_html else ()
    labels = (match[1] or match[2] for match in matches)
    declared = [label.decode("ascii", "replace") for label in labels if label]
    for label in (header, *declared):
        codec = map_encoding_to_html5(label, fallback_utf8=False) if label else None
        if codec is not None:
            # A page whose label can be read has no units of two bytes.
            is_wide = _has_wide_units(codec) and label is not header
            return data.decode("utf-8" if is_wide else codec, "replace")
    try:
        return data.decode(chosen or "utf-8", "replace" if chosen else "strict")
    except UnicodeDecodeError as error:
        said = f"names an unknown encoding, {declared[0][:40]!r}" if declared else "names none"
        message = (
            f"{not_utf8(error, 'the page')}, and the page {said}; name its encoding with encoding "
            "(--encoding), such as windows-1252"
        )
        raise UnreadableFileError(message) from None


def _has_wide_units(encoding: str) -> bool:
    """Return whether an encoding has units of several bytes."""
    name = encoding.lower().replace("_", "-")
    return name.startswith(("utf-16", "utf-32", "utf16", "utf32", "u16", "u32"))
