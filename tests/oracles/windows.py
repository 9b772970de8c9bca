"""Compact windows straight from their definitions; positions count from 0 and are inclusive.

A value function gives the value of the x-th copy of a token: anything that can be compared, or None
where that copy does not count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any

from tests.oracles.hashing import ALL, GOLDEN, mix

ValueOf = Callable[[int, int], Any]
# Value or key, first and last start, first and last end.
Window = tuple[Any, int, int, int, int]


def multiset_values(seed: int, most_copies: int | None = None) -> ValueOf:
    """Hash copies of tokens; of each token only ``most_copies`` have a value, 1 for sets."""

    @cache
    def value_of(token: int, x: int) -> int | None:
        if most_copies is not None and x > most_copies:
            return None
        return mix((mix(token ^ seed) + x * GOLDEN) & ALL)

    return value_of


def least_value(tokens: Iterable[int], value_of: ValueOf) -> Any:
    counts = Counter(tokens)
    values = [value_of(token, x) for token, f in counts.items() for x in range(1, f + 1)]
    return min((value for value in values if value is not None), default=None)


def minima(tokens: Sequence[int], value_of: ValueOf) -> dict[tuple[int, int], Any]:
    """Give the least value of every sub-text; None for one without values."""
    found = {}
    for i in range(len(tokens)):
        counts: Counter[int] = Counter()
        least = None
        for j in range(i, len(tokens)):
            counts[tokens[j]] += 1
            value = value_of(tokens[j], counts[tokens[j]])
            if value is not None and (least is None or value < least):
                least = value
            found[i, j] = least
    return found


def positions_of(tokens: Sequence[int]) -> dict[int, list[int]]:
    """Give the places of each token, tokens by first appearance."""
    places: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        places.setdefault(token, []).append(place)
    return places


def active_copies(token: int, f: int, value_of: ValueOf) -> list[int]:
    """List the copies that have a value less than all before."""
    chosen = []
    least = None
    for x in range(1, f + 1):
        value = value_of(token, x)
        if value is not None and (least is None or value < least):
            least = value
            chosen.append(x)
    return chosen


def all_copies(token: int, f: int, value_of: ValueOf) -> list[int]:
    """List all copies that have a value."""
    return [x for x in range(1, f + 1) if value_of(token, x) is not None]


def monotonic_windows(
    tokens: Sequence[int], value_of: ValueOf, choose: Callable[..., list[int]] = all_copies
) -> list[Window]:
    """Partition all sub-texts as MonoAll does, or as MonoActive with only the active copies.

    Keys of equal values are visited by number of copies, then from left to right.
    """
    keys = []
    for token, places in positions_of(tokens).items():
        for x in choose(token, len(places), value_of):
            keys += [
                (value_of(token, x), x, *ends)
                for ends in zip(places, places[x - 1 :], strict=False)
            ]
    skyline = [(-1, -1), (len(tokens), len(tokens))]
    windows: list[Window] = []
    for value, _, p, q in sorted(keys):
        if any(p <= start and end <= q for start, end in skyline):
            continue
        # Key and neighbours: those that hold the new one are between, and are left out.
        before = max(k for k, (_, end) in enumerate(skyline) if end < q)
        behind = min(k for k, (start, _) in enumerate(skyline) if start > p)
        lowest = q
        for (start, _), (_, end) in pairwise(skyline[before : behind + 1]):
            if start < p and lowest < end:
                windows.append((value, start + 1, p, lowest, end - 1))
            lowest = end
        skyline[before + 1 : behind] = [(p, q)]
    return windows


def greedy_windows(tokens: Sequence[int], value_of: ValueOf) -> list[Window]:
    """Partition all sub-texts as AllAlign does; those without values are in none."""
    windows: list[Window] = []
    # Each region is the sub-texts that start from ``first`` to ``last`` and end up to ``end``.
    regions = [(0, len(tokens) - 1, len(tokens) - 1)]
    while regions:
        first, last, end = regions.pop()
        if first > last:
            continue
        places = positions_of(tokens[first : end + 1])
        values = [
            (value_of(token, x), token, x)
            for token, where in places.items()
            for x in range(1, len(where) + 1)
            if value_of(token, x) is not None
        ]
        if not values:
            continue
        value, token, x = min(values)
        start = first
        where = [first + place for place in places[token]]
        for one, other in zip(where, where[x - 1 :], strict=False):
            stop = min(one, last)
            windows.append((value, start, stop, other, end))
            # Ends before ``other``, which is behind the start unless the key is one token.
            regions.append((start, min(stop, other - 1), other - 1))
            start = one + 1
            if start > last:
                break
        regions.append((start, last, end))
    return windows


def read_rows(
    keys: Sequence[int],
    starts: Sequence[int],
    spans: Sequence[Sequence[int]],
    offsets: Sequence[int],
) -> list[list[Window]]:
    """Make windows of rows (key, a, [b - a, c - b, d - c]), by text; a counts through all texts."""
    windows: list[list[Window]] = [[] for _ in offsets[:-1]]
    for key, start, (to_b, to_c, to_d) in zip(keys, starts, spans, strict=True):
        text = bisect_right(offsets, start) - 1
        a = start - offsets[text]
        windows[text].append((key, a, a + to_b, a + to_b + to_c, a + to_b + to_c + to_d))
    return windows


def cells(window: Window) -> Iterator[tuple[int, int]]:
    """Give all sub-texts of a window."""
    _, a, b, c, d = window
    return product(range(a, b + 1), range(c, d + 1))


def assert_windows(
    windows: Iterable[Window],
    tokens: Sequence[int],
    value_of: ValueOf,
    key_of: Callable[[Any], Any],
    min_tokens: int = 1,
) -> None:
    """Check windows against the least value of every sub-text that is long enough."""
    found: dict[tuple[int, int], list[Any]] = {}
    for window in windows:
        key, a, b, c, d = window
        assert 0 <= a <= b <= c <= d < len(tokens), window
        assert d - a + 1 >= min_tokens, window
        for cell in cells(window):
            found.setdefault(cell, []).append(key)
    for (i, j), value in minima(tokens, value_of).items():
        if j - i + 1 >= min_tokens:
            expected = [] if value is None else [key_of(value)]
            assert found.get((i, j), []) == expected, (i, j)


def assert_lists_ascend(windows: Iterable[Window]) -> None:
    """Check that windows of one key, in their order, allow starts that ascend and are disjoint."""
    last_starts: dict[Any, int] = {}
    for window in windows:
        key, a, b, _, _ = window
        assert last_starts.get(key, -1) < a, window
        last_starts[key] = b
