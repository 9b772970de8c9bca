from __future__ import annotations

import pytest

from neardup.files import html as module
from neardup.files.html import main_text, page_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.each import each_of

ARTICLE = " ".join(f"This is sentence {i} of an article about rivers and towns." for i in range(30))
PAGE = f"""<!DOCTYPE html><html><head><title>A title</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/log">Log in</a></li></ul></nav>
<article><h1>Rivers</h1><p>{ARTICLE}</p><p>{ARTICLE[::-1]}</p></article>
<footer><p>Copyright, cookies and imprint</p></footer></body></html>"""


def test_main_text__leaves_out_what_stands_around():
    found = main_text(PAGE)
    assert ARTICLE in found
    assert "Log in" not in found
    assert "cookies" not in found


@each_of("page", ["", "<html></html>", "<script>f()</script>", "\0"])
def test_main_text__none(page):
    assert main_text(page) == ""


def test_main_text__too_long_or_deep(monkeypatch):
    with pytest.raises(UnreadableFileError, match="deep in others"):
        page_text(b"<div>" * 100_000 + b"x", InputOptions(main_text=True))
    monkeypatch.setattr(module, "MAX_MAIN_BYTES", 9)
    with pytest.raises(UnreadableFileError, match="too long"):
        main_text("<p>1234567")


def test_main_text__a_line_of_a_million_characters():
    line = " ".join(f"word{i}" for i in range(120_000))
    assert main_text(f"<article><p>{line}</p></article>") == line
