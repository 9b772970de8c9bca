"""Windows that find a passage, by every way in which its words may have been changed."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import combinations


def least_common(n: int, similarity: Fraction) -> int:
    """Give how many common tokens two sets of n have at least that are so similar."""
    return next(k for k in range(n + 1) if Fraction(k, 2 * n - k) >= similarity)


def is_found(
    n_tokens: int, kept: Collection[int], phase: int, length: int, step: int, least: Fraction
) -> bool:
    """Tell whether a window has enough of the kept tokens; one begins at ``phase``."""
    starts = range(phase - (length // step + 1) * step, n_tokens, step)
    common = (len(set(kept) & set(range(start, start + length))) for start in starts)
    return any(Fraction(x, 2 * length - x) >= least for x in common)


def recall(
    n_tokens: int, similarity: Fraction, length: int, step: int, least: Fraction
) -> Fraction:
    """Give in how many of all cases a passage is found."""
    kept = list(combinations(range(n_tokens), least_common(n_tokens, similarity)))
    found = sum(
        is_found(n_tokens, each, phase, length, step, least)
        for each in kept
        for phase in range(step)
    )
    return Fraction(found, step * len(kept))
