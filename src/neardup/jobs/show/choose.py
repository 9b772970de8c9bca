"""Which rows of a table are shown."""

from __future__ import annotations

import numpy as np

from neardup.jobs.show.options import Which
from neardup.tables import Bools, Floats, Int64s


def choose_rows(values: Floats, n: int, which: Which, are_copies: Bools) -> Int64s:
    """Choose some rows by their similarity, the least similar first.

    Parameters
    ----------
    values
        How similar; NaN where nothing says it.
    n
        At most so many are chosen.
    which
        ``least`` or ``most``; or ``spread``, those nearest to similarities at equal distances
        between the least and the largest that there are.
    are_copies
        Which rows are exact copies: no text differs, so they are chosen only if too few others
        are there.

    Returns
    -------
    The rows: of equal similarity those that come first; those of unknown similarity are last, and
    chosen only if there are too few others.
    """
    is_known = ~np.isnan(values)
    differing = np.flatnonzero(is_known & ~are_copies)
    copies = np.flatnonzero(is_known & are_copies)
    unknown = np.flatnonzero(~is_known)
    if which == "spread":
        chosen = _spread(differing, values[differing], n)
    else:
        keys = values[differing] if which == "least" else -values[differing]
        chosen = differing[np.argsort(keys, kind="stable")[:n]]
    ordered = chosen[np.argsort(values[chosen], kind="stable")]
    if which == "most":
        ordered = chosen
    return np.concatenate([ordered, copies, unknown])[:n]


def _spread(rows: Int64s, values: Floats, n: int) -> Int64s:
    """Choose rows of values that are nearest to n values at equal distances."""
    if len(rows) <= n:
        return rows
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    chosen: list[int] = []
    for number, target in enumerate(np.linspace(ranked[0], ranked[-1], n)):
        # Each rank but those that the following ones need.
        first, stop = chosen[-1] + 1 if chosen else 0, len(ranked) - (n - 1 - number)
        place = first + int(np.searchsorted(ranked[first:stop], target))
        before = max(place - 1, first)
        place = min(place, stop - 1)
        is_nearer = target - ranked[before] <= ranked[place] - target
        chosen.append(before if is_nearer else place)
    return rows[order[chosen]]
