"""Similarity joins by looking at every pair, and filters by their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.measures import Elements, common, sets_reach

Pair = tuple[int, int, int]


def join(
    sets: Sequence[Elements],
    measure: str,
    threshold: Fraction,
    sides: Sequence[int] | None = None,
) -> list[Pair]:
    """Give (left, right, what is common) of all pairs that reach the threshold, ascending.

    ``sides``: 1 for a set of the left collection, 2 of the right one, 3 of both. Containment is
    directed, left in right; the other measures give left < right.
    """
    is_directed = measure == "containment"
    return [
        (a, b, common(x, y))
        for a, x in enumerate(sets)
        for b, y in enumerate(sets)
        if a != b and (is_directed or a < b) and x and y
        if sides is None or may_pair(sides[a], sides[b], is_directed=is_directed)
        if sets_reach(measure, x, y, threshold)
    ]


def may_pair(a: int, b: int, *, is_directed: bool) -> bool:
    if is_directed:
        return a in (1, 3) and b in (2, 3)
    return (a in (1, 3) and b in (2, 3)) or (a in (2, 3) and b in (1, 3))


def difference(x: Sequence[int], y: Sequence[int]) -> int:
    """Count the elements that are in one of two sets only."""
    return len(set(x) ^ set(y))
