"""Who stays, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    earlier: Mapping[int, Elements] | None = None,
) -> list[int]:
    """Give for each set, in order, the one that stays in its place; -1 if it stays itself.

    ``earlier`` has a set that stays in any case, and is not among these, for some of them: such a
    one goes for that, which is -2, unless another one is more similar.

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
        candidates = similar if d >= n_fixed else []
        ranks = {other: rank_of_sets(measure, x, sets[other]) for other in candidates}
        if earlier and d in earlier:
            # In front of all others, so that it has the ties.
            ranks = {-2: rank_of_sets(measure, x, earlier[d]), **ranks}
        best = max(ranks.values(), default=None)
        keepers.append(next((other for other, rank in ranks.items() if rank == best), -1))
    return keepers
