"""Charts: every figure is drawn where it should be, and stands in the table."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.charts import (
    _WIDTH,
    Mark,
    _Scale,
    _without_common_words,
    bars,
    curves,
    histogram,
    matrix,
    matrix_of_pairs,
    similarity_chart,
    size_chart,
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
    return histogram("h", HOSTILE, HOSTILE, bins, titles)


def test_histogram__heights_are_counts():
    first, second = drawn(a_histogram(), "rect", "bar")
    assert float(first["height"]) == pytest.approx(3 * float(second["height"]), abs=0.05)
    assert (first["title"], second["title"]) == ("0.8 to 0.9: 30", "0.9 to 1: 10")
    assert a_histogram().rows == [("0.8 to 0.9", "30"), ("0.9 to 1", "10")]
    below, *marks = drawn(a_histogram(), "line", "axis")
    assert {float(mark["y1"]) for mark in marks} == {float(below["y1"])}
    assert {float(mark["y2"]) for mark in marks} == {float(below["y1"]) + 4}


def test_histogram__by_logarithms_shows_a_single_one():
    bins = [0, 1, 2], [100_000, 1]
    chart = histogram("h", "t", "d", bins, ("x", "y"), ["1", "2"])
    first, second = (float(bar["height"]) for bar in drawn(chart, "rect", "bar"))
    assert first / second == pytest.approx(math.log10(200_000) / math.log10(2), rel=0.02)


def test_curves__points_and_mark():
    chart = curves(
        "c",
        HOSTILE,
        "d",
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
        *("b", "t", "d"), {"kept": "kept", "removed": "gone"}, [(HOSTILE, (30, 10)), ("b", (0, 0))]
    )
    kept, gone = drawn(chart, "rect", "bar")[2:]
    assert float(kept["width"]) + float(gone["width"]) == pytest.approx(_WIDTH - 4, abs=0.05)
    assert float(kept["width"]) == pytest.approx(3 * float(gone["width"]), abs=0.05)
    assert chart.rows == [(HOSTILE, "30", "10"), ("b", "0", "0")]


def test_matrix__is_darker_where_it_is_more():
    labels = ["a", HOSTILE], ["x", "y"]
    chart = matrix("m", "t", "d", labels, [[0, 1], [5, 100]], ("r", "c"))
    cells = drawn(chart, "rect", "cell")
    shades = [float(cell["fill-opacity"]) for cell in cells]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert cells[3]["title"] == f"{HOSTILE}, y: 100"
    assert chart.rows == [("a", "0", "1"), (HOSTILE, "5", "100")]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["a-00.docx", "a-01.docx"], ["…00…", "…01…"]),
        (["essays/a b.txt", "essays/c b.txt"], ["…a…", "…c…"]),
        (["chapter one", "chapter two"], ["…one", "…two"]),
        (["one of them", "two of them"], ["one…", "two…"]),
        (["same name", "same name"], ["…name", "…name"]),
        (["long name ", "long name b"], ["…name ", "…name b"]),
        (["another one", "any of all"], ["another one", "any of all"]),
        (["long name of it", "long"], ["long name of it", "long"]),
        (["just one label"], ["just one label"]),
        ([], []),
    ],
)
def test_without_common_words(labels, expected):
    assert _without_common_words(labels, 8) == expected


@given(st.lists(st.text("ab-. ", max_size=12), max_size=5, unique=True), st.integers(2, 12))
def test_without_common_words__different_labels_stay_different(labels, most):
    found = _without_common_words(labels, most)
    assert len(set(found)) == len(labels)
    for label, shown in zip(labels, found, strict=True):
        assert shown.strip("…") in label


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.booleans())
def test_ticks__are_round_and_within(one, other, is_log):
    low, high = sorted((one, other))
    scale = _Scale(0.5 if is_log else low, high, 0, 100, is_log)
    found = scale.ticks(6)
    assert len(found) <= 9
    assert found == sorted(set(found))
    slack = 1e-6 * max(high - low, 1)
    assert all((0.5 if is_log else low) - slack <= value <= high + slack for value in found)


@given(st.floats(0, 1e6), st.floats(1, 1e6), st.booleans())
def test_scale__keeps_order(value, high, is_log):
    scale = _Scale(0.5 if is_log else 0, high, 10, 20, is_log)
    assert scale(0) == 10
    assert scale(high) == pytest.approx(20)
    assert scale(value) <= scale(value + 1)


def figures(chart):
    return {label: int(count.replace(",", "")) for label, count in chart.rows}


def test_similarity_chart__counts_and_threshold():
    values = np.array([0.8, 0.8049, 1.0, 0.99, np.nan, 0.805])
    chart = similarity_chart(values, 0.8, "pairs")
    counts = {label: count for label, count in figures(chart).items() if count}
    assert counts == {"0.8 to 0.805": 2, "0.805 to 0.81": 1, "0.99 to 0.995": 1, "0.995 to 1": 1}
    assert "threshold 0.8" in chart.svg
    assert chart.description.startswith("5 pairs; half of them have a similarity of 0.805 or more")
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


def test_size_chart__bins_double():
    sizes = np.array([1, 1, 2, 3, 4, 7, 8, 40])
    expected = {"1": 2, "2 to 3": 2, "4 to 7": 2, "8 to 15": 1, "16 to 31": 0, "32 to 63": 1}
    assert figures(size_chart("s", "Sizes", sizes, ("documents", "clusters"))) == expected
    assert figures(size_chart("s", "Sizes", np.array([300]), ("x", "y"))) == {"256 to 511": 1}
    assert size_chart("s", "Sizes", sizes[:0], ("x", "y")) is None


def test_matrix_of_pairs__the_heaviest():
    n = 60
    sides = np.arange(n), np.zeros(n, np.int64)
    chart = matrix_of_pairs("m", "t", sides, np.arange(n), str, ("a", "b"))
    assert [row[0] for row in chart.rows] == [str(k) for k in range(20, 60)]
    assert "Only the 40" in chart.description
    assert matrix_of_pairs("m", "t", (sides[0][:1],) * 2, np.ones(1), str, ("a", "b")) is None


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
