"""Similarities as fractions; cosine by its square, so that nothing is ever rounded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from fractions import Fraction

from tests.oracles.weighted import weighted_jaccard

MEASURES = ("jaccard", "cosine", "dice", "containment", "max-containment")
JOIN_MEASURES = (*MEASURES, "overlap")
WEIGHTED = "weighted-jaccard"

# What is compared: elements, or what each of them weighs.
Elements = Set[object] | Mapping[object, int]


def size(x: Elements) -> int:
    """Count the elements, or add up what they weigh."""
    return sum(x.values()) if isinstance(x, Mapping) else len(x)


def common(x: Elements, y: Elements) -> int:
    """Count the common elements, or add up the lesser weights of each."""
    if isinstance(x, Mapping):
        return sum(min(x[element], y[element]) for element in x.keys() & y.keys())
    return len(x & y)


def rank(measure: str, overlap: int, x: int, y: int) -> Fraction:
    """Give a number that orders pairs as the measure does: its value, its square for cosine."""
    if measure in ("jaccard", WEIGHTED):
        return Fraction(overlap, x + y - overlap)
    if measure == "cosine":
        return Fraction(overlap * overlap, x * y)
    if measure == "dice":
        return Fraction(2 * overlap, x + y)
    if measure == "containment":
        return Fraction(overlap, x)
    if measure == "overlap":
        return Fraction(overlap)
    return Fraction(overlap, min(x, y))


def rank_of_threshold(measure: str, threshold: Fraction) -> Fraction:
    return threshold * threshold if measure == "cosine" else threshold


def reaches(measure: str, overlap: int, x: int, y: int, threshold: Fraction) -> bool:
    return rank(measure, overlap, x, y) >= rank_of_threshold(measure, threshold)


def rank_of_sets(measure: str, x: Elements, y: Elements) -> Fraction:
    if measure == WEIGHTED:
        return weighted_jaccard(x, y)
    return rank(measure, len(x & y), len(x), len(y))


def sets_reach(measure: str, x: Elements, y: Elements, threshold: Fraction) -> bool:
    return rank_of_sets(measure, x, y) >= rank_of_threshold(measure, threshold)


def value(measure: str, ranked: Fraction) -> float:
    """Give the similarity that has this rank, as a float."""
    return math.sqrt(ranked) if measure == "cosine" else float(ranked)
