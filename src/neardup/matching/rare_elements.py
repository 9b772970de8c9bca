"""Compare documents that share keys, or only if they share rare elements too.

The shingles of a form are in all of its copies, and the text filled in is in few. Two sets at the
threshold share so many elements that some of the rarest are common. Documents that share no rare
element need no comparison, whatever keys they share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from neardup.kernels.bucket import survivors
from neardup.kernels.bucket.survivors import RankedSets
from neardup.kernels.join import postings
from neardup.kernels.join.overlap import Comparisons, Keys, MeasuredSets
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.types import sealed
from neardup.matching.join import count_words, cut_runs
from neardup.matching.measures import Measure
from neardup.matching.postings import rank_sets
from neardup.matching.set_join import make_parities
from neardup.tables import Int32s, Int64s, KeyLists, ShingleSets, Uint64s

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
