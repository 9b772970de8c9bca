"""Charts: every figure is drawn where it should be, and stands in the table."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.charts import (
    _WIDTH,
    banding_chart,
    bars_by_file,
    matrix_of_pairs,
    similarity_chart,
    ticks_of,
)
from neardup.reports.text import shortened
from tests.each import each_of

HOSTILE = "</svg><script>\"'&"


def drawn(chart, tag, kind=""):
    """Give the elements of a drawing with a tag and a class, as dictionaries."""
    root = ET.fromstring(chart.svg)
    assert root.get("role") == "img"
    assert [each.tag for each in root[:2]] == ["title", "desc"]
    found = [each for each in root.iter(tag) if kind in each.get("class", "").split()]
    return [dict(each.attrib) | {"title": each.findtext("title")} for each in found]


def test_similarity_chart__heights_are_counts():
    chart = similarity_chart(np.array([0.85] * 30 + [0.95] * 10), 0.0, HOSTILE)
    first, second = drawn(chart, "rect", "bar")
    assert float(first["height"]) == pytest.approx(3 * float(second["height"]), abs=0.05)
    assert (first["title"], second["title"]) == ("0.85 to 0.9: 30", "0.95 to 1: 10")
    below, *marks = drawn(chart, "line", "axis")
    assert {float(mark["y1"]) for mark in marks} == {float(below["y1"])}
    assert {float(mark["y2"]) for mark in marks} == {float(below["y1"]) + 4}


def test_banding_chart__points_and_mark():
    summary = {"bands": 16, "rows": 6, "measure": "jaccard", "threshold": 0.8}
    chart = banding_chart(summary)
    points = [point.split() for point in drawn(chart, "path", "line")[0]["d"][1:].split(" L")]
    [line] = drawn(chart, "line", "mark-line")
    assert line["x1"] == line["x2"] == points[80][0]
    heights = [float(y) for _, y in points]
    assert heights == sorted(heights, reverse=True)
    assert chart.rows[80] == ("0.8", f"{1 - (1 - 0.8**6) ** 16:.4f}")
    assert banding_chart(summary | {"bands": None}) is None


def test_bars__lengths_are_counts():
    rows = [(HOSTILE, (30, 10)), ("b", (0, 0))]
    chart = bars_by_file("t", "d", {"kept": "kept", "removed": "gone"}, rows)
    kept, gone = drawn(chart, "rect", "bar")[2:]
    assert float(kept["width"]) + float(gone["width"]) == pytest.approx(_WIDTH - 4, abs=0.05)
    assert float(kept["width"]) == pytest.approx(3 * float(gone["width"]), abs=0.05)
    assert chart.rows == [(HOSTILE, "30", "10"), ("b", "0", "0")]


def test_matrix__is_darker_where_it_is_more():
    sides = np.array([0, 1, 1]), np.array([2, 1, 2])
    names = ["a", HOSTILE, "y"]
    chart = matrix_of_pairs(sides, np.array([1, 5, 100]), names, ("r", "c"))
    cells = drawn(chart, "rect", "cell")
    shades = [float(cell["fill-opacity"]) for cell in cells]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert cells[3]["title"] == f"{HOSTILE}, y: 100"
    assert chart.rows == [("a", "0", "1"), (HOSTILE, "5", "100")]


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_ticks__are_round_and_within(one, other):
    low, high = sorted((one, other))
    found = ticks_of(low, high, 6)
    assert len(found) <= 9
    assert found == sorted(set(found))
    slack = 1e-6 * max(high - low, 1)
    assert all(low - slack <= value <= high + slack for value in found)


def figures(chart):
    return {label: int(count.replace(",", "")) for label, count in chart.rows}


def test_similarity_chart__counts_and_threshold():
    values = np.array([0.8, 0.8049, 1.0, 0.99, np.nan, 0.805])
    chart = similarity_chart(values, 0.8, "pairs")
    counts = {label: count for label, count in figures(chart).items() if count}
    assert counts == {"0.8 to 0.805": 2, "0.805 to 0.81": 1, "0.99 to 0.995": 1, "0.995 to 1": 1}
    assert "threshold 0.8" in chart.svg
    assert chart.description.startswith("5 pairs; median similarity 0.805.")
    assert similarity_chart(np.ones(1), 0.8, "pairs").description == "1 pair; median similarity 1."
    assert similarity_chart(np.array([np.nan]), 0.8, "pairs") is None


@given(st.lists(st.floats(0, 1), min_size=1), st.none() | st.floats(0, 1))
def test_similarity_chart__every_value_is_counted(values, threshold):
    chart = similarity_chart(np.array(values), threshold, "pairs")
    assert sum(figures(chart).values()) == len(values)


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_similarity_chart__of_distances(values):
    chart = similarity_chart(np.array(values, np.float64), None, "pairs", axis="distance")
    assert sum(figures(chart).values()) == len(values)
    assert len(chart.rows) <= 42


def test_matrix_of_pairs__the_heaviest():
    n = 60
    sides, names = (np.arange(n), np.zeros(n, np.int64)), [str(k) for k in range(n)]
    chart = matrix_of_pairs(sides, np.arange(n), names, ("a", "b"))
    assert [row[0] for row in chart.rows] == [str(k) for k in range(36, 60)]
    assert "Only the 24" in chart.description
    assert matrix_of_pairs((sides[0][:1],) * 2, np.ones(1), names, ("a", "b")) is None


@each_of(
    ("text", "most", "expected"),
    [
        ("short", 5, "short"),
        ("a" * 50, 9, "aaaa…aaaa"),
        ("abcdefghij", 9, "abcd…ghij"),
        ("abcdefghij", 6, "abc…ij"),
        ("數據文件", 8, "數據文件"),
        ("數據文件", 7, "數據…件"),
        ("ab數據文件.jsonl", 12, "ab數據…jsonl"),
        ("", 5, ""),
    ],
)
def test_shortened__is_as_wide_as_there_is_room(text, most, expected):
    assert shortened(text, most) == expected
