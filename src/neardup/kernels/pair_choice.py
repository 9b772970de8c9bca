"""Who stays and who goes, where the similar pairs are known."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import (
    Bools,
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    Floats,
    Int32s,
    Int64s,
)


@kernel
def group_pairs(
    later: ConstInt32s,
    earlier: ConstInt32s,
    similarities: ConstFloats,
    ends: Int64s,
    partners: Int32s,
    scores: Floats,
) -> None:
    """List for each document its earlier partners, and how similar they are to it.

    ``ends[d]`` begins as the number of pairs whose later document is before d, and becomes the end
    of d's partners.
    """
    for k in range(later.shape[0]):
        place = ends[later[k]]
        ends[later[k]] = place + 1
        partners[place], scores[place] = earlier[k], similarities[k]


@kernel
def choose_from_pairs(
    ends: ConstInt64s,
    partners: ConstInt32s,
    scores: ConstFloats,
    keepers: Int32s,
    similarities: Floats,
) -> None:
    """Go through the documents in keep order; one stays unless a partner of it does.

    It goes for the partner of the highest score that stays, the earliest on a tie. ``keepers``
    becomes -1 for a document that stays, ``similarities`` NaN.
    """
    start = np.int64(0)
    for d in range(ends.shape[0]):
        best, best_score = np.int64(-1), np.nan
        for k in range(start, ends[d]):
            other = np.int64(partners[k])
            if keepers[other] >= 0:
                continue
            is_tie = best >= 0 and scores[k] == best_score and other < best
            if best < 0 or scores[k] > best_score or is_tie:
                best, best_score = other, scores[k]
        keepers[d], similarities[d] = best, best_score
        start = ends[d]


@kernel
def match_in_order(
    order: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    is_taken: Bools,
    stays: Bools,
) -> None:
    """Go through pairs in an order; one stays if neither of its documents is in one that does.

    ``is_taken``, of documents, and ``stays``, of pairs, begin as false and become true.
    """
    for k in range(order.shape[0]):
        pair = order[k]
        a, b = left[pair], right[pair]
        if not is_taken[a] and not is_taken[b]:
            is_taken[a] = is_taken[b] = True
            stays[pair] = True
