"""Rules that all pages keep, whatever they show."""

from __future__ import annotations

from functools import cache

import pytest

from tests.browser.page_cases import CASES
from tests.browser.rules import WINDOWS, check_keyboard, check_page, check_printed

pytestmark = pytest.mark.browser


@cache
def page(name: str) -> str:
    return CASES[name]()


@pytest.fixture
def look(browse, name):
    return lambda *asked, **window: browse(page(name), *asked, **window)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_page__keeps_the_rules(look, width, dark):
    check_page(look, width=width, dark=dark)


@pytest.mark.parametrize("name", CASES)
def test_page__on_paper(look):
    check_printed(look)


@pytest.mark.parametrize("name", [name for name in CASES if "plain" in name or "part" in name])
def test_page__by_keyboard(look):
    check_keyboard(look)


@pytest.mark.parametrize("name", CASES)
def test_page__is_the_same_every_time(name):
    assert page(name) == CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_page__names_no_other_place(look):
    """No address but places in the page, no handler, no style but that of the policy."""
    script = """({
      policy: document.querySelectorAll('meta[http-equiv=Content-Security-Policy]').length,
      addresses: [...document.querySelectorAll('[src], [href], [action], [data], [poster]')]
        .flatMap((e) => ['src', 'href', 'action', 'data', 'poster'].map((name) =>
          e.getAttribute(name))).filter((value) => value !== null && !value.startsWith('#')),
      loaders: document.querySelectorAll('link, base, iframe, object, embed, img, audio').length,
      handlers: [...document.querySelectorAll('*')].flatMap(
        (e) => e.getAttributeNames()).filter((name) => name.startsWith('on') || name === 'style'),
      places: [...document.querySelectorAll('[href^="#"]')].map((e) => e.getAttribute('href'))
        .filter((place) => place.length > 1 && !document.getElementById(place.slice(1))),
      titles: document.title,
    })"""
    seen = look(script).value
    assert seen.pop("titles") != "ran"
    assert seen == {"policy": 1, "addresses": [], "loaders": 0, "handlers": [], "places": []}
