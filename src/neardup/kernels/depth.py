"""Whether any passage lies in enough windows at the same time: a quick test ahead of the sweep.

Where many windows begin there is seldom a passage that is in enough of them. A few counts show it,
while the sweep would have to build its tree first.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper
from neardup.kernels.types import Int, Int32Rows, Int64Rows

# With more windows, or starts, the sweep is no dearer than the test.
MANY = 1024


@helper
def _has_common(ends: Int64Rows, n: Int, least: Int) -> bool:
    """Tell whether some number is in ``least`` of n ranges: then the first one of a range is."""
    for i in range(n):
        first, depth = ends[0, i], np.int64(0)
        for k in range(n):
            depth += np.int64((ends[0, k] <= first) & (first <= ends[1, k]))
        if depth >= least:
            return True
    return False


@helper
def reaches(
    corners: Int64Rows,
    n: Int,
    first: Int,
    last: Int,
    least: Int,
    min_tokens: Int,
    depths: Int32Rows,
    ends: Int64Rows,
) -> bool:
    """Tell whether a passage of ``min_tokens`` or more is in ``least`` of n windows.

    The windows are columns a, b, c, d of ``corners``, as ``sweep_windows`` takes them, and all
    their starts lie from ``first`` to ``last``. There are at most ``MANY`` of both. ``depths`` and
    ``ends`` (2, MANY) are written over. Cost O(n^2) at worst, for each start.
    """
    n_starts = last - first + 1
    # How many windows enter at each start, and how many leave behind it.
    for i in range(n_starts):
        depths[0, i] = depths[1, i] = 0
    for w in range(n):
        a, b = corners[0, w], min(corners[1, w], corners[3, w] - min_tokens + 1)
        if a <= b:
            depths[0, a - first] += 1
            depths[1, b - first] += 1
    depth, newest, is_new = np.int64(0), np.int64(0), False
    for i in range(n_starts):
        if depths[0, i] > 0:
            depth += depths[0, i]
            newest, is_new = np.int64(first + i), True
        if depths[1, i] == 0:
            continue
        # Before the next window leaves, all are there; those of later starts, until one more
        # enters, are some of them. The last end that they have in common is a long passage's,
        # because each of them has one from this start.
        if is_new and depth >= least:
            n_open = np.int64(0)
            for w in range(n):
                b = min(corners[1, w], corners[3, w] - min_tokens + 1)
                if corners[0, w] <= newest <= b:
                    ends[0, n_open] = corners[2, w]
                    ends[1, n_open] = corners[3, w]
                    n_open += 1
            if _has_common(ends, n_open, least):
                return True
            is_new = False
        depth -= depths[1, i]
    return False
