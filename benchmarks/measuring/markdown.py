"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def row_table(rows: Sequence[dict[str, object]]) -> str:
    """Lay out rows with the same names; the names of the first one are the header."""
    return table(tuple(rows[0]), [tuple(row.values()) for row in rows]) if rows else "(no rows)"


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
