"""Precision, recall and F1 of a ranking, threshold by threshold, by their definitions."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction


def figures(
    found: Iterable[tuple[float, bool]], n_right: int, threshold: float
) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return precision, recall and F1 of the pairs at a threshold; None if there are none."""
    at_threshold = [is_right for value, is_right in found if value >= threshold]
    if not at_threshold:
        return None
    n_correct = sum(at_threshold)
    precision = Fraction(n_correct, len(at_threshold))
    recall = Fraction(n_correct, n_right) if n_right else Fraction(0)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else Fraction(0)
