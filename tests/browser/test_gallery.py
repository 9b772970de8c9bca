"""Pages of the gallery keep the rules of all pages; pictures can be made of them."""

from __future__ import annotations

import pytest

from docs.gallery.make import PAGES, unpack
from docs.gallery.pictures import PICTURES, make_picture
from tests.browser.browse import NoBrowserError
from tests.browser.rules import WINDOWS, check_file

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "dark"), WINDOWS)
def test_gallery__keeps_the_rules(browse, name, width, dark, tmp_path):
    path = unpack(name, tmp_path)

    def look(*asked, **window):
        return browse(path, *asked, **window)

    check_file(look, width=width, dark=dark)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures__can_be_made(tmp_path, name):
    try:
        path = make_picture(name, tmp_path)
    except NoBrowserError as error:
        pytest.skip(f"no browser to be had: {error}")
    assert 5_000 < path.stat().st_size < 75_000
