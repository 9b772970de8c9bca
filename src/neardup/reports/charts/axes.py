"""Axes of charts: where values lie, linear or by their logarithm, and which of them are named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from neardup.reports.charts.chart import WIDTH, element

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


def counts_up_to(most: float, height: float, *, is_log: bool = False) -> Scale:
    """Return the scale of an axis of counts, which grow from the bottom of a plot to its top."""
    low = 0.5 if is_log else 0.0
    return Scale(low, max(most, 1) * (1.05 if not is_log else 1.2), height - BELOW, TOP, is_log)


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
