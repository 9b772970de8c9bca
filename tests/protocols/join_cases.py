"""All kinds of joins over random records, and what each has to find."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from neardup.matching.edit_join import EditJoin
from neardup.matching.join import Join
from neardup.matching.measures import MEASURES, EditThreshold
from neardup.matching.set_join import SetJoin, WeightedJoin
from neardup.options.choices import Algorithm
from neardup.tables import TokenLists
from tests.arrays import make_sets, make_weighted_sets, ragged, random_sets, random_weighted_sets
from tests.oracles import edits, joins
from tests.oracles.measures import JOIN_MEASURES, WEIGHTED, rank, size, value

Pair = tuple[int, int, int]


@dataclass(frozen=True)
class Case:
    """A kind of join, how it is made of records, and its definition by looking at all pairs.

    ``rank`` orders pairs, the most similar highest; ``similarity`` is their value; both take two
    records and their score.
    """

    name: str
    records: Callable[[random.Random, int], list]
    make: Callable[[Sequence], Join]
    expected: Callable[[Sequence, Sequence[int] | None], list[Pair]]
    rank: Callable[[object, object, int], Fraction]
    similarity: Callable[[object, object, int], float]


def distinct_sets(generator: random.Random, n: int) -> list[frozenset[int]]:
    return list(dict.fromkeys(map(frozenset, random_sets(generator, n, 9))))


def distinct_weighted_sets(generator: random.Random, n: int) -> list[dict[int, int]]:
    """Give sets of few weights, of very different ones, or of those that floats cannot hold."""
    heaviest = generator.choice((3, 1000, 2**45))
    sets = [chosen for chosen in random_weighted_sets(generator, n, 9, heaviest) if chosen]
    return list({tuple(sorted(chosen.items())): chosen for chosen in sets}.values())


def distinct_strings(generator: random.Random, n: int) -> list[str]:
    strings = ["abcdabcd"]
    for _ in range(n):
        string = generator.choice(strings)
        place = generator.randrange(len(string))
        new = generator.choice(["", "a", "b", "cd", "abc"])
        strings.append((string[:place] + new + string[place + generator.randrange(2) :]) or "a")
    return list(dict.fromkeys(strings))


def token_lists(strings: Sequence[str]) -> TokenLists:
    return TokenLists(*ragged([[ord(c) for c in string] for string in strings]))


def set_case(name: str, measure: str, threshold: str, make: Callable[..., Join]) -> Case:
    exact = MEASURES[measure].parse(threshold)

    def rank_of(x, y, overlap):
        return rank(measure, overlap, size(x), size(y))

    return Case(
        f"{name} {measure} {threshold}",
        distinct_weighted_sets if measure == WEIGHTED else distinct_sets,
        lambda records: make(records, exact),
        lambda records, sides: joins.join(records, measure, Fraction(threshold), sides),
        rank_of,
        lambda x, y, overlap: value(measure, rank_of(x, y, overlap)),
    )


def edit_case(
    threshold: EditThreshold, limit: int | Fraction, qgram: int | None, algorithm: str
) -> Case:
    def share(x, y, distance):
        return 1 - Fraction(distance, max(len(x), len(y)))

    kind = "similarity" if isinstance(limit, Fraction) else "edits"
    return Case(
        f"{algorithm} {kind} {limit}, {qgram or 'chosen'} tokens a q-gram",
        distinct_strings,
        lambda records: EditJoin(token_lists(records), threshold, qgram, algorithm),
        lambda records, sides: edits.join(records, limit, sides),
        share if isinstance(limit, Fraction) else lambda x, y, distance: Fraction(-distance),
        lambda x, y, distance: float(share(x, y, distance)),
    )


def set_joins(algorithm: str) -> Callable[..., Join]:
    return lambda records, measure: SetJoin(make_sets(records), measure, algorithm)


def weighted_join(records, measure) -> Join:
    return WeightedJoin(make_weighted_sets(records), measure)


def thresholds(measure: str) -> tuple[str, ...]:
    return ("1", "3") if measure == "overlap" else ("0.25", "0.75", "1")


CASES = [
    *(
        set_case(algorithm, measure, threshold, set_joins(algorithm))
        for algorithm in get_args(Algorithm)
        for measure in JOIN_MEASURES
        for threshold in thresholds(measure)
    ),
    *(
        set_case("prefixes", WEIGHTED, threshold, weighted_join)
        for threshold in ("0.000000001", "0.25", "0.6", "0.75", "1")
    ),
    *(
        edit_case(EditThreshold(most), most, qgram, algorithm)
        for algorithm in get_args(Algorithm)
        for most in (0, 1, 3)
        for qgram in (None, 2)
    ),
    *(
        edit_case(EditThreshold(None, share), share, qgram, algorithm)
        for algorithm in get_args(Algorithm)
        for share in (Fraction(1, 2), Fraction(3, 4), Fraction(1))
        for qgram in (None, 2)
    ),
]
