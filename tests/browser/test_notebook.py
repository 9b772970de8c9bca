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
    """Put outputs into a page that has a class of its own by the name of one of ours."""
    cells = "".join(f"<div class=cell>{output}</div>" for output in outputs)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>notebook</title>"
        f"<style>body {{ color: {colours} }}</style><main>"
        f"<h1>A notebook</h1><p class=chart id=own>own</p>{cells}</main></html>"
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
  charts: [...document.querySelectorAll('svg')].map((e) => {
    const box = e.getBoundingClientRect();
    return [Math.round(box.width), Math.round(box.height)];
  }),
  ink: [...new Set([...document.querySelectorAll('svg .tick')].map(
    (e) => getComputedStyle(e).fill))],
  bars: [...document.querySelectorAll('svg .bar')].map((e) => getComputedStyle(e).fill),
  own: [getComputedStyle(document.getElementById('own')).fontSize,
        getComputedStyle(document.body).getPropertyValue('--kept')],
  title: document.title,
  tables: [...document.querySelectorAll('table')].map((e) => e.rows.length),
})"""


@pytest.mark.parametrize(
    ("colours", "ink"),
    [
        ("rgb(10, 10, 10); background: white", "rgb(10, 10, 10)"),
        ("rgb(240, 240, 240); background: black", "rgb(240, 240, 240)"),
    ],
)
def test_outputs__charts_and_tables(browse, outputs, colours, ink):
    page = notebook(*outputs, colours=colours)
    looks, violations = browse(page, LOOK, scripts.violations()).values
    assert len(looks["charts"]) == 3
    assert all(width > 300 and height > 100 for width, height in looks["charts"])
    assert looks["ink"] == [ink]
    assert set(looks["bars"]) == {"rgb(55, 135, 192)"}
    # Nothing else looks otherwise for it.
    assert looks["own"] == ["16px", ""]
    assert looks["title"] == "notebook"
    assert looks["tables"][0] == 1 + 3
    assert violations == []
