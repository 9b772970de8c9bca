"""Lists of different lengths, one behind the other, as sketches are held."""

from __future__ import annotations

import numpy as np

from neardup.tables import Int64s


def places_of_lists(offsets: Int64s, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return where the values of some lists stand, in the order of the rows, and their offsets.

    List d is the values from ``offsets[d]`` to the next offset.
    """
    sizes = np.diff(offsets)[rows]
    ends: Int64s = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], sizes)
    return np.repeat(offsets[rows], sizes) + within, ends
