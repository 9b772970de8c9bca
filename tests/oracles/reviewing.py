"""Agreement of two reviewers, and the value that parts numbers in two, by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def kappa(a: Sequence[str], b: Sequence[str]) -> Fraction | None:
    """Return Cohen's kappa of two lists of categories; None where agreement is sure by chance.

    Cohen (1960), formula 1.
    """
    n = len(a)
    if not n:
        return None
    observed = Fraction(sum(x == y for x, y in zip(a, b, strict=True)), n)
    expected = sum(
        (Fraction(a.count(word), n) * Fraction(b.count(word), n) for word in {*a, *b}), Fraction(0)
    )
    return None if expected == 1 else (observed - expected) / (1 - expected)


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
