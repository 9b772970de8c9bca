"""Windows, similarities and passages by their definitions, over all sub-texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

Cell = tuple[int, int]
Window = tuple[int, int, int, int]
Counted = tuple[int, int, int, int, int]
Passage = tuple[int, int, int, int]
Weigh = Callable[[int, int], int]


def covered_cells(windows: Iterable[Window], wanted: int) -> set[Cell]:
    """Sub-texts (first token, last token) that lie in at least ``wanted`` windows."""
    return set(counted_cells(windows, wanted))


def counted_cells(windows: Iterable[Window], wanted: int) -> dict[Cell, int]:
    """Those sub-texts, and in how many windows each lies."""
    cover = Counter(cell for window in windows for cell in cells_of(window))
    return {cell: count for cell, count in cover.items() if count >= wanted}


def cells_of(window: Window) -> list[Cell]:
    first, last, end_first, end_last = window
    return [(i, j) for i in range(first, last + 1) for j in range(end_first, end_last + 1)]


def rectangles(windows: Sequence[Window], wanted: int) -> list[Window]:
    """Cover those sub-texts column by column: runs of ends, and how far each stays the same."""
    return [row[:4] for row in _cover(dict.fromkeys(covered_cells(windows, wanted), wanted))]


def _cover(cells: Mapping[Cell, int]) -> list[Counted]:
    by_start: dict[int, dict[int, int]] = {}
    for (i, j), count in sorted(cells.items()):
        by_start.setdefault(i, {})[j] = count
    runs = {i: set(_runs(ends)) for i, ends in by_start.items()}
    found = []
    for i in sorted(runs):
        for run in sorted(runs[i]):
            if run not in runs.get(i - 1, ()):
                last = i
                while run in runs.get(last + 1, ()):
                    last += 1
                found.append((i, last, *run))
    return found


def _runs(ends: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """First and last of the runs of ends that count the same, and their count."""
    firsts = [j for j, count in ends.items() if ends.get(j - 1) != count]
    lasts = [j for j, count in ends.items() if ends.get(j + 1) != count]
    return [(first, last, ends[first]) for first, last in zip(firsts, lasts, strict=True)]


def make_weigh(term_weights: Sequence[float], type_weights: Sequence[float]) -> Weigh:
    """Weight of a type by its count: floating-point products in units of 2^-20, half up."""

    def weigh(kind: int, count: int) -> int:
        exact = Fraction(term_weights[count] * type_weights[kind]) * 2**20
        return min(max(math.floor(exact + Fraction(1, 2)), 0), 2**50)

    return weigh


def similarity(
    counts: Mapping[int, int], query: Mapping[int, int], query_total: int, weigh: Weigh
) -> tuple[int, int]:
    """Shared weight and weight of the union of a sub-text and a query."""
    weights = {kind: weigh(kind, count) for kind, count in counts.items()}
    kinds = weights.keys() | query.keys()
    shared = sum(min(weights.get(kind, 0), query.get(kind, 0)) for kind in kinds)
    largest = sum(max(weights.get(kind, 0), query.get(kind, 0)) for kind in kinds)
    # Some of the query's types may not be in the text at all.
    return shared, largest + query_total - sum(query.values())


def similar_cells(
    tokens: Sequence[int],
    rows: Sequence[Cell],
    min_tokens: int,
    weigh: Weigh,
    query: Mapping[int, int],
    query_total: int,
    threshold: Fraction,
) -> dict[Cell, tuple[int, int]]:
    """Candidates that reach the threshold, with what they share with the query, and the union."""
    found = {}
    for i, (low, high) in enumerate(rows):
        for j in range(i, len(tokens)):
            if low <= j <= high and j - i + 1 >= min_tokens:
                shared, union = similarity(Counter(tokens[i : j + 1]), query, query_total, weigh)
                if shared > 0 and Fraction(shared, union) >= threshold:
                    found[i, j] = shared, union
    return found


def weight(tokens: Sequence[int], weigh: Weigh) -> int:
    """Weight of a text."""
    return sum(weigh(kind, count) for kind, count in Counter(tokens).items())


def holding_cells(
    tokens: Sequence[int],
    weigh: Weigh,
    query: Mapping[int, int],
    query_total: int,
    threshold: Fraction,
    times: int,
) -> dict[Cell, tuple[int, int]]:
    """Sub-texts that hold a share of the query, with what they share with it, and their weight.

    They weigh at most so many times what the query does.
    """
    found = {}
    for i in range(len(tokens)):
        for j in range(i, len(tokens)):
            part = tokens[i : j + 1]
            shared, _ = similarity(Counter(part), query, query_total, weigh)
            own = weight(part, weigh)
            if 0 < shared >= threshold * query_total and own <= times * query_total:
                found[i, j] = shared, own
    return found


def picked_holding(
    cells: Mapping[Cell, tuple[int, int]], query_total: int, times: int, apart: int = 0
) -> list[Passage]:
    """That of the greatest index (shortest, first), then the same with those that do not overlap.

    Tversky's index of a query and a text that has other things, which count a times-th.
    """
    if not cells:
        return []

    def index(cell: Cell) -> tuple[int, int]:
        shared, own = cells[cell]
        return times * shared, times * query_total + own - shared

    i, j = min(cells, key=lambda c: (-Fraction(*index(c)), c[1] - c[0], c[0]))
    others = {c: s for c, s in cells.items() if c[1] + apart < i or j + apart < c[0]}
    return sorted([(i, j, *index((i, j))), *picked_holding(others, query_total, times, apart)])


def picked(cells: Mapping[Cell, tuple[int, int]], apart: int = 0) -> list[Passage]:
    """The most similar (longest, first) one, then the same with all that do not overlap it.

    Between two there are ``apart`` tokens or more.
    """
    if not cells:
        return []
    i, j = min(cells, key=lambda c: (-Fraction(*cells[c]), c[0] - c[1], c[0]))
    others = {c: s for c, s in cells.items() if c[1] + apart < i or j + apart < c[0]}
    return sorted([(i, j, *cells[i, j]), *picked(others, apart)])
