"""Measures of two texts, common subsequences and coverage, from their definitions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

from tests.oracles import measures
from tests.oracles.shingles import elements


def of_shingles(x: Sequence[Hashable], y: Sequence[Hashable], ngram: int) -> dict:
    """Give all measures of two token sequences by name; 0 where one is empty."""
    found = {}
    a, b = (elements(tokens, ngram, "set") for tokens in (x, y))
    for name in measures.JOIN_MEASURES:
        sides = {name: (a, b)}
        if name == "containment":
            sides = {f"{name}-a-in-b": (a, b), f"{name}-b-in-a": (b, a)}
        for told, (left, right) in sides.items():
            value = Fraction(0)
            if left and right:
                value = measures.rank_of_sets(name, left, right)
            found[told] = measures.value(name, value)
    return found


def common_subsequence(x: Sequence[Hashable], y: Sequence[Hashable]) -> int:
    """Give the length of a longest common subsequence."""
    row = [0] * (len(y) + 1)
    for a in x:
        above, row = row, [0]
        for j, b in enumerate(y, 1):
            row.append(above[j - 1] + 1 if a == b else max(above[j], row[j - 1]))
    return row[-1]


def uncovered(
    tokens: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Give the ranges of runs of tokens (start, stop) that are in none of some ranges."""
    runs: list[list[tuple[int, int]]] = [[]]
    for start, stop in tokens:
        if any(first <= start and stop <= last for first, last in ranges):
            runs.append([])
        else:
            runs[-1].append((start, stop))
    return [(run[0][0], run[-1][1]) for run in runs if run]


def is_close(found: float, exact: Fraction | float) -> bool:
    return math.isclose(found, exact, rel_tol=1e-15, abs_tol=0)
