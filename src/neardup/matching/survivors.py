"""Choose the documents that stay; each removed document is similar to its keeper.

Optionally join connected components: documents linked by any chain of verified pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from neardup.kernels.bucket import components, survivors
from neardup.kernels.bucket.survivors import RankedSets
from neardup.kernels.common import union_find
from neardup.kernels.join import postings
from neardup.kernels.join.overlap import Comparisons, Keys, MeasuredSets
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.buckets import list_full_keys
from neardup.matching.join import count_words, cut_runs
from neardup.matching.measures import Measure
from neardup.matching.postings import rank_sets
from neardup.matching.set_join import make_parities
from neardup.matching.verify import measure_sets, score_pairs
from neardup.tables import (
    Bools,
    EarlierKeepers,
    Floats,
    Int32s,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
    offsets_of,
)

# Documents gone through between two calls of ``progress``, during which Ctrl-C is not noticed.
STEP = 1024

# Failed comparisons per document before rare elements are required: to rank a document's elements
# takes as long as to compare about 30 pairs.
PATIENCE = 16

NOBODY: Int64s = np.empty(0, np.int64)


class CandidateMatcher(ABC):
    """Match documents in keep order with earlier ones that share a key.

    If too many comparisons fail, later documents are compared only with documents that share rare
    elements, and a similar pair must also share a key. Weighted sets use keys only.

    Parameters
    ----------
    lists
        Keys of documents, ascending per document.
    measure
        How sets are compared.
    capacity
        About how many elements are ranked at once, None for all.
    """

    def __init__(self, lists: KeyLists, measure: Measure, capacity: int | None) -> None:
        self._lists = lists
        self._keys = sealed(Keys(lists.starts, lists.keys))
        self._measure = measure
        self._capacity = capacity
        self._comparisons = Comparisons(
            np.full(self.n_documents, -1, np.int32), np.zeros(2, np.int64)
        )
        self._by_elements = False

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return len(self._lists.starts) - 1

    @property
    def counts(self) -> list[int]:
        """How many pairs were compared, and how many of them are similar."""
        counts: list[int] = self._comparisons.counts.tolist()
        return counts

    @abstractmethod
    def _meet_by_keys(self, start: int, stop: int, sets: MeasuredSets, enters: bool) -> None:
        """Compare documents ``start`` to ``stop`` with earlier ones that share a key."""

    @abstractmethod
    def _meet_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, enters: bool
    ) -> Callable[[int, int], None]:
        """Return a function that compares a range of ranked sets with earlier ones.

        It takes start and stop; the first ``n_shown`` sets are already known.
        """

    @abstractmethod
    def _are_met(self, documents: Int64s) -> Int64s:
        """Return which entered documents later ones are compared with."""

    def go_through(
        self,
        start: int,
        stop: int,
        sets: MeasuredSets,
        *,
        shown: Int64s = NOBODY,
        enters: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Compare documents ``start`` to ``stop`` with those entered, and enter them.

        ``shown`` are the earlier documents whose sets are in memory. Without ``enters``, documents
        are only compared with these.
        """
        first = start
        while first < stop and not self._is_in_vain():
            last = min(first + STEP, stop)
            self._meet_by_keys(first, last, sets, enters)
            first = last
            if progress is not None:
                progress(first)
        if first == stop:
            return
        if enters:
            shown = np.concatenate([shown, self._are_met(self._with_keys(start, first))])
        half = None if self._capacity is None else max(1, self._capacity // 2)
        for block in _cut(self._with_keys(first, stop), sets.sizes, half):
            everyone = np.concatenate([shown, block])
            if half is None or int(sets.sizes[everyone].sum()) <= 2 * half:
                self._meet(shown, block, sets, enters, progress)
            else:
                for some in _cut(shown, sets.sizes, half):
                    self._meet(some, block, sets, enters=False)
                if enters:
                    self._meet(NOBODY, block, sets, enters, progress)
            if enters:
                shown = np.concatenate([shown, self._are_met(block)])
        if progress is not None:
            progress(stop)

    def _is_in_vain(self) -> bool:
        """Return whether comparisons by key have failed too often; it then stays true."""
        n_compared, n_similar = self.counts
        is_so = n_compared - n_similar > PATIENCE * self.n_documents
        self._by_elements |= is_so and not self._measure.is_weighted
        return self._by_elements

    def _with_keys(self, start: int, stop: int) -> Int64s:
        return start + np.flatnonzero(np.diff(self._lists.starts[start : stop + 1]))

    def _meet(
        self,
        shown: Int64s,
        documents: Int64s,
        sets: MeasuredSets,
        enters: bool,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Compare documents with the shown ones, and with each other if they enter."""
        everyone = np.concatenate([shown, documents])
        ranking = rank_documents(sets, everyone, self._measure)
        compare = self._meet_by_elements(ranking, len(shown), sets, enters)
        for first in range(0, len(everyone), STEP):
            last = min(first + STEP, len(everyone))
            compare(first, last)
            if progress is not None and len(shown) < last < len(everyone):
                progress(int(everyone[last]))


@dataclass(frozen=True)
class Ranking:
    """Sets of some documents, their elements ranked, and room for prefixes by element.

    Key 2 t lists documents with element t in the short prefix, key 2 t + 1 documents with t only in
    the long prefix: from place ``starts[key]`` on, of ``n_places`` in all.
    """

    sets: RankedSets
    parities: ParityRows
    starts: Int64s
    n_places: int


def rank_documents(sets: MeasuredSets, documents: Int64s, measure: Measure) -> Ranking:
    """Rank the elements of some documents' sets, the rarest first.

    Notes
    -----
    The least overlap depends on both sizes. Therefore prefixes are two: the short one is enough if
    the other set is not smaller, and lacks the frequent elements that the long one may reach. Time
    linear except for the sort of distinct elements. Memory 12 bytes per element while it works,
    then 4 to 4.5, and 4 per element of a long prefix.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 3.
    """
    sizes = sets.sizes[documents]
    records = rank_sets(ShingleSets(sets.values, sets.starts, sets.sizes), documents)
    # A set is empty here if it is not in memory, because it has no candidates yet.
    short, long = (
        np.minimum(records.shorten(each, sizes), records.sizes)
        for each in measure.mutual_prefixes(sizes)
    )
    of_short, of_long = (np.zeros(records.n_tokens + 1, np.int64) for _ in range(2))
    postings.count_postings(records.tokens, records.starts, short, of_short)
    postings.count_postings(records.tokens, records.starts, long, of_long)
    starts: Int64s = np.empty(2 * records.n_tokens, np.int64)
    starts[::2] = of_long[:-1]
    starts[1::2] = of_long[:-1] + np.diff(of_short)
    ranked = RankedSets(
        documents, records.tokens, records.starts, records.sizes, sizes, short, long
    )
    parities = make_parities(records, sizes, count_words(records.sizes))
    return Ranking(sealed(ranked), parities, starts, int(of_long[-1]))


def _cut(documents: Int64s, sizes: Int64s, capacity: int | None) -> Iterator[Int64s]:
    if capacity is None:
        yield documents
        return
    for start, stop in cut_runs(sizes[documents], capacity):
        yield documents[start:stop]


# A key of fewer kept documents is stored as a list, not as a bit row: to read a row takes as long
# as to look at one in so many.
_BITS_A_LISTED = 128


def count_candidates(lists: KeyLists, keepers: Int32s, n_fixed: int) -> int:
    """Count the pairs that keys alone would have compared.

    A pair is a document, except the first ``n_fixed``, and an earlier one that stays and has one of
    the document's lookup keys.

    Notes
    -----
    The kept documents of a key are a row of bits, so that 64 are united and counted per step: a
    small part of the time of comparing them. Memory at most 16 bytes per document and key.
    """
    n_staying = int(np.count_nonzero(keepers == -1))
    n_words = (n_staying + 63) >> 6
    is_row = lists.sizes * _BITS_A_LISTED >= max(n_staying, 1)
    numbers: Int32s = np.where(is_row, np.cumsum(is_row) - 1, -1).astype(np.int32)
    n_listed = np.where(is_row, 0, lists.sizes)
    rows = survivors.KeyRows(
        numbers=numbers,
        bits=np.zeros((int(is_row.sum()), n_words), np.uint64),
        starts=np.cumsum(n_listed) - n_listed,
        sizes=np.zeros(len(lists.sizes), np.int64),
        listed=np.empty(int(n_listed.sum()), np.int32),
    )
    seen: Uint64s = np.zeros(n_words, np.uint64)
    keys = sealed(Keys(lists.starts, lists.keys))
    return int(
        survivors.count_candidates(keys, lists.n_probed, keepers, n_fixed, sealed(rows), seen)
    )


# Sets in memory if not all sets fit: a chunk, and a slice of other documents.

# Gives the sets of documents, whose numbers ascend.
SetReader = Callable[[Int64s], ShingleSets | WeightedSets]

# A chunk has three of five parts of the memory, the slice one, and one is for reading. Slices are
# read again for each chunk, so that large chunks save reading.
_PARTS, _PARTS_OF_CHUNK = 5, 3


class SetCache:
    """Sets in memory, by document number in keep order.

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
        """Return the table of sets; only documents in memory are valid."""
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
        """Read documents in ascending order, one chunk at a time, replacing the last one.

        The measured sizes of a document stay known when its set is dropped.
        """
        for chunk in self._runs(documents, _PARTS_OF_CHUNK * self._part):
            self._end_of_chunk = 0
            for piece in self._runs(chunk, self._part):
                self._end_of_chunk = self._read(piece, self._end_of_chunk)
            yield chunk

    def slices(self, documents: Int64s) -> Iterator[Int64s]:
        """Read other documents in slices while the chunk stays in memory."""
        for piece in self._runs(documents, self._part):
            self._read(piece, self._end_of_chunk)
            yield piece

    def _runs(self, documents: Int64s, room: int) -> Iterator[Int64s]:
        ends = np.cumsum(self._expected[documents])
        start = 0
        while start < len(documents):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + room, side="right")))
            yield documents[start:stop]
            start = stop

    def _read(self, documents: Int64s, start: int) -> int:
        """Read sets into memory from ``start`` on; return their end."""
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
    """Return an array of at least ``size`` values with the first ``n_kept`` values."""
    if size <= len(values):
        return values
    larger: Uint64s = np.empty(size, np.uint64)
    larger[:n_kept] = values[:n_kept]
    return larger


def choose_survivors(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    earlier: EarlierKeepers | None = None,
    progress: Callable[[int], None] | None = None,
    capacity: int | None = None,
) -> Removals:
    """Remove documents similar to an earlier one that stays.

    A document is compared, exactly, with all documents that already stay and share a key with it,
    and is removed in favour of the most similar one at the threshold (the earliest on a tie).

    Parameters
    ----------
    lists
        Candidate keys; documents are numbered in keep order.
    sets
        Shingle sets of the same documents, none empty, or weighted sets.
    measure
        For one-sided measures x is the document to remove and y the one that stays.
    n_fixed
        So many documents at the start stay in any case.
    earlier
        Keepers already known for some documents; a more similar one that stays replaces them.
    progress
        Called with the number of documents decided so far.
    capacity
        About how many elements are ranked at once, where that becomes worth it; None for all.

    Notes
    -----
    Removed documents are never compared again, so a cluster of n copies of one document costs n
    comparisons. Dissimilar documents that share a key all stay. If most comparisons fail, later
    documents are compared only with documents that share rare elements (``rare_elements``). The
    result is the same, and counts include the skipped pairs.
    """
    choice = SurvivorSelection(lists, measure, n_fixed, earlier, capacity)
    choice.go_through(0, len(sets), measure_sets(sets), progress=progress)
    return choice.removals


class SurvivorSelection(CandidateMatcher):
    """Decisions about the documents so far.

    Attributes
    ----------
    members
        Documents that stay, by key, for comparison with later documents.
    """

    def __init__(
        self,
        lists: KeyLists,
        measure: Measure,
        n_fixed: int,
        earlier: EarlierKeepers | None = None,
        capacity: int | None = None,
    ) -> None:
        super().__init__(lists, measure, capacity)
        self.members = survivors.Members(
            starts=np.cumsum(lists.sizes) - lists.sizes,
            sizes=np.zeros(len(lists.sizes), np.int64),
            documents=np.empty(len(lists.keys), np.int32),
        )
        self._n_fixed = n_fixed
        self._decisions = _begin(self.n_documents, earlier)

    def _meet_by_keys(self, start: int, stop: int, sets: MeasuredSets, enters: bool) -> None:
        """Compare documents with the members; without ``enters`` they are not decided yet."""
        survivors.choose_survivors(
            start,
            stop,
            self._n_fixed,
            self._keys,
            self._lists.n_probed,
            self.members,
            sets,
            self._measure.in_kernels,
            self._decisions,
            self._comparisons,
            enters,
        )

    def _meet_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, enters: bool
    ) -> Callable[[int, int], None]:
        found = survivors.Members(
            starts=ranking.starts,
            sizes=np.zeros(len(ranking.starts), np.int64),
            documents=np.empty(ranking.n_places, np.int32),
        )
        last_compared: Int32s = np.full(len(ranking.sets.documents), -1, np.int32)

        def compare(start: int, stop: int) -> None:
            survivors.choose_by_prefixes(
                start,
                stop,
                n_shown,
                self._n_fixed,
                ranking.sets,
                ranking.parities,
                found,
                self._keys,
                self._lists.n_probed,
                self.members,
                sets.totals,
                self._measure.in_kernels,
                self._decisions,
                Comparisons(last_compared, self._comparisons.counts),
                enters,
            )

        return compare

    def _are_met(self, documents: Int64s) -> Int64s:
        staying: Int64s = documents[self._decisions.keepers[documents] == -1]
        return staying

    @property
    def removals(self) -> Removals:
        """Return the removals; all documents must be decided."""
        n_compared, n_verified = self.counts
        decided = self._decisions.keepers
        if self._by_elements:
            n_compared = count_candidates(self._lists, decided, self._n_fixed)
        keepers = decided.astype(np.int64)
        return Removals(keepers, self._decisions.similarities, n_compared, n_verified)


def _begin(n_documents: int, earlier: EarlierKeepers | None) -> survivors.Decisions:
    decisions = survivors.Decisions(
        keepers=np.full(n_documents, -1, np.int32),
        overlaps=np.zeros(n_documents, np.int64),
        similarities=np.full(n_documents, np.nan),
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


@dataclass(frozen=True)
class UnreadSets:
    """Documents in keep order whose sets are read for each comparison.

    Parameters
    ----------
    keys
        Keys of all 64 bits in each band, shape (n_documents, n_bands).
    sizes
        About how many elements the set of each document has.
    read
        Reads sets by ascending document numbers; called more than once per document.
    n_fixed
        Number of documents at the start that always stay.
    components
        Number of each document's component; documents share keys only within one.
    """

    keys: Uint64s
    sizes: Int64s
    read: SetReader
    n_fixed: int = 0
    components: Int64s | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def list_keys(self) -> KeyLists:
        """List the keys of each document."""
        return list_full_keys(self.keys, self.components)


def choose_in_chunks(
    documents: UnreadSets,
    measure: Measure,
    *,
    capacity: int,
    earlier: EarlierKeepers | None = None,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Choose survivors with only some of the sets in memory at a time.

    Parameters
    ----------
    documents
        Documents whose sets are read.
    measure, earlier, progress
        As for ``choose_survivors``.
    capacity
        Elements that may be in memory at once. A chunk and a slice have at least one document each,
        however large.

    Returns
    -------
    Removals and counts as of ``choose_survivors`` for the same keys and sets.

    Notes
    -----
    Each chunk is compared with the earlier survivors that share a key with it, read in slices, and
    then with itself. If documents share keys with few others, as versions do, each set is read a
    few times; if all share one key, each chunk reads all survivors. A document without a shared key
    is never read. Memory in addition to sets: up to 20 bytes per document and band, and 90 per
    document.
    """
    n_documents, n_fixed, lists = len(documents), documents.n_fixed, documents.list_keys()
    choice = SurvivorSelection(lists, measure, n_fixed, earlier, capacity // 2)
    members = choice.members
    cache = SetCache(documents.sizes, documents.read, capacity, is_weighted=measure.is_weighted)
    choice.go_through(0, n_fixed, cache.measured, progress=progress)
    marks: Int32s = np.full(n_documents, -1, np.int32)
    listed: Int32s = np.empty(n_documents, np.int32)
    has_keys = np.diff(lists.starts) > 0
    start = n_fixed
    for chunk in cache.chunks(n_fixed + np.flatnonzero(has_keys[n_fixed:])):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        n_earlier = survivors.list_members(shared, members, start, marks, listed)
        starts = members.starts[shared]
        ends = starts + members.sizes[shared]
        members.sizes[shared] = 0
        for shown in cache.slices(np.sort(listed[:n_earlier]).astype(np.int64)):
            survivors.show_next(shared, ends, int(shown[-1]) + 1, members)
            choice.go_through(start, stop, cache.measured, shown=shown, enters=False)

        # Survivors of the chunk itself follow the earlier survivors.
        members.starts[shared], members.sizes[shared] = ends, 0
        choice.go_through(start, stop, cache.measured, progress=progress)
        members.sizes[shared] += ends - starts
        members.starts[shared] = starts
        start = stop
    choice.go_through(start, n_documents, cache.measured, progress=progress)
    return choice.removals


def join_components(
    lists: KeyLists,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    n_fixed: int = 0,
    progress: Callable[[int], None] | None = None,
    capacity: int | None = None,
) -> Removals:
    """Remove all documents of a component except the first.

    Arguments as for ``choose_survivors``, but documents look under all their keys, and the first
    ``n_fixed`` stay in any case. The similarity of a removed document to its keeper may be below
    the threshold, even zero.
    """
    n_documents = len(sets)
    joining = ComponentMatcher(lists, measure, np.arange(n_documents, dtype=np.int64), capacity)
    joining.go_through(0, n_documents, measure_sets(sets), progress=progress)
    keepers = joining.keepers(n_fixed)
    removed = np.flatnonzero(keepers >= 0)
    similarities = np.full(n_documents, np.nan)
    similarities[removed] = score_pairs(sets, removed, keepers[removed], measure)
    return Removals(keepers, similarities, *joining.counts)


class ComponentMatcher(CandidateMatcher):
    """Components, as far as documents have been joined to them.

    ``parents`` has for each document an earlier one of its component, or itself.
    """

    def __init__(
        self, lists: KeyLists, measure: Measure, parents: Int64s, capacity: int | None = None
    ) -> None:
        super().__init__(lists, measure, capacity)
        self._parents = parents
        owners = np.repeat(np.arange(self.n_documents), np.diff(lists.starts))
        self._groups = _no_groups(owners, len(lists.sizes))

    def _meet_by_keys(self, start: int, stop: int, sets: MeasuredSets, enters: bool) -> None:
        """Compare documents with groups of earlier ones, and join the groups if they enter."""
        components.join_components(
            start,
            stop,
            self._keys,
            sets,
            self._measure.in_kernels,
            self._groups,
            self._parents,
            self._comparisons,
            enters,
        )

    def _meet_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, enters: bool
    ) -> Callable[[int, int], None]:
        documents = ranking.sets.documents
        groups = _no_groups(np.repeat(documents, ranking.sets.long), len(ranking.starts))
        places: Int32s = np.full(self.n_documents, -1, np.int32)
        places[documents] = np.arange(len(documents))

        def compare(start: int, stop: int) -> None:
            components.join_by_prefixes(
                start,
                stop,
                n_shown,
                ranking.sets,
                ranking.parities,
                self._keys,
                self._measure.in_kernels,
                groups,
                places,
                self._parents,
                self._comparisons,
                enters,
            )

        return compare

    def _are_met(self, documents: Int64s) -> Int64s:
        """Return all of them."""
        return documents

    def replace_members(self, last: Int64s, following: Int64s) -> None:
        """Replace all documents ``last`` in groups by others."""
        components.replace_members(last, following, self._keys, self._groups, self._parents)

    def keepers(self, n_fixed: int) -> Int64s:
        """Return the first document of each one's component; -1 for first and fixed documents."""
        keepers = find_roots(self._parents)
        keepers[keepers == np.arange(len(keepers))] = -1
        keepers[:n_fixed] = -1
        return keepers


def _no_groups(owners: Int64s, n_keys: int) -> components.Groups:
    next_group, next_member, last_member = np.full((3, len(owners)), -1, np.int64)
    groups = components.Groups(
        owners=owners.astype(np.int32),
        heads=np.full(n_keys, -1, np.int64),
        next_group=next_group,
        next_member=next_member,
        last_member=last_member,
    )
    return sealed(groups)


def find_roots(parents: Int64s) -> Int64s:
    """Return the first document of each one's component."""
    roots = parents.copy()
    union_find.find_roots(roots)
    return roots


# Components of documents whose sets do not all fit into memory, chunk by chunk of keep order.


def join_in_chunks(
    documents: UnreadSets,
    measure: Measure,
    chosen: Removals,
    *,
    capacity: int,
    progress: Callable[[int], None] | None = None,
) -> Removals:
    """Join components with only some of the sets in memory at a time.

    Arguments as for ``choose_in_chunks``; ``chosen`` is its result for the same documents.

    Returns
    -------
    Keepers and similarities of ``join_components``, and counts of ``chosen``, because the number of
    further comparisons depends on their order.

    Notes
    -----
    Documents removed for the same survivor are joined already. So only keys shared by documents of
    several survivors are processed, and only documents with such a key are read; at the end also
    the removed documents and their keepers. Memory in addition to sets: up to 44 bytes per document
    and band, and 100 per document.
    """
    n_documents = len(documents)
    joined = np.where(chosen.keepers >= 0, chosen.keepers, np.arange(n_documents))
    lists = _keys_between(documents.list_keys(), joined)
    joining = ComponentMatcher(lists, measure, joined, capacity // 2)
    everyone = _everyone(lists)
    cache = SetCache(documents.sizes, documents.read, capacity, is_weighted=measure.is_weighted)
    marks: Int32s = np.full(n_documents, -1, np.int32)
    listed: Int32s = np.empty(n_documents, np.int32)
    entered: Int64s = np.empty(0, np.int64)
    start = 0
    for chunk in cache.chunks(np.flatnonzero(lists.n_probed)):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        candidates = listed[: survivors.list_members(shared, everyone, start, marks, listed)]
        for earlier in cache.slices(np.sort(candidates[candidates < chunk[0]]).astype(np.int64)):
            joining.replace_members(entered, earlier)
            joining.go_through(start, stop, cache.measured, shown=earlier, enters=False)
            entered = earlier
        joining.replace_members(entered, entered[:0])
        joining.go_through(start, stop, cache.measured, progress=progress)
        entered, start = chunk, stop
    joining.go_through(start, n_documents, cache.measured, progress=progress)

    keepers = joining.keepers(documents.n_fixed)
    similarities = np.full(n_documents, np.nan)
    for gone in cache.chunks(np.flatnonzero(keepers >= 0)):
        of_gone = keepers[gone]
        for kept in cache.slices(np.unique(of_gone)):
            pairs = (of_gone >= kept[0]) & (of_gone <= kept[-1])
            similarities[gone[pairs]] = score_pairs(
                cache.table, gone[pairs], of_gone[pairs], measure
            )
    return replace(chosen, keepers=keepers, similarities=similarities)


def _keys_between(lists: KeyLists, joined: Int64s) -> KeyLists:
    """Leave out the keys under which all documents are joined already."""
    roots = np.repeat(find_roots(joined), np.diff(lists.starts))
    least = np.full(len(lists.sizes), len(joined), np.int64)
    most = np.full(len(lists.sizes), -1, np.int64)
    np.minimum.at(least, lists.keys, roots)
    np.maximum.at(most, lists.keys, roots)
    is_needed = (least < most)[lists.keys]
    starts = offsets_of(is_needed)[lists.starts]
    kept = lists.keys[is_needed]
    return KeyLists(starts, kept, np.diff(starts), np.bincount(kept, minlength=len(lists.sizes)))


def _everyone(lists: KeyLists) -> survivors.Members:
    owners = np.repeat(np.arange(len(lists.n_probed), dtype=np.int32), lists.n_probed)
    return survivors.Members(
        starts=np.cumsum(lists.sizes) - lists.sizes,
        sizes=lists.sizes,
        documents=owners[np.argsort(lists.keys, kind="stable")],
    )


# Survivors and components of documents whose similar pairs are known; nothing is compared.

# Pairs that are joined at a time, as 64-bit numbers.
_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of documents, which are numbered in keep order.

    If ``are_directed``, only ``left`` may be removed for ``right``, else either for the other.
    Pairs may repeat, and pairs of a document with itself are ignored.
    """

    left: Int32s
    right: Int32s
    similarities: Floats
    are_directed: bool = False

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: Bools) -> SimilarPairs:
        """Return the marked pairs."""
        return SimilarPairs(
            self.left[rows], self.right[rows], self.similarities[rows], self.are_directed
        )

    def reaching(self, threshold: float) -> SimilarPairs:
        """Return the pairs at a threshold."""
        reached = self.similarities >= threshold
        return self if reached.all() else self.take(reached)

    def by_order(self) -> SimilarPairs:
        """Return the pairs that can remove a document: the left, later one."""
        if self.are_directed:
            is_later = self.left > self.right
            return self if is_later.all() else self.take(is_later)
        pairs = self.take(self.left != self.right)
        later, earlier = np.maximum(pairs.left, pairs.right), np.minimum(pairs.left, pairs.right)
        return SimilarPairs(later, earlier, pairs.similarities, are_directed=True)


def choose_from_pairs(pairs: SimilarPairs, n_documents: int, threshold: float) -> Removals:
    """Remove documents similar to an earlier one that stays.

    It follows ``choose_survivors``, but all similar pairs are given: a document is removed for the
    most similar one that stays, the earliest on a tie. All pairs count as compared.

    Notes
    -----
    Time linear in pairs and documents. Memory up to 44 bytes per pair in addition to the input, and
    28 per document.
    """
    similar = pairs.reaching(threshold)
    ordered = similar.by_order()
    counts = np.bincount(ordered.left, minlength=n_documents)
    ends: Int64s = (np.cumsum(counts) - counts).astype(np.int64)
    partners: Int32s = np.empty(len(ordered), np.int32)
    scores: Floats = np.empty(len(ordered), np.float64)
    survivors.group_pairs(ordered.left, ordered.right, ordered.similarities, ends, partners, scores)
    keepers: Int32s = np.full(n_documents, -1, np.int32)
    similarities: Floats = np.empty(n_documents, np.float64)
    survivors.choose_from_pairs(ends, partners, scores, keepers, similarities)
    return Removals(keepers.astype(np.int64), similarities, len(pairs), len(similar))


def join_from_pairs(pairs: SimilarPairs, n_documents: int, threshold: float) -> Removals:
    """Remove all documents of a component except the first.

    As ``join_components``, but the similarity of a document to its keeper is known only if they are
    a pair, at the threshold or below it. Else it is NaN.
    """
    similar = pairs.reaching(threshold)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    for start in range(0, len(similar), _PAIRS_AT_ONCE):
        step = slice(start, start + _PAIRS_AT_ONCE)
        union_find.union_edges(
            parents, similar.left[step].astype(np.int64), similar.right[step].astype(np.int64)
        )
    keepers = find_roots(parents)
    keepers[keepers == np.arange(n_documents)] = -1
    ordered = pairs.by_order()
    of_keepers = keepers[ordered.left] == ordered.right
    similarities: Floats = np.full(n_documents, np.nan)
    similarities[ordered.left[of_keepers]] = ordered.similarities[of_keepers]
    return Removals(keepers, similarities, len(pairs), len(similar))
