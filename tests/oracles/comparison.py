"""Measures of two texts, common subsequences and coverage, from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction

from tests.oracles import measures, weighted
from tests.oracles.shingles import elements, shingle_tuples


def of_shingles(x: Sequence[Hashable], y: Sequence[Hashable], ngram: int) -> dict:
    """Give all measures by name and reading of two token sequences; 0 where one is empty."""
    found = {}
    for occurrences in ("set", "numbered"):
        a, b = (elements(tokens, ngram, occurrences) for tokens in (x, y))
        for name in measures.JOIN_MEASURES:
            sides = {name: (a, b)}
            if name == "containment":
                sides = {f"{name}-a-in-b": (a, b), f"{name}-b-in-a": (b, a)}
            for told, (left, right) in sides.items():
                value = Fraction(0)
                if left and right:
                    value = measures.rank_of_sets(name, left, right)
                found[told, occurrences] = measures.value(name, value)
    return found


def of_weights(
    x: Sequence[Hashable], y: Sequence[Hashable], ngram: int, tf: str, idf: str
) -> tuple[Fraction, list[int]]:
    """Give weighted Jaccard similarity, the two texts being all documents, and both totals."""
    counts = [Counter(shingle_tuples(tokens, ngram)) for tokens in (x, y)]
    weights = []
    for own in counts:
        weights.append(
            {
                shingle: weighted.scaled(
                    weighted.term_frequency(tf, f)
                    * weighted.inverse_frequency(idf, sum(shingle in c for c in counts), 2)
                )
                for shingle, f in own.items()
            }
        )
    totals = [sum(own.values()) for own in weights]
    if not all(totals):
        return Fraction(0), totals
    return weighted.weighted_jaccard(*weights), totals


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
