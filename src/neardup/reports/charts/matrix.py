"""A matrix of counts: who has how much of whom, darker where it is more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from neardup.outputs.compare_page import escape_text
from neardup.reports.charts.axes import short_count
from neardup.reports.charts.chart import WIDTH, Chart, Table, drawing, element, shortened

# Room for labels, in units of ``WIDTH``, and how many characters fit: those of columns stand askew,
# so that the last one reaches out at the right.
_LEFT, _TOP, _RIGHT = 150.0, 124.0, 72.0
_MOST_OF_ROWS, _MOST_OF_COLUMNS = 19, 16
_CELL = (16.0, 44.0)
# Where cells are this wide their count is written in them.
_WRITTEN = 36.0


def matrix(
    name: str,
    title: str,
    description: str,
    rows: Sequence[str],
    columns: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    row_title: str,
    column_title: str,
) -> Chart:
    """Draw a cell for each row and column, shaded by the logarithm of its count.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    rows, columns
        Their labels; 16 columns at most are wide enough to be seen.
    counts
        Of each row, one for each column.
    row_title, column_title
        What rows and columns are.
    """
    side = min(max((WIDTH - _LEFT - _RIGHT) / max(len(columns), 1), _CELL[0]), _CELL[1])
    largest = max((count for row in counts for count in row), default=0)
    parts = [
        element("text", f"{row_title} ↓", class_="axis-title", x=2, y=_TOP - 8),
        element("text", f"{column_title} →", class_="axis-title", x=2, y=14),
    ]
    for j, label in enumerate(columns):
        x = _LEFT + (j + 0.5) * side
        parts.append(
            element(
                "text",
                _label(label, _MOST_OF_COLUMNS),
                class_="tick",
                transform=f"translate({x + 4:.2f} {_TOP - 6:.2f}) rotate(-55)",
            )
        )
    for i, label in enumerate(rows):
        y = _TOP + i * side
        parts.append(
            element(
                "text",
                _label(label, _MOST_OF_ROWS),
                class_="tick end",
                x=_LEFT - 6,
                y=y + side / 2 + 4,
            )
        )
        for j, count in enumerate(counts[i]):
            parts += _cell(_LEFT + j * side, y, side, count, largest, f"{label}, {columns[j]}")
    table = Table(
        (f"{row_title} / {column_title}", *columns),
        [(label, *(f"{n:,}" for n in row)) for label, row in zip(rows, counts, strict=True)],
    )
    svg = drawing(name, title, description, _TOP + side * max(len(rows), 1) + 4, parts)
    return Chart(name, title, description, svg, table)


def _cell(x: float, y: float, side: float, count: int, largest: int, places: str) -> list[Markup]:
    share = math.log1p(count) / math.log1p(largest) if count else 0.0
    parts = [
        element(
            "rect",
            element("title", f"{places}: {count:,}"),
            class_="cell" if count else "cell none",
            fill_opacity=0.1 + 0.5 * share if count else 0,
            x=x + 0.5,
            y=y + 0.5,
            width=side - 1,
            height=side - 1,
        )
    ]
    if count and side >= _WRITTEN:
        middle = {"x": x + side / 2, "y": y + side / 2 + 4}
        parts.append(element("text", short_count(count), class_="tick middle inert", **middle))
    return parts


def _label(label: str, most: int) -> Markup:
    shown = Markup(escape_text(shortened(label, most)))
    return element("title", label) + shown
