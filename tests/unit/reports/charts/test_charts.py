"""Charts: every figure is drawn where it should be, and stands in the table."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.charts import (
    WIDTH,
    Curve,
    Measured,
    Scale,
    bars,
    curves,
    histogram,
    matrix,
    shortened,
    ticks,
    told_apart,
)
from tests.each import each_of

HOSTILE = "</svg><script>\"'&"


def drawn(chart, tag, kind=""):
    """Give the elements of a drawing with a tag and a class, as dictionaries."""
    root = ET.fromstring(chart.svg)
    assert root.get("role") == "img"
    assert [each.tag for each in root[:2]] == ["title", "desc"]
    found = [each for each in root.iter(tag) if kind in each.get("class", "").split()]
    return [dict(each.attrib) | {"title": each.findtext("title")} for each in found]


def a_histogram(**options):
    options = {"x_title": "similarity", "y_title": "documents"} | options
    return histogram("h", HOSTILE, HOSTILE, [0.8, 0.9, 1.0], [30, 10], **options)


def test_histogram__heights_are_counts():
    first, second = drawn(a_histogram(), "rect", "bar")
    assert float(first["height"]) == pytest.approx(3 * float(second["height"]), abs=0.05)
    assert (first["title"], second["title"]) == ("0.8 to 0.9: 30", "0.9 to 1: 10")
    assert a_histogram().table.rows == [("0.8 to 0.9", "30"), ("0.9 to 1", "10")]
    below, *marks = drawn(a_histogram(), "line", "axis")
    assert {float(mark["y1"]) for mark in marks} == {float(below["y1"])}
    assert {float(mark["y2"]) for mark in marks} == {float(below["y1"]) + 4}


def test_histogram__by_logarithms_shows_a_single_one():
    chart = histogram(
        "h",
        "t",
        "d",
        [0, 1, 2],
        [100_000, 1],
        x_title="x",
        y_title="y",
        labels=["1", "2"],
        is_log=True,
    )
    first, second = (float(bar["height"]) for bar in drawn(chart, "rect", "bar"))
    assert first / second == pytest.approx(math.log10(200_000) / math.log10(2), rel=0.02)


def test_curves__points_and_what_was_measured():
    chart = curves(
        "c",
        HOSTILE,
        "d",
        [Curve("one", [(0, 0), (0.5, 0.5), (1, 1)]), Curve("two", [(0, 1), (1, 0)])],
        x_title="x",
        y_title="y",
        measured=[Measured("seen", 0.5, 0.5, 0.25, 0.75)],
    )
    path = drawn(chart, "path", "line")[0]["d"]
    middle = path.split(" L")[1].split()
    circle = drawn(chart, "circle", "measured")[0]
    assert [circle["cx"], circle["cy"]] == middle
    assert chart.table.head == ("x", "one", "two")
    assert chart.table.rows[1] == ("0.5", "0.5000", "")
    assert chart.table.rows[-1] == ("0.5", "seen: 0.5000 (0.2500 to 0.7500)", "")


def test_bars__lengths_are_counts():
    chart = bars("b", "t", "d", ["kept", "removed"], [(HOSTILE, (30, 10)), ("b", (0, 0))])
    kept, gone = drawn(chart, "rect", "bar")[2:]
    assert float(kept["width"]) + float(gone["width"]) == pytest.approx(WIDTH - 4, abs=0.05)
    assert float(kept["width"]) == pytest.approx(3 * float(gone["width"]), abs=0.05)
    assert chart.table.rows == [(HOSTILE, "30", "10"), ("b", "0", "0")]


def test_matrix__is_darker_where_it_is_more():
    chart = matrix(
        "m",
        "t",
        "d",
        ["a", HOSTILE],
        ["x", "y"],
        [[0, 1], [5, 100]],
        row_title="r",
        column_title="c",
    )
    cells = drawn(chart, "rect", "cell")
    shades = [float(cell["fill-opacity"]) for cell in cells]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert cells[3]["title"] == f"{HOSTILE}, y: 100"
    assert chart.table.rows == [("a", "0", "1"), (HOSTILE, "5", "100")]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["a-00.docx", "a-01.docx"], ["…00…", "…01…"]),
        (["essays/a b.txt", "essays/c b.txt", "others"], ["…a…", "…c…", "others"]),
        (["chapter one", "chapter two"], ["…one", "…two"]),
        (["one of them", "two of them"], ["one…", "two…"]),
        (["same name", "same name"], ["…name", "…name"]),
        (["long name ", "long name b"], ["…name ", "…name b"]),
        (["another one", "any of all"], ["another one", "any of all"]),
        (["long name of it", "long"], ["long name of it", "long"]),
        (["a-1", "a-2", "others"], ["a-1", "a-2", "others"]),
        (["just one label"], ["just one label"]),
        ([], []),
    ],
)
def test_told_apart(labels, expected):
    assert told_apart(labels, 8) == expected


@given(st.lists(st.text("ab-. ", max_size=12), max_size=5, unique=True), st.integers(2, 12))
def test_told_apart__different_labels_stay_different(labels, most):
    found = told_apart(labels, most)
    assert len(set(found)) == len(labels)
    for label, shown in zip(labels, found, strict=True):
        assert shown.strip("…") in label


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.booleans())
def test_ticks__are_round_and_within(one, other, is_log):
    low, high = sorted((one, other))
    scale = Scale(0.5 if is_log else low, high, 0, 100, is_log)
    found = ticks(scale)
    assert len(found) <= 9
    assert found == sorted(set(found))
    slack = 1e-6 * max(high - low, 1)
    assert all((0.5 if is_log else low) - slack <= value <= high + slack for value in found)


@given(st.floats(0, 1e6), st.floats(1, 1e6), st.booleans())
def test_scale__keeps_order(value, high, is_log):
    scale = Scale(0.5 if is_log else 0, high, 10, 20, is_log)
    assert scale(0) == 10
    assert scale(high) == pytest.approx(20)
    assert scale(value) <= scale(value + 1)


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
