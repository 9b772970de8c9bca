"""Pages opened in a real browser, by the rules that all of them keep."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.browse import NoBrowserError, Seen, see_page

pytest.register_assert_rewrite("tests.browser.rules")


@pytest.fixture
def browse(tmp_path):
    """Open a page (HTML, a file, or a URL), take steps in it, and tell what was seen.

    Nothing but the page itself may be asked for (of a service: nothing elsewhere), no dialog may
    appear, and nothing may be said on the console unless ``quiet`` is false.
    """

    def open_page(page: str | Path, *steps: str, quiet: bool = True, **window) -> Seen:
        if isinstance(page, str) and not page.startswith("http://"):
            html, page = page, tmp_path / "page.html"
            page.write_text(html, encoding="utf-8", newline="\n")
        try:
            seen = see_page(page, *steps, **window)
        except NoBrowserError as error:
            pytest.skip(f"no browser to be had: {error}")
        assert requests_elsewhere(page, seen.requests) == []
        assert seen.dialogs == []
        assert not quiet or seen.console == []
        return seen

    return open_page


def requests_elsewhere(page: str | Path, requests: list[str]) -> list[str]:
    """Leave out those for the page itself; of a service, all that it may be asked for."""
    if isinstance(page, Path):
        own = page.resolve().as_uri()
        assert own in requests
        return [asked for asked in requests if asked != own]
    origin = "{0.scheme}://{0.netloc}/".format(urlsplit(page))
    return [asked for asked in requests if not asked.startswith((origin, "data:,"))]
