"""What every similarity measure knows: the protocol that joins and jobs rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

import numpy as np

from neardup.kernels.join import overlap
from neardup.matching.measures.thresholds import LEAST_SHARE, Number, falling_shares
from neardup.options.kinds import exact_fraction
from neardup.tables import Floats, Int64s


class SizeBounds(NamedTuple):
    """What the sizes of sets say of their partners, by the prefix filter.

    Tokens are in one order for all sets. ``least[k]`` is the least size of a partner that is no
    larger than set k. A partner shares one of the first ``probing[k]`` tokens, if it is one of
    those among which the set looks, and has it among its own first ``indexing``.
    """

    least: Int64s
    probing: Int64s
    indexing: Int64s


@dataclass(frozen=True)
class Measure(ABC):
    """A similarity of two sets, and the threshold that a pair has to reach.

    Of a pair x is the first set and y the second. ``similarities`` and ``fractions`` take numbers
    of elements and of common elements; of weighted sets total weights and common weights.

    Attributes
    ----------
    name
        What users call it.
    code
        Number by which kernels know it; its integer arithmetic is in ``kernels.join.overlap``.
    is_directed
        Whether x with y is another pair than y with x.
    is_weighted
        Whether it compares weighted sets, of which joins know nothing.
    is_count
        Whether the threshold is a number of common elements and not a share.
    has_bands
        Whether a pair at the threshold has a least Jaccard similarity, so that MinHash bands can be
        chosen for it.
    is_jaccard
        Whether it is the Jaccard similarity of plain sets itself, which is what MinHash sees.
    is_distance
        Whether the threshold is the most that a pair may have.
    size_ratio
        If ``least_jaccard`` holds only for sets of bounded sizes: how many times as large as the
        other one a set may be.
    """

    threshold: Fraction

    name: ClassVar[str]
    code: ClassVar[int]
    is_directed: ClassVar[bool] = False
    is_weighted: ClassVar[bool] = False
    is_count: ClassVar[bool] = False
    has_bands: ClassVar[bool] = True
    is_jaccard: ClassVar[bool] = False
    is_distance: ClassVar[bool] = False
    size_ratio: ClassVar[int | None] = None

    @classmethod
    def parse(cls, threshold: Number) -> Self:
        """Read the threshold as the exact decimal that was typed.

        Raises
        ------
        InvalidParameterError
            If it is outside (0, 1] or finer than nine decimals.
        """
        return cls(exact_fraction("threshold", threshold))

    @classmethod
    def lowest(cls) -> Self:
        """Return the measure with a threshold that any two sets reach that share something."""
        return cls(LEAST_SHARE)

    @classmethod
    def sided_names(cls) -> tuple[str, ...]:
        """Return the names of its values for two texts a and b, that of a with b first."""
        return (f"{cls.name}-a-in-b", f"{cls.name}-b-in-a") if cls.is_directed else (cls.name,)

    @property
    @abstractmethod
    def least_jaccard(self) -> Fraction:
        """Least Jaccard similarity of two sets that reach the threshold.

        0 where ``has_bands`` is not so; where there is a ``size_ratio``, of sets within it.
        """

    @property
    def in_kernels(self) -> overlap.Threshold:
        """Measure and threshold as kernels take them."""
        return overlap.Threshold(self.code, self.threshold.numerator, self.threshold.denominator)

    def similarities(self, overlaps: Int64s, x: Int64s, y: Int64s) -> Floats:
        """Return the value of each pair of sets of sizes x and y, rounded to a float."""
        similarities: Floats = np.empty(len(overlaps), np.float64)
        overlap.score_overlaps(overlaps, x, y, self.code, similarities)
        return similarities

    @abstractmethod
    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return what pairs are ranked by, exactly: numerators and denominators.

        They order pairs as the values of the measure do, the most similar highest.
        """

    def twins(self, sizes: Int64s) -> Int64s:
        """Return the sets that reach the threshold with themselves; none is empty."""
        return np.arange(len(sizes))

    def falling(self, largest: int) -> Iterator[Self]:
        """Yield the measure with thresholds that fall, ending with its own.

        ``largest`` is the size of the largest set.
        """
        return (replace(self, threshold=share) for share in falling_shares(self.threshold))

    def size_bounds(self, sizes: Int64s) -> SizeBounds:
        """Return the prefixes of sets of these sizes, which ascend."""
        # Not every job joins.
        from neardup.kernels.join import set_join

        least, probing, indexing = (np.empty(len(sizes), np.int64) for _ in range(3))
        set_join.prefix_lengths(sizes, self.in_kernels, least, probing, indexing)
        return SizeBounds(least, probing, indexing)

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return the range of sets, by size, among which each looks for partners, stop exclusive.

        Every pair comes up once: of a measure without direction the larger set looks.
        """
        first: Int64s = np.searchsorted(sizes, least).astype(np.int64)
        return first, np.arange(len(sizes), dtype=np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return prefixes for sets in any order: under which a set looks, and is found.

        Of a pair at the threshold the first set finds the second one; without a direction each
        finds the other.
        """
        distinct, of_size = np.unique(sizes, return_inverse=True)
        probing = self.size_bounds(distinct).probing[of_size]
        return probing, probing
