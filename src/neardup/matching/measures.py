"""Define similarity measures: one class each, registered at the end.

To add one, write a class, and its integer arithmetic under a new code in ``kernels.join.overlap``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.join import overlap
from neardup.options.kinds import as_fraction, exact_fraction
from neardup.tables import Floats, Int64s, offsets_of

# A number as users give it.
Number = str | float | Decimal | Fraction

# The lowest threshold: with 63 bits of sizes any two sets with a common element reach it.
LEAST_SHARE = Fraction(1, 10**9)


def exact_count(name: str, value: Number) -> Fraction:
    """Read a whole number from 1 to 2^31 - 1."""
    count = as_fraction(name, value)
    if count is None or count.denominator != 1 or not 1 <= count < 2**31:
        message = f"{name} must be a whole number, 1 or more, got {value}"
        raise InvalidParameterError(message)
    return count


def rising_distances(most: int) -> Iterator[int]:
    """Yield the powers of two below ``most``, then ``most``."""
    for power in range(most.bit_length()):
        if 1 << power < most:
            yield 1 << power
    yield most


def falling_shares(floor: Fraction) -> Iterator[Fraction]:
    """Yield 19/20, 18/20 and so on above ``floor``, then ``floor``."""
    for twentieths in range(19, 0, -1):
        if Fraction(twentieths, 20) > floor:
            yield Fraction(twentieths, 20)
    yield floor


# Far above the error of a quotient of two numbers of 63 bits in floating point.
_TOO_CLOSE = 1e-14


def rank_fractions(numerators: Int64s, denominators: Int64s) -> Int64s:
    """Rank nonnegative fractions of 63-bit integers densely, the largest 0."""
    if not len(numerators):
        return np.empty(0, np.int64)
    divisors = np.gcd(numerators, denominators)
    above, below = numerators // divisors, denominators // divisors
    values = above / below
    order = np.lexsort((below, above, -values))
    differs = np.diff(above[order]) | np.diff(below[order])
    is_close = -np.diff(values[order]) <= _TOO_CLOSE * values[order][:-1]
    if (is_close & (differs != 0)).any():
        # Runs of fractions, each close to the next one.
        starts = np.flatnonzero(np.concatenate([[True], ~is_close]))
        for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
            if differs[start : stop - 1].any():
                run = order[start:stop].tolist()
                run.sort(key=lambda i: Fraction(int(above[i]), int(below[i])), reverse=True)
                order[start:stop] = run
        differs = np.diff(above[order]) | np.diff(below[order])
    ranks: Int64s = np.empty(len(order), np.int64)
    ranks[order] = offsets_of(differs != 0)
    return ranks


class SizeBounds(NamedTuple):
    """Bounds on the partners of sets, by the prefix filter.

    Tokens are in one order for all sets. ``least[k]`` is the least size of a partner that is not
    larger than set k. If set k looks for partners, each one contains one of the first
    ``probing[k]`` tokens of set k among its own first ``indexing`` tokens.
    """

    least: Int64s
    probing: Int64s
    indexing: Int64s


@dataclass(frozen=True)
class Measure(ABC):
    """Similarity of two sets with the threshold of a pair.

    A pair has a first set x and a second set y. ``similarities`` and ``fractions`` take numbers of
    elements and of common elements, or total weights and common weights.
    """

    threshold: Fraction

    #: Name in options, and number in kernels: the arithmetic is in ``kernels.join.overlap``.
    name: ClassVar[str]
    code: ClassVar[int]
    #: Whether x with y is another pair than y with x.
    is_directed: ClassVar[bool] = False
    #: Whether it compares weighted sets.
    is_weighted: ClassVar[bool] = False
    #: Whether the threshold is a number of common elements and not a share.
    is_count: ClassVar[bool] = False
    #: Whether a pair at the threshold has a least Jaccard similarity, for MinHash bands.
    has_bands: ClassVar[bool] = True
    #: Whether it is the Jaccard similarity of plain sets, which MinHash estimates.
    is_jaccard: ClassVar[bool] = False
    #: The largest ratio of sizes for which ``least_jaccard`` holds, None for any.
    size_ratio: ClassVar[int | None] = None

    @classmethod
    def parse(cls, threshold: Number) -> Self:
        """Read the threshold as the exact decimal that was typed."""
        return cls(exact_fraction("threshold", threshold))

    @classmethod
    def lowest(cls) -> Self:
        """Return the measure with the lowest threshold above zero."""
        return cls(LEAST_SHARE)

    @classmethod
    def sided_names(cls) -> tuple[str, ...]:
        """Return the measure's name, or a name per direction."""
        return (f"{cls.name}-a-in-b", f"{cls.name}-b-in-a") if cls.is_directed else (cls.name,)

    @property
    def least_jaccard(self) -> Fraction:
        """Least Jaccard similarity of two sets that reach the threshold.

        0 if there are no bands; with a ``size_ratio``, of sets within it.
        """
        return Fraction(0)

    @property
    def in_kernels(self) -> overlap.Threshold:
        """Measure and threshold as kernels take them."""
        return overlap.Threshold(self.code, self.threshold.numerator, self.threshold.denominator)

    def similarities(self, overlaps: Int64s, x: Int64s, y: Int64s) -> Floats:
        """Return the similarity of each pair of sets, as floats."""
        similarities: Floats = np.empty(len(overlaps), np.float64)
        overlap.score_overlaps(overlaps, x, y, self.code, similarities)
        return similarities

    @abstractmethod
    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return numerators and denominators, the most similar pair highest."""

    def twins(self, sizes: Int64s) -> Int64s:
        """Return nonempty sets that reach the threshold with themselves."""
        return np.arange(len(sizes))

    def falling(self, largest: int) -> Iterator[Self]:
        """Yield falling thresholds for sizes up to ``largest``, this measure last."""
        return (replace(self, threshold=share) for share in falling_shares(self.threshold))

    def size_bounds(self, sizes: Int64s) -> SizeBounds:
        """Return the prefixes of sets with these ascending sizes."""
        # Not every job joins.
        from neardup.kernels.join import set_join

        least, probing, indexing = (np.empty(len(sizes), np.int64) for _ in range(3))
        set_join.prefix_lengths(sizes, self.in_kernels, least, probing, indexing)
        return SizeBounds(least, probing, indexing)

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return the range of candidate partners per set by size.

        The stop is exclusive. Without a direction the larger set looks for the smaller.
        """
        first: Int64s = np.searchsorted(sizes, least).astype(np.int64)
        return first, np.arange(len(sizes), dtype=np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return prefixes of sets, in any order, for probing and indexing.

        The first set of a similar pair finds the second, without a direction each the other.
        """
        distinct, of_size = np.unique(sizes, return_inverse=True)
        probing = self.size_bounds(distinct).probing[of_size]
        return probing, probing

    def mutual_prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return a short and a long prefix of each set, in any order.

        Two sets at the threshold share an element of one's short prefix and the other's long
        prefix. Without a direction the smaller set has the short one.
        """
        distinct, of_size = np.unique(sizes, return_inverse=True)
        bounds = self.size_bounds(distinct)
        return bounds.indexing[of_size], bounds.probing[of_size]


class Jaccard(Measure):
    """|x ∩ y| / |x ∪ y|."""

    name = "jaccard"
    code = overlap.JACCARD
    is_jaccard = True

    @property
    def least_jaccard(self) -> Fraction:
        """Return the threshold itself as the bound."""
        return self.threshold

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the similarities as fractions."""
        return overlaps, x + y - overlaps


class Cosine(Measure):
    """|x ∩ y| / sqrt(|x| |y|)."""

    name = "cosine"
    code = overlap.COSINE

    @property
    def least_jaccard(self) -> Fraction:
        """Return the bound for a subset, t^2 of the size."""
        return self.threshold * self.threshold

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the squares of the values."""
        return overlaps * overlaps, x * y


class Dice(Measure):
    """2 |x ∩ y| / (|x| + |y|)."""

    name = "dice"
    code = overlap.DICE

    @property
    def least_jaccard(self) -> Fraction:
        """Return the Jaccard similarity of sets at this threshold."""
        return self.threshold / (2 - self.threshold)

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the similarities as fractions."""
        return 2 * overlaps, x + y


class _OfContained(Measure):
    """Measure that bounds only the size of the contained set."""

    # MinHash estimates Jaccard similarity; containment implies a bound only if sizes are bounded.
    size_ratio: ClassVar[int] = 2

    @property
    def least_jaccard(self) -> Fraction:
        """Return the bound for sizes 1 and ``size_ratio``, overlap t."""
        return self.threshold / (1 + self.size_ratio - self.threshold)

    def size_bounds(self, sizes: Int64s) -> SizeBounds:
        """Return prefixes, with the other set indexed under all tokens."""
        # The common elements are at least ceil(t * size).
        p, q = self.threshold.numerator, self.threshold.denominator
        least: Int64s = (p * sizes + q - 1) // q
        return SizeBounds(least, sizes - least + 1, sizes)

    def mutual_prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return the prefixes of the contained set, and whole sets."""
        return self.size_bounds(sizes).probing, sizes


class Containment(_OfContained):
    """Share |x ∩ y| / |x|, where deduplication would remove x."""

    name = "containment"
    code = overlap.CONTAINMENT
    is_directed = True

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the similarities as fractions."""
        return overlaps, x

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return the range of sets that reach each least overlap."""
        first: Int64s = np.searchsorted(sizes, least).astype(np.int64)
        return first, np.full(len(sizes), len(sizes), np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return prefixes for probing and whole sets for indexing."""
        return self.size_bounds(sizes).probing, sizes


class MaxContainment(_OfContained):
    """|x ∩ y| / min(|x|, |y|)."""

    name = "max-containment"
    code = overlap.MAX_CONTAINMENT

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the similarities as fractions."""
        return overlaps, np.minimum(x, y)

    def partner_ranges(self, sizes: Int64s, least: Int64s) -> tuple[Int64s, Int64s]:
        """Return for each set the larger sets that follow it."""
        numbers = np.arange(len(sizes), dtype=np.int64)
        return numbers + 1, np.full(len(sizes), len(sizes), np.int64)

    def prefixes(self, sizes: Int64s) -> tuple[Int64s, Int64s]:
        """Return whole sets, because either may be the larger one."""
        return sizes, sizes


class Overlap(Measure):
    """Number of common elements, |x ∩ y|, independent of sizes."""

    name = "overlap"
    code = overlap.OVERLAP
    is_count = True
    has_bands = False

    @classmethod
    def parse(cls, threshold: Number) -> Self:
        """Read the threshold as a whole number."""
        return cls(exact_count("an overlap's threshold", threshold))

    @classmethod
    def lowest(cls) -> Self:
        """Return the measure with a threshold of one element."""
        return cls(Fraction(1))

    def fractions(self, overlaps: Int64s, x: Int64s, y: Int64s) -> tuple[Int64s, Int64s]:
        """Return the overlaps as fractions."""
        return overlaps, np.ones_like(overlaps)

    def twins(self, sizes: Int64s) -> Int64s:
        """Return the sets that are large enough."""
        return np.flatnonzero(sizes >= int(self.threshold))

    def falling(self, largest: int) -> Iterator[Self]:
        """Yield measures with halved overlaps down to the threshold."""
        for shift in range(1, largest.bit_length()):
            if largest >> shift > self.threshold:
                yield replace(self, threshold=Fraction(largest >> shift))
        yield self


# Length of the longest string.
_LONGEST = 2**31 - 1


@dataclass(frozen=True)
class EditThreshold:
    """Limit of an edit distance, a number or a share.

    Two strings differ by at most ``max_distance`` edits or, if that is None, have a similarity of
    at least ``threshold``: 1 - distance / length of the longer string.
    """

    max_distance: int | None
    threshold: Fraction | None = None

    name: ClassVar[str] = "edit"

    def allowed(self, lengths: Int64s) -> Int64s:
        """Return the most edits per length of the longer string."""
        if self.threshold is None:
            # No pair is further apart than its longer string is long.
            return np.minimum(lengths, min(self.max_distance or 0, _LONGEST))
        p, q = self.threshold.numerator, self.threshold.denominator
        most: Int64s = lengths * (q - p) // q
        return most

    def fractions(self, distances: Int64s, longer: Int64s) -> tuple[Int64s, Int64s]:
        """Return fractions that rank pairs, the nearest highest.

        These are similarities, or distances if ``max_distance`` limits them. ``longer`` is the
        length of each pair's longer string.
        """
        if self.threshold is None:
            return int(distances.max(initial=0)) - distances, np.ones_like(longer)
        return longer - distances, longer

    def falling(self) -> Iterator[EditThreshold]:
        """Yield limits that double the edits, ending with this limit."""
        if self.threshold is None:
            yield from map(EditThreshold, rising_distances(self.max_distance or 0))
            return
        for twentieths in rising_distances(20):
            if 1 - Fraction(twentieths, 20) > self.threshold:
                yield EditThreshold(None, 1 - Fraction(twentieths, 20))
        yield self


class WeightedJaccard(Jaccard):
    """Sum of lesser weights over the sum of greater weights.

    The sums are over all elements; sizes are total weights. ``kernels.join.weighted`` compares
    weighted sets, and ``WeightedJoin`` joins them.
    """

    name = "weighted-jaccard"
    code = overlap.WEIGHTED_JACCARD
    is_jaccard = False
    is_weighted = True


# In the order of the help; ``options.choices`` spells the names out.
_REGISTERED: tuple[type[Measure], ...] = (
    Jaccard,
    Cosine,
    Dice,
    Containment,
    MaxContainment,
    Overlap,
    WeightedJaccard,
)
MEASURES: dict[str, type[Measure]] = {measure.name: measure for measure in _REGISTERED}
# Measures of plain sets, for joins.
SET_MEASURES = tuple(measure for measure in _REGISTERED if not measure.is_weighted)
# Measures of deduplication, which takes no counts.
MEASURE_NAMES = tuple(measure.name for measure in _REGISTERED if not measure.is_count)


def make_measure(name: str, threshold: Number) -> Measure:
    """Check a measure's name and its threshold."""
    if name not in MEASURE_NAMES:
        message = f"measure must be one of {', '.join(MEASURE_NAMES)}, got {name!r}"
        raise InvalidParameterError(message)
    return MEASURES[name].parse(threshold)
