"""The value that parts numbers in two, by its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def spread(values: Sequence[float], threshold: float) -> Fraction:
    """Return the variance between the values below a threshold and those that are not.

    Otsu (1979), formula 14: w0 w1 (m1 - m0)^2; 0 where a side has none.
    """
    exact = [Fraction(value) for value in values]
    low = [value for value in exact if value < threshold]
    high = [value for value in exact if value >= threshold]
    if not low or not high:
        return Fraction(0)
    apart = sum(high) / len(high) - sum(low) / len(low)
    return Fraction(len(low) * len(high), len(exact) ** 2) * apart**2
