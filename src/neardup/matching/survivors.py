"""Choose the documents that stay; each removed document is similar to its keeper.

Optionally join connected components: documents linked by any chain of verified pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neardup.kernels.bucket import components, survivors
from neardup.kernels.bucket.survivors import RankedSets
from neardup.kernels.join import postings
from neardup.kernels.join.overlap import Comparisons, DocumentKeys, MeasuredSets
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.join import count_words, cut_runs, rank_sets
from neardup.matching.measures import Measure
from neardup.matching.set_join import make_parities
from neardup.matching.verify import measure_sets, score_pairs
from neardup.tables import (
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

Sets = ShingleSets | WeightedSets
Progress = Callable[[int], None] | None

# Documents, and their sets in memory: all, or a chunk and a slice of other documents.


@dataclass(frozen=True)
class CandidateSets:
    """Documents in keep order with their candidate keys; sets are read on demand.

    Parameters
    ----------
    lists
        Candidate keys of the documents.
    sizes
        Approximate number of elements of each set.
    read
        Reads the sets of ascending document numbers. Plain sets are not empty. If sets do not all
        fit, it is called more than once per document.
    n_fixed
        Number of documents at the start that stay in any case.
    capacity
        Number of elements that may be in memory at once, None for all. A chunk and a slice have at
        least one document each, however large.
    are_in_memory
        Whether all sets are in memory anyway; ``capacity`` then bounds only their ranking.
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
        """Whether all sets are in memory at once."""
        return self.capacity is None or self.are_in_memory or int(self.sizes.sum()) <= self.capacity

    @cached_property
    def sets(self) -> Sets:
        """All sets, if they fit."""
        return self.read(np.arange(len(self)))


# A chunk has three of five parts of the memory, the slice one, and one is for reading. Slices are
# read again for each chunk, so that large chunks save reading.
_PARTS, _PARTS_OF_CHUNK = 5, 3


class SetCache:
    """Sets of a chunk and of a slice of documents, within the capacity."""

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
        """Table of sets; only documents in memory are valid."""
        if not self._is_weighted:
            return ShingleSets(self._values, self._starts, self._sizes)
        weights = self._weights.view(np.int64)
        return WeightedSets(self._values, weights, self._starts, self._sizes, self._totals)

    @property
    def measured(self) -> MeasuredSets:
        """The sets for comparing kernels."""
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
        for start, stop in cut_runs(self._documents.sizes[documents], room):
            yield documents[start:stop]

    def _read(self, documents: Int64s, start: int) -> int:
        """Read sets into memory from ``start`` on; return their end."""
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
    """Return an array of at least ``size`` values with the first ``n_kept`` values."""
    if size <= len(values):
        return values
    larger: Uint64s = np.empty(size, np.uint64)
    larger[:n_kept] = values[:n_kept]
    return larger


# Compare documents that share keys, or only if they share rare elements, too. The shingles of a
# form are in all of its copies, and the text filled in is in few. Two sets at the threshold share
# so many elements that some of the rarest are common: documents without a common rare element need
# no comparison, whatever keys they share.

# Documents compared between two calls of ``progress``, during which Ctrl-C is not noticed.
STEP = 1024

# Failed comparisons per document before rare elements are required: to rank a document's elements
# takes as long as to compare about 30 pairs.
PATIENCE = 16

NOBODY: Int64s = np.empty(0, np.int64)


class CandidateMatcher(ABC):
    """Match documents in keep order with earlier ones that share a key.

    If too many comparisons fail, later documents are compared only with documents that share rare
    elements, and a similar pair must also share a key. Weighted sets use keys only.
    """

    def __init__(self, lists: KeyLists, measure: Measure, capacity: int | None) -> None:
        self._lists = lists
        self._keys = sealed(DocumentKeys(lists.starts, lists.keys))
        self._measure = measure
        # Half of the memory is for ranked elements: of new documents, and of earlier ones.
        self._half = None if capacity is None else max(1, capacity // 4)
        self.n_documents = len(lists.starts) - 1
        self._comparisons = Comparisons(
            np.full(self.n_documents, -1, np.int32), np.zeros(2, np.int64)
        )
        self._by_elements = False

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
        progress: Progress = None,
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
        half = self._half
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
        """Whether comparisons by key have failed too often; it then stays true."""
        n_compared, n_similar = self._comparisons.counts.tolist()
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
        progress: Progress = None,
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

    The least overlap depends on both sizes. Therefore prefixes are two: the short one is enough if
    the other set is not smaller, and lacks the frequent elements that the long one may reach. Time
    linear except for the sort of distinct elements. Memory 12 bytes per element while it works,
    then 4 to 4.5, and 4 per element of a long prefix (Xiao et al. 2008, section 3).
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


# Survivors: a document stays unless it is similar to an earlier one that stays.


def choose_survivors(
    documents: CandidateSets,
    measure: Measure,
    *,
    earlier: EarlierKeepers | None = None,
    progress: Progress = None,
) -> Removals:
    """Remove documents similar to an earlier one that stays.

    A document is compared, exactly, with all documents that already stay and share a key with it,
    and is removed in favour of the most similar one at the threshold (the earliest on a tie).

    Parameters
    ----------
    documents
        Candidate keys and sets.
    measure
        For one-sided measures x is the document to remove and y the one that stays.
    earlier
        Keepers already known for some documents; a more similar one that stays replaces them.
    progress
        Called with the number of documents decided so far.

    Notes
    -----
    Removed documents are never compared again, so a cluster of n copies of one document costs n
    comparisons. Dissimilar documents that share a key all stay; documents are then compared only if
    they share rare elements, with the same result, and counts that include the skipped pairs.

    If sets do not all fit, each chunk is compared with the earlier survivors that share a key with
    it, read in slices, and then with itself. If documents share keys with few others, as versions
    do, each set is read a few times; if all share one key, each chunk reads all survivors. A
    document without a shared key is never read. Memory in addition to sets: up to 20 bytes per
    document and band, and 90 per document.
    """
    selection = SurvivorSelection(documents, measure, earlier)
    if documents.fit:
        sets = measure_sets(documents.sets)
        selection.go_through(0, len(documents), sets, progress=progress)
    else:
        _choose_in_chunks(selection, documents, measure, progress)
    return selection.removals


def _choose_in_chunks(
    selection: SurvivorSelection, documents: CandidateSets, measure: Measure, progress: Progress
) -> None:
    n_fixed, lists, members = documents.n_fixed, documents.lists, selection.members
    cache = SetCache(documents, is_weighted=measure.is_weighted)
    selection.go_through(0, n_fixed, cache.measured, progress=progress)
    marks: Int32s = np.full(len(documents), -1, np.int32)
    listed: Int32s = np.empty(len(documents), np.int32)
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
            selection.go_through(start, stop, cache.measured, shown=shown, enters=False)
        # Survivors of the chunk itself follow the earlier survivors.
        members.starts[shared], members.sizes[shared] = ends, 0
        selection.go_through(start, stop, cache.measured, progress=progress)
        members.sizes[shared] += ends - starts
        members.starts[shared] = starts
        start = stop
    selection.go_through(start, len(documents), cache.measured, progress=progress)


class SurvivorSelection(CandidateMatcher):
    """Decisions about the documents so far.

    ``members`` are the documents that stay, by key, for comparison with later documents.
    """

    def __init__(
        self, documents: CandidateSets, measure: Measure, earlier: EarlierKeepers | None
    ) -> None:
        lists = documents.lists
        super().__init__(lists, measure, documents.capacity)
        self.members = survivors.StayingMembers(
            starts=np.cumsum(lists.sizes) - lists.sizes,
            sizes=np.zeros(len(lists.sizes), np.int64),
            documents=np.empty(len(lists.keys), np.int32),
        )
        self._n_fixed = documents.n_fixed
        decisions = survivors.Decisions(
            keepers=np.full(self.n_documents, -1, np.int32),
            overlaps=np.zeros(self.n_documents, np.int64),
            similarities=np.full(self.n_documents, np.nan),
            known_sizes=np.empty(0, np.int64),
        )
        if earlier is not None:
            rows = np.flatnonzero(earlier.documents >= 0)
            decisions.keepers[rows] = survivors.KNOWN
            decisions.overlaps[rows] = earlier.overlaps[rows]
            decisions.similarities[rows] = earlier.similarities[rows]
            decisions = decisions._replace(known_sizes=earlier.sizes)
        self._decisions = sealed(decisions)

    def _meet_by_keys(self, start: int, stop: int, sets: MeasuredSets, enters: bool) -> None:
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
        by_element = survivors.StayingMembers(
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
                by_element,
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
        """The removals, when all documents are decided."""
        n_compared, n_verified = self._comparisons.counts.tolist()
        keepers = self._decisions.keepers
        if self._by_elements:
            n_compared = count_candidates(self._lists, keepers, self._n_fixed)
        similarities = self._decisions.similarities
        return Removals.of(keepers.astype(np.int64), similarities, n_compared, n_verified)


# A key of fewer kept documents is stored as a list, not as a bit row: to read a row takes as long
# as to look at one in so many.
_BITS_A_LISTED = 128


def count_candidates(lists: KeyLists, keepers: Int32s, n_fixed: int) -> int:
    """Count the pairs that keys alone would have compared.

    A pair is a document, except the first ``n_fixed``, and an earlier one that stays and has one of
    the document's lookup keys. The kept documents of a key are a row of bits, so that 64 are united
    and counted per step: a small part of the time of comparing them. Memory at most 16 bytes per
    document and key.
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
    keys = sealed(DocumentKeys(lists.starts, lists.keys))
    return int(
        survivors.count_candidates(keys, lists.n_probed, keepers, n_fixed, sealed(rows), seen)
    )


# Components: documents linked by any chain of similar pairs.


def join_components(
    documents: CandidateSets, measure: Measure, chosen: Removals, *, progress: Progress = None
) -> Removals:
    """Remove all documents of a component except its first and fixed ones.

    ``chosen`` are the survivors of the same documents. Documents look under all their keys. The
    similarity of a removed document to its keeper may be below the threshold, even zero.

    Returns
    -------
    Keepers and similarities, and the numbers of pairs of ``chosen``, because the number of further
    comparisons depends on their order.

    Notes
    -----
    Documents removed for the same survivor are joined already. So only keys shared by documents of
    several survivors are processed, and only documents with such a key are read; at the end also
    the removed documents and their keepers. Memory in addition to sets: up to 44 bytes per document
    and band, and 100 per document.
    """
    n_documents, n_fixed = len(documents), documents.n_fixed
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    parents[chosen.documents] = chosen.keepers
    matcher = ComponentMatcher(documents, measure, parents)
    if documents.fit:
        matcher.go_through(0, n_documents, measure_sets(documents.sets), progress=progress)
        keepers = _keepers_of(parents, n_fixed)
        gone = np.flatnonzero(keepers >= 0)
        similarities = np.full(n_documents, np.nan)
        similarities[gone] = score_pairs(documents.sets, gone, keepers[gone], measure)
    else:
        cache = SetCache(documents, is_weighted=measure.is_weighted)
        matcher.join_in_chunks(cache, progress)
        keepers = _keepers_of(parents, n_fixed)
        similarities = _score_in_chunks(keepers, cache, measure)
    joined = Removals.of(keepers, similarities, chosen.n_compared, chosen.n_verified)
    return replace(joined, n_beyond=len(joined.documents) - len(chosen.documents))


def _keepers_of(parents: Int64s, n_fixed: int) -> Int64s:
    """Return the first document of each one's component; -1 for first and fixed documents."""
    keepers = find_roots(parents)
    keepers[keepers == np.arange(len(keepers))] = -1
    keepers[:n_fixed] = -1
    return keepers


def _score_in_chunks(keepers: Int64s, cache: SetCache, measure: Measure) -> Floats:
    """Return the similarities of removed documents to their keepers."""
    similarities = np.full(len(keepers), np.nan)
    for gone in cache.chunks(np.flatnonzero(keepers >= 0)):
        of_gone = keepers[gone]
        for kept in cache.slices(np.unique(of_gone)):
            pairs = (of_gone >= kept[0]) & (of_gone <= kept[-1])
            similarities[gone[pairs]] = score_pairs(
                cache.table, gone[pairs], of_gone[pairs], measure
            )
    return similarities


class ComponentMatcher(CandidateMatcher):
    """Components, as far as documents have been joined to them.

    ``parents`` has for each document an earlier one of its component, or itself.
    """

    def __init__(self, documents: CandidateSets, measure: Measure, parents: Int64s) -> None:
        lists = _keys_between(documents.lists, parents)
        super().__init__(lists, measure, documents.capacity)
        self._parents = parents
        owners = np.repeat(np.arange(self.n_documents), np.diff(lists.starts))
        self._groups = _no_groups(owners, len(lists.sizes))

    def join_in_chunks(self, cache: SetCache, progress: Progress) -> None:
        """Compare documents chunk by chunk with earlier ones, read in slices."""
        lists = self._lists
        members = _members_of(lists)
        marks: Int32s = np.full(self.n_documents, -1, np.int32)
        listed: Int32s = np.empty(self.n_documents, np.int32)
        entered: Int64s = np.empty(0, np.int64)
        start = 0
        for chunk in cache.chunks(np.flatnonzero(lists.n_probed)):
            stop = int(chunk[-1]) + 1
            keys = lists.keys[lists.starts[start] : lists.starts[stop]]
            shared = np.unique(keys).astype(np.int64)
            candidates = listed[: survivors.list_members(shared, members, start, marks, listed)]
            earlier = np.sort(candidates[candidates < chunk[0]]).astype(np.int64)
            for shown in cache.slices(earlier):
                self._replace_members(entered, shown)
                self.go_through(start, stop, cache.measured, shown=shown, enters=False)
                entered = shown
            self._replace_members(entered, entered[:0])
            self.go_through(start, stop, cache.measured, progress=progress)
            entered, start = chunk, stop
        self.go_through(start, self.n_documents, cache.measured, progress=progress)

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
        return documents

    def _replace_members(self, last: Int64s, following: Int64s) -> None:
        """Replace all documents ``last`` in groups by others."""
        components.replace_members(last, following, self._keys, self._groups, self._parents)


def _no_groups(owners: Int64s, n_keys: int) -> components.ComponentGroups:
    next_group, next_member, last_member = np.full((3, len(owners)), -1, np.int64)
    groups = components.ComponentGroups(
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
    components.find_roots(roots)
    return roots


def _keys_between(lists: KeyLists, parents: Int64s) -> KeyLists:
    """Leave out the keys under which all documents are joined already."""
    roots = np.repeat(find_roots(parents), np.diff(lists.starts))
    least = np.full(len(lists.sizes), len(parents), np.int64)
    most = np.full(len(lists.sizes), -1, np.int64)
    np.minimum.at(least, lists.keys, roots)
    np.maximum.at(most, lists.keys, roots)
    is_needed = (least < most)[lists.keys]
    starts = offsets_of(is_needed)[lists.starts]
    kept = lists.keys[is_needed]
    return KeyLists(starts, kept, np.diff(starts), np.bincount(kept, minlength=len(lists.sizes)))


def _members_of(lists: KeyLists) -> survivors.StayingMembers:
    """List the documents of each key."""
    owners = np.repeat(np.arange(len(lists.n_probed), dtype=np.int32), lists.n_probed)
    return survivors.StayingMembers(
        starts=np.cumsum(lists.sizes) - lists.sizes,
        sizes=lists.sizes,
        documents=owners[np.argsort(lists.keys, kind="stable")],
    )
