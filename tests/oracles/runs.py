"""Runs of near matches of two texts, and chains of these, by what they are worth.

Evidence is counted in floating point: what is equal but for rounding is told apart by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple


class Match(NamedTuple):
    """Tokens of a query that are like those of a document, ends exclusive."""

    query_start: int
    query_stop: int
    start: int
    stop: int


class Part(NamedTuple):
    """Matches that make one, and how many tokens speak for it."""

    matches: tuple[Match, ...]
    evidence: float

    @property
    def whole(self) -> Match:
        return hull(self.matches)


class Rules(NamedTuple):
    """What may follow each other: parts ``gap`` apart, by distances that differ by ``shift``.

    The second may begin ``back`` tokens before the first in the document. A token of a gap costs
    ``cost``, one of the difference an eighth of that.
    """

    gap: float
    shift: float
    back: int
    cost: float


def runs_of(hits: Sequence[Part], rules: Rules) -> list[Part]:
    """Runs of near hits, each back to where it leaves one that is worth more; by their places.

    A branch that lies within the run that it leaves is no run of its own.
    """
    worths, before = best_chains(hits, range(len(hits)), rules)
    run_of: dict[int, Part] = {}
    runs = []
    for last in sorted(worths, key=lambda k: (-worths[k], k)):
        numbers = [k for k in chain_to(last, before) if k not in run_of]
        if not numbers:
            continue
        first = numbers[0]
        worth = worths[last] - worths[first] + hits[first].evidence
        run = Part(tuple(hits[k].whole for k in numbers), worth)
        left = run_of.get(before.get(first, -1))
        if left is not None and holds(left.whole, run.whole):
            run = left
        else:
            runs.append(run)
        run_of |= dict.fromkeys(numbers, run)
    return sorted(runs, key=lambda run: (run.whole.query_start, run.whole.start))


def chains_of(runs: Sequence[Part], rules: Rules) -> list[list[Part]]:
    """The best chain of runs, the best of those that are left, and so on."""
    left = set(range(len(runs)))
    found = []
    while left:
        worths, before = best_chains(runs, left, rules)
        numbers = chain_to(min(worths, key=lambda k: (-worths[k], k)), before)
        found.append([runs[k] for k in numbers])
        left.difference_update(numbers)
    return found


def best_chains(
    parts: Sequence[Part], numbers: Iterable[int], rules: Rules
) -> tuple[dict[int, float], dict[int, int]]:
    """For each of some parts the worth of the best chain that ends there, and what is before it.

    Of equal ones that counts which ends alone, or behind the latest part.
    """
    worths: dict[int, float] = {}
    before: dict[int, int] = {}
    for k in sorted(numbers):
        chained = [(worths[j] + worth_behind(parts[j], parts[k], rules), j) for j in worths]
        worth, j = max(chained, default=(-inf, -1))
        worths[k] = parts[k].evidence
        if worth > worths[k]:
            worths[k], before[k] = worth, j
    return worths, before


def chain_to(last: int, before: Mapping[int, int]) -> list[int]:
    """The numbers of a chain, of which the last one is given."""
    return [*(chain_to(before[last], before) if last in before else []), last]


def worth_behind(first: Part, second: Part, rules: Rules) -> float:
    """The evidence of a part for what is new in it, less the gap before it."""
    one, other = first.whole, second.whole
    gaps = other.query_start - one.query_stop, other.start - one.stop
    shift = abs(gaps[0] - gaps[1])
    is_forward = other.query_start > one.query_start and other.start >= one.start - rules.back
    if not is_forward or max(gaps) > rules.gap or shift > rules.shift:
        return -inf
    new = min(
        sum(place >= stop for place in places) / len(places)
        for places, stop in (
            (range(other.query_start, other.query_stop), one.query_stop),
            (range(other.start, other.stop), one.stop),
        )
    )
    return second.evidence * new - rules.cost * (max(*gaps, 0) + shift / 8)


def hull(matches: Sequence[Match]) -> Match:
    """The parts of both texts that hold those of all matches."""
    return Match(
        min(match.query_start for match in matches),
        max(match.query_stop for match in matches),
        min(match.start for match in matches),
        max(match.stop for match in matches),
    )


def holds(outer: Match, inner: Match) -> bool:
    return hull([outer, inner]) == outer
