"""Choose survivors, each similar to the documents removed for it.

Optionally join connected components: documents linked by any chain of verified pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from neardup.kernels.arrays import sealed
from neardup.kernels.bucket import components, survivor_kernels
from neardup.kernels.bucket.survivor_kernels import RankedSets
from neardup.kernels.join import postings
from neardup.kernels.join.overlap import Comparisons, DocumentKeys, MeasuredSets
from neardup.kernels.join.set_join_kernels import ParityRows
from neardup.matching.join import count_words, rank_sets
from neardup.matching.measures import CandidateSets, Measure, SetCache, measure_sets, score_pairs
from neardup.matching.set_join import make_parities
from neardup.tables import (
    Floats,
    IndexKeepers,
    Int32s,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    cut_runs,
    offsets_of,
)

Progress = Callable[[int], None] | None

# The matcher has two modes. It compares documents with a common key, or only documents with a
# common key and a common rare element. All copies of a form share the shingles of its printed text,
# but few share shingles of the text that is filled in. Two sets at the threshold have a rare
# element in common, so that documents without one need no comparison.

# Documents compared between two calls of ``progress``, during which Ctrl-C is not noticed.
STEP = 1024

# Failed comparisons per document before rare elements are required: to rank a document's elements
# takes as long as to compare about 30 pairs.
PATIENCE = 16

NO_DOCUMENTS: Int64s = np.empty(0, np.int64)


class CandidateMatcher(ABC):
    """Comparison of documents with earlier documents that share a key.

    If too many comparisons fail, later documents are compared only if they share rare elements,
    too. Weighted sets use keys only.
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
    def _compare_by_keys(self, start: int, stop: int, sets: MeasuredSets, decides: bool) -> None:
        """Compare documents of a range with earlier documents by key."""

    @abstractmethod
    def _compare_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, decides: bool
    ) -> Callable[[int, int], None]:
        """Return a function comparing ranked sets from start to stop.

        It compares them with earlier ranked sets; the first ``n_shown`` are already known.
        """

    @abstractmethod
    def _comparable(self, documents: Int64s) -> Int64s:
        """Return the entered documents for comparison with later documents."""

    def process(
        self,
        start: int,
        stop: int,
        sets: MeasuredSets,
        *,
        shown: Int64s = NO_DOCUMENTS,
        decides: bool = True,
        progress: Progress = None,
    ) -> None:
        """Compare documents ``start`` to ``stop`` and enter them.

        ``shown`` are the earlier documents with sets in memory. Without ``decides``, documents are
        compared with these only.
        """
        first = start
        while first < stop and not self._switch_to_elements():
            last = min(first + STEP, stop)
            self._compare_by_keys(first, last, sets, decides)
            first = last
            if progress is not None:
                progress(first)
        if first == stop:
            return
        if decides:
            shown = np.concatenate([shown, self._comparable(self._with_keys(start, first))])
        half = self._half
        for block in _cut(self._with_keys(first, stop), sets.sizes, half):
            both = np.concatenate([shown, block])
            if half is None or int(sets.sizes[both].sum()) <= 2 * half:
                self._compare_ranked(shown, block, sets, decides, progress)
            else:
                for part in _cut(shown, sets.sizes, half):
                    self._compare_ranked(part, block, sets, decides=False)
                if decides:
                    self._compare_ranked(NO_DOCUMENTS, block, sets, decides, progress)
            if decides:
                shown = np.concatenate([shown, self._comparable(block)])
        if progress is not None:
            progress(stop)

    def _switch_to_elements(self) -> bool:
        """Require rare elements after too many failed comparisons."""
        n_compared, n_similar = self._comparisons.counts.tolist()
        too_many_failed = n_compared - n_similar > PATIENCE * self.n_documents
        self._by_elements |= too_many_failed and not self._measure.is_weighted
        return self._by_elements

    def _with_keys(self, start: int, stop: int) -> Int64s:
        return start + np.flatnonzero(np.diff(self._lists.starts[start : stop + 1]))

    def _compare_ranked(
        self,
        shown: Int64s,
        documents: Int64s,
        sets: MeasuredSets,
        decides: bool,
        progress: Progress = None,
    ) -> None:
        both = np.concatenate([shown, documents])
        ranking = rank_documents(sets, both, self._measure)
        compare = self._compare_by_elements(ranking, len(shown), sets, decides)
        for first in range(0, len(both), STEP):
            last = min(first + STEP, len(both))
            compare(first, last)
            if progress is not None and len(shown) < last < len(both):
                progress(int(both[last]))


@dataclass(frozen=True)
class Ranking:
    """Sets with ranked elements, and places for their prefixes.

    Key 2 t lists documents with element t in the short prefix, key 2 t + 1 documents with t only in
    the long prefix: from place ``starts[key]`` on.
    """

    sets: RankedSets
    parities: ParityRows
    starts: Int64s
    n_places: int


def rank_documents(sets: MeasuredSets, documents: Int64s, measure: Measure) -> Ranking:
    """Rank the elements of some documents' sets, the rarest first.

    A short prefix suffices if the other set is not smaller, because the least overlap depends on
    both sizes. It omits the frequent elements of the long prefix. Time is linear except for a sort
    of the distinct elements. Memory is 12 bytes per element at work, 4 to 4.5 bytes afterwards, and
    4 bytes per element of a long prefix (Xiao et al. 2008, section 3).
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


def choose_survivors(
    documents: CandidateSets,
    measure: Measure,
    *,
    index_keepers: IndexKeepers | None = None,
    progress: Progress = None,
) -> Removals:
    """Remove documents similar to an earlier survivor.

    A document is compared, exactly, with all documents that already stay and share a key with it,
    and is removed in favour of the most similar one at the threshold (the earliest on a tie). For
    one-sided measures x is the document to remove and y the one that stays. Documents with one
    of the ``index_keepers`` are removed; a more similar document that stays replaces the keeper.
    ``progress`` gets the number of documents decided so far.

    A cluster of n copies of one document costs n comparisons. If sets do not all fit, each chunk is
    compared with the earlier survivors that share a key with it, read in slices, and then with
    itself; documents without shared keys are never read. Memory in addition to sets: up to 20 bytes
    per document and band, and 90 per document.
    """
    selection = SurvivorSelection(documents, measure, index_keepers)
    if documents.fit:
        sets = measure_sets(documents.sets)
        selection.process(0, len(documents), sets, progress=progress)
    else:
        _choose_in_chunks(selection, documents, measure, progress)
    return selection.removals


def _choose_in_chunks(
    selection: SurvivorSelection, documents: CandidateSets, measure: Measure, progress: Progress
) -> None:
    # Each key has the documents that stay so far, ascending, in a stretch of ``members``. The
    # matcher sees only the part from ``starts`` on, of ``sizes``. That part moves over the earlier
    # survivors, slice by slice, then to the place behind them for survivors of the chunk itself.
    n_fixed, lists, members = documents.n_fixed, documents.lists, selection.members
    cache = SetCache(documents, is_weighted=measure.is_weighted)
    selection.process(0, n_fixed, cache.measured, progress=progress)
    marks: Int32s = np.full(len(documents), -1, np.int32)
    listed: Int32s = np.empty(len(documents), np.int32)
    has_keys = np.diff(lists.starts) > 0
    start = n_fixed
    for chunk in cache.chunks(n_fixed + np.flatnonzero(has_keys[n_fixed:])):
        stop = int(chunk[-1]) + 1
        shared = np.unique(lists.keys[lists.starts[start] : lists.starts[stop]]).astype(np.int64)
        n_earlier = survivor_kernels.list_members(shared, members, start, marks, listed)
        starts = members.starts[shared]
        ends = starts + members.sizes[shared]
        members.sizes[shared] = 0
        for shown in cache.slices(np.sort(listed[:n_earlier]).astype(np.int64)):
            survivor_kernels.show_next(shared, ends, int(shown[-1]) + 1, members)
            selection.process(start, stop, cache.measured, shown=shown, decides=False)
        members.starts[shared], members.sizes[shared] = ends, 0
        selection.process(start, stop, cache.measured, progress=progress)
        # Old and new survivors of a key are one stretch again.
        members.sizes[shared] += ends - starts
        members.starts[shared] = starts
        start = stop
    selection.process(start, len(documents), cache.measured, progress=progress)


class SurvivorSelection(CandidateMatcher):
    """Decisions about the documents so far, with members that stay by key."""

    def __init__(
        self, documents: CandidateSets, measure: Measure, keepers: IndexKeepers | None
    ) -> None:
        lists = documents.lists
        super().__init__(lists, measure, documents.capacity)
        self.members = survivor_kernels.StayingMembers(
            starts=np.cumsum(lists.sizes) - lists.sizes,
            sizes=np.zeros(len(lists.sizes), np.int64),
            documents=np.empty(len(lists.keys), np.int32),
        )
        self._n_fixed = documents.n_fixed
        decisions = survivor_kernels.Decisions(
            keepers=np.full(self.n_documents, -1, np.int32),
            overlaps=np.zeros(self.n_documents, np.int64),
            similarities=np.full(self.n_documents, np.nan),
            known_sizes=np.empty(0, np.int64),
        )
        if keepers is not None:
            rows = np.flatnonzero(keepers.documents >= 0)
            decisions.keepers[rows] = survivor_kernels.KNOWN
            decisions.overlaps[rows] = keepers.overlaps[rows]
            decisions.similarities[rows] = keepers.similarities[rows]
            decisions = decisions._replace(known_sizes=keepers.sizes)
        self._decisions = sealed(decisions)

    def _compare_by_keys(self, start: int, stop: int, sets: MeasuredSets, decides: bool) -> None:
        survivor_kernels.choose_survivors(
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
            decides,
        )

    def _compare_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, decides: bool
    ) -> Callable[[int, int], None]:
        by_element = survivor_kernels.StayingMembers(
            starts=ranking.starts,
            sizes=np.zeros(len(ranking.starts), np.int64),
            documents=np.empty(ranking.n_places, np.int32),
        )
        last_compared: Int32s = np.full(len(ranking.sets.documents), -1, np.int32)

        def compare(start: int, stop: int) -> None:
            survivor_kernels.choose_by_prefixes(
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
                decides,
            )

        return compare

    def _comparable(self, documents: Int64s) -> Int64s:
        staying: Int64s = documents[self._decisions.keepers[documents] == -1]
        return staying

    @property
    def removals(self) -> Removals:
        """Return the removals after all documents are processed."""
        n_compared, n_verified = self._comparisons.counts.tolist()
        keepers = self._decisions.keepers.astype(np.int64)
        return Removals.of(keepers, self._decisions.similarities, n_compared, n_verified)


def join_components(
    documents: CandidateSets, measure: Measure, chosen: Removals, *, progress: Progress = None
) -> Removals:
    """Remove all documents of a component but its first.

    ``chosen`` are the survivors of the same documents: documents removed for the same survivor are
    joined already, so that only keys of several survivors are processed. Fixed documents stay. The
    similarity of a removed document to its keeper may be below the threshold, even 0. The numbers
    of pairs are of ``chosen``. Memory in addition to sets: up to 44 bytes per document and band,
    and 100 per document.
    """
    n_documents, n_fixed = len(documents), documents.n_fixed
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    parents[chosen.documents] = chosen.keepers
    matcher = ComponentMatcher(documents, measure, parents)
    if documents.fit:
        matcher.process(0, n_documents, measure_sets(documents.sets), progress=progress)
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
    """Return the keeper of each document, -1 if it stays."""
    keepers = find_roots(parents)
    keepers[keepers == np.arange(len(keepers))] = -1
    keepers[:n_fixed] = -1
    return keepers


def _score_in_chunks(keepers: Int64s, cache: SetCache, measure: Measure) -> Floats:
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
    """Components of documents joined so far.

    ``parents`` has for each document an earlier one of its component, or itself.
    """

    def __init__(self, documents: CandidateSets, measure: Measure, parents: Int64s) -> None:
        lists = _keys_between(documents.lists, parents)
        super().__init__(lists, measure, documents.capacity)
        self._parents = parents
        owners = np.repeat(np.arange(self.n_documents), np.diff(lists.starts))
        self._groups = _no_groups(owners, len(lists.sizes))

    def join_in_chunks(self, cache: SetCache, progress: Progress) -> None:
        """Compare chunks of documents with slices of earlier documents."""
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
            candidates = listed[
                : survivor_kernels.list_members(shared, members, start, marks, listed)
            ]
            earlier = np.sort(candidates[candidates < chunk[0]]).astype(np.int64)
            for shown in cache.slices(earlier):
                self._replace_members(entered, shown)
                self.process(start, stop, cache.measured, shown=shown, decides=False)
                entered = shown
            self._replace_members(entered, entered[:0])
            self.process(start, stop, cache.measured, progress=progress)
            entered, start = chunk, stop
        self.process(start, self.n_documents, cache.measured, progress=progress)

    def _compare_by_keys(self, start: int, stop: int, sets: MeasuredSets, decides: bool) -> None:
        """Compare documents with earlier components and join similar components."""
        components.join_components(
            start,
            stop,
            self._keys,
            sets,
            self._measure.in_kernels,
            self._groups,
            self._parents,
            self._comparisons,
            decides,
        )

    def _compare_by_elements(
        self, ranking: Ranking, n_shown: int, sets: MeasuredSets, decides: bool
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
                decides,
            )

        return compare

    def _comparable(self, documents: Int64s) -> Int64s:
        return documents

    def _replace_members(self, last: Int64s, following: Int64s) -> None:
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
    """Return the first document of each document's component."""
    roots = parents.copy()
    components.find_roots(roots)
    return roots


def _keys_between(lists: KeyLists, parents: Int64s) -> KeyLists:
    """Return the keys that have documents of different components."""
    roots = np.repeat(find_roots(parents), np.diff(lists.starts))
    least = np.full(len(lists.sizes), len(parents), np.int64)
    most = np.full(len(lists.sizes), -1, np.int64)
    np.minimum.at(least, lists.keys, roots)
    np.maximum.at(most, lists.keys, roots)
    is_needed = (least < most)[lists.keys]
    starts = offsets_of(is_needed)[lists.starts]
    kept = lists.keys[is_needed]
    return KeyLists(starts, kept, np.diff(starts), np.bincount(kept, minlength=len(lists.sizes)))


def _members_of(lists: KeyLists) -> survivor_kernels.StayingMembers:
    owners = np.repeat(np.arange(len(lists.n_probed), dtype=np.int32), lists.n_probed)
    return survivor_kernels.StayingMembers(
        starts=np.cumsum(lists.sizes) - lists.sizes,
        sizes=lists.sizes,
        documents=owners[np.argsort(lists.keys, kind="stable")],
    )
