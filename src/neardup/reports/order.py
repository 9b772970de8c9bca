"""Passages that stand in another order in the other text: those beside the main line."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from neardup.tables import Bools, Int64s


def find_moved(a_starts: Int64s, a_stops: Int64s, b_starts: Int64s, b_stops: Int64s) -> Bools:
    """Return which passages of two texts have moved.

    The passages that have not are the heaviest that stand in one order in both texts: of all sets
    whose starts ascend in both, the one with the most characters, and of equal ones the one that
    is found first in the order of the places.

    Notes
    -----
    Time O(n log n) for n passages, but for chains that are overtaken, of which each goes once.
    """
    n = len(a_starts)
    weights = ((a_stops - a_starts) + (b_stops - b_starts)).tolist()
    order = np.lexsort((-b_starts, a_starts)).tolist()
    places = b_starts.tolist()
    before = [-1] * n
    # Ends of chains: starts in the second text ascend, and so do weights.
    ends: list[int] = []
    totals: list[int] = []
    chains: list[int] = []
    for row in order:
        place = places[row]
        # What starts at the same place does not follow it.
        k = bisect_right(ends, place - 1)
        total = weights[row] + (totals[k - 1] if k else 0)
        before[row] = chains[k - 1] if k else -1
        stop = k
        while stop < len(ends) and totals[stop] <= total:
            stop += 1
        if stop == k and k < len(ends) and ends[k] == place:
            # A heavier chain ends here already.
            continue
        ends[k:stop], totals[k:stop], chains[k:stop] = [place], [total], [row]
    moved: Bools = np.ones(n, np.bool_)
    row = chains[-1] if chains else -1
    while row >= 0:
        moved[row] = False
        row = before[row]
    return moved
