"""Who stays, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.oracles.measures import Elements, rank_of_sets, sets_reach

Pairs = Callable[[int, int], bool]


def all_pairs(_d: int, _other: int) -> bool:
    return True


def choose(
    sets: Sequence[Elements],
    measure: str,
    threshold: Fraction,
    *,
    n_fixed: int = 0,
    are_candidates: Pairs = all_pairs,
) -> list[int]:
    """Give for each set, in order, the one that stays in its place; -1 if it stays itself.

    A set stays unless it reaches the threshold with one that already stays; then it goes for the
    most similar of those, the earliest on a tie. An empty set is similar to nothing.
    """
    keepers: list[int] = []
    for d, x in enumerate(sets):
        similar = [
            other
            for other in range(d)
            if keepers[other] == -1
            and x
            and sets[other]
            and are_candidates(d, other)
            and sets_reach(measure, x, sets[other], threshold)
        ]
        if d < n_fixed or not similar:
            keepers.append(-1)
        else:
            best = max(rank_of_sets(measure, x, sets[other]) for other in similar)
            keepers.append(next(o for o in similar if rank_of_sets(measure, x, sets[o]) == best))
    return keepers
