"""Charts as SVG within a page: drawn here, because a page must be small, and the same each time.

Libraries that draw charts bring scripts or fonts of hundreds of kilobytes, set colours where a page
that is light, dark or printed needs variables, or number their elements by chance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from markupsafe import Markup

from neardup.reports.page import escape_text, shortened

# What a chart is: a drawing, what it says in words, and its figures as a table.

# Of the drawing, in the units in which its text has 13.
WIDTH = 480


@dataclass(frozen=True)
class Table:
    """Figures: a head, and rows of as many cells, as they are to be read."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chart:
    """A drawing with its title, a sentence that says what it shows, and the figures behind it.

    ``name`` is the id of its element, and different from all others of a page.
    """

    name: str
    title: str
    description: str
    svg: Markup
    table: Table

    @property
    def is_wide(self) -> bool:
        """Whether it is wider than a page has room for."""
        return 'class="chart wide"' in self.svg


def element(tag: str, content: Markup | str | None = None, **attributes: object) -> Markup:
    """Write an element of SVG; ``class_`` is the class, ``_`` stands for ``-`` in names.

    Numbers are written with two decimals at most, strings are escaped. Without content the element
    is empty.
    """
    parts = [f"<{tag}"]
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        shown = number(value) if isinstance(value, int | float) else escape_text(str(value))
        parts.append(f' {name}="{shown}"')
    if content is None:
        return Markup("".join(parts) + "/>")
    inside = content if isinstance(content, Markup) else escape_text(content)
    return Markup("".join(parts) + f">{inside}</{tag}>")


def label_of(label: str, most: int, shown: str | None = None) -> Markup:
    """Write as much of a label as there is room for; all of it shows where it is pointed at.

    ``shown`` is what to write of it, if not its own characters.
    """
    return element("title", label) + Markup(escape_text(shortened(shown or label, most)))


OTHERS = "others"
"""The label of what a drawing has together, at the end."""

# What ends with a sign that parts words, or nothing.
_WORDS = re.compile(r".*[^\w]|", re.DOTALL)


def told_apart(labels: Sequence[str], most: int) -> list[str]:
    """Leave out of labels the words that all begin and end with, where one has too little room."""
    own = [label for label in labels if label != OTHERS]
    if len(own) < 2 or all(shortened(label, most) == label for label in own):
        return list(labels)
    start = _shared(own)
    stop = _shared([label[start:][::-1] for label in own])

    def shown(label: str) -> str:
        return "…" * (start > 0) + label[start : len(label) - stop] + "…" * (stop > 0)

    return [label if label == OTHERS else shown(label) for label in labels]


def _shared(labels: Sequence[str]) -> int:
    """Return how many characters of whole words all labels begin with."""
    # All others lie between these two.
    pairs = zip(min(labels), max(labels), strict=False)
    n = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    words = _WORDS.match(labels[0][: min(n, *(len(label) - 1 for label in labels))])
    return 0 if words is None else words.end()


def number(value: float) -> str:
    """Write a coordinate."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def drawing(
    name: str,
    title: str,
    description: str,
    height: float,
    parts: list[Markup],
    width: float = WIDTH,
) -> Markup:
    """Put the parts of a drawing together; those who do not see it are told title and description.

    ``height`` is in the units of ``WIDTH``; parts are drawn in their order. One that is wider than
    that keeps its size, and is scrolled.
    """
    head = element("title", title, id=f"{name}-title")
    head += element("desc", description, id=f"{name}-description")
    return element(
        "svg",
        head + Markup("").join(parts),
        class_="chart" if width <= WIDTH else "chart wide",
        **({} if width <= WIDTH else {"width": width}),
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


# Axes of charts: where values lie, linear or by their logarithm, and which of them are named.

# Around the plot: room for labels of values at the left, for those of places below.
LEFT, RIGHT, TOP, BELOW = 58.0, 14.0, 22.0, 44.0


@dataclass(frozen=True)
class Scale:
    """Where values from ``low`` to ``high`` lie between two coordinates.

    By the logarithm, counts begin at one half, so that a count of one is seen, and 0 lies where
    they begin.
    """

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        place = math.log10 if self.is_log else float
        least = 0.5 if self.is_log else -math.inf
        low, high, at = (place(max(each, least)) for each in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.0
        return self.start + share * (self.stop - self.start)


def ticks(scale: Scale, most: int = 6) -> list[float]:
    """Return values that are worth a label: round ones, so many at most."""
    if scale.is_log:
        powers = range(math.ceil(math.log10(max(scale.high, 1))) + 1)
        every = 1 + len(powers) // (most + 1)
        return [10.0**power for power in powers if power % every == 0 and 10**power <= scale.high]
    span = scale.high - scale.low
    # Labels are rounded, and would be the same.
    if span < 1e-9:
        return [scale.low]
    raw = span / max(most - 1, 1)
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw * (1 - 1e-9))
    first, last = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
    # Of values closer than that one is left.
    return sorted({round(i * step, 12) for i in range(first, last + 1)})


def short_count(value: float) -> str:
    """Write a count as a label: 950, 1.5k, 20k, 3M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def vertical_axis(scale: Scale, labels: Sequence[tuple[float, str]], title: str) -> list[Markup]:
    """Draw lines across the plot at some values, their labels, and the title above."""
    parts = [element("text", title, class_="axis-title", x=2, y=12)]
    for value, label in labels:
        y = scale(value)
        parts += [
            element("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
            element("text", label, class_="tick end", x=LEFT - 6, y=y + 4),
        ]
    return parts


def horizontal_axis(
    scale: Scale, labels: Sequence[tuple[float, str]], title: str, height: float
) -> list[Markup]:
    """Draw the line below the plot, labels at some values, and the title below these."""
    bottom = height - BELOW
    parts = [element("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom)]
    for value, label in labels:
        x = scale(value)
        parts += [
            element("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + 4),
            element("text", label, class_="tick middle", x=x, y=bottom + 18),
        ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*parts, element("text", title, class_="axis-title middle", x=middle, y=height - 6)]


# Bars of parts, one below the other, such as what stayed and what went of each file.

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
    """Draw a bar for each row, a label and as many counts as ``parts``, all on the same scale.

    ``kinds`` are classes of the parts, which have the colours; ``head`` says in the table what the
    labels are.
    """
    largest = max((sum(counts) for _, counts in rows), default=0) or 1
    drawn: list[Markup] = []
    top = 4.0
    if len(parts) > 1:
        top, x = _LEGEND, 2.0
        for part, kind in zip(parts, kinds, strict=False):
            drawn += [
                element("rect", class_=f"bar {kind}", x=x, y=4, width=12, height=12),
                element("text", part, class_="tick", x=x + 17, y=14),
            ]
            x += 34 + 7 * len(part)
    for i, (label, counts) in enumerate(rows):
        y = top + _ROW * i
        shown = f"{sum(counts):,}"
        drawn += [
            element("text", label_of(label, _MOST_CHARACTERS), class_="tick", x=2, y=y + _LABEL),
            element("text", shown, class_="tick end", x=WIDTH - 2, y=y + _LABEL),
        ]
        x = 2.0
        for part, count, kind in zip(parts, counts, kinds, strict=False):
            width = (WIDTH - 4) * count / largest
            if count:
                title_of_bar = element("title", f"{label}: {part} {count:,}")
                place = {"x": x, "y": y + _LABEL + 6, "width": max(width, 0.5), "height": _BAR}
                drawn.append(element("rect", title_of_bar, class_=f"bar {kind}", **place))
            x += width
    table = Table((head, *parts), [(label, *(f"{n:,}" for n in counts)) for label, counts in rows])
    svg = drawing(name, title, description, top + _ROW * max(len(rows), 1), drawn)
    return Chart(name, title, description, svg, table)


# Curves over an axis, and what was measured there.

_HEIGHT = 260.0
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
    """Draw four lines at most, as the style sheet has, over ``x_range``; y goes from 0 to 1.

    ``marked`` is an x to draw a line at, and its label; ``measured`` is drawn over the lines.
    """
    labels = [line.name for line in lines] + [each.name for each in measured]
    legend = labels if len(labels) > 1 else []
    height = _HEIGHT + _LINE * len(legend)
    x = Scale(*x_range, LEFT, WIDTH - RIGHT)
    y = Scale(0.0, 1.0, _HEIGHT - BELOW, TOP)
    parts = vertical_axis(y, [(value, f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)], y_title)
    parts += horizontal_axis(x, [(at, f"{at:g}") for at in ticks(x, 7)], x_title, _HEIGHT)
    if marked:
        at, bottom = x(marked[0]), _HEIGHT - BELOW
        parts += [
            element("line", class_="mark-line", x1=at, x2=at, y1=TOP - 6, y2=bottom),
            element("text", marked[1], y=bottom - 8, **_beside(at, is_left=at < WIDTH / 2)),
        ]
    for kind, line in enumerate(lines):
        places = (f"{number(x(a))} {number(y(b))}" for a, b in line.points)
        path = f"M{' L'.join(places)}" if line.points else ""
        parts.append(element("path", element("title", line.name), class_=f"line k{kind}", d=path))
    for each in measured:
        at, low, high = x(each.x), y(each.low), y(each.high)
        name_of_it, value = element("title", each.name), y(each.value)
        parts += [
            element("line", class_="interval", x1=at, x2=at, y1=low, y2=high),
            element("line", class_="interval", x1=at - 5, x2=at + 5, y1=low, y2=low),
            element("line", class_="interval", x1=at - 5, x2=at + 5, y1=high, y2=high),
            element("circle", name_of_it, class_="measured", cx=at, cy=value, r=4.5),
        ]
    for i, label in enumerate(legend):
        at = _HEIGHT + _LINE * i + 8
        if i < len(lines):
            parts.append(element("line", class_=f"line k{i}", x1=LEFT, x2=LEFT + 22, y1=at, y2=at))
        else:
            parts.append(element("circle", class_="measured", cx=LEFT + 11, cy=at, r=4.5))
        parts.append(element("text", label, class_="tick", x=LEFT + 30, y=at + 4))
    svg = drawing(name, title, description, height, parts)
    return Chart(name, title, description, svg, _table(lines, measured, x_title))


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


# Histograms: how many values lie between which bounds.

_HISTOGRAM_HEIGHT = 230.0


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
    """Draw a bar for each count, between two of the ascending edges, of which there is one more.

    ``labels`` are of the bars, if these are categories; None labels round values of the axis.
    ``marked`` is a value to draw a line at, such as a threshold, and its label. With ``is_log``
    heights are logarithms of the counts.
    """
    x = Scale(edges[0], edges[-1], LEFT, WIDTH - RIGHT)
    bottom = _HISTOGRAM_HEIGHT - BELOW
    most = max([*counts, 1]) * (1.2 if is_log else 1.05)
    y = Scale(0.5 if is_log else 0.0, most, bottom, TOP, is_log)
    names = labels or [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    heights = [(value, short_count(value)) for value in ticks(y, 5) if value == int(value)]
    parts = vertical_axis(y, heights, y_title)
    for (start, stop), count, label in zip(pairwise(edges), counts, names, strict=True):
        if count:
            left, width, top = x(start), x(stop) - x(start), y(count)
            gap = min(1.0, width / 8)
            place = {"x": left + gap, "y": min(top, bottom - 1)}
            size = {"width": max(width - 2 * gap, 0.5), "height": max(bottom - top, 1)}
            said = element("title", f"{label}: {count:,}")
            parts.append(element("rect", said, class_="bar", **place, **size))
    if labels is None:
        at = [(value, f"{value:g}") for value in ticks(x, 7)]
    else:
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        step = -(-len(labels) // 8)
        at = list(zip(middles, labels, strict=True))[::step]
    parts += horizontal_axis(x, at, x_title, _HISTOGRAM_HEIGHT)
    if marked:
        line = x(marked[0])
        side = _beside(line, is_left=line < (LEFT + WIDTH - RIGHT) / 2)
        parts += [
            element("line", class_="mark-line", x1=line, x2=line, y1=TOP - 6, y2=bottom),
            element("text", marked[1], **side, y=TOP + 4),
        ]
    rows = [(label, f"{count:,}") for label, count in zip(names, counts, strict=True)]
    svg = drawing(name, title, description, _HISTOGRAM_HEIGHT, parts)
    return Chart(name, title, description, svg, Table((x_title, y_title), rows))


def _beside(x: float, *, is_left: bool) -> dict[str, object]:
    """Put the label of a line on the side where there is more room."""
    if is_left:
        return {"class_": "mark-label", "x": x + 5}
    return {"class_": "mark-label end", "x": x - 5}


def threshold_mark(threshold: float | None) -> tuple[float, str] | None:
    """Return the mark of a least similarity, None where there was none."""
    return None if threshold is None else (float(threshold), f"threshold {threshold:g}")


# A matrix of counts: who has how much of whom, darker where it is more.

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

    ``counts`` has for each row one of each column; what more than 16 columns need is scrolled.
    """
    side = min(max((WIDTH - _LEFT - _RIGHT) / max(len(columns), 1), _CELL[0]), _CELL[1])
    largest = max((count for row in counts for count in row), default=0)
    parts = [
        element("text", f"{row_title} ↓", class_="axis-title", x=2, y=_TOP - 8),
        element("text", f"{column_title} →", class_="axis-title", x=2, y=14),
    ]
    of_columns = told_apart(columns, _MOST_OF_COLUMNS)
    for j, (label, own) in enumerate(zip(columns, of_columns, strict=True)):
        x = _LEFT + (j + 0.5) * side
        shown = label_of(label, _MOST_OF_COLUMNS, own)
        turn = f"translate({x + 4:.2f} {_TOP - 6:.2f}) rotate(-55)"
        parts.append(element("text", shown, class_="tick", transform=turn))
    of_rows = told_apart(rows, _MOST_OF_ROWS)
    for i, (label, own) in enumerate(zip(rows, of_rows, strict=True)):
        y = _TOP + i * side
        shown, middle = label_of(label, _MOST_OF_ROWS, own), y + side / 2 + 4
        parts.append(element("text", shown, class_="tick end", x=_LEFT - 6, y=middle))
        for j, count in enumerate(counts[i]):
            parts += _cell(_LEFT + j * side, y, side, count, largest, f"{label}, {columns[j]}")
    table = Table(
        (f"{row_title} / {column_title}", *columns),
        [(label, *(f"{n:,}" for n in row)) for label, row in zip(rows, counts, strict=True)],
    )
    height, width = _TOP + side * max(len(rows), 1) + 4, _LEFT + side * len(columns) + _RIGHT
    svg = drawing(name, title, description, height, parts, max(width, WIDTH))
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
