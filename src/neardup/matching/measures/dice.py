"""Dice's coefficient: the common elements as a share of the mean size."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure
from neardup.tables import Int64s


class Dice(Measure):
    """2 |x ∩ y| / (|x| + |y|)."""

    name: ClassVar[str] = "dice"
    code: ClassVar[int] = overlap.DICE

    @property
    def least_jaccard(self) -> Fraction:
        """That of all sets at the threshold: the two similarities go up and down together."""
        return self.threshold / (2 - self.threshold)

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values."""
        return 2 * overlaps, x + y
