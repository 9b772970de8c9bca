"""Chains of hits by their definition, over all that could be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

# Start and stop in the query, start and stop in the document.
Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Rules:
    """What a chain may look like: widest gap, greatest shift and step back, cost of a token."""

    gap: int
    shift: int
    back: int
    cost: Fraction


def step(before: Place, place: Place, evidence: Fraction, rules: Rules) -> Fraction | None:
    """Worth of a hit behind another one; None if it may not follow."""
    if place[0] <= before[0] or place[2] < before[2] - rules.back:
        return None
    gaps = place[0] - before[1], place[2] - before[3]
    shift = abs(gaps[1] - gaps[0])
    if max(gaps) > rules.gap or shift > rules.shift:
        return None
    new = []
    for side in (0, 2):
        tokens = set(range(place[side], place[side + 1]))
        # What lies before the end of the other hit is not new.
        new.append(Fraction(sum(token >= before[side + 1] for token in tokens), len(tokens)))
    return evidence * min(new) - rules.cost * (max(*gaps, 0) + Fraction(shift, 8))


def best_ending(
    places: Sequence[Place], evidence: Sequence[Fraction], rules: Rules
) -> list[Fraction]:
    """Worth of the best chain that ends with each hit, over all chains."""

    def worths(last: int, worth_of_last: Fraction) -> list[Fraction]:
        found = [worth_of_last + evidence[last]]
        for before in range(last):
            added = step(places[before], places[last], evidence[last], rules)
            if added is not None:
                found += worths(before, worth_of_last + added)
        return found

    return [max(worths(last, Fraction(0))) for last in range(len(places))]


def worth(
    chain: Sequence[int], places: Sequence[Place], evidence: Sequence[Fraction], rules: Rules
) -> Fraction:
    """Worth of one chain."""
    total = evidence[chain[0]]
    for before, number in pairwise(chain):
        added = step(places[before], places[number], evidence[number], rules)
        assert added is not None
        total += added
    return total


def common_extent(
    query: Sequence[int],
    document: Sequence[int],
    p: int,
    q: int,
    weights: Mapping[int, int] | None = None,
) -> tuple[int, int, int]:
    """Worth and words of what two texts begin with that has most in common, the shortest."""
    best = (0, 0, 0)
    for x in range(1, len(query) + 1):
        for y in range(1, len(document) + 1):
            first, second = list(query[:x]), list(document[:y])
            both = Counter(first) & Counter(second)
            weighed = [
                sum(1 if weights is None else weights[word] for word in text)
                for text in (both.elements(), first, second)
            ]
            score = (p + q) * weighed[0] - p * (weighed[1] + weighed[2])
            if score > best[0] or (score == best[0] > 0 and x + y < best[1] + best[2]):
                best = (score, x, y)
    return best
