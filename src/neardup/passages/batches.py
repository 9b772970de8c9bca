"""Passages of a segment that are similar to queries, looked up and compared many at a time.

First where passages may begin, by some of the min-hashes (``kernels.passage.lookups``) and then by
tokens and all min-hashes (``kernels.passage.narrowing``); then the sub-texts there that share
enough min-hashes (``kernels.passage.sweep``), and of these the truth (``kernels.passage.matches``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neardup.kernels.passage import lookups, matches, narrowing, sweep
from neardup.kernels.passage.matches import Choice
from neardup.kernels.passage.segments import Documents, Limits, Scratch, Windows
from neardup.kernels.types import Int, sealed
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment import PassageSegment, fill_in_parts
from neardup.passages.windows import Queries, inverse_frequencies
from neardup.tables import Bools, Int32s, Int64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Starts for which there is room, for each region for which there is.
_ROWS_OF_REGION = 8

# Below this term frequency no weight is cut off at the greatest one.
_SURELY_EXACT = 2.0**25


@dataclass(frozen=True)
class Batch:
    """Some of many queries, from number ``first`` on.

    ``keys`` are their min-hashes (n, num_perm); only those that ``have_weight`` find something. The
    passages of each begin at ``first_tokens`` or behind, counted through the segment.
    """

    queries: Queries
    first: int
    keys: npt.NDArray[np.uint64]
    have_weight: Bools
    first_tokens: Int64s


@dataclass(frozen=True)
class Hits:
    """Passages of one segment found for some queries; all arrays have a row for each.

    ``queries`` are numbers of queries, ascending; those of one have ascending places. ``starts``
    and ``stops`` (exclusive) are tokens, counted through the segment; ``shared`` over ``either`` is
    the similarity.
    """

    queries: Int64s
    starts: Int64s
    stops: Int64s
    shared: Int64s
    either: Int64s

    def __len__(self) -> int:
        return len(self.starts)


class BatchSearcher:
    """Looks for queries in one segment, for any number of threads.

    What takes a look at the whole segment is made once and kept: the inverse document frequencies
    of its vocabulary, if tokens have any, and scratch memory for each thread that searches while
    others do. Memory 8 bytes for each entry of the vocabulary with weights, and for each thread 12
    for each entry and less than 2 for each token.
    """

    def __init__(
        self,
        segment: PassageSegment,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self._segment = segment
        self._scheme = scheme
        self._frequencies = frequencies
        # So many shingles behind one share tokens with it.
        self.overlap = scheme.shingles.ngram - 1
        # Of a few tokens each, and no more than the shortest passage has.
        self.bucket_bits = max(3, scheme.least_shingles.bit_length() - 1)
        self._idle: deque[Scratch] = deque()

    def entries(self, queries: Queries) -> Int32s:
        """Return the entry of the vocabulary that each token of some queries is, or -1."""
        vocabulary, hashes = self._segment.vocabulary, queries.wanted.hashes
        entries = np.full(len(hashes), -1, np.int32)
        if len(vocabulary):
            places = np.minimum(np.searchsorted(vocabulary, hashes), len(vocabulary) - 1)
            is_there = vocabulary[places] == hashes
            entries[is_there] = places[is_there]
        return entries

    def search(self, batch: Batch, entries: Int32s, limits: Limits, choice: Choice) -> Hits:
        """Find the passages that are similar to the queries of a batch.

        ``entries`` is what the method of that name gives for all queries.
        """
        # Each kernel goes on where it stopped for want of room, so what it gives comes in parts.
        lists: Int64s = np.empty((batch.keys.size, 2), np.int64)
        found = [
            compared.copy()
            for buckets in self._find_buckets(batch, limits, lists)
            for ranges in self._narrow(batch, entries, limits, lists, buckets)
            for outlined in self._outline(lists, ranges, limits.hits)
            for compared in self._compare(batch, entries, choice, *outlined)
        ]
        if not found:
            return _NOTHING
        columns = np.ascontiguousarray(np.concatenate(found).T)
        columns[0] += batch.first
        return Hits(*columns)

    def _find_buckets(self, batch: Batch, limits: Limits, lists: Int64s) -> Iterator[Int64s]:
        """Yield where passages may begin that share enough min-hashes, coarsely."""

        def find(done: int, room: Int64s) -> tuple[Int, Int]:
            with self._scratch() as scratch:
                return lookups.find_buckets(
                    batch.keys,
                    batch.have_weight,
                    batch.first_tokens,
                    self._windows,
                    limits,
                    scratch,
                    done,
                    lists,
                    room,
                )

        return fill_in_parts(find, len(batch.keys), 2)

    def _narrow(
        self, batch: Batch, entries: Int32s, limits: Limits, lists: Int64s, buckets: Int64s
    ) -> Iterator[Int64s]:
        """Yield ranges of starts from which passages may be similar enough."""

        def narrow(done: int, room: Int64s) -> tuple[Int, Int]:
            with self._scratch() as scratch:
                return narrowing.narrow_buckets(
                    batch.queries.wanted,
                    batch.first,
                    entries,
                    batch.first_tokens,
                    self._windows,
                    self._documents,
                    limits,
                    scratch,
                    lists,
                    self._scheme.num_perm,
                    buckets,
                    done,
                    room,
                )

        return fill_in_parts(narrow, len(buckets), 4)

    def _outline(
        self, lists: Int64s, ranges: Int64s, hits: int
    ) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
        """Yield regions of sub-texts that share enough min-hashes, and their ends by start."""
        rows: list[Int64s] = []

        def outline(done: int, room: Int64s) -> tuple[Int, Int]:
            rows[:] = [np.empty(_ROWS_OF_REGION * len(room), np.int64) for _ in range(2)]
            return sweep.outline_regions(
                lists,
                self._scheme.num_perm,
                ranges,
                done,
                self._windows,
                hits,
                self.overlap,
                room,
                *rows,
            )

        for regions in fill_in_parts(outline, len(ranges), 5):
            lows, highs = rows
            yield regions, lows, highs

    def _compare(
        self,
        batch: Batch,
        entries: Int32s,
        choice: Choice,
        regions: Int64s,
        lows: Int64s,
        highs: Int64s,
    ) -> Iterator[Int64s]:
        """Yield passages that are similar enough by an exact comparison."""

        def compare(done: int, room: Int64s) -> tuple[Int, Int]:
            with self._scratch() as scratch:
                return matches.compare_regions(
                    batch.queries.wanted,
                    batch.first,
                    entries,
                    self._documents,
                    choice,
                    scratch.known,
                    regions,
                    done,
                    lows,
                    highs,
                    room,
                )

        return fill_in_parts(compare, len(regions), 5)

    @contextmanager
    def _scratch(self) -> Iterator[Scratch]:
        """Give scratch memory for one thread."""
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = self._make_scratch()
        yield scratch
        # After an error it may not be clean.
        self._idle.append(scratch)

    def _make_scratch(self) -> Scratch:
        n_entries = len(self._segment.vocabulary)
        n_buckets = (len(self._segment.tokens) >> self.bucket_bits) + 1
        size = self._longest + 1
        return Scratch(
            np.full(n_entries, -1, np.int32),
            np.full(n_entries, -1, np.int64),
            np.zeros(n_buckets + 1, np.int32),
            np.empty(n_buckets + 1, np.int64),
            np.empty(size, np.int64),
            *(np.empty(size, np.float64) for _ in range(3)),
        )

    @cached_property
    def _longest(self) -> int:
        """Tokens of the longest document."""
        return int(np.diff(self._segment.offsets).max(initial=0))

    @cached_property
    def _windows(self) -> Windows:
        """The windows, as kernels take them."""
        index = self._segment.windows
        return sealed(
            Windows(
                index.key_starts,
                index.keys,
                index.list_starts,
                index.starts,
                index.spans,
                index.wide_rows,
                index.wide_spans,
            )
        )

    @cached_property
    def _documents(self) -> Documents:
        """The texts and what their tokens weigh, as kernels take them."""
        segment = self._segment
        inverses = np.empty(0, np.float64)
        if self._frequencies is not None:
            inverses = inverse_frequencies(segment.vocabulary, self._scheme, self._frequencies)
        table = term_frequencies(self._scheme.weighting.tf, self._longest + 1)
        least_step = np.diff(table[1:]).min(initial=np.inf)
        if not len(table[2:]) or table[-1] >= _SURELY_EXACT:
            least_step = 0.0
        return sealed(
            Documents(segment.tokens, segment.offsets, inverses, table, np.float64(least_step))
        )


_NOTHING = Hits(*(np.empty(0, np.int64) for _ in range(5)))
