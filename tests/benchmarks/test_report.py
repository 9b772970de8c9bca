"""The tables of sections have a place each, and a report that changes no figure changes no page."""

from __future__ import annotations

import pytest

from benchmarks import run
from benchmarks.measuring.markdown import replace_between
from tests.docs.pages import ROOT
from tests.each import each_of

pytestmark = pytest.mark.slow


@each_of("name", list(run.SECTIONS), ids=str)
def test_page__has_a_place_for_the_table(name):
    page = run.page_of(name).read_text(encoding="utf-8")
    assert page.count(f"<!-- begin {name} -->\n") == 1
    assert page.count(f"<!-- end {name} -->") == 1


def test_page__is_that_of_the_room():
    assert run.page_of("edit_joins") == ROOT / "benchmarks/joins/README.md"
    assert run.page_of("linkage") == ROOT / "docs/linkage.md"


def test_report__twice_writes_the_same(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("<!-- begin a -->\n<!-- end a -->\n", encoding="utf-8")
    for _ in range(2):
        replace_between(page, "a", "table")
        text = page.read_text(encoding="utf-8")
        assert text == "<!-- begin a -->\n\ntable\n\n<!-- end a -->\n"
