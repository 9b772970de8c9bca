"""Curves of shares over a share, such as the chance of a pair to be found over its similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from neardup.reports.charts.axes import (
    BELOW,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    horizontal_axis,
    ticks,
    vertical_axis,
)
from neardup.reports.charts.chart import (
    WIDTH,
    Chart,
    Table,
    drawing,
    element,
    number,
)

_HEIGHT = 260.0
# Of the curves in turn; the style sheet has as many.
N_KINDS = 4
_LINE = 18.0


@dataclass(frozen=True)
class Curve:
    """Points (x, y), ascending in x, of one line, which the legend calls by its name."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Measured:
    """What was measured at x: a value, and bounds around it, which may be the value."""

    name: str
    x: float
    value: float
    low: float
    high: float


def curves(
    name: str,
    title: str,
    description: str,
    lines: Sequence[Curve],
    *,
    x_title: str,
    y_title: str,
    x_range: tuple[float, float] = (0.0, 1.0),
    marked: tuple[float, str] | None = None,
    measured: Sequence[Measured] = (),
) -> Chart:
    """Draw lines over ``x_range``; y goes from 0 to 1.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    lines
        At most ``N_KINDS``; all have the same x in the table of figures, where they have them.
    x_title, y_title
        What the axes are.
    x_range
        Least and greatest x.
    marked
        An x to draw a line at, and its label.
    measured
        Values with bounds, drawn over the lines.
    """
    legend = len(lines) + len(measured) if len(lines) + len(measured) > 1 else 0
    height = _HEIGHT + _LINE * legend
    x = Scale(*x_range, LEFT, WIDTH - RIGHT)
    y = Scale(0.0, 1.0, _HEIGHT - BELOW, TOP)
    parts = vertical_axis(y, [(value, f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)], y_title)
    parts += horizontal_axis(x, [(at, f"{at:g}") for at in ticks(x, 7)], x_title, _HEIGHT)
    if marked:
        at = x(marked[0])
        is_left = at < WIDTH / 2
        side = {"class_": "mark-label", "x": at + 5} if is_left else _at_end(at - 5)
        parts += [
            element("line", class_="mark-line", x1=at, x2=at, y1=TOP - 6, y2=_HEIGHT - BELOW),
            element("text", marked[1], y=_HEIGHT - BELOW - 8, **side),
        ]
    for kind, line in enumerate(lines):
        places = (f"{number(x(a))} {number(y(b))}" for a, b in line.points)
        path = f"M{' L'.join(places)}" if line.points else ""
        parts.append(element("path", element("title", line.name), class_=f"line k{kind}", d=path))
    for each in measured:
        parts += _measured(x(each.x), y(each.value), y(each.low), y(each.high), each.name)
    if legend:
        parts += _legend([line.name for line in lines], [each.name for each in measured])
    svg = drawing(name, title, description, height, parts)
    return Chart(name, title, description, svg, _table(lines, measured, x_title))


def _at_end(x: float) -> dict[str, object]:
    return {"class_": "mark-label end", "x": x}


def _measured(x: float, value: float, low: float, high: float, label: str) -> list[Markup]:
    return [
        element("line", class_="interval", x1=x, x2=x, y1=low, y2=high),
        element("line", class_="interval", x1=x - 5, x2=x + 5, y1=low, y2=low),
        element("line", class_="interval", x1=x - 5, x2=x + 5, y1=high, y2=high),
        element("circle", element("title", label), class_="measured", cx=x, cy=value, r=4.5),
    ]


def _legend(lines: Sequence[str], measured: Sequence[str]) -> list[Markup]:
    parts: list[Markup] = []
    for i, label in enumerate([*lines, *measured]):
        y = _HEIGHT + _LINE * i + 8
        if i < len(lines):
            parts.append(element("line", class_=f"line k{i}", x1=LEFT, x2=LEFT + 22, y1=y, y2=y))
        else:
            parts.append(element("circle", class_="measured", cx=LEFT + 11, cy=y, r=4.5))
        parts.append(element("text", label, class_="tick", x=LEFT + 30, y=y + 4))
    return parts


def _table(lines: Sequence[Curve], measured: Sequence[Measured], x_title: str) -> Table:
    values = [dict(line.points) for line in lines]
    rows = [
        (f"{x:.4g}", *(f"{of[x]:.4f}" if x in of else "" for of in values))
        for x in sorted({x for of in values for x in of})
    ]
    for each in measured:
        cells = [""] * (len(lines) - 1)
        text = f"{each.name}: {each.value:.4f} ({each.low:.4f} to {each.high:.4f})"
        rows.append((f"{each.x:.4g}", text, *cells))
    return Table((x_title, *(line.name for line in lines)), rows)
