"""Cosine similarity of sets: the common elements as a share of the geometric mean of the sizes."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure
from neardup.tables import Int64s


class Cosine(Measure):
    """|x ∩ y| / sqrt(|x| |y|)."""

    name: ClassVar[str] = "cosine"
    code: ClassVar[int] = overlap.COSINE

    @property
    def least_jaccard(self) -> Fraction:
        """That of a set within another one, whose size is t^2 of the other's."""
        return self.threshold * self.threshold

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the squares of the values."""
        return overlaps * overlaps, x * y
