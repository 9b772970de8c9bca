"""What of each text is in some passage, and who has it, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from neardup.outputs.compare_page import escape_text
from neardup.passages.places import union_lengths
from neardup.reports.charts.chart import WIDTH, Chart, Table, drawing, element, shortened
from neardup.reports.passages.arcs import N_COLOURS
from neardup.reports.passages.model import Passages
from neardup.tables import Int64s

_ROW = 36.0
_MOST_CHARACTERS = 52

# Parts of a text that are told apart.
_MOST_BITS = 400


def strips(passages: Passages, documents: Sequence[int], name: str, title: str) -> Chart:
    """Draw some texts as bars, with what other texts have in the colours of these."""
    longest = max((passages.documents[each].length for each in documents), default=1)
    scale = (WIDTH - 4) / max(longest, 1)
    shares = covered_shares(passages, documents)
    parts: list[Markup] = []
    any_joined = False
    for k, (each, share) in enumerate(zip(documents, shares, strict=True)):
        y, label = 4 + _ROW * k, passages.name(each)
        shown = element("title", label) + Markup(escape_text(shortened(label, _MOST_CHARACTERS)))
        width = max(passages.documents[each].length * scale, 0.5)
        bits, is_joined = _bits(passages, each, y + 16, scale)
        any_joined |= is_joined
        parts += [
            element("text", shown, class_="tick", x=2, y=y + 11),
            element("text", f"{100 * share:.0f} %", class_="tick end", x=WIDTH - 2, y=y + 11),
            element("rect", class_="base", x=2, y=y + 16, width=width, height=10),
            *bits,
        ]
    description = (
        "The texts that share most, to scale. Coloured is what another text has as well, a colour "
        "for each other text (point at it for its name); at the right, the part of the text that "
        "is in some passage."
    )
    if any_joined:
        description += (
            f" Of a text with more than {_MOST_BITS} such parts those that touch have one colour."
        )
    rows = [
        (passages.name(each), f"{passages.documents[each].length:,}", f"{100 * share:.1f} %")
        for each, share in zip(documents, shares, strict=True)
    ]
    svg = drawing(name, title, description, 8 + _ROW * max(len(documents), 1), parts)
    table = Table(("text", "characters", "part in a passage"), rows)
    return Chart(name, title, description, svg, table)


def covered_shares(passages: Passages, documents: Sequence[int]) -> list[float]:
    """Return which part of some texts is in a passage."""
    spans = passages.spans
    lengths = union_lengths(
        np.concatenate([spans.query_starts, spans.doc_starts]),
        np.concatenate([spans.query_stops, spans.doc_stops]),
        np.concatenate([spans.queries, spans.docs]),
        len(passages.documents),
    )
    return [
        int(lengths[each]) / passages.documents[each].length
        if passages.documents[each].length
        else 0.0
        for each in documents
    ]


def _bits(passages: Passages, document: int, y: float, scale: float) -> tuple[list[Markup], bool]:
    """Draw what other texts have; what would look the same is drawn once.

    Returns whether these are too many to be told apart; what touches is then drawn as one.
    """
    spans = passages.spans
    drawn: dict[tuple[float, float, int], Markup] = {}
    sides: tuple[tuple[Int64s, Int64s, Int64s, Int64s], ...] = (
        (spans.queries, spans.query_starts, spans.query_stops, spans.docs),
        (spans.docs, spans.doc_starts, spans.doc_stops, spans.queries),
    )
    parts: list[tuple[int, int, int]] = []
    for own, starts, stops, others in sides:
        rows = np.flatnonzero(own == document)
        columns = (column[rows].tolist() for column in (starts, stops, others))
        parts += zip(*columns, strict=True)
    for start, stop, other in parts:
        place = *_place(start, stop, scale), other
        if place not in drawn:
            drawn[place] = _bit(place, y, f"{start:,} to {stop:,}: {_also_in(passages, {other})}")
            if len(drawn) > _MOST_BITS:
                return _joined(passages, parts, y, scale), True
    return list(drawn.values()), False


def _joined(
    passages: Passages, parts: Sequence[tuple[int, int, int]], y: float, scale: float
) -> list[Markup]:
    """Draw what is closer than can be seen as one, in the colour of the first text that has it."""
    runs: list[tuple[int, int, set[int]]] = []
    for start, stop, other in sorted(parts):
        if runs and (start - runs[-1][1]) * scale < 1:
            first, last, others = runs[-1]
            others.add(other)
            runs[-1] = first, max(last, stop), others
        else:
            runs.append((start, stop, {other}))
    return [
        _bit(
            (*_place(start, stop, scale), min(others)),
            y,
            f"{start:,} to {stop:,}: {_also_in(passages, others)}",
        )
        for start, stop, others in runs
    ]


def _place(start: int, stop: int, scale: float) -> tuple[float, float]:
    """Return where a part of a text begins in the drawing, and its width."""
    return round(2 + start * scale, 1), round(max((stop - start) * scale, 0.8), 1)


def _also_in(passages: Passages, others: set[int]) -> str:
    if len(others) > 1:
        return f"parts of it also in {len(others):,} other texts"
    return f"also in {passages.name(*others)}"


def _bit(place: tuple[float, float, int], y: float, title: str) -> Markup:
    x, width, other = place
    return element(
        "rect",
        element("title", title),
        class_=f"bit c{other % N_COLOURS}",
        x=x,
        y=y,
        width=width,
        height=10,
    )
