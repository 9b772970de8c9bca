"""Common weight of two weighted sets, and exact comparison of their Jaccard similarity.

Weights are whole numbers whose sum over both sets is below 2^62. A threshold p / q has p, q < 2^30.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int
from neardup.kernels.wide import MARGIN, compare_products

# Steps of the merge between two looks whether the threshold is out of reach.
_STEPS = 16


@helper
def common_weight(
    values: ConstUint64s,
    weights: ConstInt64s,
    x_start: Int,
    x_size: Int,
    x_total: Int,
    y_start: Int,
    y_size: Int,
    y_total: Int,
    p: Int,
    q: Int,
) -> Int:
    """Sum up the lesser weights of common elements; -1 where Jaccard similarity is below p / q.

    Sets without weight are similar to nothing.
    """
    # c / (x + y - c) >= p / q  <=>  c * (p + q) >= p * (x + y)
    needed = np.float64(x_total + y_total) * np.float64(p) / np.float64(p + q) * MARGIN
    if np.float64(min(x_total, y_total)) < needed:
        return np.int64(-1)
    i, j = np.int64(0), np.int64(0)
    common, x_left, y_left = np.int64(0), np.int64(x_total), np.int64(y_total)
    while i < x_size and j < y_size:
        for _ in range(min(np.int64(_STEPS), x_size - i, y_size - j)):
            a, b = values[x_start + i], values[y_start + j]
            x_weight, y_weight = weights[x_start + i], weights[y_start + j]
            common += min(x_weight, y_weight) if a == b else np.int64(0)
            x_left -= x_weight if a <= b else np.int64(0)
            y_left -= y_weight if b <= a else np.int64(0)
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        if np.float64(common + min(x_left, y_left)) < needed:
            return np.int64(-1)
    if common > 0 and compare_products(common, p + q, x_total + y_total, p) >= 0:
        return common
    return np.int64(-1)
