"""Text of pages, escaped or shortened, and written numbers."""

from __future__ import annotations

import re
from html import escape
from itertools import accumulate, takewhile
from typing import Any
from unicodedata import east_asian_width

MOST_OF_NAME = 120
"""Characters of an id or a name within headings and tables."""

# Characters that HTML cannot hold, or a reader would not see, are replaced by their pictures. A
# carriage return would become a newline if it were not escaped.
_SHOWN = {code: chr(0x2400 + code) for code in range(32)} | {127: "\u2421", 13: "&#13;"}
_SHOWN |= {ord(c): c for c in "\t\n"} | {ord(c): escape(c) for c in "&<>\"'"}

# 1,234, 0.85, 12 to 15, above 99.9 %, 3.4 MB.
_FIGURE = re.compile(r"(above |below )?[\d.,]+( to [\d.,]+)?(\s?%|\s[kMG]?B)?")


def escape_text(text: str) -> str:
    """Write text as HTML that is nothing but text."""
    return well_formed(text).translate(_SHOWN)


def well_formed(text: str) -> str:
    """Replace lone surrogates for encoding as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shortened(text: str, most: int = MOST_OF_NAME) -> str:
    """Return a label without its middle if too long.

    Wide characters, such as Chinese, count as two.
    """
    if _width(text) <= most:
        return text
    tail = _as_wide_as(text[::-1], (most - 1) // 2)
    head = _as_wide_as(text, most - 1 - _width(tail))
    return f"{head}…{tail[::-1]}"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _as_wide_as(text: str, most: int) -> str:
    widths = accumulate(_width(c) for c in text)
    return "".join(c for c, width in zip(text, takewhile(most.__ge__, widths), strict=False))


def is_figure(cell: object) -> bool:
    """Return whether a table cell is or resembles a number."""
    return isinstance(cell, int | float) or bool(_FIGURE.fullmatch(str(cell)))


def written(value: Any) -> str:
    """Write the value of an option."""
    if isinstance(value, list | tuple):
        return " and ".join(map(written, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def share_of_one(value: float) -> str:
    """Write a similarity, 0 or 1 only if exact."""
    return f"{min(max(value, 0.0001), 0.9999):.4f}" if 0 < value < 1 else f"{value:.10g}"


def percent(share: float) -> str:
    """Write a percentage, with 0 % and 100 % exact."""
    text = f"{100 * share:.1f}"
    if text == "0.0":
        return "0 %" if share == 0 else "below 0.1 %"
    if text == "100.0":
        return "100 %" if share == 1 else "above 99.9 %"
    return f"{text} %"


def excerpt(text: str, most: int = 280) -> str:
    """Return the beginning of a text as one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most]} …"
