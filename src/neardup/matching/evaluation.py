"""How well a ranking of pairs agrees with labels: precision, recall and F1 at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np

from neardup.tables import Bools, Floats, Int64s

_MOST_DIGITS = 17


@dataclass(frozen=True)
class Evaluation:
    """What would be found with each threshold at which that changes, the strictest first.

    With ``thresholds[k]`` all pairs of at least that value are found: ``n_found[k]``, of which
    ``n_correct[k]`` are right. There are ``n_right`` right pairs in all, found or not.
    """

    thresholds: Floats
    n_found: Int64s
    n_correct: Int64s
    n_right: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def precisions(self) -> Floats:
        """Of the pairs found, the share that is right."""
        shares: Floats = self.n_correct / self.n_found
        return shares

    @property
    def recalls(self) -> Floats:
        """Of the right pairs, the share that is found; 0 if there are none."""
        shares: Floats = self.n_correct / max(1, self.n_right)
        return shares

    @property
    def f1_scores(self) -> Floats:
        """The harmonic mean of precision and recall."""
        scores: Floats = 2 * self.n_correct / (self.n_found + self.n_right)
        return scores

    @property
    def best(self) -> int | None:
        """Where F1 is largest, the strictest threshold on a tie; None if nothing right is found."""
        if not len(self) or not self.n_correct[-1]:
            return None
        return int(np.argmax(self.f1_scores))

    def at(self, threshold: float) -> int | None:
        """Return which entry says what a threshold finds; None where it finds nothing."""
        place = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        return None if place < 0 else place

    def round_threshold(self, place: int) -> float:
        """Return the shortest decimal that finds the same pairs as the threshold at a place."""
        high = float(self.thresholds[place])
        low = float(self.thresholds[place + 1]) if place + 1 < len(self) else -np.inf
        for digits in range(1, _MOST_DIGITS):
            found: float = floor(high * 10.0**digits) / 10.0**digits
            if low < found <= high:
                return found
        return high


def evaluate(values: Floats, is_right: Bools, n_right: int) -> Evaluation:
    """Compare a ranking of pairs with labels.

    Parameters
    ----------
    values
        What pairs are ranked by, the most similar highest.
    is_right
        Which of these pairs the labels have.
    n_right
        Pairs of the labels in all; those that are not among these pairs are missed by every
        threshold.
    """
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else order
    correct = np.cumsum(is_right[order], dtype=np.int64)
    return Evaluation(ordered[ends], (ends + 1).astype(np.int64), correct[ends], n_right)
