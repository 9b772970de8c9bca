"""What a notebook shows of each result."""

from __future__ import annotations

import neardup


def test_dedup__shows_what_went():
    texts = [{"id": name, "text": "Text of the first chapter."} for name in ("<b>a</b>", "b", "c")]
    html = neardup.deduplicate(texts)._repr_html_()
    assert "2 removed, 2 of those exact copies" in html
    assert html.count("<tr>") == 1 + 2
    assert "<b>" not in html
    assert "&lt;b&gt;a&lt;/b&gt;" in html


def test_pairs__shows_the_first_rows():
    rows = [{"id": i, "text": "Text of the first chapter."} for i in range(20)]
    html = neardup.find_pairs(rows)._repr_html_()
    assert html.count("<tr>") == 11
    assert "and 180 more pairs" in html
    assert "<table" not in neardup.find_pairs(rows[:1])._repr_html_()
