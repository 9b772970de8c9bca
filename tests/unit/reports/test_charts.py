"""Charts: every figure is drawn where it should be, and stands in the table."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.charts import (
    _WIDTH,
    Caption,
    Mark,
    _Scale,
    bars,
    curves,
    histogram,
    matrix,
    matrix_of_pairs,
    similarity_chart,
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


def a_histogram():
    bins, titles = ([0.8, 0.9, 1.0], [30, 10]), ("similarity", "documents")
    return histogram(Caption("h", HOSTILE, HOSTILE), bins, titles)


def test_histogram__heights_are_counts():
    first, second = drawn(a_histogram(), "rect", "bar")
    assert float(first["height"]) == pytest.approx(3 * float(second["height"]), abs=0.05)
    assert (first["title"], second["title"]) == ("0.8 to 0.9: 30", "0.9 to 1: 10")
    assert a_histogram().rows == [("0.8 to 0.9", "30"), ("0.9 to 1", "10")]
    below, *marks = drawn(a_histogram(), "line", "axis")
    assert {float(mark["y1"]) for mark in marks} == {float(below["y1"])}
    assert {float(mark["y2"]) for mark in marks} == {float(below["y1"]) + 4}


def test_curves__points_and_mark():
    chart = curves(
        Caption("c", HOSTILE, "d"),
        {"one": [(0, 0), (0.5, 0.5), (1, 1)], "two": [(0, 1), (1, 0)]},
        ("x", "y"),
        Mark(0.5, "middle"),
    )
    path = drawn(chart, "path", "line")[0]["d"]
    middle = path.split(" L")[1].split()
    [line] = drawn(chart, "line", "mark-line")
    assert line["x1"] == line["x2"] == middle[0]
    assert chart.head == ("x", "one", "two")
    assert chart.rows[1] == ("0.5", "0.5000", "")


def test_bars__lengths_are_counts():
    chart = bars(
        Caption("b", "t", "d"),
        {"kept": "kept", "removed": "gone"},
        [(HOSTILE, (30, 10)), ("b", (0, 0))],
    )
    kept, gone = drawn(chart, "rect", "bar")[2:]
    assert float(kept["width"]) + float(gone["width"]) == pytest.approx(_WIDTH - 4, abs=0.05)
    assert float(kept["width"]) == pytest.approx(3 * float(gone["width"]), abs=0.05)
    assert chart.rows == [(HOSTILE, "30", "10"), ("b", "0", "0")]


def test_matrix__is_darker_where_it_is_more():
    labels = ["a", HOSTILE], ["x", "y"]
    chart = matrix(Caption("m", "t", "d"), labels, [[0, 1], [5, 100]], ("r", "c"))
    cells = drawn(chart, "rect", "cell")
    shades = [float(cell["fill-opacity"]) for cell in cells]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert cells[3]["title"] == f"{HOSTILE}, y: 100"
    assert chart.rows == [("a", "0", "1"), (HOSTILE, "5", "100")]


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_ticks__are_round_and_within(one, other):
    low, high = sorted((one, other))
    found = _Scale(low, high, 0, 100).ticks(6)
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
    assert chart.caption.description.startswith(
        "5 pairs; half of them have a similarity of 0.805 or more"
    )
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
    assert "Only the 24" in chart.caption.description
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
