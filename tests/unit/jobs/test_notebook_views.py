"""What a notebook shows of each result: its chart has the figures of its table."""

from __future__ import annotations

import re

import pytest

import neardup
from tests.browser.page_cases import ENGLISH

TEXTS = [
    {"id": "<b>a</b>", "text": ENGLISH},
    {"id": "b", "text": ENGLISH.replace("dreary", "stormy")},
    {"id": "c", "text": ENGLISH},
    {"id": "d", "text": "Something else that is like none of the others at all, I hope so."},
]


def counts(html: str) -> list[int]:
    """Return what the bars of a chart say that they count."""
    return [int(n) for n in re.findall(r"<title>[^<]*: (\d+)</title>", html)]


def test_dedup__shows_what_went():
    result = neardup.deduplicate(TEXTS)
    html = result._repr_html_()
    assert "2 removed, 1 of those exact copies" in html
    # The exact copy is no bar.
    assert counts(html) == [1]
    assert html.count("<tr>") == 1 + 2
    assert "<b>" not in html
    assert "&lt;b&gt;a&lt;/b&gt;" in html


def test_pairs__chart_and_first_rows():
    rows = [{"id": i, "text": ENGLISH} for i in range(20)]
    html = neardup.find_pairs(rows)._repr_html_()
    assert counts(html) == [190]
    assert html.count("<tr>") == 11
    assert "and 180 more pairs" in html
    assert "<svg" in neardup.find_pairs(TEXTS, top=2)._repr_html_()
    assert "<svg" not in neardup.find_pairs(TEXTS[3:])._repr_html_()


def test_estimate__chart_of_all_pairs():
    sketches = neardup.sketch(TEXTS, kind="smallest")
    result = neardup.estimate(sketches, threshold="0.5")
    assert sum(counts(result._repr_html_())) == len(result) == 3


@pytest.mark.parametrize("text", ["a b c", "x"])
def test_search__documents(tmp_path, text):
    index = neardup.DocumentIndex.create(tmp_path / "index", text=neardup.TextOptions(ngram=1))
    index.add([{"id": "1", "text": "a b c"}])
    found = index.search([{"id": "q", "text": text}])
    assert sum(counts(found._repr_html_())) == len(found)
