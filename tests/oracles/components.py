"""Connected components, by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.measures import Elements, sets_reach
from tests.oracles.survivors import Pairs, all_pairs


def firsts(
    sets: Sequence[Elements],
    measure: str,
    threshold: Fraction,
    *,
    are_candidates: Pairs = all_pairs,
) -> list[int]:
    """Give the first member of each set's component; similar in one direction is enough."""
    n = len(sets)
    linked = [
        [
            bool(sets[a] and sets[b])
            and are_candidates(max(a, b), min(a, b))
            and (
                sets_reach(measure, sets[a], sets[b], threshold)
                or sets_reach(measure, sets[b], sets[a], threshold)
            )
            for b in range(n)
        ]
        for a in range(n)
    ]
    labels = list(range(n))
    changed = True
    while changed:
        changed = False
        for a in range(n):
            for b in range(n):
                if linked[a][b] and labels[b] < labels[a]:
                    labels[a] = labels[b]
                    changed = True
    return labels


def choose(
    sets: Sequence[Elements],
    measure: str,
    threshold: Fraction,
    *,
    n_fixed: int = 0,
    are_candidates: Pairs = all_pairs,
) -> list[int]:
    """Give for each set the first of its component, -1 for that one and the fixed ones."""
    labels = firsts(sets, measure, threshold, are_candidates=are_candidates)
    return [-1 if d < n_fixed or label == d else label for d, label in enumerate(labels)]
