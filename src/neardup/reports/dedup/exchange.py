"""Whose documents went for whose: a matrix of files, or of values of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.reports.dedup.flows import NAMELESS, OTHERS


@dataclass(frozen=True)
class Exchange:
    """By file or column: ``counts[i][j]`` of ``removed_from[i]`` went for one of ``kept_in[j]``.

    Names of fewer documents than the largest are one row or column, ``OTHERS``. ``n_left_out``
    documents are in no cell, because a summary lists no more pairs of names.
    """

    what: str
    removed_from: Sequence[str]
    kept_in: Sequence[str]
    counts: Sequence[Sequence[int]]
    n_left_out: int

    @property
    def is_picture(self) -> bool:
        """Whether there is more than one cell to be seen."""
        return len(self.removed_from) * len(self.kept_in) > 1

    @property
    def is_within(self) -> bool:
        """Whether all went for one of the same name."""
        return len(self.removed_from) == 1 and self.removed_from == self.kept_in

    @property
    def sentence(self) -> str:
        """What there is to say where there is but one cell; else nothing."""
        if self.is_picture or not self.counts:
            return ""
        if self.is_within:
            return f"All removed documents went for one of the same {self.what}."
        return (
            f"All documents removed from {self.removed_from[0]} went for one of {self.kept_in[0]}."
        )


def exchange_of(what: str, label: str, counts: Mapping[str, Any], *, most: int = 16) -> Exchange:
    """Take from a summary whose documents went for whose.

    Parameters
    ----------
    what
        What names are of: a file, or a column.
    label
        What a summary calls a name.
    counts
        As a summary has them by file, or by the values of a column.
    most
        Rows and columns at most.
    """
    pairs = [(_own(each, label), _keepers(each, label)) for each in counts["pairs"]]
    sizes = [each["documents_removed"] for each in counts["pairs"]]
    rows = _largest([name for name, _ in pairs], sizes, most)
    columns = _largest([name for _, name in pairs], sizes, most)
    cells = [[0] * len(columns) for _ in rows]
    for (row, column), size in zip(pairs, sizes, strict=True):
        i, j = (
            names.index(name if name in names else OTHERS)
            for names, name in ((rows, row), (columns, column))
        )
        cells[i][j] += size
    rest = counts["other_pairs"]
    return Exchange(what, rows, columns, cells, rest["documents_removed"] if rest else 0)


def _own(pair: Mapping[str, Any], label: str) -> str:
    return str(pair[label] or NAMELESS)


def _keepers(pair: Mapping[str, Any], label: str) -> str:
    name = pair[f"kept_{label}"]
    if pair["kept_in"] == "input":
        return str(name or NAMELESS)
    return f"{name} (other collection)" if name else "the other collection"


def _largest(names: Sequence[str], sizes: Sequence[int], most: int) -> list[str]:
    """Return the names of most documents, by name, and one for the others, if there are more."""
    totals: dict[str, int] = {}
    for name, size in zip(names, sizes, strict=True):
        totals[name] = totals.get(name, 0) + size
    if len(totals) <= most:
        return sorted(totals)
    by_size = sorted(totals, key=lambda name: (-totals[name], name))
    return [*sorted(by_size[: most - 1]), OTHERS]
