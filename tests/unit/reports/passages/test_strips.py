"""Bars of texts: a part for what each other text has, and one for what very many have."""

from __future__ import annotations

import re

from neardup.reports.passages.drawings import strips


def bits(svg: str) -> list[tuple[float, float, str]]:
    found = re.findall(
        r'<rect class="bit c\d+" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="10">'
        r"<title>(.*?)</title>",
        svg,
    )
    return [(float(x), float(width), title) for x, width, title in found]


def test_strips__a_part_for_each_text(make_passages):
    rows = [(0, 0, 50, 1, 0, 50, 1.0), (0, 50, 119, 2, 0, 69, 1.0), (0, 50, 119, 2, 0, 69, 0.9)]
    chart = strips(make_passages([None] * 3, rows, lengths=[119] * 3), [0], "strips", "Shared")
    assert bits(chart.svg) == [
        (2.0, 200.0, "0 to 50: also in d1"),
        (202.0, 276.0, "50 to 119: also in d2"),
    ]
    assert "one colour" not in chart.description


def test_strips__what_very_many_have_is_one(make_passages):
    n = 2000
    # All overlap up to 7,100; beyond a gap that can be seen is one more.
    rows = [(0, 5 * (k % 1400), 5 * (k % 1400) + 105, k + 1, 0, 105, 1.0) for k in range(n)]
    rows.append((0, 20_000, 20_100, 1, 0, 100, 1.0))
    lengths = [47_600, *[200] * n]
    chart = strips(make_passages([None] * (n + 1), rows, lengths=lengths), [0], "strips", "Shared")
    assert bits(chart.svg) == [
        (2.0, 71.0, "0 to 7,100: parts of it also in 2,000 other texts"),
        (202.0, 1.0, "20,000 to 20,100: also in d1"),
    ]
    assert "one colour" in chart.description
    assert len(chart.svg) < 2000
