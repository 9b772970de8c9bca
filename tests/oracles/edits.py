"""Edit distance by its recurrence, joins by looking at every pair, and prefixes by trying all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations

from tests.oracles.joins import Pair, may_pair

# So many edits at most, or at least such a share of the longer string left alone.
Threshold = int | Fraction


def distance(x: Sequence[Hashable], y: Sequence[Hashable]) -> int:
    """Count the fewest insertions, deletions and substitutions that make x into y."""
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        above, row = row, [i]
        for j, b in enumerate(y, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def reaches(edits: int, longer: int, threshold: Threshold) -> bool:
    """Whether strings so far apart, the longer one of this length, are within the threshold."""
    if isinstance(threshold, Fraction):
        return 1 - Fraction(edits, longer) >= threshold
    return edits <= threshold


def join(
    strings: Sequence[Sequence[Hashable]],
    threshold: Threshold,
    sides: Sequence[int] | None = None,
) -> list[Pair]:
    """Give (left, right, distance) of all pairs within the threshold, in ascending order.

    ``sides``: 1 for a string of the left collection, 2 of the right one, 3 of both. Left is less
    than right; an empty string is similar to nothing.
    """
    return [
        (a, b, edits)
        for a, x in enumerate(strings)
        for b, y in enumerate(strings)
        if a < b and x and y
        if sides is None or may_pair(sides[a], sides[b], is_directed=False)
        if reaches(edits := distance(x, y), max(len(x), len(y)), threshold)
    ]


def can_touch_all(places: Sequence[int], qgram: int, n_edits: int) -> bool:
    """Whether so many edits, put anywhere, can touch all q-grams that begin at these places.

    An edit of token e touches those that hold it; an insertion touches no more than that.
    """
    tokens = range(max(places, default=0) + qgram)
    return any(
        all(any(place <= e < place + qgram for e in edited) for place in places)
        for edited in combinations(tokens, min(n_edits, len(tokens)))
    )


def least_prefix(places: Sequence[int], qgram: int, n_edits: int) -> int:
    """Give the length of the shortest prefix that the edits cannot all touch; 0 if none is."""
    for length in range(1, len(places) + 1):
        if not can_touch_all(places[:length], qgram, n_edits):
            return length
    return 0
