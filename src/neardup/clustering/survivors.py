"""The rule by which documents stay: each removed one is similar to the one that stays for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup.kernels.bucket import survivors
from neardup.kernels.join.overlap import Comparisons, Keys, MeasuredSets
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.buckets import list_full_keys
from neardup.matching.measures import Measure
from neardup.matching.verify import measure_sets
from neardup.tables import (
    EarlierKeepers,
    Int32s,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
)

# Sets that are in memory, of documents whose sets do not all fit: a chunk, and a slice beside.

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


# Documents decided between two calls of ``progress``, during which Ctrl-C is not noticed.
_STEP = 4096


def choose_survivors(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    earlier: EarlierKeepers | None = None,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Go through the documents in order; remove those similar to one that already stays.

    A document is compared, exactly, with all documents that already stay and share a key with
    it, and gives way to the most similar one that reaches the threshold (the earliest on a tie).

    Parameters
    ----------
    lists
        Keys by which candidates are found; documents are numbered in keep order.
    sets
        Shingle sets of the same documents, none empty, or weighted sets.
    measure
        For one-sided measures the document that would go is x and the one that stays is y.
    n_fixed
        So many documents at the start stay in any case.
    earlier
        What some of the documents go for in any case, unless one that stays is more similar; the
        others have none.
    progress
        Called with the number of documents decided so far.

    Notes
    -----
    Removed documents are never compared again, so a cluster of n copies of one document costs n
    comparisons. Documents that share a key without being similar all stay and are all compared
    with each other.
    """
    choice = Choice(lists, measure, n_fixed, earlier)
    choice.go_through(0, len(sets), measure_sets(sets), progress=progress)
    return choice.removals


class Choice:
    """Who stays, as far as it is decided.

    Attributes
    ----------
    members
        Documents that stay, by key; those of them that later documents are to be compared with.
    """

    def __init__(
        self,
        lists: KeyLists,
        measure: Measure,
        n_fixed: int,
        earlier: EarlierKeepers | None = None,
    ) -> None:
        n_documents = len(lists.starts) - 1
        self.members = survivors.Members(
            starts=np.cumsum(lists.sizes) - lists.sizes,
            sizes=np.zeros(len(lists.sizes), np.int64),
            documents=np.empty(len(lists.keys), np.int32),
        )
        self._keys = sealed(Keys(lists.starts, lists.keys))
        self._n_probed = lists.n_probed
        self._threshold = measure.in_kernels
        self._n_fixed = n_fixed
        self._decisions = _begin(n_documents, earlier)
        self._comparisons = Comparisons(np.full(n_documents, -1, np.int32), np.zeros(2, np.int64))

    def go_through(
        self,
        start: int,
        stop: int,
        sets: MeasuredSets,
        *,
        decides: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Compare documents ``start`` to ``stop`` with the members, and decide who stays.

        Without ``decides`` they only note who is most similar to them so far.
        """
        for first in range(start, stop, _STEP):
            last = min(first + _STEP, stop)
            survivors.choose_survivors(
                first,
                last,
                self._n_fixed,
                self._keys,
                self._n_probed,
                self.members,
                sets,
                self._threshold,
                self._decisions,
                self._comparisons,
                decides,
            )
            if progress is not None:
                progress(last)

    @property
    def removals(self) -> Removals:
        """What was decided; all documents are."""
        n_compared, n_verified = self._comparisons.counts.tolist()
        keepers = self._decisions.keepers.astype(np.int64)
        return Removals(keepers, self._decisions.similarities, n_compared, n_verified)


def _begin(n_documents: int, earlier: EarlierKeepers | None) -> survivors.Decisions:
    """Return what is known of documents before the first one is decided."""
    decisions = survivors.Decisions(
        keepers=np.full(n_documents, -1, np.int32),
        overlaps=np.zeros(n_documents, np.int64),
        similarities=np.empty(n_documents, np.float64),
        known_sizes=np.empty(0, np.int64),
    )
    if earlier is not None:
        rows = np.flatnonzero(earlier.documents >= 0)
        decisions.keepers[rows] = survivors.KNOWN
        decisions.overlaps[rows] = earlier.overlaps[rows]
        decisions.similarities[rows] = earlier.similarities[rows]
        decisions = decisions._replace(known_sizes=earlier.sizes)
    return sealed(decisions)


# Who stays among documents whose sets do not all fit into memory, chunk by chunk of keep order.


def choose_in_chunks(
    keys: Uint64s,
    sizes: Int64s,
    read_sets: SetReader,
    measure: Measure,
    *,
    components: Int64s | None = None,
    n_fixed: int = 0,
    earlier: EarlierKeepers | None = None,
    capacity: int,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Decide who stays as ``choose_survivors`` does, with some of the sets in memory at a time.

    Parameters
    ----------
    keys
        Keys of all 64 bits in each band, shape (n_documents, n_bands), in keep order.
    sizes
        About how many elements the set of each document has.
    read_sets
        Gives the sets of some documents, by their numbers, which ascend; called more than once for
        a document.
    components
        Where it is given, documents share keys only with those of the same number.
    measure, n_fixed, earlier, progress
        As for ``choose_survivors``.
    capacity
        So many elements may be in memory at once. A chunk has one document at least, and so has
        what it is compared with at a time, however large they are.

    Returns
    -------
    What ``choose_survivors`` returns for the same keys and sets, counts included.

    Notes
    -----
    Each chunk is compared with those earlier survivors that share a key with it, which are read a
    slice at a time, and then with itself. Where documents share keys with few others, as versions
    do, sets are read a few times each, whatever their number; where all share one key, each chunk
    reads all survivors. What shares no key is never read. Memory beside sets: up to 20 bytes a
    document and band, and 90 a document.
    """
    n_documents = len(sizes)
    lists = list_full_keys(keys, components)
    choice = Choice(lists, measure, n_fixed, earlier)
    members = choice.members
    shelf = Shelf(sizes, read_sets, capacity, is_weighted=measure.is_weighted)
    choice.go_through(0, n_fixed, shelf.measured, progress=progress)
    marks: Int32s = np.full(n_documents, -1, np.int32)
    listed: Int32s = np.empty(n_documents, np.int32)
    has_keys = np.diff(lists.starts) > 0
    start = n_fixed
    for chunk in shelf.chunks(n_fixed + np.flatnonzero(has_keys[n_fixed:])):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        n_earlier = survivors.list_members(shared, members, start, marks, listed)
        starts = members.starts[shared]
        ends = starts + members.sizes[shared]
        members.sizes[shared] = 0
        for shown in shelf.slices(np.sort(listed[:n_earlier]).astype(np.int64)):
            survivors.show_next(shared, ends, int(shown[-1]) + 1, members)
            choice.go_through(start, stop, shelf.measured, decides=False)

        # Survivors of the chunk itself come behind the earlier ones.
        members.starts[shared], members.sizes[shared] = ends, 0
        choice.go_through(start, stop, shelf.measured, progress=progress)
        members.sizes[shared] += ends - starts
        members.starts[shared] = starts
        start = stop
    choice.go_through(start, n_documents, shelf.measured, progress=progress)
    return choice.removals
