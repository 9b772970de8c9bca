"""Counts by groups of documents, such as their files, as a small table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neardup.cli.wording import printable

# Groups that a terminal is shown.
_SHOWN = 10
# Of longer names the end.
_NAME_WIDTH = 60

_HEADINGS = {
    "documents_in": "in",
    "documents_kept": "kept",
    "documents_removed": "removed",
    "removed_for_against": "for OTHER",
    "exact_copies": "exact copies",
}


def tables_of_groups(summary: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table by file, and of one by the values of a column if there is one."""
    lines = table_of_groups(summary["by_file"], "file", "file")
    if by := summary.get("by"):
        lines += table_of_groups(by, "value", printable(by["column"]))
    return lines


def table_of_groups(found: Mapping[str, Any], label: str, heading: str) -> list[str]:
    """Return the lines of a table of the groups that lost most documents; none of a single group.

    Parameters
    ----------
    found
        As a summary has it under ``by_file``.
    label, heading
        What a group is called there, and in the table.
    """
    every, others = found["counts"], found["others"]
    if len(every) + (others["groups"] if others else 0) < 2:
        return []
    order = sorted(range(len(every)), key=lambda i: -every[i]["documents_removed"])
    shown = [every[i] for i in sorted(order[:_SHOWN])]
    wanted = [name for name in _HEADINGS if name in every[0]]
    if not any(row.get("removed_for_against") for row in every):
        wanted = [name for name in wanted if name != "removed_for_against"]
    cells = [[_HEADINGS[name] for name in wanted]]
    cells += [[f"{row[name]:,}" for name in wanted] for row in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    names = [heading, *(_shown(row[label]) for row in shown)]
    lines = [
        "  ".join(["", *(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), name])
        for row, name in zip(cells, names, strict=True)
    ]
    n_more = len(every) - len(shown) + (others["groups"] if others else 0)
    if n_more:
        lines.append(f"  and {n_more:,} more")
    return lines


def _shown(name: str | None) -> str:
    text = "(none)" if name is None else printable(name)
    return text if len(text) <= _NAME_WIDTH else f"...{text[3 - _NAME_WIDTH :]}"
