"""Sets that are in memory, of documents whose sets do not all fit: a chunk, and a slice beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup.kernels.join.overlap import MeasuredSets
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.verify import measure_sets
from neardup.tables import Int64s, ShingleSets, Uint64s, WeightedSets

# Gives the sets of documents, whose numbers ascend.
SetReader = Callable[[Int64s], ShingleSets | WeightedSets]

# Of five parts of the memory a chunk has three, the slice beside it one, and one is for what is
# being read. Slices are read again for each chunk, so that large chunks save reading.
_PARTS, _PARTS_OF_CHUNK = 5, 3


class Shelf:
    """The sets in memory, which documents find by their numbers in keep order.

    Parameters
    ----------
    sizes
        About how many elements the set of each document has.
    read_sets
        Gives the sets of some documents.
    capacity
        So many elements may be in memory at once. A chunk has one document at least, and so has a
        slice, however large they are.
    is_weighted
        Whether the sets have weights.
    """

    def __init__(
        self, sizes: Int64s, read_sets: SetReader, capacity: int, *, is_weighted: bool
    ) -> None:
        self._expected = sizes
        self._read_sets = read_sets
        self._part = capacity // _PARTS
        self._end_of_chunk = 0
        room = min((_PARTS - 1) * self._part, int(sizes.sum()))
        self._values: Uint64s = np.empty(room, np.uint64)
        self._is_weighted = is_weighted
        self._weights: Uint64s = np.empty(room if is_weighted else 0, np.uint64)
        self._starts, self._sizes, self._totals = np.zeros((3, len(sizes)), np.int64)
        self._parities: Uint64s = np.zeros(0 if is_weighted else len(sizes), np.uint64)

    @property
    def table(self) -> ShingleSets | WeightedSets:
        """The sets; only those of documents in memory are to be looked at."""
        if not self._is_weighted:
            return ShingleSets(self._values, self._starts, self._sizes)
        weights = self._weights.view(np.int64)
        return WeightedSets(self._values, weights, self._starts, self._sizes, self._totals)

    @property
    def measured(self) -> MeasuredSets:
        """The sets as kernels take them that compare."""
        weights = self._weights.view(np.int64)
        totals, parities = self._totals, self._parities
        return sealed(
            MeasuredSets(self._values, self._starts, self._sizes, weights, totals, parities)
        )

    def chunks(self, documents: Int64s) -> Iterator[Int64s]:
        """Read documents, whose numbers ascend, a chunk at a time; each takes the last one's place.

        What a document's set measures stays known when the set itself goes.
        """
        for chunk in self._runs(documents, _PARTS_OF_CHUNK * self._part):
            self._end_of_chunk = 0
            for piece in self._runs(chunk, self._part):
                self._end_of_chunk = self._read(piece, self._end_of_chunk)
            yield chunk

    def slices(self, documents: Int64s) -> Iterator[Int64s]:
        """Read other documents beside the chunk, a slice at a time."""
        for piece in self._runs(documents, self._part):
            self._read(piece, self._end_of_chunk)
            yield piece

    def _runs(self, documents: Int64s, room: int) -> Iterator[Int64s]:
        """Cut documents into runs that fit, of at least one document each."""
        ends = np.cumsum(self._expected[documents])
        start = 0
        while start < len(documents):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + room, side="right")))
            yield documents[start:stop]
            start = stop

    def _read(self, documents: Int64s, start: int) -> int:
        """Read sets and lay them down from ``start`` on; return where they end."""
        sets = self._read_sets(documents)
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
    """Give an array that has room for so many values, with the first ones of this one."""
    if size <= len(values):
        return values
    larger: Uint64s = np.empty(size, np.uint64)
    larger[:n_kept] = values[:n_kept]
    return larger
