"""Exact order of similarities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from neardup.tables import Int64s

# Far above the error of a quotient of two numbers of 63 bits in floating point.
_TOO_CLOSE = 1e-14


def rank_fractions(numerators: Int64s, denominators: Int64s) -> Int64s:
    """Rank fractions: 0 for the largest, equal ranks for equal ones, and no rank left out.

    Denominators are positive, numerators not negative, both below 2^63. Where floating point is too
    close to tell, whole numbers decide.
    """
    if not len(numerators):
        return np.empty(0, np.int64)
    divisors = np.gcd(numerators, denominators)
    above, below = numerators // divisors, denominators // divisors
    values = above / below
    order = np.lexsort((below, above, -values))
    differs = np.diff(above[order]) | np.diff(below[order])
    is_close = -np.diff(values[order]) <= _TOO_CLOSE * values[order][:-1]
    if (is_close & (differs != 0)).any():
        # Runs of fractions each of which is close to the next.
        starts = np.flatnonzero(np.concatenate([[True], ~is_close]))
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            if differs[start : stop - 1].any():
                run = order[start:stop].tolist()
                run.sort(key=lambda i: Fraction(int(above[i]), int(below[i])), reverse=True)
                order[start:stop] = run
        differs = np.diff(above[order]) | np.diff(below[order])
    ranks: Int64s = np.empty(len(order), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(differs != 0)])
    return ranks
