"""A report in the frame of a notebook: it is the text of the frame, and sees nothing around it."""

from __future__ import annotations

import pytest

from neardup.reports.page import Report
from tests.browser.made_up import made_up_page

pytestmark = pytest.mark.browser

# The frame has an origin of its own, so it is only seen from within: with a script in it, which its
# policy has to know.
_TOLD = """<script>addEventListener('message', (event) => {
  document.querySelector('nav a[href="#rows"]').click();
  const place = document.getElementById('rows');
  requestAnimationFrame(() => parent.postMessage({
    top: Math.round(place.getBoundingClientRect().top), height: innerHeight,
    scrolled: scrollY > 100, focus: document.activeElement.id, title: document.title,
    origin: self.origin, address: location.href,
  }, '*'));
})</script>"""
_ASK = """new Promise((done) => {
  addEventListener('message', (event) => done(event.data));
  document.querySelector('iframe').contentWindow.postMessage('', '*');
})"""


def framed(html: str) -> str:
    """Return the frame of a report with another page in it."""
    report = Report("test", "a headline", [], [], [])
    report.__dict__["html"] = html
    return report._repr_html_()


def in_notebook(html: str) -> str:
    frame = framed(html)
    return f"<!doctype html><html lang=en><title>notebook</title><p>before</p>{frame}</html>"


def test_frame__shows_the_page_and_its_links_lead_within(browse):
    html = made_up_page()
    start, policy, rest = html.partition("script-src ")
    told = f"{start}{policy}'unsafe-inline' {rest}".replace("</body>", f"{_TOLD}</body>")
    # A digest in a policy makes it forget 'unsafe-inline'.
    digest = rest[: rest.index(";")]
    seen = browse(in_notebook(told.replace(f" {digest};", ";")), _ASK).value
    assert seen["title"].startswith("Page <script>")
    assert (seen["origin"], seen["address"]) == ("null", "about:srcdoc")
    assert 0 <= seen["top"] < seen["height"]
    assert seen["scrolled"]
    assert seen["focus"] == "rows"


def test_frame__asks_for_nothing(browse):
    script = "(document.querySelector('iframe').title)"
    assert browse(in_notebook(made_up_page()), script).value == "a headline"


_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"


@pytest.mark.parametrize("is_dark", [False, True], ids=["light system", "dark system"])
@pytest.mark.parametrize("notebook_is", ["light", "dark", None])
def test_frame__follows_the_theme_of_the_notebook(browse, notebook_is, is_dark):
    """Whatever the system's is, which counts where the notebook does not say its own."""
    page = f"<!doctype html><script>parent.postMessage({_DARK}, '*')</script>"
    theme = (
        "" if notebook_is is None else f' data-jp-theme-light="{notebook_is == "light"}"'.lower()
    )
    frame = framed(page)
    html = (
        f"<!doctype html><html lang=en><title>notebook</title><body{theme}><script>"
        "told = new Promise((done) => addEventListener('message', (event) => done(event.data)))"
        f"</script>{frame}</body></html>"
    )
    seen = browse(html, "told", dark=is_dark).value
    assert seen == (is_dark if notebook_is is None else notebook_is == "dark")
