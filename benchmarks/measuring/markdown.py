"""Tables in Markdown, and their places on a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NOTHING = "–"
MB = 1e6


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out a table; None and numbers are written as in ``cell``, numbers right-aligned."""
    listed = [list(row) for row in rows]
    ruler = []
    for column in range(len(header)):
        values = [row[column] for row in listed if row[column] is not None]
        ruler.append("---:" if values and all(map(_is_number, values)) else "---")
    lines = [list(header), ruler, *([cell(value) for value in row] for row in listed)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: object) -> str:
    """Write a value: numbers of three or four digits, yes or no, a dash for None."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, int) or (isinstance(value, float) and abs(value) >= 100):
        return f"{value:,.0f}"
    if isinstance(value, float):
        decimals = 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
        return f"{value:.{decimals}f}"
    return str(value)


def megabytes(size: float | None) -> int | None:
    """Return whole megabytes; None stays."""
    return None if size is None else round(size / MB)


def decimals(value: float | None, places: int) -> str:
    """Write a number with so many decimals, and None as a table does."""
    return cell(None) if value is None else f"{value:.{places}f}"


def beside(other: float | None, own: float | None, target: int) -> tuple[object, ...]:
    """Lay out how many times ours another's figure is, what is to be reached, and whether it is."""
    if other is None or own is None:
        return None, target, None
    return other / own, target, other / own >= target


def replace_between(path: Path, name: str, text: str) -> None:
    """Put text between a file's lines ``<!-- begin NAME -->`` and ``<!-- end NAME -->``."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    new, count = pattern.subn(lambda _: f"{begin}\n\n{text}\n\n{end}", path.read_text("utf-8"))
    if count != 1:
        message = f"{path.name} needs the lines {begin} and {end} once each"
        raise LookupError(message)
    path.write_text(new, encoding="utf-8", newline="\n")
