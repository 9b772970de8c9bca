"""Charts of pages as SVG: histogram, bars, curves, matrix.

They are drawn here because a page must be small, follow light, dark and print by variables, and be
the same each time; chart libraries bring hundreds of kilobytes of script and random ids.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from markupsafe import Markup

from neardup.matching.bands import Banding
from neardup.matching.measures import make_measure
from neardup.reports.text import escape_text, shortened
from neardup.tables import Floats, Int64s

# Width of drawings, in units in which letters have 13.
_WIDTH = 480
# Room around the plot.
_LEFT, _RIGHT, _TOP, _BELOW = 58.0, 14.0, 22.0, 44.0
_HEIGHT = 240.0
_MOST_BARS = 40


@dataclass(frozen=True)
class Chart:
    """A drawing with its title, a sentence about it, and its figures as a table.

    ``name`` is the id of its element, unique on a page.
    """

    name: str
    title: str
    description: str
    svg: Markup
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def is_wide(self) -> bool:
        """Whether it needs more width than a page has."""
        return 'class="chart wide"' in self.svg


@dataclass(frozen=True)
class Mark:
    """A vertical line over a chart, such as the threshold, with its label."""

    value: float
    label: str

    @classmethod
    def of_threshold(cls, threshold: float | None) -> Mark | None:
        """Return the mark of a threshold; None without one."""
        return None if threshold is None else cls(float(threshold), f"threshold {threshold:g}")


def _element(tag: str, content: Markup | str | None = None, **attributes: object) -> Markup:
    """Write an element of SVG; ``class_`` is the class, ``_`` stands for ``-`` in names."""
    parts = [f"<{tag}"]
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        shown = _number(value) if isinstance(value, int | float) else escape_text(str(value))
        parts.append(f' {name}="{shown}"')
    if content is None:
        return Markup("".join(parts) + "/>")
    inside = content if isinstance(content, Markup) else escape_text(content)
    return Markup("".join(parts) + f">{inside}</{tag}>")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def _label_of(label: str, most: int, shown: str | None = None) -> Markup:
    """Write as much of a label as has room; its tooltip has all of it."""
    return _element("title", label) + Markup(escape_text(shortened(shown or label, most)))


def _drawing(
    name: str, title: str, description: str, parts: list[Markup], size: tuple[float, float]
) -> Markup:
    """Join the parts of a drawing; one that is wider than ``_WIDTH`` keeps its size and scrolls."""
    width, height = size
    head = _element("title", title, id=f"{name}-title")
    head += _element("desc", description, id=f"{name}-description")
    return _element(
        "svg",
        head + Markup("").join(parts),
        class_="chart" if width <= _WIDTH else "chart wide",
        **({} if width <= _WIDTH else {"width": width}),
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


# Axes.


@dataclass(frozen=True)
class _Scale:
    """Coordinates of values from ``low`` to ``high``, linear or logarithmic from 0.5 on."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        place = math.log10 if self.is_log else float
        least = 0.5 if self.is_log else -math.inf
        low, high, at = (place(max(each, least)) for each in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.0
        return self.start + share * (self.stop - self.start)

    def ticks(self, most: int) -> list[float]:
        """Return at most so many round values for labels."""
        if self.is_log:
            powers = range(math.ceil(math.log10(max(self.high, 1))) + 1)
            every = 1 + len(powers) // (most + 1)
            return [10.0**p for p in powers if p % every == 0 and 10**p <= self.high]
        span = self.high - self.low
        if span < 1e-9:
            return [self.low]
        raw = span / max(most - 1, 1)
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return sorted({round(i * step, 12) for i in range(first, last + 1)})


def _short_count(value: float) -> str:
    """Write a count as a label: 950, 1.5k, 20k, 3M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def _vertical_axis(scale: _Scale, labels: Sequence[tuple[float, str]], title: str) -> list[Markup]:
    parts = [_element("text", title, class_="axis-title", x=2, y=12)]
    for value, label in labels:
        y = scale(value)
        parts += [
            _element("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y),
            _element("text", label, class_="tick end", x=_LEFT - 6, y=y + 4),
        ]
    return parts


def _horizontal_axis(
    scale: _Scale, labels: Sequence[tuple[float, str]], title: str
) -> list[Markup]:
    bottom = _HEIGHT - _BELOW
    parts = [_element("line", class_="axis", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=bottom, y2=bottom)]
    for value, label in labels:
        x = scale(value)
        parts += [
            _element("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + 4),
            _element("text", label, class_="tick middle", x=x, y=bottom + 18),
        ]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    return [*parts, _element("text", title, class_="axis-title middle", x=middle, y=_HEIGHT - 6)]


def _mark(x: _Scale, mark: Mark | None, y: float) -> list[Markup]:
    if mark is None:
        return []
    at = x(mark.value)
    # The label is on the side that has more room.
    is_left = at < (_LEFT + _WIDTH - _RIGHT) / 2
    kind, place = ("mark-label", at + 5) if is_left else ("mark-label end", at - 5)
    return [
        _element("line", class_="mark-line", x1=at, x2=at, y1=_TOP - 6, y2=_HEIGHT - _BELOW),
        _element("text", mark.label, class_=kind, x=place, y=y),
    ]


def bars(
    name: str,
    title: str,
    description: str,
    parts: Mapping[str, str],
    rows: Sequence[tuple[str, Sequence[int]]],
) -> Chart:
    """Draw a bar of several parts for each row, all on the same scale.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    parts
        Names of the parts with their kinds, which have the colours: kept, gone, other.
    rows
        A label and a count for each part.
    """
    row_height, bar_height, most_characters = 44.0, 14.0, 44
    largest = max((sum(counts) for _, counts in rows), default=0) or 1
    drawn: list[Markup] = []
    top, x = 4.0, 2.0
    for part, kind in parts.items() if len(parts) > 1 else ():
        top = 26.0
        drawn += [
            _element("rect", class_=f"bar {kind}", x=x, y=4, width=12, height=12),
            _element("text", part, class_="tick", x=x + 17, y=14),
        ]
        x += 34 + 7 * len(part)
    for i, (label, counts) in enumerate(rows):
        y, x = top + row_height * i + 14, 2.0
        shown = f"{sum(counts):,}"
        drawn += [
            _element("text", _label_of(label, most_characters), class_="tick", x=2, y=y),
            _element("text", shown, class_="tick end", x=_WIDTH - 2, y=y),
        ]
        for (part, kind), count in zip(parts.items(), counts, strict=True):
            width = (_WIDTH - 4) * count / largest
            if count:
                place = {"x": x, "y": y + 6, "width": max(width, 0.5), "height": bar_height}
                tooltip = _element("title", f"{label}: {part} {count:,}")
                drawn.append(_element("rect", tooltip, class_=f"bar {kind}", **place))
            x += width
    size = _WIDTH, top + row_height * max(len(rows), 1)
    return Chart(
        name,
        title,
        description,
        _drawing(name, title, description, drawn, size),
        ("label", *parts),
        [(label, *(f"{n:,}" for n in counts)) for label, counts in rows],
    )


def curves(
    name: str,
    title: str,
    description: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    titles: tuple[str, str],
    mark: Mark | None = None,
) -> Chart:
    """Draw at most four lines of points (x, y) with ascending x, and y from 0 to 1.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    lines
        The points of each line, by its name in the legend.
    titles
        Titles of the x axis and the y axis.
    mark
        A vertical line.
    """
    xs = sorted({x for points in lines.values() for x, _ in points}) or [0.0, 1.0]
    last = xs[-1] if xs[-1] > xs[0] else xs[0] + 1
    legend = list(lines) if len(lines) > 1 else []
    x = _Scale(xs[0], last, _LEFT, _WIDTH - _RIGHT)
    y = _Scale(0.0, 1.0, _HEIGHT - _BELOW, _TOP)
    heights = [(value, f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]
    parts = _vertical_axis(y, heights, titles[1])
    parts += _horizontal_axis(x, [(at, f"{at:g}") for at in x.ticks(7)], titles[0])
    parts += _mark(x, mark, _HEIGHT - _BELOW - 8)
    for k, (line, points) in enumerate(lines.items()):
        path = " L".join(f"{_number(x(a))} {_number(y(b))}" for a, b in points)
        tooltip = _element("title", line)
        parts.append(_element("path", tooltip, class_=f"line k{k}", d=f"M{path}" if path else ""))
    for k, line in enumerate(legend):
        at = _HEIGHT + 18 * k + 8
        parts += [
            _element("line", class_=f"line k{k}", x1=_LEFT, x2=_LEFT + 22, y1=at, y2=at),
            _element("text", line, class_="tick", x=_LEFT + 30, y=at + 4),
        ]
    known = [dict(points) for points in lines.values()]
    rows = [(f"{a:.4g}", *(f"{of[a]:.4f}" if a in of else "" for of in known)) for a in xs]
    size = _WIDTH, _HEIGHT + 18 * len(legend)
    svg = _drawing(name, title, description, parts, size)
    return Chart(name, title, description, svg, (titles[0], *lines), rows)


def histogram(
    name: str,
    title: str,
    description: str,
    bins: tuple[Sequence[float], Sequence[int]],
    titles: tuple[str, str],
    labels: Sequence[str] | None = None,
    mark: Mark | None = None,
) -> Chart:
    """Draw a bar for each count.

    Parameters
    ----------
    name, title, description
        As of ``Chart``.
    bins
        Ascending edges, and a count for each two neighbours.
    titles
        Titles of the x axis and the y axis.
    labels
        Names of the bars if they are categories; their heights are logarithms then.
    mark
        A vertical line, such as the threshold.
    """
    edges, counts = bins
    is_log = labels is not None
    x = _Scale(edges[0], edges[-1], _LEFT, _WIDTH - _RIGHT)
    bottom = _HEIGHT - _BELOW
    most = max([*counts, 1]) * (1.2 if is_log else 1.05)
    y = _Scale(0.5 if is_log else 0.0, most, bottom, _TOP, is_log)
    names = labels or [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    heights = [(value, _short_count(value)) for value in y.ticks(5) if value == int(value)]
    parts = _vertical_axis(y, heights, titles[1])
    for (start, stop), count, label in zip(pairwise(edges), counts, names, strict=True):
        if count:
            left, width, top = x(start), x(stop) - x(start), y(count)
            gap = min(1.0, width / 8)
            place = {"x": left + gap, "y": min(top, bottom - 1)}
            size = {"width": max(width - 2 * gap, 0.5), "height": max(bottom - top, 1)}
            tooltip = _element("title", f"{label}: {count:,}")
            parts.append(_element("rect", tooltip, class_="bar", **place, **size))
    if labels is None:
        at = [(value, f"{value:g}") for value in x.ticks(7)]
    else:
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        at = list(zip(middles, labels, strict=True))[:: -(-len(labels) // 8)]
    parts += _horizontal_axis(x, at, titles[0])
    parts += _mark(x, mark, _TOP + 4)
    rows = [(label, f"{count:,}") for label, count in zip(names, counts, strict=True)]
    svg = _drawing(name, title, description, parts, (_WIDTH, _HEIGHT))
    return Chart(name, title, description, svg, titles, rows)


def similarity_chart(
    values: Floats, threshold: float | None, counted: str, *, axis: str = "similarity"
) -> Chart | None:
    """Draw how many rows have each similarity; None if no similarity is known.

    Parameters
    ----------
    values
        The similarities, NaN if unknown; or whole numbers, such as distances.
    threshold
        Its mark; the axis begins at the threshold or at the least value.
    counted
        The noun of the rows, such as "pairs".
    axis
        The title of the axis.
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
    return histogram(
        "similarities",
        f"{counted.capitalize()} by {axis}",
        f"{len(known):,} {counted}; half of them have a {axis} of {np.median(known):.4g} or more.",
        (edges.tolist(), counts.tolist()),
        (axis, counted),
        mark=Mark.of_threshold(threshold),
    )


def size_chart(name: str, title: str, sizes: Int64s, titles: tuple[str, str]) -> Chart | None:
    """Draw how many rows have each size, in bins that double: 1, 2 to 3, 4 to 7.

    None without a row. ``titles`` are of the x axis and the y axis.
    """
    if not len(sizes):
        return None
    powers = np.log2(np.maximum(sizes, 1)).astype(np.int64)
    first = int(powers.min())
    counts = np.bincount(powers - first).tolist()
    labels = [
        "1" if power == 0 else f"{1 << power:,} to {(2 << power) - 1:,}"
        for power in range(first, first + len(counts))
    ]
    description = f"{len(sizes):,} {titles[1]}; heights are logarithms of the counts."
    bins = range(len(counts) + 1), counts
    return histogram(name, title, description, bins, titles, labels)


def banding_chart(summary: Mapping[str, Any]) -> Chart | None:
    """Draw the S-curve of a run with bands: the probability that a pair is found."""
    if not summary.get("bands") or not summary.get("rows") or summary.get("threshold") is None:
        return None
    banding = Banding(summary["bands"], summary["rows"])
    least = float(make_measure(summary["measure"], str(summary["threshold"])).least_jaccard)
    points = [
        (value, banding.candidate_probability(value))
        for value in sorted({least, *(step / 100 for step in range(101))})
    ]
    return curves(
        "recall",
        "Probability to be found",
        f"{banding.bands} bands of {banding.rows} rows: a pair at the threshold is found with "
        f"probability {banding.candidate_probability(least):.4f}.",
        {"probability": points},
        ("Jaccard similarity of a pair", "probability"),
        Mark(least, f"threshold {least:.4g}"),
    )


# A matrix of counts, darker for more.


def matrix(
    name: str,
    title: str,
    description: str,
    labels: tuple[Sequence[str], Sequence[str]],
    counts: Sequence[Sequence[int]],
    titles: tuple[str, str],
) -> Chart:
    """Draw a cell for each row and column, shaded by the logarithm of its count.

    ``labels`` and ``titles`` are of the rows and of the columns.
    """
    left, top, right, most_of_rows, most_of_columns = 150.0, 124.0, 72.0, 19, 16
    rows, columns = labels
    side = min(max((_WIDTH - left - right) / max(len(columns), 1), 16.0), 44.0)
    largest = max((count for row in counts for count in row), default=0)
    parts = [
        _element("text", f"{titles[0]} ↓", class_="axis-title", x=2, y=top - 8),
        _element("text", f"{titles[1]} →", class_="axis-title", x=2, y=14),
    ]
    short = _without_common_words(columns, most_of_columns)
    for j, (label, own) in enumerate(zip(columns, short, strict=True)):
        x = left + (j + 0.5) * side
        turn = f"translate({x + 4:.2f} {top - 6:.2f}) rotate(-55)"
        shown = _label_of(label, most_of_columns, own)
        parts.append(_element("text", shown, class_="tick", transform=turn))
    short = _without_common_words(rows, most_of_rows)
    for i, (label, own) in enumerate(zip(rows, short, strict=True)):
        y = top + i * side
        shown = _label_of(label, most_of_rows, own)
        parts.append(_element("text", shown, class_="tick end", x=left - 6, y=y + side / 2 + 4))
        for j, count in enumerate(counts[i]):
            share = math.log1p(count) / math.log1p(largest) if count else 0.0
            tooltip = _element("title", f"{label}, {columns[j]}: {count:,}")
            kind, shade = ("cell", 0.1 + 0.5 * share) if count else ("cell none", 0)
            place = {"x": left + j * side + 0.5, "y": y + 0.5}
            size = {"width": side - 1, "height": side - 1}
            cell = _element("rect", tooltip, class_=kind, fill_opacity=shade, **place, **size)
            parts.append(cell)
            if count and side >= 36:
                middle = {"x": left + (j + 0.5) * side, "y": y + side / 2 + 4}
                text = _short_count(count)
                parts.append(_element("text", text, class_="tick middle inert", **middle))
    width = left + side * len(columns) + right
    drawn = max(width, _WIDTH), top + side * max(len(rows), 1) + 4
    svg = _drawing(name, title, description, parts, drawn)
    head = (f"{titles[0]} / {titles[1]}", *columns)
    table = [(label, *(f"{n:,}" for n in row)) for label, row in zip(rows, counts, strict=True)]
    return Chart(name, title, description, svg, head, table)


def matrix_of_pairs(
    name: str,
    title: str,
    sides: tuple[Int64s, Int64s],
    weights: Int64s,
    label_of: Callable[[int], str],
    titles: tuple[str, str],
) -> Chart | None:
    """Draw the weights of pairs as a matrix of the 40 heaviest rows and columns.

    ``label_of`` names a number of either side; None is returned for fewer than two pairs.
    """
    if len(weights) < 2:
        return None
    kept = []
    for numbers in sides:
        totals = np.bincount(numbers, weights).astype(np.int64)
        heaviest = np.argsort(-totals, kind="stable")[:_MOST_BARS]
        kept.append(np.sort(heaviest[totals[heaviest] > 0]))
    is_shown = np.isin(sides[0], kept[0]) & np.isin(sides[1], kept[1])
    cells = np.zeros((len(kept[0]), len(kept[1])), np.int64)
    places = tuple(np.searchsorted(k, n[is_shown]) for k, n in zip(kept, sides, strict=True))
    np.add.at(cells, places, weights[is_shown])
    description = "The darker a cell, the more characters the two share."
    if not is_shown.all():
        description += f" Only the {_MOST_BARS} rows and columns with most of them are drawn."
    labels = [[label_of(each) for each in numbers.tolist()] for numbers in kept]
    return matrix(name, title, description, (labels[0], labels[1]), cells.tolist(), titles)


# Everything up to the last character that separates words.
_WORDS = re.compile(r".*[^\w]|", re.DOTALL)


def _without_common_words(labels: Sequence[str], most: int) -> list[str]:
    """Leave out the words that all labels begin and end with, if one is too long."""
    if len(labels) < 2 or all(shortened(label, most) == label for label in labels):
        return list(labels)
    start = _common_start(labels)
    stop = _common_start([label[start:][::-1] for label in labels])
    return [
        "…" * (start > 0) + label[start : len(label) - stop] + "…" * (stop > 0) for label in labels
    ]


def _common_start(labels: Iterable[str]) -> int:
    """Return the length of the whole words with which all labels begin."""
    texts = list(labels)
    pairs = zip(min(texts), max(texts), strict=False)
    n = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    words = _WORDS.match(texts[0][: min(n, *(len(text) - 1 for text in texts))])
    return 0 if words is None else words.end()
