"""Read sets within a memory limit, and compare pairs exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup.kernels.common import bits
from neardup.kernels.join import overlap
from neardup.kernels.join.overlap import MeasuredSets
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.join import Sets, cut_runs
from neardup.matching.measures import Measure
from neardup.tables import Floats, Int64s, KeyLists, ShingleSets, Uint64s, WeightedSets


def measure_sets(sets: Sets, *, with_parities: bool = True) -> MeasuredSets:
    """Return the sets for kernels, with parities that make comparisons of plain sets faster."""
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
        shingles.copy_sets(sets.values, sets.starts, sets.sizes, self._values, starts)
        measured = measure_sets(sets)
        if isinstance(sets, WeightedSets):
            self._weights = _grown(self._weights, start, stop)
            weights = sets.weights.view(np.uint64)
            shingles.copy_sets(weights, sets.starts, sets.sizes, self._weights, starts)
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
