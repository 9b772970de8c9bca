"""What a chart is: a drawing, what it says in words, and its figures as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from unicodedata import east_asian_width

from markupsafe import Markup

from neardup.outputs.compare_page import escape_text

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


def number(value: float) -> str:
    """Write a coordinate."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def drawing(name: str, title: str, description: str, height: float, parts: list[Markup]) -> Markup:
    """Put the parts of a drawing together; those who do not see it are told title and description.

    Parameters
    ----------
    name
        Of the chart.
    title, description
        As of the chart.
    height
        In the units of ``WIDTH``.
    parts
        Elements, in the order in which they are drawn.
    """
    head = [
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-description"),
    ]
    return element(
        "svg",
        Markup("").join([*head, *parts]),
        class_="chart",
        viewBox=f"0 0 {WIDTH} {number(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-description",
    )


def shortened(text: str, most: int) -> str:
    """Return a label of so many characters at most; the middle of a longer one is left out.

    Characters that are drawn wide, such as those of Chinese, count as two.
    """
    if _width(text) <= most:
        return text
    tail = _as_wide_as(text[::-1], (most - 1) // 2)
    head = _as_wide_as(text, most - 1 - _width(tail))
    return f"{head}…{tail[::-1]}"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _as_wide_as(text: str, most: int) -> str:
    """Return the beginning of a text that is so wide at most."""
    widths = accumulate(_width(c) for c in text)
    return "".join(c for c, width in zip(text, takewhile(most.__ge__, widths), strict=False))
