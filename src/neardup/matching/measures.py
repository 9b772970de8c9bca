"""Define similarity measures, and compare sets exactly by them.

To add a measure, write a class, and its integer arithmetic under a new code in
``kernels.join.overlap``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.arrays import sealed
from neardup.kernels.common import bits
from neardup.kernels.join import overlap
from neardup.kernels.join.overlap import MeasuredSets
from neardup.kernels.text import shingle_kernels
from neardup.matching.join import Sets
from neardup.options.choices import Number
from neardup.options.kinds import as_fraction, exact_fraction
from neardup.tables import (
    Floats,
    Int64s,
    KeyLists,
    ShingleSets,
    Uint64s,
    WeightedSets,
    cut_runs,
    offsets_of,
)

# The lowest threshold: with 63 bits of sizes any two sets with a common element reach it.
LEAST_SHARE = Fraction(1, 10**9)


def exact_count(name: str, value: Number) -> Fraction:
    """Read a whole number from 1 to 2^31 - 1."""
    count = as_fraction(name, value)
    if count is None or count.denominator != 1 or not 1 <= count < 2**31:
        message = f"{name} must be a whole number, 1 or more, got {value}"
        raise InvalidParameterError(message)
    return count


# Far above the error of a quotient of two numbers of 63 bits in floating point.
_TOO_CLOSE = 1e-14


def rank_fractions(numerators: Int64s, denominators: Int64s) -> Int64s:
    """Rank nonnegative fractions of 63-bit integers densely, the largest 0.

    Floats decide the order, except among values so close that rounding may have reversed them.
    """
    if not len(numerators):
        return np.empty(0, np.int64)
    divisors = np.gcd(numerators, denominators)
    above, below = numerators // divisors, denominators // divisors
    values = above / below
    order = np.lexsort((below, above, -values))
    differs = np.diff(above[order]) | np.diff(below[order])
    is_close = -np.diff(values[order]) <= _TOO_CLOSE * values[order][:-1]
    if (is_close & (differs != 0)).any():
        # Sort each run of close fractions exactly, unless all of a run are equal.
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
    larger than set k. If set k looks for partners, each partner p has one of the first
    ``probing[k]`` tokens of set k among its own first ``indexing[p]`` tokens.
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

    def size_bounds(self, sizes: Int64s) -> SizeBounds:
        """Return the prefixes of sets with these ascending sizes."""
        # Not every job joins.
        from neardup.kernels.join import set_join_kernels

        least, probing, indexing = (np.empty(len(sizes), np.int64) for _ in range(3))
        set_join_kernels.prefix_lengths(sizes, self.in_kernels, least, probing, indexing)
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
        """Return the short and long prefix length per size.

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


class _ContainedShare(Measure):
    """Share of the contained set, which bounds the size of no other set."""

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


class Containment(_ContainedShare):
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


class MaxContainment(_ContainedShare):
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


class WeightedJaccard(Jaccard):
    """Sum of lesser weights over the sum of greater weights.

    The sums are over all elements; sizes are total weights. ``kernels.join.weighted_join`` compares
    weighted sets, and ``WeightedJoin`` joins them.
    """

    name = "weighted-jaccard"
    code = overlap.WEIGHTED_JACCARD
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


# Sets that are compared, within a memory limit.


def measure_sets(sets: Sets, *, with_parities: bool = True) -> MeasuredSets:
    """Return sets for kernels, with parities of plain sets."""
    weights, words = np.empty(0, np.int64), np.empty(0, np.uint64)
    if isinstance(sets, WeightedSets):
        weights = sets.weights
    elif with_parities:
        words = np.empty(len(sets), np.uint64)
        bits.set_parities(sets.values, sets.starts, sets.sizes, words)
    return sealed(MeasuredSets(sets.values, sets.starts, sets.sizes, weights, sets.totals, words))


def overlaps_at_threshold(sets: Sets, left: Int64s, right: Int64s, measure: Measure) -> Int64s:
    """Count common elements, or weights, of pairs at the threshold.

    Sets are not empty. -1 for other pairs. ``left`` would go, ``right`` stay.
    """
    return _score(sets, left, right, measure.in_kernels)[0]


def score_pairs(sets: Sets, left: Int64s, right: Int64s, measure: Measure) -> Floats:
    """Compute exact similarities of pairs of nonempty sets, ignoring the threshold."""
    return _score(sets, left, right, measure.in_kernels._replace(p=0, q=1))[1]


def _score(
    sets: Sets, left: Int64s, right: Int64s, threshold: overlap.Threshold
) -> tuple[Int64s, Floats]:
    overlaps: Int64s = np.empty(len(left), np.int64)
    similarities: Floats = np.empty(len(left), np.float64)
    overlap.score_pairs(measure_sets(sets), left, right, threshold, overlaps, similarities)
    return overlaps, similarities


def similarity_of_two(sets: Sets, measure: Measure) -> float:
    """Compute the exact similarity of two sets, 0 if one is empty."""
    if not sets.sizes.all():
        return 0.0
    return float(score_pairs(sets, np.array([0]), np.array([1]), measure)[0])


def similar_to_first(sets: Sets, measure: Measure) -> tuple[Int64s, Int64s]:
    """Return the sets similar to the first, and their common parts.

    An empty set is similar to nothing. Common parts are as of ``overlaps_at_threshold``.
    """
    others = 1 + np.flatnonzero(sets.sizes[1:])
    if not sets.sizes[0]:
        others = others[:0]
    common = overlaps_at_threshold(sets, np.zeros_like(others), others, measure)
    is_similar = common > 0
    return others[is_similar], common[is_similar]


@dataclass(frozen=True)
class CandidateSets:
    """Documents in keep order, with sets read on demand.

    ``lists`` are their candidate keys, ``sizes`` approximate numbers of elements. ``read`` returns
    the sets of ascending document numbers, more than once if sets do not all fit; plain sets are
    not empty. The first ``n_fixed`` documents stay. ``capacity`` is the number of elements in
    memory at once, None for all; a chunk and a slice have at least one document each. If all sets
    ``are_in_memory`` anyway, it bounds only their ranking.
    """

    lists: KeyLists
    sizes: Int64s
    read: Callable[[Int64s], Sets]
    n_fixed: int = 0
    capacity: int | None = None
    are_in_memory: bool = False

    def __len__(self) -> int:
        return len(self.sizes)

    @classmethod
    def of_sets(cls, lists: KeyLists, sets: Sets, n_fixed: int = 0) -> CandidateSets:
        """Return documents whose sets are in memory."""
        return cls(lists, sets.sizes, lambda _: sets, n_fixed)

    @property
    def fit(self) -> bool:
        """Return whether all sets fit in memory at once."""
        return self.capacity is None or self.are_in_memory or int(self.sizes.sum()) <= self.capacity

    @cached_property
    def sets(self) -> Sets:
        """All sets, if they fit."""
        return self.read(np.arange(len(self)))


# A chunk has three of five parts of the memory, the slice one, and one is for reading. Slices are
# read again for each chunk, so that large chunks save reading.
_PARTS, _PARTS_OF_CHUNK = 5, 3


class SetCache:
    """Sets of a chunk and a slice, within the capacity."""

    def __init__(self, documents: CandidateSets, *, is_weighted: bool) -> None:
        assert documents.capacity is not None
        self._documents = documents
        self._part = documents.capacity // _PARTS
        self._end_of_chunk = 0
        n = len(documents)
        room = min((_PARTS - 1) * self._part, int(documents.sizes.sum()))
        self._values: Uint64s = np.empty(room, np.uint64)
        self._is_weighted = is_weighted
        self._weights: Uint64s = np.empty(room if is_weighted else 0, np.uint64)
        self._starts, self._sizes, self._totals = np.zeros((3, n), np.int64)
        self._parities: Uint64s = np.zeros(0 if is_weighted else n, np.uint64)

    @property
    def table(self) -> Sets:
        """Return the table of sets, valid for cached documents only."""
        if not self._is_weighted:
            return ShingleSets(self._values, self._starts, self._sizes)
        weights = self._weights.view(np.int64)
        return WeightedSets(self._values, weights, self._starts, self._sizes, self._totals)

    @property
    def measured(self) -> MeasuredSets:
        """Return the sets for comparing kernels."""
        weights = self._weights.view(np.int64)
        totals, parities = self._totals, self._parities
        return sealed(
            MeasuredSets(self._values, self._starts, self._sizes, weights, totals, parities)
        )

    def chunks(self, documents: Int64s) -> Iterator[Int64s]:
        """Read documents chunk by chunk in ascending order.

        A chunk replaces the last one. The measured sizes of a document stay known afterwards.
        """
        for chunk in self._runs(documents, _PARTS_OF_CHUNK * self._part):
            self._end_of_chunk = 0
            for piece in self._runs(chunk, self._part):
                self._end_of_chunk = self._read(piece, self._end_of_chunk)
            yield chunk

    def slices(self, documents: Int64s) -> Iterator[Int64s]:
        """Read other documents in slices beside the current chunk."""
        for piece in self._runs(documents, self._part):
            self._read(piece, self._end_of_chunk)
            yield piece

    def _runs(self, documents: Int64s, room: int) -> Iterator[Int64s]:
        for start, stop in cut_runs(self._documents.sizes[documents], room):
            yield documents[start:stop]

    def _read(self, documents: Int64s, start: int) -> int:
        """Read sets into memory from ``start`` and return their end."""
        sets = self._documents.read(documents)
        ends = start + np.cumsum(sets.sizes)
        starts, stop = ends - sets.sizes, int(ends[-1])
        self._values = _grown(self._values, start, stop)
        shingle_kernels.copy_sets(sets.values, sets.starts, sets.sizes, self._values, starts)
        measured = measure_sets(sets)
        if isinstance(sets, WeightedSets):
            self._weights = _grown(self._weights, start, stop)
            weights = sets.weights.view(np.uint64)
            shingle_kernels.copy_sets(weights, sets.starts, sets.sizes, self._weights, starts)
        else:
            self._parities[documents] = measured.parities
        self._starts[documents], self._sizes[documents] = starts, sets.sizes
        self._totals[documents] = measured.totals
        return stop


def _grown(values: Uint64s, n_kept: int, size: int) -> Uint64s:
    """Return the kept values in an array of sufficient size."""
    if size <= len(values):
        return values
    larger: Uint64s = np.empty(size, np.uint64)
    larger[:n_kept] = values[:n_kept]
    return larger
