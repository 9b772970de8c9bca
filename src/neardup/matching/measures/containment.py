"""The containments: how much of one set lies in another, whatever else that one holds."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from neardup.kernels.join import overlap
from neardup.matching.measures.measure import Measure, SizeBounds
from neardup.tables import Int64s


class _OfContained(Measure):
    """A measure that bounds the size of the contained set only: the other one may be any larger."""

    # MinHash sees Jaccard similarity, of which containment says nothing unless sizes are bounded.
    size_ratio: ClassVar[int] = 2

    @property
    def least_jaccard(self) -> Fraction:
        """That of sets of sizes 1 and ``size_ratio``, with an overlap of t."""
        return self.threshold / (1 + self.size_ratio - self.threshold)

    def size_bounds(self, sizes: Int64s) -> SizeBounds:
        """Return the prefixes: the contained set looks, the other one is under all its tokens."""
        # The common elements are at least ceil(t * size).
        p, q = self.threshold.numerator, self.threshold.denominator
        least: Int64s = (p * sizes + q - 1) // q
        return SizeBounds(least, sizes - least + 1, sizes)


class Containment(_OfContained):
    """|x ∩ y| / |x|: how much of x is in y.

    In deduplication x is the document that would be removed.
    """

    name: ClassVar[str] = "containment"
    code: ClassVar[int] = overlap.CONTAINMENT
    is_directed: ClassVar[bool] = True

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values."""
        return overlaps, x

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return for each set all that are no smaller than its common elements."""
        first: Int64s = np.searchsorted(sizes, least).astype(np.int64)
        return first, np.full(len(sizes), len(sizes), np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return prefixes to look under, and whole sets to be found."""
        return self.size_bounds(sizes).probing, sizes


class MaxContainment(_OfContained):
    """|x ∩ y| / min(|x|, |y|)."""

    name: ClassVar[str] = "max-containment"
    code: ClassVar[int] = overlap.MAX_CONTAINMENT

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the values."""
        return overlaps, np.minimum(x, y)

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return for each set those behind it: the smaller set looks, the larger ones follow."""
        numbers = np.arange(len(sizes), dtype=np.int64)
        return numbers + 1, np.full(len(sizes), len(sizes), np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return whole sets: whichever looks, it may be the larger one."""
        return sizes, sizes
