"""The visible text of pages beside ``innerText`` in a real browser, style sheets left out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks.pages.browser import shown_texts, written_texts
from benchmarks.pages.made import made_page
from neardup.files.pages.visible_text import visible_text
from tests.browser.browse import NoBrowserError
from tests.browser.odd_pages import comparable, odd_page
from tests.unit.files.pages.test_visible_text import CHROMIUM, STYLES, styled

Texts = Callable[[list[str]], list[str]]

pytestmark = pytest.mark.browser


def in_browser(pages: list[str], texts: Texts = shown_texts) -> list[str]:
    try:
        return texts(pages)
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


def test_visible_text__own_styles_are_what_the_browser_reads():
    shown = in_browser([styled(style) for style, _ in STYLES], written_texts)
    assert shown == [f"a{expected}" for _, expected in STYLES]


def test_visible_text__of_odd_pages_is_the_browsers():
    pages = [odd_page(seed) for seed in range(2_000)]
    shown = in_browser(pages, written_texts)
    for seed, (page, theirs) in enumerate(zip(pages, shown, strict=True)):
        ours = visible_text(page.encode())
        assert comparable(page, ours) == comparable(page, theirs), (seed, page)
