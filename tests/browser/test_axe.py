"""The checks of accessibility themselves: what is checked with, and that it finds what is wrong."""

from __future__ import annotations

import hashlib

import pytest

from tests.browser import scripts

pytestmark = pytest.mark.browser


def test_axe__is_the_file_of_its_package():
    digest = hashlib.sha256(scripts.axe_source().encode()).hexdigest()
    assert digest in (scripts.AXE.parent / "README.md").read_text()
    assert (scripts.AXE.parent / "LICENSE").is_file()


BAD = """<!doctype html><html><head><meta charset=utf-8>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { color: #999; background: #fff; }
.wide { width: 2000px; } .tall { height: 90000px; }
@media screen { .screen { color: red; } }
@media print { body { color: #000; } .not { display: none; } }
</style></head><body><main><h1>Bad</h1><p class=screen>pale</p><p class=not>not printed</p>
<input><button class=none></button><div class=wide>wide</div><div class=tall></div></main></body>"""


def test_violations__of_a_bad_page(browse):
    broken = {rule["rule"] for rule in browse(BAD, scripts.violations()).value}
    assert {"document-title", "html-has-lang", "label", "button-name", "color-contrast"} <= broken
    broken = {rule["rule"] for rule in browse(BAD, scripts.violations("label")).value}
    assert "label" not in broken
    assert "button-name" in broken


def test_widths__of_a_page_that_is_too_wide(browse):
    seen = browse(BAD, scripts.WIDTHS, width=400).value
    assert seen["scroll"] > 2000
    assert seen["wide"] == ["div.wide: wide"]
    assert seen["small"]


def test_as_printed__applies_the_rules_of_print(browse, tmp_path):
    shown = "document.querySelector('.not').checkVisibility()"
    red = "getComputedStyle(document.querySelector('.screen')).color"
    steps = (shown, red, scripts.AS_PRINTED, shown, red)
    values = browse(BAD, *steps, pdf=tmp_path / "page.pdf").values
    assert values == [True, "rgb(255, 0, 0)", 1, False, "rgb(0, 0, 0)"]
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_pauses__finds_one(browse):
    quick = browse(BAD, scripts.pauses()).value
    assert quick["longest"] < 1000
    assert quick["height"] > 90_000
    assert quick["places"] > 100
    busy = """document.addEventListener('scroll', () => {
      const end = performance.now() + (scrollY > 5000 && scrollY < 6000 ? 400 : 0);
      while (performance.now() < end);
    }) || 0"""
    slow = browse(BAD, busy, scripts.pauses()).value
    assert slow["longest"] >= 400
    assert slow["tasks"] >= 400


def test_keys__move_the_focus(browse):
    values = browse(BAD, "keys:Tab", scripts.FOCUS, "keys:Tab", scripts.FOCUS).values
    assert [value["tag"] for value in values] == ["input", "button"]
    assert all(value["seen"] for value in values)
    assert all(value["outline"] for value in values)


@pytest.mark.parametrize("dark", [False, True])
def test_colours__are_those_of_the_system(browse, dark):
    assert browse(BAD, scripts.COLOURS, dark=dark).value["dark"] is dark


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("<img src='http://example.invalid/x.png'>", "example.invalid"),
        ("<link rel=stylesheet href=other.css>", "other.css"),
        ("<script>alert(1)</script>", "'1'"),
        ("<script>console.log('said')</script>", "said"),
    ],
)
def test_browse__refuses(browse, bad, why):
    with pytest.raises(AssertionError, match=why):
        browse(f"<!doctype html><title>bad</title>{bad}", "1")
