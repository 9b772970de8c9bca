"""Jaccard similarity: the share of the elements of either set that are in both."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure
from neardup.tables import Int64s


class Jaccard(Measure):
    """|x ∩ y| / |x ∪ y|."""

    name: ClassVar[str] = "jaccard"
    code: ClassVar[int] = overlap.JACCARD
    is_jaccard: ClassVar[bool] = True

    @property
    def least_jaccard(self) -> Fraction:
        """The threshold itself."""
        return self.threshold

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values."""
        return overlaps, x + y - overlaps
