"""Plots lose what draws nothing, and nothing that is drawn."""

from __future__ import annotations

import re

import pytest

from benchmarks.papers.short_svg import shorten
from tests.docs.pages import ROOT

PLOT = """<?xml version="1.0"?>
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><a>b</a></metadata>
 <defs><style type="text/css">*{x: y}</style></defs>
 <g id="figure_1">
  <!-- a comment -->
  <path id="m1" d="M 0.123456 10.5
L 2 3.000001
" style="stroke: #000000"/>
  <use xlink:href="#m1" x="7.777777" style="stroke: #000000"/>
  <text transform="rotate(-0 1 2)">two  words</text>
 </g>
</svg>
"""


def test_shorten__says_styles_once_and_places_shortly():
    assert shorten(PLOT).strip() == (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'version="1.1"><defs><style type="text/css">*{x: y}.s0{stroke: #000000}</style></defs>'
        '<path id="m1" d="M 0.12 10.5 L 2 3" class="s0" />'
        '<use xlink:href="#m1" x="7.78" class="s0" /><text>two  words</text></svg>'
    )


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.svg")), ids=lambda path: path.name)
def test_plots__are_short(path):
    text = path.read_text(encoding="utf-8")
    assert "<metadata>" not in text
    assert path.stat().st_size < 30_000
    # What is drawn by its name is there.
    assert set(re.findall(r'href="#(\w+)"', text)) <= set(re.findall(r' id="(\w+)"', text))
    if "Matplotlib" in text or "DejaVu" in text:
        assert shorten(text) == text
