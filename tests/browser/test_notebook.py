"""What results show in a notebook, among the output of others."""

from __future__ import annotations

import pytest

import neardup
from tests.browser import scripts
from tests.browser.page_cases import ENGLISH, HOSTILE

pytestmark = pytest.mark.browser

TEXTS = [
    {"id": name, "text": text}
    for name, text in (
        ("first", ENGLISH),
        ("copy", ENGLISH),
        (HOSTILE[0], ENGLISH.replace("dreary", "stormy")),
        (HOSTILE[4], ENGLISH.replace("lifeless ", "")),
        ("other", "Nothing of it is in here."),
    )
]


def notebook(*outputs: str, colours: str = "black; background: white") -> str:
    """Put outputs into a page of a notebook."""
    cells = "".join(f"<div class=cell>{output}</div>" for output in outputs)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>notebook</title>"
        f"<style>body {{ color: {colours} }}</style><main>"
        f"<h1>A notebook</h1>{cells}</main></html>"
    )


@pytest.fixture(scope="module")
def outputs():
    results = [
        neardup.deduplicate(TEXTS),
        neardup.find_pairs(TEXTS, threshold="0.5"),
        neardup.align(TEXTS, min_tokens=20),
    ]
    return [result._repr_html_() for result in results]


LOOK = """({
  title: document.title,
  tables: [...document.querySelectorAll('table')].map((e) => e.rows.length),
})"""


@pytest.mark.parametrize(
    "colours",
    ["rgb(10, 10, 10); background: white", "rgb(240, 240, 240); background: black"],
)
def test_outputs__tables(browse, outputs, colours):
    page = notebook(*outputs, colours=colours)
    looks, violations = browse(page, LOOK, scripts.violations()).values
    assert looks["title"] == "notebook"
    assert looks["tables"][0] == 1 + 3
    assert violations == []
