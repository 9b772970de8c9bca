"""Hamming distance of sets: the number of elements that one of two sets lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure
from neardup.matching.measures.thresholds import rising_distances
from neardup.tables import Floats, Int64s


class Hamming(Measure):
    """|x ∪ y| - |x ∩ y|, which is the threshold at most.

    A distance, and so none of the measures that are registered. Sets without a common element may
    be within it, too: ``hamming_join`` finds these.
    """

    name: ClassVar[str] = "hamming"
    code: ClassVar[int] = overlap.HAMMING
    has_bands: ClassVar[bool] = False
    is_distance: ClassVar[bool] = True

    @classmethod
    def within(cls, max_distance: int) -> Self:
        """Return the measure with a threshold of so many elements."""
        return cls(Fraction(max_distance))

    @property
    def max_distance(self) -> int:
        """The threshold."""
        return int(self.threshold)

    @property
    def least_jaccard(self) -> Fraction:
        """None above zero."""
        return Fraction(0)

    def distances(self, overlaps: Int64s, x: Int64s, y: Int64s) -> Int64s:
        """Return the distance of each pair of sets of sizes x and y."""
        return x + y - 2 * overlaps

    def similarities(self, overlaps: Int64s, x: Int64s, y: Int64s) -> Floats:
        """Return the share of the elements of either set that both have: Jaccard similarity."""
        similarities: Floats = overlaps / (x + y - overlaps)
        return similarities

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return how far below the threshold pairs are, the nearest highest."""
        return self.max_distance - self.distances(overlaps, x, y), np.ones_like(overlaps)

    def falling(self, largest: int) -> Iterator[Self]:
        """Yield the measure with distances that rise, ending with its own."""
        for most in rising_distances(self.max_distance):
            yield replace(self, threshold=Fraction(most))
