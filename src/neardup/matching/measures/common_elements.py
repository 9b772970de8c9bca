"""Overlap: the number of common elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure
from neardup.matching.measures.thresholds import Number, exact_count
from neardup.tables import Int64s


class Overlap(Measure):
    """|x ∩ y|, a count: it says nothing about the share of what two documents have in common."""

    name: ClassVar[str] = "overlap"
    code: ClassVar[int] = overlap.OVERLAP
    is_count: ClassVar[bool] = True
    has_bands: ClassVar[bool] = False

    @classmethod
    def parse(cls, threshold: Number) -> Self:
        """Read the threshold.

        Raises
        ------
        InvalidParameterError
            If it is not a whole number from 1 to 2^31 - 1.
        """
        return cls(exact_count("an overlap's threshold", threshold))

    @classmethod
    def lowest(cls) -> Self:
        """Return the measure with a threshold of one element."""
        return cls(Fraction(1))

    @property
    def least_jaccard(self) -> Fraction:
        """None above zero."""
        return Fraction(0)

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values."""
        return overlaps, np.ones_like(overlaps)

    def twins(self, sizes: Int64s) -> Int64s:
        """Return the sets that are large enough."""
        return np.flatnonzero(sizes >= int(self.threshold))

    def falling(self, largest: int) -> Iterator[Self]:
        """Yield halves of the largest overlap possible, as far as they are above the threshold."""
        for shift in range(1, largest.bit_length()):
            if largest >> shift > self.threshold:
                yield replace(self, threshold=Fraction(largest >> shift))
        yield self
