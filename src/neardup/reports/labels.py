"""Precision, recall and errors of pairs with labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor

import numpy as np

from neardup.reports.charts import Caption, Mark, curves
from neardup.reports.page import Cell, Fact, Section, Table
from neardup.reports.text import percent
from neardup.runs.progress import counted, plural
from neardup.tables import Bools, Floats, Int64s

MOST_ERRORS = 5
"""Examples of each kind of error."""

# Points of the curve.
_MOST_POINTS = 50
_MOST_DIGITS = 17


@dataclass(frozen=True)
class Labelled:
    """The judged pairs of a table, ranked best first.

    ``pairs``, ``values`` and ``is_right`` are numbers, values and labels of the table's judged
    pairs, each once. ``n_right`` pairs are right by the labels, in the table or not; of these the
    table lacks ``n_missing``, the first with the ids ``missing``. Pairs without a label are left
    out if ``is_partial``, else wrong. ``n_strange`` labels have a document that is in no pair, such
    as ``stranger``. Values are negative distances if ``is_by_distance``.
    """

    pairs: Int64s
    values: Floats
    is_right: Bools
    n_right: int
    missing: Sequence[tuple[str, str]]
    n_missing: int
    is_partial: bool
    stranger: str
    n_strange: int
    is_by_distance: bool = False

    @cached_property
    def _ends(self) -> Int64s:
        """Return the last pair of each value, a possible threshold."""
        return np.flatnonzero(np.append(self.values[1:] != self.values[:-1], True))[
            : len(self.values)
        ]

    @cached_property
    def thresholds(self) -> Floats:
        """Return descending values that change the found pairs."""
        return self.values[self._ends]

    @cached_property
    def n_found(self) -> Int64s:
        """Return the number of pairs found at each threshold."""
        return self._ends + 1

    @cached_property
    def n_correct(self) -> Int64s:
        """Return the number of right pairs at each threshold."""
        return np.cumsum(self.is_right, dtype=np.int64)[self._ends]

    @property
    def scores(self) -> tuple[Floats, Floats, Floats]:
        """Return precision, recall and F1 at each threshold."""
        return (
            self.n_correct / self.n_found,
            self.n_correct / max(1, self.n_right),
            2 * self.n_correct / (self.n_found + self.n_right),
        )

    @cached_property
    def best(self) -> int | None:
        """Return the threshold with the largest F1, or None."""
        if not self.is_right.any():
            return None
        return int(np.argmax(self.scores[2]))

    @cached_property
    def best_rank(self) -> float:
        """Return the shortest decimal equivalent to the best threshold."""
        assert self.best is not None
        high = float(self.thresholds[self.best])
        following = self.thresholds[self.best + 1 : self.best + 2]
        low = float(following[0]) if len(following) else -np.inf
        for digits in range(1, _MOST_DIGITS):
            found: float = floor(high * 10.0**digits) / 10.0**digits
            if low < found <= high:
                return found
        return high

    @property
    def best_value(self) -> float:
        """Return the best threshold as a similarity or distance."""
        return abs(self.best_rank)

    def errors(self) -> dict[int, str]:
        """Return pairs that the best threshold misjudges, with titles."""
        if self.best is None:
            return {}
        is_found = self.values >= self.thresholds[self.best]
        wrong = self.pairs[is_found & ~self.is_right][:MOST_ERRORS]
        missed = self.pairs[~is_found & self.is_right][:MOST_ERRORS]
        titles = dict.fromkeys(wrong.tolist(), "Found, but wrong")
        return titles | dict.fromkeys(missed.tolist(), "Right, but below the best threshold")

    def absent(self) -> list[tuple[str, str, str]]:
        """Return titles and ids of right pairs outside the table."""
        return [("Right, but not in the table", a, b) for a, b in self.missing]

    def notes(self) -> list[str]:
        """Describe labels that cannot be about this table."""
        if not self.n_strange:
            return []
        which = f"{counted(self.n_strange, 'label')} {plural(self.n_strange, 'names', 'name')}"
        return [f"{which} a document that is in no pair of the table, such as {self.stranger!r}"]

    def facts(self) -> list[Fact]:
        """Return the figures at the best threshold."""
        if self.best is None:
            return []
        precision, recall, f1 = (float(values[self.best]) for values in self.scores)
        name = "best distance" if self.is_by_distance else "best threshold"
        return [
            Fact(f"{self.best_value:g}", name),
            Fact(percent(precision), "precision there"),
            Fact(percent(recall), "recall there"),
            Fact(f"{f1:.3f}", "F1 there"),
        ]

    def section(self) -> Section:
        """Return the section with the curve, figures and meaning."""
        what = "labelled pairs" if self.is_partial else "pairs"
        wrong = (
            "Pairs without a label are left out."
            if self.is_partial
            else "A pair without a label counts as wrong, so labels must be complete."
        )
        lead = (
            f"{len(self.pairs):,} {what} of the table were judged, {int(self.is_right.sum()):,} of "
            f"them right. The labels have {self.n_right:,} right pairs; {self.n_missing:,} of them "
            f"are not in the table and count as missed by every threshold. {wrong} The best "
            "threshold is chosen by these labels; for other documents it may be another."
        )
        lead = " ".join([lead, *(f"{note}." for note in self.notes())])
        if not len(self.thresholds):
            return Section("labels", "Labels", lead, nothing="No pair is judged.")
        step = -(-len(self.thresholds) // _MOST_POINTS)
        shown = sorted({*range(0, len(self.thresholds), step), len(self.thresholds) - 1})
        if self.best is not None:
            shown = sorted({*shown, self.best})
        scores = dict(zip(("precision", "recall", "F1"), self.scores, strict=True))
        axis = "largest distance" if self.is_by_distance else "threshold"
        lines = {
            name: sorted((abs(float(self.thresholds[k])), float(values[k])) for k in shown)
            for name, values in scores.items()
        }
        mark = None
        description = "No labelled pair is right, so no threshold finds one."
        if self.best is not None:
            mark = Mark(self.best_value, f"best: {self.best_value:g}")
            description = f"F1 is best at {self.best_value:g}."
        caption = Caption("labels-curve", "Precision and recall by threshold", description)
        chart = curves(caption, lines, (axis, "share"), mark)
        rows: list[Sequence[Cell]] = []
        order = sorted(shown, key=lambda k: (k != self.best, k))
        for k in order:
            n, n_correct = int(self.n_found[k]), int(self.n_correct[k])
            counts = (n, n_correct, n - n_correct, self.n_right - n_correct)
            threshold = abs(float(self.thresholds[k]))
            rows.append((threshold, *counts, *(float(values[k]) for values in scores.values())))
        head = (axis, "pairs", "right", "wrong", "missed", *scores)
        table = Table("Figures by threshold, the best first", head, rows)
        return Section("labels", "Labels", lead, [chart], [table])
