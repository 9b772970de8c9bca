"""Rules that all pages keep, whatever they show."""

from __future__ import annotations

from functools import cache

import pytest

from tests.browser.page_cases import CASES
from tests.browser.rules import WINDOWS, check_file, check_keyboard

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
    check_file(look, width=width, dark=dark)


@pytest.mark.parametrize("name", [name for name in CASES if "plain" in name or "part" in name])
def test_page__by_keyboard(look):
    check_keyboard(look)


@pytest.mark.parametrize("name", CASES)
def test_page__is_the_same_every_time(name):
    assert page(name) == CASES[name]()
