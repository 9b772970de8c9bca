"""The gallery: what its pages say they are, and that they are made anew as they are here."""

from __future__ import annotations

import os
import re

import pytest

from docs.gallery.make import HERE, PAGES, keep, kept, made
from tests.docs.pages import UPDATE, links, page
from tests.each import each_of

README = page("docs/gallery/README.md")
MOST_BYTES = 450_000


def test_gallery__pages_are_those_that_the_script_makes():
    assert {path.name for path in HERE.glob("*.xz")} == {f"{name}.html.xz" for name in PAGES}
    listed = re.findall(r"\| \[(\w+)\]\((\w+)\.html\)", README)
    assert [name for name, _ in listed] == [name for _, name in listed]
    assert {name for name, _ in listed} == set(PAGES)
    assert sum(len(kept(name)) for name in PAGES) < MOST_BYTES
    assert sum(path.stat().st_size for path in HERE.glob("*.xz")) < MOST_BYTES / 5


@each_of("name", PAGES)
def test_gallery__pages_are_closed_and_name_their_source(name):
    html = kept(name)
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'" in html
    assert not re.search(r'(?:src|href)="(?!#)', html)
    [foot] = re.findall(r'(?s)<footer class="page-foot">(.*?)</footer>', html)
    assert "Texts: " in foot
    assert "Licence: " in foot
    whose = README.split("Whose texts")[1]
    assert re.search(rf"(?m)^\|[^|]*\b{name}\b[^|]*\|[^|]+\|[^|]+\|$", whose)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, each in PAGES.items() if each.needs is None])
def test_gallery__pages_of_examples_are_made_byte_for_byte(name):
    html = made(name, HERE)
    if os.environ.get(UPDATE) == "1":
        keep(name, html)
    assert kept(name) == html, f"run the tests with {UPDATE}=1 to write this"


def test_pictures__are_small():
    assert [link for link in links(page("README.md")) if link.endswith(".png")] == [
        "docs/gallery/dedup.png"
    ]
    assert "gallery/passages.png" in links(page("docs/editions.md"))
    assert all(5_000 < path.stat().st_size < 75_000 for path in HERE.glob("*.png"))
