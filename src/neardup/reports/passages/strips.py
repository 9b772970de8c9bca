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


def strips(passages: Passages, documents: Sequence[int], name: str, title: str) -> Chart:
    """Draw some texts as bars, with what other texts have in the colours of these."""
    longest = max((passages.documents[each].length for each in documents), default=1)
    scale = (WIDTH - 4) / max(longest, 1)
    shares = covered_shares(passages, documents)
    parts: list[Markup] = []
    for k, (each, share) in enumerate(zip(documents, shares, strict=True)):
        y, label = 4 + _ROW * k, passages.name(each)
        shown = element("title", label) + Markup(escape_text(shortened(label, _MOST_CHARACTERS)))
        width = max(passages.documents[each].length * scale, 0.5)
        parts += [
            element("text", shown, class_="tick", x=2, y=y + 11),
            element("text", f"{100 * share:.0f} %", class_="tick end", x=WIDTH - 2, y=y + 11),
            element("rect", class_="base", x=2, y=y + 16, width=width, height=10),
            *_bits(passages, each, y + 16, scale),
        ]
    description = (
        "The texts that share most, to scale. Coloured is what another text has as well, a colour "
        "for each other text (point at it for its name); at the right, the part of the text that "
        "is in some passage."
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


def _bits(passages: Passages, document: int, y: float, scale: float) -> list[Markup]:
    """Draw what other texts have; what would look the same is drawn once."""
    spans = passages.spans
    drawn: dict[tuple[float, float, int], Markup] = {}
    sides: tuple[tuple[Int64s, Int64s, Int64s, Int64s], ...] = (
        (spans.queries, spans.query_starts, spans.query_stops, spans.docs),
        (spans.docs, spans.doc_starts, spans.doc_stops, spans.queries),
    )
    for own, starts, stops, others in sides:
        for row in np.flatnonzero(own == document).tolist():
            start, stop, other = int(starts[row]), int(stops[row]), int(others[row])
            place = round(2 + start * scale, 1), round(max((stop - start) * scale, 0.8), 1), other
            if place not in drawn:
                drawn[place] = element(
                    "rect",
                    element("title", f"{start:,} to {stop:,}: also in {passages.name(other)}"),
                    class_=f"bit c{other % N_COLOURS}",
                    x=place[0],
                    y=y,
                    width=place[1],
                    height=10,
                )
    return list(drawn.values())
