"""The visible text of pages beside ``innerText`` in a real browser, style sheets left out."""

from __future__ import annotations

import re

import pytest

from benchmarks.pages.browser import shown_texts
from benchmarks.pages.made import made_page
from neardup.files.pages.visible_text import visible_text
from tests.browser.browse import NoBrowserError
from tests.unit.files.pages.test_visible_text import CHROMIUM

pytestmark = pytest.mark.browser


def in_browser(pages: list[str]) -> list[str]:
    try:
        return shown_texts(pages)
    except NoBrowserError as error:
        pytest.skip(f"no browser to be had: {error}")


def without_gaps(text: str) -> str:
    """Leave out the spaces that a browser leaves beside images and fields."""
    return re.sub(" *\n *", "\n", re.sub("  +", " ", text)).strip(" ")


def test_visible_text__of_made_up_pages_is_the_browsers():
    pages = [made_page(seed) for seed in range(40)]
    shown = in_browser([page.decode() for page in pages])
    for page, theirs in zip(pages, shown, strict=True):
        ours = visible_text(page)
        assert ours.split() == theirs.split()
        if b"<pre>" not in page:
            assert without_gaps(ours) == without_gaps(theirs)


def test_visible_text__cases_are_what_the_browser_shows():
    shown = in_browser([page for page, _ in CHROMIUM])
    assert shown == [expected for _, expected in CHROMIUM]
