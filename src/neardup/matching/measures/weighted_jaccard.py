"""Jaccard similarity of weighted sets."""

from __future__ import annotations

from typing import ClassVar

from neardup.kernels import overlap
from neardup.matching.measures.jaccard import Jaccard


class WeightedJaccard(Jaccard):
    """The sum of the lesser weights of all elements over that of the greater ones.

    Weighted sets are compared by ``kernels.common_weight``, and only in deduplication.
    """

    name: ClassVar[str] = "weighted-jaccard"
    code: ClassVar[int] = overlap.WEIGHTED_JACCARD
    is_jaccard: ClassVar[bool] = False
    is_weighted: ClassVar[bool] = True
