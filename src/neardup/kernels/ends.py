"""Where two texts cease to have the same words, whatever their order."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import ConstInt64s, Int64s


@kernel
def common_extent(
    query: ConstInt64s,
    document: ConstInt64s,
    p: int,
    q: int,
    query_counts: Int64s,
    counts: Int64s,
    best: Int64s,
) -> None:
    """Find how much of two texts to take, from their beginnings, for most words in common.

    Texts are numbers of words, ``query_counts`` and ``counts`` room for as many. Of x and y words,
    s of which both have, copies counted, are worth (p + q) s - p (x + y): by so much they are more
    similar than p / q. ``best`` receives that, x and y; nothing is taken for less than 1, of equal
    ones the shortest.
    """
    best[:] = 0
    query_counts[:] = 0
    for x in range(1, query.shape[0] + 1):
        query_counts[query[x - 1]] += 1
        counts[:] = 0
        shared = np.int64(0)
        for y in range(1, document.shape[0] + 1):
            word = document[y - 1]
            counts[word] += 1
            if counts[word] <= query_counts[word]:
                shared += 1
            score = (p + q) * shared - p * (x + y)
            if score > best[0] or (score == best[0] > 0 and x + y < best[1] + best[2]):
                best[0], best[1], best[2] = score, x, y
