"""Whose documents went for whose: a matrix of files, or of values of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from neardup.reports.dedup.flows import NAMELESS, OTHERS

# Columns of the other collection.
_OF_OTHER = 4


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
        """Whether more than one pair of names is to be seen."""
        return len(self._filled) > 1

    @property
    def is_within(self) -> bool:
        """Whether all went for one of the same name."""
        return len(self._filled) == 1 and self._filled[0][0] == self._filled[0][1]

    @property
    def sentence(self) -> str:
        """What there is to say where there is but one pair of names; else nothing."""
        if len(self._filled) != 1:
            return ""
        if self.is_within:
            return f"All removed documents went for one of the same {self.what}."
        return "All documents removed from {} went for one of {}.".format(*self._filled[0])

    @property
    def _filled(self) -> list[tuple[str, str]]:
        """Pairs of names that are not empty."""
        return [
            (name, kept)
            for name, row in zip(self.removed_from, self.counts, strict=True)
            for kept, count in zip(self.kept_in, row, strict=True)
            if count
        ]


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
        Rows at most, and as many columns for the same names.
    """
    sizes = [each["documents_removed"] for each in counts["pairs"]]
    own = [str(each[label] or NAMELESS) for each in counts["pairs"]]
    keepers = [str(each[f"kept_{label}"] or NAMELESS) for each in counts["pairs"]]
    are_own = [each["kept_in"] == "input" for each in counts["pairs"]]
    of_other = [not is_own for is_own in are_own]
    # Of the same names in the same order the diagonal is what stayed among itself.
    names = _largest([*own, *compress(keepers, are_own)], [*sizes, *compress(sizes, are_own)], most)
    others = _largest(list(compress(keepers, of_other)), list(compress(sizes, of_other)), _OF_OTHER)
    cells = [[0] * (len(names) + len(others)) for _ in names]
    for row, column, is_own, size in zip(own, keepers, are_own, sizes, strict=True):
        j = _place(names, column) if is_own else len(names) + _place(others, column)
        cells[_place(names, row)][j] += size
    columns = [*names, *(map(_in_other, others))]
    rest = counts["other_pairs"]
    return Exchange(what, names, columns, cells, rest["documents_removed"] if rest else 0)


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name if name in names else OTHERS)


def _in_other(name: str) -> str:
    return "the other collection" if name == NAMELESS else f"{name} (other collection)"


def _largest(names: Sequence[str], sizes: Sequence[int], most: int) -> list[str]:
    """Return the names of most documents, by name, and one for the others, if there are more."""
    totals: dict[str, int] = {}
    for name, size in zip(names, sizes, strict=True):
        totals[name] = totals.get(name, 0) + size
    if len(totals) <= most:
        return sorted(totals)
    by_size = sorted(totals, key=lambda name: (-totals[name], name))
    return [*sorted(by_size[: most - 1]), OTHERS]
