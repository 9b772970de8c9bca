"""What a page of a cut is made of: spans that went, each for one that stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neardup.passages.places import group_overlapping
from neardup.tables import Floats, Int64s

MOST_GROUPS = 200
"""Repeated passages that a page lists."""


@dataclass(frozen=True)
class CutDocument:
    """A document that lost something, or has what stays; ``text`` as it came in, if it is known."""

    id: str
    file: str | None
    row: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class Group:
    """What went for one passage that stays: rows of the table, in its order."""

    rows: Int64s
    n_documents: int
    n_characters: int
    text: str = ""


@dataclass(frozen=True)
class CutTable:
    """Spans that went, a row for each.

    ``own`` and ``kept`` are documents by number; ``kept`` is -1 where nobody has said what stays.
    ``summary`` is that of the run, with the beginnings of what was repeated most.
    """

    documents: list[CutDocument]
    own: Int64s
    starts: Int64s
    stops: Int64s
    kept: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.own)

    @classmethod
    def of_none(cls, summary: Mapping[str, Any]) -> CutTable:
        """Return no spans."""
        none = np.empty(0, np.int64)
        return cls([], none, none, none, none, none, none, np.empty(0, np.float64), summary)

    @cached_property
    def _numbers(self) -> Int64s:
        """What went for the same thing has the same number."""
        return group_overlapping(self.kept, self.kept_starts, self.kept_stops)

    @property
    def n_groups(self) -> int:
        """How many different passages were repeated."""
        return int(self._numbers.max(initial=-1)) + 1

    @cached_property
    def groups(self) -> list[Group]:
        """What was repeated most, by copies, then by characters."""
        if not len(self):
            return []
        numbers = self._numbers
        counts = np.bincount(numbers)
        sizes = np.bincount(numbers, self.stops - self.starts).astype(np.int64)
        first_rows = np.full(len(counts), len(self), np.int64)
        np.minimum.at(first_rows, numbers, np.arange(len(self)))
        ranked = np.lexsort((first_rows, -sizes, -counts))[:MOST_GROUPS]
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(counts)
        listed = self.summary.get("most_repeated", [])
        found = []
        for rank, number in enumerate(ranked.tolist()):
            rows = order[ends[number] - counts[number] : ends[number]]
            said = listed[rank] if rank < len(listed) else {}
            is_same = said.get("copies") == counts[number]
            text = str(said.get("text", "")) if is_same else ""
            n_documents = len(np.unique(self.own[rows]))
            found.append(Group(rows, n_documents, int(sizes[number]), text))
        return found

    def text(self, row: int) -> str | None:
        """Return what went, if the document's text is known."""
        text = self.documents[int(self.own[row])].text
        return None if text is None else text[int(self.starts[row]) : int(self.stops[row])]

    def kept_text(self, row: int) -> str | None:
        """Return what stays for it, if that document's text is known."""
        number = int(self.kept[row])
        text = None if number < 0 else self.documents[number].text
        if text is None:
            return None
        return text[int(self.kept_starts[row]) : int(self.kept_stops[row])]
