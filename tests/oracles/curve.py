"""The S-curve of banding, exactly."""

from __future__ import annotations

from fractions import Fraction


def candidate_probability(jaccard: Fraction, bands: int, rows: int) -> Fraction:
    """Probability that a pair agrees in all rows of a band at least: 1 - (1 - s^r)^b."""
    return 1 - (1 - jaccard**rows) ** bands


def least_bands(jaccard: Fraction, rows: int, recall: Fraction, most: int) -> int | None:
    """Least number of bands up to ``most`` that reaches the recall, by trying them all."""
    for bands in range(1, most + 1):
        if candidate_probability(jaccard, bands, rows) >= recall:
            return bands
    return None


def slope(jaccard: Fraction, bands: int, rows: int) -> Fraction:
    """Slope of the curve, by the chain rule: b (1 - s^r)^(b - 1) r s^(r - 1)."""
    return bands * (1 - jaccard**rows) ** (bands - 1) * rows * jaccard ** (rows - 1)
