"""The suffix filter: a bound of the difference of two sorted runs, by halving them.

References
----------
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.kernels._compile import helper, inlined
from neardup.kernels.postings import first_at_least
from neardup.kernels.types import ConstInt32s, Int


@inlined
def _difference(a: Int, b: Int) -> np.int64:
    return np.int64(max(a, b)) - np.int64(min(a, b))


@helper
def _size_difference(
    tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int
) -> Int:
    """Bound the difference of two sorted runs by their sizes alone."""
    return _difference(x_stop - x, y_stop - y)


def _suffix_bound(deeper: Callable[..., Int]) -> Callable[..., Int]:
    """Make one level of the suffix filter, which bounds each half by the ``deeper`` level."""

    @helper
    def bound(tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int) -> Int:
        """Bound from below the number of tokens that are in one of two sorted runs only.

        More than ``limit`` means that the runs differ in more than ``limit`` tokens. The median of
        y halves both runs, and tokens of different halves never match. Algorithm 3 of the paper,
        with the empty runs that it leaves out, and for runs that may have a token several times:
        both are cut in front of the first median, which is searched in all of x for that reason.
        """
        x_size, y_size = x_stop - x, y_stop - y
        difference = _difference(x_size, y_size)
        if x_size == 0 or y_size == 0 or difference > limit:
            return difference
        token = tokens[y + (y_size >> 1)]
        y_cut = first_at_least(tokens, y, y + (y_size >> 1), token)
        cut = first_at_least(tokens, x, x_stop, token)
        found = cut < x_stop and tokens[cut] == token
        right = cut + np.int64(found)
        missing = np.int64(not found)
        right_difference = _difference(x_stop - right, y_stop - y_cut - 1)
        distance = _difference(cut - x, y_cut - y) + right_difference + missing
        if distance > limit:
            return distance
        left = np.int64(deeper(tokens, x, cut, y, y_cut, limit - right_difference - missing))
        distance = left + right_difference + missing
        if distance > limit:
            return distance
        rest = limit - left - missing
        return left + missing + np.int64(deeper(tokens, right, x_stop, y_cut + 1, y_stop, rest))

    return bound


# Two levels of halving (MAXDEPTH of the paper's section 5.1); Numba has no cached recursion.
suffix_distance = _suffix_bound(_suffix_bound(_size_difference))
