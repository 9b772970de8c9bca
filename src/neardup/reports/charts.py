"""Charts of pages as SVG: histogram, bars, curves, matrix.

They are drawn here because a page must be small, follow light, dark and print by variables, and be
the same each time; chart libraries bring hundreds of kilobytes of script and random ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from neardup.matching.buckets import Banding
from neardup.matching.measures import make_measure
from neardup.reports.text import escape_text, shortened
from neardup.tables import Floats, Int64s

# Width of drawings, in units in which letters have 13.
_WIDTH = 480
# Edges of the plot of a drawing with axes.
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 58.0, 466.0, 22.0, 196.0, 240.0
# Bars of a histogram; rows and columns of a matrix of pairs.
_MOST_BARS, _MOST_CELLS = 40, 24


class Caption(NamedTuple):
    """A chart's id (unique on its page), title and description."""

    name: str
    title: str
    description: str


@dataclass(frozen=True)
class Chart:
    """A drawing with its caption and a table of figures."""

    caption: Caption
    svg: Markup
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Mark:
    """A labelled vertical line over a chart."""

    value: float
    label: str

    @classmethod
    def of_threshold(cls, threshold: float | None) -> Mark | None:
        """Return the mark of a threshold, or None."""
        return None if threshold is None else cls(float(threshold), f"threshold {threshold:g}")


def _element(tag: str, content: str = "", **attributes: object) -> Markup:
    head = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_number(value)}"'
        for key, value in attributes.items()
    )
    inside = content if isinstance(content, Markup) else escape_text(content)
    return Markup(f"<{tag}{head}>{inside}</{tag}>")


def _number(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
    return escape_text(str(value))


def _text(content: str, kind: str, x: float, y: float, **more: object) -> Markup:
    return _element("text", content, class_=kind, x=x, y=y, **more)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return _element("line", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def _rectangle(
    kind: str, place: tuple[float, float], size: tuple[float, float], tooltip: str, **more: object
) -> Markup:
    (x, y), (width, height) = place, size
    title = _element("title", tooltip) if tooltip else ""
    return _element("rect", title, class_=kind, x=x, y=y, width=width, height=height, **more)


def _label(label: str, most: int, kind: str, x: float, y: float, **more: object) -> Markup:
    """Write a shortened label with the whole in its tooltip."""
    shown = _element("title", label) + Markup(escape_text(shortened(label, most)))
    return _text(shown, kind, x, y, **more)


def _drawing(caption: Caption, parts: Sequence[Markup], height: float) -> Markup:
    name, title, description = caption
    head = _element("title", title, id=f"{name}-title")
    head += _element("desc", description, id=f"{name}-description")
    return _element(
        "svg",
        head + Markup("").join(parts),
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_number(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


@dataclass(frozen=True)
class _Scale:
    """Coordinates of values from ``low`` to ``high``."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.start + share * (self.stop - self.start)

    def ticks(self, most: int) -> list[float]:
        """Return at most so many round values for labels."""
        span = self.high - self.low
        if span < 1e-9:
            return [self.low]
        raw = span / max(most - 1, 1)
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return sorted({round(i * step, 12) for i in range(first, last + 1)})


Ticks = Sequence[tuple[float, str]]


def _axes(
    x: _Scale, y: _Scale, ticks: tuple[Ticks, Ticks], titles: tuple[str, str]
) -> list[Markup]:
    middle = (_LEFT + _RIGHT) / 2
    parts = [
        _text(titles[1], "axis-title", 2, 12),
        _text(titles[0], "axis-title middle", middle, _HEIGHT - 6),
        _line("axis", _LEFT, _BOTTOM, _RIGHT, _BOTTOM),
    ]
    for value, label in ticks[0]:
        at = x(value)
        parts.append(_line("axis", at, _BOTTOM, at, _BOTTOM + 4))
        parts.append(_text(label, "tick middle", at, _BOTTOM + 18))
    for value, label in ticks[1]:
        at = y(value)
        parts.append(_line("grid", _LEFT, at, _RIGHT, at))
        parts.append(_text(label, "tick end", _LEFT - 6, at + 4))
    return parts


def _mark(x: _Scale, mark: Mark | None) -> list[Markup]:
    if mark is None:
        return []
    at = x(mark.value)
    # The label is on the side that has more room.
    is_left = at < (_LEFT + _RIGHT) / 2
    kind, place = ("mark-label", at + 5) if is_left else ("mark-label end", at - 5)
    return [
        _line("mark-line", at, _TOP - 6, at, _BOTTOM),
        _text(mark.label, kind, place, _TOP + 4),
    ]


def _short_count(value: float) -> str:
    """Write a count as a label: 950, 1.5k, 20k, 3M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def bars(
    caption: Caption, parts: Mapping[str, str], rows: Sequence[tuple[str, Sequence[int]]]
) -> Chart:
    """Draw a stacked bar for each row on one scale.

    ``parts`` has each part's kind, its colour: kept, gone, other. Rows have a label and counts.
    """
    largest = max((sum(counts) for _, counts in rows), default=0) or 1
    drawn: list[Markup] = []
    top, x = 4.0, 2.0
    for part, kind in parts.items() if len(parts) > 1 else ():
        top = 26.0
        drawn.append(_rectangle(f"bar {kind}", (x, 4), (12, 12), ""))
        drawn.append(_text(part, "tick", x + 17, 14))
        x += 34 + 7 * len(part)
    for i, (label, counts) in enumerate(rows):
        y, x = top + 44 * i + 14, 2.0
        drawn.append(_label(label, 44, "tick", 2, y))
        drawn.append(_text(f"{sum(counts):,}", "tick end", _WIDTH - 2, y))
        for (part, kind), count in zip(parts.items(), counts, strict=True):
            width = (_WIDTH - 4) * count / largest
            if count:
                tooltip = f"{label}: {part} {count:,}"
                size = max(width, 0.5), 14
                drawn.append(_rectangle(f"bar {kind}", (x, y + 6), size, tooltip))
            x += width
    svg = _drawing(caption, drawn, top + 44 * max(len(rows), 1))
    figures = [(label, *(f"{n:,}" for n in counts)) for label, counts in rows]
    return Chart(caption, svg, ("label", *parts), figures)


def curves(
    caption: Caption,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    titles: tuple[str, str],
    mark: Mark | None = None,
) -> Chart:
    """Draw at most four lines with y in [0, 1].

    ``lines`` has points (x, y) by ascending x under legend names. ``titles`` are of both axes.
    """
    xs = sorted({x for points in lines.values() for x, _ in points}) or [0.0, 1.0]
    x = _Scale(xs[0], xs[-1] if xs[-1] > xs[0] else xs[0] + 1, _LEFT, _RIGHT)
    y = _Scale(0.0, 1.0, _BOTTOM, _TOP)
    at, heights = ([(each, f"{each:g}") for each in ticks] for ticks in (x.ticks(7), y.ticks(5)))
    parts = [*_axes(x, y, (at, heights), titles), *_mark(x, mark)]
    for k, (line, points) in enumerate(lines.items()):
        path = " L".join(f"{_number(x(a))} {_number(y(b))}" for a, b in points)
        tooltip = _element("title", line)
        parts.append(_element("path", tooltip, class_=f"line k{k}", d=f"M{path}" if path else ""))
    legend = list(lines) if len(lines) > 1 else []
    for k, line in enumerate(legend):
        height = _HEIGHT + 18 * k + 8
        parts.append(_line(f"line k{k}", _LEFT, height, _LEFT + 22, height))
        parts.append(_text(line, "tick", _LEFT + 30, height + 4))
    known = [dict(points) for points in lines.values()]
    rows = [(f"{a:.4g}", *(f"{of[a]:.4f}" if a in of else "" for of in known)) for a in xs]
    svg = _drawing(caption, parts, _HEIGHT + 18 * len(legend))
    return Chart(caption, svg, (titles[0], *lines), rows)


def histogram(
    caption: Caption,
    bins: tuple[Sequence[float], Sequence[int]],
    titles: tuple[str, str],
    mark: Mark | None = None,
) -> Chart:
    """Draw a bar for each count.

    ``bins`` are ascending edges, and counts between neighbours; ``titles`` are of the x and y axes.
    """
    edges, counts = bins
    x = _Scale(edges[0], edges[-1], _LEFT, _RIGHT)
    y = _Scale(0.0, max([*counts, 1]) * 1.05, _BOTTOM, _TOP)
    at = [(value, f"{value:g}") for value in x.ticks(7)]
    heights = [(value, _short_count(value)) for value in y.ticks(5) if value == int(value)]
    parts, rows = _axes(x, y, (at, heights), titles), []
    for (start, stop), count in zip(pairwise(edges), counts, strict=True):
        label = f"{start:g} to {stop:g}"
        rows.append((label, f"{count:,}"))
        if count:
            left, width = x(start), x(stop) - x(start)
            gap, top = min(1.0, width / 8), min(y(count), _BOTTOM - 1)
            size = max(width - 2 * gap, 0.5), _BOTTOM - top
            parts.append(_rectangle("bar", (left + gap, top), size, f"{label}: {count:,}"))
    parts += _mark(x, mark)
    return Chart(caption, _drawing(caption, parts, _HEIGHT), titles, rows)


def similarity_chart(
    values: Floats, threshold: float | None, counted: str, *, axis: str = "similarity"
) -> Chart | None:
    """Draw the similarities of rows, or return None without any.

    ``values`` are similarities, NaN if unknown, or whole numbers, such as distances. The axis
    begins at ``threshold``, which is marked, or at the least value. ``counted`` is the noun of the
    rows, such as "pairs", and ``axis`` the title of the axis.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    least, greatest = float(known.min()), float(known.max())
    low = least if threshold is None else min(least, float(threshold))
    if greatest > 1:
        greatest = max(greatest, float(threshold or 0))
        width = max(1.0, math.ceil((greatest - low + 1) / _MOST_BARS))
        edges = np.arange(math.floor(low), greatest + width + 1, width, dtype=np.float64)
    else:
        width = next((w for w in (0.005, 0.01, 0.02) if (1 - low) / w <= _MOST_BARS), 0.05)
        n_bars = max(1, math.ceil(round((1 - low) / width, 6)))
        edges = np.round(1 - width * np.arange(n_bars, -1, -1), 6)
    counts = np.histogram(known, edges)[0]
    caption = Caption(
        "similarities",
        f"{counted.capitalize()} by {axis}",
        f"{len(known):,} {counted}; half of them have a {axis} of {np.median(known):.4g} or more.",
    )
    bins = edges.tolist(), counts.tolist()
    return histogram(caption, bins, (axis, counted), Mark.of_threshold(threshold))


def banding_chart(summary: Mapping[str, Any]) -> Chart | None:
    """Draw the S-curve of bands, or return None without bands."""
    if not summary.get("bands") or not summary.get("rows") or summary.get("threshold") is None:
        return None
    banding = Banding(summary["bands"], summary["rows"])
    least = float(make_measure(summary["measure"], str(summary["threshold"])).least_jaccard)
    points = [
        (value, banding.candidate_probability(value))
        for value in sorted({least, *(step / 100 for step in range(101))})
    ]
    caption = Caption(
        "recall",
        "Probability to be found",
        f"{banding.bands} bands of {banding.rows} rows: a pair at the threshold is found with "
        f"probability {banding.candidate_probability(least):.4f}.",
    )
    return curves(
        caption,
        {"probability": points},
        ("Jaccard similarity of a pair", "probability"),
        Mark(least, f"threshold {least:.4g}"),
    )


def matrix(
    caption: Caption,
    labels: tuple[Sequence[str], Sequence[str]],
    counts: Sequence[Sequence[int]],
    titles: tuple[str, str],
) -> Chart:
    """Draw cells shaded by the logarithm of their counts."""
    left, top, right = 150.0, 124.0, 72.0
    rows, columns = labels
    width = min((_WIDTH - left - right) / max(len(columns), 1), 44.0)
    height = max(width, 15.0)
    largest = max((count for row in counts for count in row), default=0)
    parts = [
        _text(f"{titles[0]} ↓", "axis-title", 2, top - 8),
        _text(f"{titles[1]} →", "axis-title", 2, 14),
    ]
    for j, label in enumerate(columns):
        turn = f"translate({left + (j + 0.5) * width + 4:.2f} {top - 6:.2f}) rotate(-55)"
        parts.append(_label(label, 16, "tick", 0, 0, transform=turn))
    for i, label in enumerate(rows):
        y = top + i * height
        parts.append(_label(label, 19, "tick end", left - 6, y + height / 2 + 4))
        for j, count in enumerate(counts[i]):
            kind, shade = "cell none", 0.0
            if count:
                kind, shade = "cell", 0.1 + 0.5 * math.log1p(count) / math.log1p(largest)
            place, size = (left + j * width + 0.5, y + 0.5), (width - 1, height - 1)
            tooltip = f"{label}, {columns[j]}: {count:,}"
            parts.append(_rectangle(kind, place, size, tooltip, fill_opacity=shade))
    svg = _drawing(caption, parts, top + height * max(len(rows), 1) + 4)
    head = (f"{titles[0]} / {titles[1]}", *columns)
    table = [(label, *(f"{n:,}" for n in row)) for label, row in zip(rows, counts, strict=True)]
    return Chart(caption, svg, head, table)


def matrix_of_pairs(
    sides: tuple[Int64s, Int64s], weights: Int64s, names: Sequence[str], titles: tuple[str, str]
) -> Chart | None:
    """Draw the 24 heaviest rows and columns of pair weights.

    ``names`` are of the numbers of either side; None is returned for fewer than two pairs.
    """
    if len(weights) < 2:
        return None
    kept = []
    for numbers in sides:
        totals = np.bincount(numbers, weights).astype(np.int64)
        heaviest = np.argsort(-totals, kind="stable")[:_MOST_CELLS]
        kept.append(np.sort(heaviest[totals[heaviest] > 0]))
    is_shown = np.isin(sides[0], kept[0]) & np.isin(sides[1], kept[1])
    cells = np.zeros((len(kept[0]), len(kept[1])), np.int64)
    places = tuple(np.searchsorted(k, n[is_shown]) for k, n in zip(kept, sides, strict=True))
    np.add.at(cells, places, weights[is_shown])
    description = "The darker a cell, the more characters the two share."
    if not is_shown.all():
        description += f" Only the {_MOST_CELLS} rows and columns with most of them are drawn."
    rows, columns = ([names[each] for each in numbers.tolist()] for numbers in kept)
    caption = Caption("matrix", "Characters that documents share", description)
    return matrix(caption, (rows, columns), cells.tolist(), titles)
