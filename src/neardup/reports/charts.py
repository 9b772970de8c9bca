"""Charts of pages as SVG: histogram, bars, S-curve, matrix.

They are drawn here because a page must be small, follow light, dark and print by variables, and be
the same each time; chart libraries bring hundreds of kilobytes of script and random ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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
# Bars of a histogram, of a chart of files, rows and columns of a matrix of pairs.
_MOST_BARS, _MOST_FILES, _MOST_CELLS = 40, 16, 24


@dataclass(frozen=True)
class Chart:
    """A drawing with its table; ``name`` is unique on its page."""

    name: str
    title: str
    description: str
    svg: Markup
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


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


def _label(label: str, most: int, kind: str, x: float, y: float, **more: object) -> Markup:
    """Write a shortened label with the whole in its tooltip."""
    shown = _element("title", label) + Markup(escape_text(shortened(label, most)))
    return _text(shown, kind, x, y, **more)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return _element("line", class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def _rectangle(
    kind: str, place: tuple[float, float], size: tuple[float, float], tooltip: str, **more: object
) -> Markup:
    (x, y), (width, height) = place, size
    title = _element("title", tooltip) if tooltip else ""
    return _element("rect", title, class_=kind, x=x, y=y, width=width, height=height, **more)


def _draw(caption: tuple[str, str, str], parts: Sequence[Markup], height: float) -> Markup:
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


def place_of(value: float, ends: tuple[float, float], places: tuple[float, float]) -> float:
    """Return the coordinate of a value between two ends."""
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.0
    return places[0] + share * (places[1] - places[0])


def ticks_of(low: float, high: float, most: int) -> list[float]:
    """Return about so many round values for labels."""
    span = high - low
    if span < 1e-9:
        return [low]
    raw = span / max(most - 1, 1)
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return sorted({round(i * step, 12) for i in range(first, last + 1)})


def _axes(
    ends: tuple[float, float], top: float, titles: tuple[str, str], threshold: float | None
) -> list[Markup]:
    """Draw both axes, and the line of a threshold."""
    parts = [
        _text(titles[1], "axis-title", 2, 13),
        _text(titles[0], "axis-title middle", (_LEFT + _RIGHT) / 2, _HEIGHT - 6),
        _line("axis", _LEFT, _BOTTOM, _RIGHT, _BOTTOM),
    ]
    for value in ticks_of(*ends, 7):
        at = place_of(value, ends, (_LEFT, _RIGHT))
        parts.append(_line("axis", at, _BOTTOM, at, _BOTTOM + 4))
        parts.append(_text(f"{value:g}", "tick middle", at, _BOTTOM + 18))
    # Counts have no fractions.
    for value in (tick for tick in ticks_of(0.0, top, 5) if top <= 1 or tick == int(tick)):
        at = place_of(value, (0.0, top), (_BOTTOM, _TOP))
        parts.append(_line("grid", _LEFT, at, _RIGHT, at))
        parts.append(_text(_short_count(value), "tick end", _LEFT - 6, at + 4))
    if threshold is not None:
        at = place_of(float(threshold), ends, (_LEFT, _RIGHT))
        # The label is on the side that has more room, above bars or below a curve.
        is_left = at < (_LEFT + _RIGHT) / 2
        kind, place = ("mark-label", at + 5) if is_left else ("mark-label end", at - 5)
        parts.append(_line("mark-line", at, _TOP - 6, at, _BOTTOM))
        y = _TOP + 4 if top > 1 else _BOTTOM - 6
        parts.append(_text(f"threshold {threshold:.4g}", kind, place, y))
    return parts


def _short_count(value: float) -> str:
    """Write a number as a label: 0.5, 950, 1.5k, 20k, 3M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def bars_by_file(
    title: str,
    description: str,
    parts: Mapping[str, str],
    rows: Sequence[tuple[str, Sequence[int]]],
) -> Chart:
    """Draw a stacked bar per file, for the first files.

    ``parts`` has each part's kind, its colour: kept, gone, other. Rows have a label and counts.
    """
    if len(rows) > _MOST_FILES:
        rows = rows[:_MOST_FILES]
        description += f" The first {_MOST_FILES} files are drawn."
    largest = max((sum(counts) for _, counts in rows), default=0) or 1
    drawn: list[Markup] = []
    top, x = 4.0, 2.0
    for part, kind in parts.items() if len(parts) > 1 else ():
        top = 26.0
        drawn.append(_rectangle(f"bar {kind}", (x, 4), (12, 12), ""))
        drawn.append(_text(part, "tick", x + 17, 14))
        x += 34 + 8 * len(part)
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
    caption = ("files-chart", title, description)
    svg = _draw(caption, drawn, top + 44 * max(len(rows), 1))
    figures = [(label, *(f"{n:,}" for n in counts)) for label, counts in rows]
    return Chart(*caption, svg, ("label", *parts), figures)


def similarity_chart(
    values: Floats, threshold: float | None, counted: str, *, axis: str = "similarity"
) -> Chart | None:
    """Draw a histogram of similarities, or return None without any.

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
    counts = np.histogram(known, edges)[0].tolist()
    ends, top = (float(edges[0]), float(edges[-1])), max(*counts, 1) * 1.05
    parts, rows = _axes(ends, top, (axis, counted), threshold), []
    for (start, stop), count in zip(pairwise(edges.tolist()), counts, strict=True):
        label = f"{start:g} to {stop:g}"
        rows.append((label, f"{count:,}"))
        if count:
            left, right = (place_of(x, ends, (_LEFT, _RIGHT)) for x in (start, stop))
            gap = min(1.0, (right - left) / 8)
            height = min(place_of(count, (0.0, top), (_BOTTOM, _TOP)), _BOTTOM - 1)
            size = max(right - left - 2 * gap, 0.5), _BOTTOM - height
            parts.append(_rectangle("bar", (left + gap, height), size, f"{label}: {count:,}"))
    noun = counted.removesuffix("s") if len(known) == 1 else counted
    caption = (
        "similarities",
        f"{counted.capitalize()} by {axis}",
        f"{len(known):,} {noun}; median {axis} {np.median(known):.4g}.",
    )
    return Chart(*caption, _draw(caption, parts, _HEIGHT), (axis, counted), rows)


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
    titles = "Jaccard similarity of a pair", "probability"
    path = " L".join(
        f"{_number(place_of(x, (0, 1), (_LEFT, _RIGHT)))} "
        f"{_number(place_of(y, (0, 1), (_BOTTOM, _TOP)))}"
        for x, y in points
    )
    line = _element("path", _element("title", titles[1]), class_="line", d=f"M{path}")
    caption = (
        "recall",
        "Probability to be found",
        f"{banding.bands} bands of {banding.rows} rows: a pair at the threshold is found with "
        f"probability {banding.candidate_probability(least):.4f}.",
    )
    svg = _draw(caption, [*_axes((0.0, 1.0), 1.0, titles, least), line], _HEIGHT)
    return Chart(*caption, svg, titles, [(f"{x:.4g}", f"{y:.4f}") for x, y in points])


def matrix_of_pairs(
    sides: tuple[Int64s, Int64s], weights: Int64s, names: Sequence[str], titles: tuple[str, str]
) -> Chart | None:
    """Draw the heaviest rows and columns of pairs, shaded logarithmically."""
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
    description = "The stronger the colour of a cell, the more characters the two share."
    if not is_shown.all():
        description += f" Only the {_MOST_CELLS} rows and columns with most of them are drawn."
    rows, columns = ([names[each] for each in numbers.tolist()] for numbers in kept)
    left, top, right = 150.0, 124.0, 72.0
    width = min((_WIDTH - left - right) / max(len(columns), 1), 44.0)
    height, largest = max(width, 15.0), int(cells.max())
    parts = [
        _text(f"{titles[0]} ↓", "axis-title", 2, top - 8),
        _text(f"{titles[1]} →", "axis-title", 2, 14),
    ]
    for j, label in enumerate(columns):
        turn = f"translate({left + (j + 0.5) * width + 4:.2f} {top - 6:.2f}) rotate(-55)"
        parts.append(_label(label, 16, "tick", 0, 0, transform=turn))
    for i, (label, counts) in enumerate(zip(rows, cells.tolist(), strict=True)):
        y = top + i * height
        parts.append(_label(label, 19, "tick end", left - 6, y + height / 2 + 4))
        for j, count in enumerate(counts):
            kind, shade = "cell none", 0.0
            if count:
                kind, shade = "cell", 0.1 + 0.5 * math.log1p(count) / math.log1p(largest)
            place, size = (left + j * width + 0.5, y + 0.5), (width - 1, height - 1)
            tooltip = f"{label}, {columns[j]}: {count:,}"
            parts.append(_rectangle(kind, place, size, tooltip, fill_opacity=shade))
    caption = ("matrix", "Characters that documents share", description)
    svg = _draw(caption, parts, top + height * len(rows) + 4)
    head = (f"{titles[0]} / {titles[1]}", *columns)
    figures = [
        (label, *(f"{n:,}" for n in counts))
        for label, counts in zip(rows, cells.tolist(), strict=True)
    ]
    return Chart(*caption, svg, head, figures)
