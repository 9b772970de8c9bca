"""HTML: one page a file, whose visible or main text is its document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from neardup.files.binary import HEAD_BYTES, foreign_kind
from neardup.files.compression import suffix_below
from neardup.files.extracted import ExtractedFileSource, UnreadableFileError
from neardup.files.pages.encoding import encoding_by_beginning, page_in_utf8
from neardup.files.pages.visible_text import MAX_PAGE_BYTES, need_parser, visible_text
from neardup.files.pages.xhtml import as_html

if TYPE_CHECKING:
    from neardup.files.input_options import InputOptions

OPTIONS = frozenset({"encoding", "main_text", "alternative_texts"})
"""Names of the options that say how text comes out of a page."""


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a page.

    Raises
    ------
    MissingExtraError
        If the parser is not installed.
    """
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

    Raises
    ------
    UnreadableFileError
        If it is no page, or cannot be decoded or parsed.
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
    """Return the visible or the main text of a page in UTF-8.

    Raises
    ------
    UnreadableFileError
        If it is too much for a parser.
    """
    if options.main_text:
        # Takes a second to import, and only some runs need it.
        from neardup.files.pages.main_text import main_text

        return main_text(page)
    return visible_text(page, alternative_texts=options.alternative_texts)


def _has_wide_units(encoding: str | None) -> bool:
    """Return whether an encoding has bytes that are zero in each character."""
    return encoding is not None and encoding.lower().replace("_", "-").startswith(
        ("utf-16", "utf-32", "utf16", "utf32", "u16", "u32")
    )
