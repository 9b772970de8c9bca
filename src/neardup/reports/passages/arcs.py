"""Passages as arcs between texts, which are lines as long as the texts are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from neardup.outputs.compare_page import escape_text
from neardup.reports.charts.chart import WIDTH, Chart, Table, drawing, element, number, shortened
from neardup.reports.passages.model import Passages
from neardup.tables import Int64s

N_COLOURS = 12
"""Of pairs, texts and passages in turn; the style sheet has as many."""

MOST_ARCS = 500
"""Arcs that a drawing has."""

# Labels lean to the right, beyond the last line.
_LEFT, _RIGHT, _GAP, _LEAST = 6.0, 88.0, 8.0, 4.0
# Room for labels above or below a line, and for arcs.
_LABELS, _ARCS = 112.0, 170.0
_MOST_CHARACTERS = 16


@dataclass(frozen=True)
class _Line:
    """Where a text is drawn, and how wide a character is."""

    x: float
    y: float
    width: float
    scale: float


def arcs(
    passages: Passages,
    upper: Sequence[int],
    lower: Sequence[int],
    name: str,
    title: str,
) -> Chart:
    """Draw each passage as an arc between its two places.

    Parameters
    ----------
    passages
        Drawn are the longest of those that are between two of the named texts.
    upper
        The texts of the first line.
    lower
        Those of a second one, where passages are between two collections; else none.
    name, title
        As of ``Chart``.
    """
    top = _LABELS if lower else _height(passages, upper)
    lines = _laid_out(passages, upper, top) | _laid_out(passages, lower, top + _ARCS)
    rows, n_all = _longest(passages, lines)
    parts: list[Markup] = []
    for document, line in lines.items():
        parts += _text(passages.name(document), line, is_above=bool(lower) and line.y == top)
    parts += _arcs(passages, lines, rows)
    height = top + _LABELS + (_ARCS if lower else 0.0)
    some = "" if len(rows) == n_all else f" The longest {len(rows):,} of {n_all:,} are drawn."
    description = (
        "Each line is a text, to scale; each arc joins the two places of a passage, and is at its "
        f"ends as wide as the passage is long. One colour for each pair of texts.{some}"
    )
    return Chart(
        name,
        title,
        description,
        drawing(name, title, description, height, parts),
        Table(("first text", "from", "to", "second text", "from", "to"), _cells(passages, rows)),
    )


def _height(passages: Passages, documents: Sequence[int]) -> float:
    """Return the room above a line that its arcs need."""
    lines = _laid_out(passages, documents, 0.0)
    rows, _ = _longest(passages, lines)
    ends = (_ends(passages, lines, row) for row in rows.tolist())
    reaches = (abs(start[0] - stop[0]) for start, stop, _ in ends)
    return _handle(max(reaches, default=0.0)) * 3 / 4 + 14


def _handle(reach: float) -> float:
    """Return how far the handles of a curve are above a line; the curve goes three quarters."""
    return min(reach * 0.6 + 10, (_ARCS - 12) * 4 / 3)


def _laid_out(passages: Passages, documents: Sequence[int], y: float) -> dict[int, _Line]:
    """Put texts one behind the other."""
    lengths = np.array([max(passages.documents[each].length, 1) for each in documents], np.float64)
    room = WIDTH - _LEFT - _RIGHT - _GAP * max(len(documents) - 1, 0)
    widths = np.maximum(lengths / max(lengths.sum(), 1) * room, _LEAST)
    widths *= room / max(widths.sum(), 1)
    starts = _LEFT + np.concatenate([[0], np.cumsum(widths + _GAP)])
    return {
        each: _Line(float(starts[k]), y, float(widths[k]), float(widths[k] / lengths[k]))
        for k, each in enumerate(documents)
    }


def _longest(passages: Passages, lines: Mapping[int, _Line]) -> tuple[Int64s, int]:
    """Return the rows of the longest passages between some texts, and how many there are."""
    spans = passages.spans
    drawn = np.array(list(lines), np.int64)
    rows = np.flatnonzero(np.isin(spans.queries, drawn) & np.isin(spans.docs, drawn))
    lengths = spans.query_stops[rows] - spans.query_starts[rows]
    return rows[np.sort(np.argsort(-lengths, kind="stable")[:MOST_ARCS])], len(rows)


def _text(label: str, line: _Line, *, is_above: bool) -> list[Markup]:
    x, y = line.x + line.width / 2, line.y + (-10 if is_above else 18)
    shown = element("title", label) + Markup(escape_text(shortened(label, _MOST_CHARACTERS)))
    turn = f"translate({number(x)} {number(y)}) rotate({-45 if is_above else 45})"
    return [
        element("rect", class_="base", x=line.x, y=line.y - 3, width=line.width, height=6),
        element("text", shown, class_="tick", transform=turn),
    ]


def _ends(
    passages: Passages, lines: Mapping[int, _Line], row: int
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the middles of both places of a passage, and how wide it is."""
    spans = passages.spans
    first, second = lines[int(spans.queries[row])], lines[int(spans.docs[row])]
    x1 = first.x + first.scale * (spans.query_starts[row] + spans.query_stops[row]) / 2
    x2 = second.x + second.scale * (spans.doc_starts[row] + spans.doc_stops[row]) / 2
    width = first.scale * (spans.query_stops[row] - spans.query_starts[row])
    return (float(x1), first.y), (float(x2), second.y), float(width)


def _arcs(passages: Passages, lines: Mapping[int, _Line], rows: Int64s) -> Iterator[Markup]:
    colours = passages.pair_numbers[2] % N_COLOURS
    for row, cells in zip(rows.tolist(), _cells(passages, rows), strict=True):
        (x1, y1), (x2, y2), width = _ends(passages, lines, row)
        if y1 == y2:
            handles = (y1 - _handle(abs(x2 - x1)),) * 2
        else:
            handles = y1 + _ARCS / 2, y2 - _ARCS / 2
        path = (
            f"M{number(x1)},{number(y1)}C{number(x1)},{number(handles[0])},"
            f"{number(x2)},{number(handles[1])},{number(x2)},{number(y2)}"
        )
        yield element(
            "path",
            element("title", "{}, {} to {} - {}, {} to {}".format(*cells)),
            class_=f"arc c{colours[row]}",
            d=path,
            stroke_width=min(max(width, 1.5), 18.0),
        )


def _cells(passages: Passages, rows: Int64s) -> list[tuple[str, ...]]:
    spans = passages.spans
    return [
        (
            passages.name(int(spans.queries[row])),
            f"{spans.query_starts[row]:,}",
            f"{spans.query_stops[row]:,}",
            passages.name(int(spans.docs[row])),
            f"{spans.doc_starts[row]:,}",
            f"{spans.doc_stops[row]:,}",
        )
        for row in rows.tolist()
    ]
