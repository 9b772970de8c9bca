"""Histograms: how many values lie between which bounds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from neardup.reports.charts.axes import (
    BELOW,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    counts_up_to,
    horizontal_axis,
    short_count,
    ticks,
    vertical_axis,
)
from neardup.reports.charts.chart import WIDTH, Chart, Table, drawing, element

_HEIGHT = 230.0


def histogram(
    name: str,
    title: str,
    description: str,
    edges: Sequence[float],
    counts: Sequence[int],
    *,
    x_title: str,
    y_title: str,
    labels: Sequence[str] | None = None,
    marked: tuple[float, str] | None = None,
    is_log: bool = False,
) -> Chart:
    """Draw a bar for each count, between two edges.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    edges
        Bounds of the bars, ascending, one more than counts.
    counts
        Of each bar.
    x_title, y_title
        What the axes are.
    labels
        Of the bars, if these are categories; None labels round values of the axis.
    marked
        A value to draw a line at, such as a threshold, and its label.
    is_log
        Whether heights are logarithms of the counts.
    """
    x = Scale(edges[0], edges[-1], LEFT, WIDTH - RIGHT)
    y = counts_up_to(max(counts, default=0), _HEIGHT, is_log=is_log)
    names = labels or [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    heights = [(value, short_count(value)) for value in ticks(y, 5) if value == int(value)]
    parts = vertical_axis(y, heights, y_title)
    for (start, stop), count, label in zip(pairwise(edges), counts, names, strict=True):
        if count:
            parts.append(_bar(x(start), x(stop), y(count), f"{label}: {count:,}"))
    if labels is None:
        at = [(value, f"{value:g}") for value in ticks(x, 7)]
    else:
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        step = -(-len(labels) // 8)
        at = list(zip(middles, labels, strict=True))[::step]
    parts += horizontal_axis(x, at, x_title, _HEIGHT)
    if marked:
        parts += _mark(x(marked[0]), marked[1])
    rows = [(label, f"{count:,}") for label, count in zip(names, counts, strict=True)]
    svg = drawing(name, title, description, _HEIGHT, parts)
    return Chart(name, title, description, svg, Table((x_title, y_title), rows))


def _bar(left: float, right: float, top: float, label: str) -> Markup:
    bottom = _HEIGHT - BELOW
    gap = min(1.0, (right - left) / 8)
    return element(
        "rect",
        element("title", label),
        class_="bar",
        x=left + gap,
        y=min(top, bottom - 1),
        width=max(right - left - 2 * gap, 0.5),
        height=max(bottom - top, 1),
    )


def _mark(x: float, label: str) -> list[Markup]:
    """Draw a line from top to bottom, and its label on the side where there is more room."""
    is_left = x < (LEFT + WIDTH - RIGHT) / 2
    return [
        element("line", class_="mark-line", x1=x, x2=x, y1=TOP - 6, y2=_HEIGHT - BELOW),
        element(
            "text",
            label,
            class_="mark-label" if is_left else "mark-label end",
            x=x + 5 if is_left else x - 5,
            y=TOP + 4,
        ),
    ]
