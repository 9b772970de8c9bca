"""Charts in a notebook have a style sheet that changes nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pyarrow as pa

from neardup.results import chart_in_notebook


def test_html__is_whole_and_its_style_is_its_own():
    html = chart_in_notebook(pa.chunked_array([[0.9, None]]), 0.8, "pairs")
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
    assert (
        picture.get("aria-label")
        == "Pairs by similarity. 1 pairs; half of them have a similarity of 0.9 or more."
    )
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
