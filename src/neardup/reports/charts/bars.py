"""Bars of parts, one below the other, such as what stayed and what went of each file."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from neardup.outputs.compare_page import escape_text
from neardup.reports.charts.chart import (
    WIDTH,
    Chart,
    Table,
    drawing,
    element,
    shortened,
)

_LABEL, _BAR, _ROW = 14.0, 14.0, 44.0
_LEGEND = 26.0
_MOST_CHARACTERS = 44


def bars(
    name: str,
    title: str,
    description: str,
    parts: Sequence[str],
    rows: Sequence[tuple[str, Sequence[int]]],
    *,
    kinds: Sequence[str] = ("kept", "gone", "other"),
    head: str = "",
) -> Chart:
    """Draw a bar for each row; all have the same scale, so that long ones are large.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    parts
        What the parts of each bar are, for the legend and the table.
    rows
        A label and as many counts as parts.
    kinds
        Classes of the parts, which have the colours.
    head
        What the labels are, for the table.
    """
    largest = max((sum(counts) for _, counts in rows), default=0) or 1
    drawn = _legend(parts, kinds) if len(parts) > 1 else []
    top = _LEGEND if len(parts) > 1 else 4.0
    for i, (label, counts) in enumerate(rows):
        y = top + _ROW * i
        shown = f"{sum(counts):,}"
        drawn += [
            element(
                "text",
                _label(label),
                class_="tick",
                x=2,
                y=y + _LABEL,
            ),
            element("text", shown, class_="tick end", x=WIDTH - 2, y=y + _LABEL),
        ]
        x = 2.0
        for part, count, kind in zip(parts, counts, kinds, strict=False):
            width = (WIDTH - 4) * count / largest
            if count:
                drawn.append(
                    element(
                        "rect",
                        element("title", f"{label}: {part} {count:,}"),
                        class_=f"bar {kind}",
                        x=x,
                        y=y + _LABEL + 6,
                        width=max(width, 0.5),
                        height=_BAR,
                    )
                )
            x += width
    table = Table((head, *parts), [(label, *(f"{n:,}" for n in counts)) for label, counts in rows])
    svg = drawing(name, title, description, top + _ROW * max(len(rows), 1), drawn)
    return Chart(name, title, description, svg, table)


def _label(label: str) -> Markup:
    """Write as much of a label as there is room for; all of it shows where it is pointed at."""
    shown = Markup(escape_text(shortened(label, _MOST_CHARACTERS)))
    return element("title", label) + shown


def _legend(parts: Sequence[str], kinds: Sequence[str]) -> list[Markup]:
    drawn: list[Markup] = []
    x = 2.0
    for part, kind in zip(parts, kinds, strict=False):
        drawn += [
            element("rect", class_=f"bar {kind}", x=x, y=4, width=12, height=12),
            element("text", part, class_="tick", x=x + 17, y=14),
        ]
        x += 34 + 7 * len(part)
    return drawn
