"""The main text of a page, without what stands around it, as trafilatura finds it."""

from __future__ import annotations

import logging

from neardup.files.extracted import UnreadableFileError
from neardup.files.pages.visible_text import well_formed

MAX_MAIN_BYTES = 1 << 24
"""A longer page is refused: rules of main texts are slow, some MB a second."""

# What it notes of each page is of no use to a reader of thousands.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
logging.getLogger("htmldate").setLevel(logging.CRITICAL)


def main_text(page: bytes) -> str:
    """Return the main text of a page in UTF-8; nothing where none is found.

    Raises
    ------
    UnreadableFileError
        If the page is too long, or too deep.
    """
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
