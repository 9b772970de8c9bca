"""Jaccard similarity of weighted sets."""

from __future__ import annotations

from typing import ClassVar

from neardup.kernels.join import overlap
from neardup.matching.measures.jaccard import Jaccard
from neardup.tables import Floats, Int64s


class WeightedJaccard(Jaccard):
    """The sum of the lesser weights of all elements over that of the greater ones.

    Weighted sets are compared by ``kernels.join.weighted``, and joined by ``weighted_join``. Their
    sizes are their total weights; one without weight is similar to nothing but itself.
    """

    name: ClassVar[str] = "weighted-jaccard"
    code: ClassVar[int] = overlap.WEIGHTED_JACCARD
    is_jaccard: ClassVar[bool] = False
    is_weighted: ClassVar[bool] = True

    def similarities(self, overlaps: Int64s, x: Int64s, y: Int64s) -> Floats:
        """Return the value of each pair; 1 for a set without weight and itself."""
        return super().similarities(*_weighing_something(overlaps, x, y))

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values; 1 for a set without weight and itself."""
        return super().fractions(*_weighing_something(overlaps, x, y))


def _weighing_something(overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Let sets without weight weigh 1, and be equal."""
    is_weightless = x + y == 0
    return overlaps + is_weightless, x + is_weightless, y + is_weightless
