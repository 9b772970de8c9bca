"""Charts in a notebook: the counts that they show, and a style that stays with them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pyarrow as pa

from neardup.reports.notebook import chart_in_notebook, similarity_chart, size_chart


def figures(chart):
    return {label: int(count.replace(",", "")) for label, count in chart.table.rows}


def similarities(values, threshold):
    parts = [pa.array(part, pa.float64()) for part in values]
    return similarity_chart(parts, threshold, title="Similarity", counted="pairs")


def test_similarities__counts_of_all_parts():
    chart = similarities([[0.8, 0.8049, 1.0], [], [0.99, None, 0.805]], 0.8)
    counted = {label: count for label, count in figures(chart).items() if count}
    assert sum(counted.values()) == 5
    assert counted["0.8 to 0.81"] == 3
    assert counted["0.99 to 1"] == 2
    assert "threshold 0.8" in chart.svg
    assert chart.description == "5 pairs by their similarity."


def test_sizes__double():
    sizes = pa.chunked_array([[1, 1, 2, 3], [4, 7, 8, 40]])
    chart = size_chart(sizes, title="Sizes", size="documents", counted="clusters")
    expected = {"1": 2, "2 to 3": 2, "4 to 7": 2, "8 to 15": 1, "16 to 31": 0, "32 to 63": 1}
    assert figures(chart) == expected
    chart = size_chart(pa.chunked_array([[300]]), title="Sizes", size="x", counted="spans")
    assert figures(chart) == {"256 to 511": 1}


def test_html__is_whole_and_its_style_is_its_own():
    html = chart_in_notebook(similarities([[0.9]], 0.8))
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    # All of it is nested in one rule.
    assert style.startswith(".neardup-chart {")
    assert style.count("{") == style.count("}")
    depths = 0
    for place, sign in enumerate(style.rstrip()):
        depths += {"{": 1, "}": -1}.get(sign, 0)
        assert depths or place < len(".neardup-chart ") or place == len(style.rstrip()) - 1
    # Well-formed, so that no cell of a notebook is left open.
    figure = ET.fromstring(html.replace(style, "").replace("<style></style>", ""))
    [picture] = figure.findall("div")
    assert picture.get("role") == "img"
    assert picture.get("aria-label") == "Similarity. 1 pairs by their similarity."
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
