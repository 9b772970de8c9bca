"""Search a segment for passages similar to many queries.

Candidate starts are found by the rarest tokens (``kernels.passage.lookups``), then by all tokens
(``kernels.passage.narrowing``). Passages at these starts are compared with the query
(``kernels.passage.match_kernels``): all of them, or with a recall below 1 only those with enough
common min-hashes (``kernels.passage.sweep``). Without min-hashes, cost grows with the square of a
query's length, with them about linearly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from threading import RLock

import numpy as np
import numpy.typing as npt

from neardup.kernels.arrays import Int, sealed
from neardup.kernels.passage import lookups, match_kernels, narrowing, sweep
from neardup.kernels.passage.lookups import Places, Reach
from neardup.kernels.passage.match_kernels import PassageChoice
from neardup.kernels.passage.segment_kernels import Limits, SearchScratch, SegmentTexts
from neardup.kernels.sketch.weighted_minhash import MOST_WEIGHT, SCALE
from neardup.passages.passage_segment import PassageSegment, fill_in_parts
from neardup.passages.search_plan import SearchPlan
from neardup.passages.windows import PassageQueries, PassageScheme, inverse_frequencies
from neardup.tables import Floats, Int32s, Int64s, Rows
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Memory of a search in bytes: per token its number, position and bucket entries; per vocabulary
# entry its hash, list and weights; in addition to each thread's scratch memory.
_BYTES_OF_TOKEN, _BYTES_OF_ENTRY = 10, 48
_SCRATCH_OF_ENTRY, _SCRATCH_OF_PLACE = 12, 32

# Row capacity per region.
_ROWS_OF_REGION = 8

# Greatest weights of passages are grouped into classes, this many per power of two, with slack for
# rounding.
_CLASSES, _SLACK = 4, 1e-6
# Thresholds below this one have several classes, this many per power of two.
_LOW, _CLASSES_SOUGHT = 0.45, 2
# One run of buckets in this many, and some more, may have passages that extend further.
_FEW_OF, _FEW = 4096, 4
# Passages usually extend over at most this many buckets.
_MOST_BUCKETS = 4
# Least starts per bucket, as a power of two.
_LEAST_BITS = 3

# Maximum rounding error of a weight.
_UNITS = 2.0
# Below this term frequency no weight is capped at the maximum.
_SURELY_EXACT = 2.0**25


class Batch:
    """Queries from number ``first`` to ``stop``, with their weights ``totals``."""

    def __init__(self, queries: PassageQueries, first: int, stop: int) -> None:
        self.queries, self.first = queries, first
        self.totals = queries.weigh(first, stop)

    def __len__(self) -> int:
        return len(self.totals)

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """Min-hashes of all queries."""
        return self.queries.hash(self.first + np.arange(len(self)))[0]


@dataclass(frozen=True)
class SegmentHits(Rows):
    """Passages of one segment similar to queries, one row each.

    ``queries`` ascend, and positions within a query. ``starts`` and ``stops`` (exclusive) are
    tokens, counted through the segment; ``shared`` over ``either`` is the similarity.
    """

    queries: Int64s
    starts: Int64s
    stops: Int64s
    shared: Int64s
    either: Int64s


class SegmentSearcher:
    """Search one segment for queries, from any number of threads.

    Data from a scan of the whole segment are kept: token positions, inverse document frequencies,
    if tokens have any, the extents and least weights of passages by weight class, and scratch
    memory per thread. ``forget`` frees most of it; all but the extents is quick to recompute.
    """

    def __init__(
        self,
        segment: PassageSegment,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.segment = segment
        self._scheme = scheme
        self._frequencies = frequencies
        # This many shingles after a passage share tokens with it.
        self._overlap = scheme.shingles.ngram - 1
        self._reaches: dict[int, Reach] = {}
        # Bits, spans and runs of the classes, which are small and slowest to compute.
        self._extents: dict[int, tuple[int, int, Int64s]] = {}
        self._lightest_by_bits: dict[int, Floats] = {}
        self._idle: deque[SearchScratch] = deque()
        # Shared data are computed by one thread while the others wait.
        self._making = RLock()

    def memory_bytes(self, n_threads: int) -> int:
        """Return the approximate memory of a search, mapped files included."""
        n_entries = len(self.segment.vocabulary)
        return (
            _BYTES_OF_TOKEN * len(self.segment.tokens)
            + _BYTES_OF_ENTRY * n_entries
            + n_threads * (_SCRATCH_OF_ENTRY * n_entries + _SCRATCH_OF_PLACE * self._longest)
        )

    def forget(self) -> None:
        """Free the memory of searches for later recomputation, thread-safe."""
        for name in ("_places", "_documents"):
            vars(self).pop(name, None)
        self._reaches, self._lightest_by_bits = {}, {}
        self._idle = deque()
        self.segment.release()

    def entries(self, queries: PassageQueries) -> Int32s:
        """Return the vocabulary entry of each query token, or -1."""
        vocabulary, hashes = self.segment.vocabulary, queries.wanted.hashes
        entries = np.full(len(hashes), -1, np.int32)
        if len(vocabulary):
            places = np.minimum(np.searchsorted(vocabulary, hashes), len(vocabulary) - 1)
            is_known = vocabulary[places] == hashes
            entries[is_known] = places[is_known]
        return entries

    def search(
        self, batch: Batch, first_tokens: Int64s, entries: Int32s, plan: SearchPlan
    ) -> SegmentHits:
        """Find the passages similar to the queries of a batch.

        Passages of each query begin at ``first_tokens`` or later, counted through the segment.
        ``entries`` is the result of the method of that name for all queries.
        """
        threshold, times = plan.threshold, plan.times
        least = 1 if times else plan.min_tokens
        limits = Limits(least, np.float64(threshold), times)
        numbers = threshold.numerator, threshold.denominator
        choice = PassageChoice(least, *numbers, times, self._overlap)
        ranges = self._find_ranges(batch, first_tokens, entries, limits)
        if not len(ranges):
            return _NOTHING
        # Each kernel resumes after filling its buffer, so results come in parts.
        found = [
            compared.copy()
            for outlined in self._outline(batch, ranges, plan.hits, limits)
            for compared in self._compare(batch, entries, choice, *outlined)
        ]
        if not found:
            return _NOTHING
        columns = np.ascontiguousarray(np.concatenate(found).T)
        columns[0] += batch.first
        return SegmentHits(*columns)

    def _find_ranges(
        self, batch: Batch, first_tokens: Int64s, entries: Int32s, limits: Limits
    ) -> Int64s:
        """Return ranges of starts of possible passages, with rows of ``narrow_buckets``."""
        totals, threshold = batch.totals, limits.threshold
        has_weight = np.flatnonzero(totals > 0)
        # A passage weighs at least its shared weight, and at most a multiple of the query. If the
        # multiple is great, heavy passages are looked up by themselves, since they share more.
        n_classes = max(round(-_CLASSES_SOUGHT * np.log2(threshold)), 1) if threshold < _LOW else 1
        bounds = np.geomspace(1, 1 / threshold, n_classes + 1)
        bounds[0] = threshold
        if limits.times:
            bounds = np.array([0.0, limits.times])
        found, heaviest = [np.empty((0, 3), np.int64)], np.zeros(len(totals))
        for low, high in pairwise(bounds.tolist()):
            lightest = (low * (1 - _SLACK) * totals).astype(np.float64)
            numbers = np.ceil(_CLASSES * np.log2(totals[has_weight] * high * (1 + _SLACK)))
            for number in np.unique(numbers).tolist():
                chosen = has_weight[numbers == number]
                heaviest[chosen] = _weight_of(number)
                find = partial(
                    lookups.find_buckets,
                    *(batch.queries.wanted, batch.first, chosen, entries, first_tokens),
                    *(len(self.segment.tokens), self._places, self._reach(int(number))),
                    lightest,
                    limits,
                )
                found += [part.copy() for part in fill_in_parts(find, len(chosen), 3)]
        buckets = _merge_buckets(np.concatenate(found))

        def narrow(done: int, room: Int64s) -> tuple[Int, Int]:
            with self._scratch() as scratch:
                return narrowing.narrow_buckets(
                    *(batch.queries.wanted, batch.first, entries, self._documents, limits),
                    *(scratch, buckets, heaviest, done, room),
                )

        ranges = [part.copy() for part in fill_in_parts(narrow, len(buckets), 5)]
        return np.concatenate([np.empty((0, 5), np.int64), *ranges])

    def _reach(self, number: int) -> Reach:
        reach = self._reaches.get(number)
        if reach is not None:
            return reach
        with self._making:
            reach = self._reaches.get(number)
            if reach is None:
                if number not in self._extents:
                    self._extents[number] = self._find_extent(number)
                bits, span, far = self._extents[number]
                reach = self._reaches[number] = sealed(Reach(bits, span, far, self._lightest(bits)))
        return reach

    def _find_extent(self, number: int) -> tuple[int, int, Int64s]:
        """Return bits, span and runs of ``Reach`` for a class."""
        bits = _LEAST_BITS
        n_buckets = (len(self.segment.tokens) >> bits) + 1
        reaches: Int64s = np.empty(n_buckets, np.int64)
        counts: Int32s = np.zeros(len(self.segment.vocabulary), np.int32)
        lookups.find_reaches(self._documents, _weight_of(number), bits, counts, reaches)
        span = _usual_span(reaches)
        if span > _MOST_BUCKETS:
            # Larger buckets reduce their number.
            more = (span // _MOST_BUCKETS).bit_length()
            firsts = np.arange(0, n_buckets, 1 << more)
            ends = (np.arange(n_buckets) + reaches) >> more
            reaches = np.maximum.reduceat(ends, firsts) - (firsts >> more)
            bits, span = bits + more, _usual_span(reaches)
        return bits, span, _far_runs(reaches, span)

    def _lightest(self, bits: int) -> Floats:
        """Return the least passage weight per bucket of tokens."""
        with self._making:
            lightest = self._lightest_by_bits.get(bits)
            if lightest is not None:
                return lightest
            n_buckets = (len(self.segment.tokens) >> bits) + 1
            weights: Floats = np.empty(n_buckets, np.float64)
            if bits > _LEAST_BITS:
                firsts = np.arange(n_buckets) << bits - _LEAST_BITS
                weights = np.minimum.reduceat(self._lightest(_LEAST_BITS), firsts)
            else:
                least = self._scheme.least_shingles
                counts: Int32s = np.zeros(len(self.segment.vocabulary), np.int32)
                lookups.find_least_weights(self._documents, least, bits, counts, weights)
            lightest = self._lightest_by_bits[bits] = weights
        return lightest

    def _outline(
        self, batch: Batch, ranges: Int64s, hits: int, limits: Limits
    ) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
        """Yield candidate regions, and the ends of sub-texts by start.

        They are the sub-texts with enough common min-hashes, or all in the ranges of their query.
        """
        keys = batch.keys if hits and len(ranges) else None
        rows: list[Int64s] = []

        def outline(done: int, room: Int64s) -> tuple[Int, Int]:
            rows[:] = [np.empty(_ROWS_OF_REGION * len(room), np.int64) for _ in range(2)]
            if keys is None:
                return narrowing.join_ranges(
                    ranges, done, limits.min_tokens, self._overlap, room, *rows
                )
            return sweep.outline_regions(
                keys, ranges, done, self.segment.windows, hits, self._overlap, room, *rows
            )

        for regions in fill_in_parts(outline, len(ranges), 5):
            lows, highs = rows
            yield regions, lows, highs

    def _compare(
        self,
        batch: Batch,
        entries: Int32s,
        choice: PassageChoice,
        regions: Int64s,
        lows: Int64s,
        highs: Int64s,
    ) -> Iterator[Int64s]:
        def compare(done: int, room: Int64s) -> tuple[Int, Int]:
            with self._scratch() as scratch:
                return match_kernels.compare_regions(
                    *(batch.queries.wanted, batch.first, entries, self._documents, choice),
                    scratch.known,
                    regions,
                    done,
                    lows,
                    highs,
                    room,
                )

        return fill_in_parts(compare, len(regions), 5)

    @contextmanager
    def _scratch(self) -> Iterator[SearchScratch]:
        try:
            scratch = self._idle.pop()
        except IndexError:
            n_entries, size = len(self.segment.vocabulary), self._longest + 1
            scratch = SearchScratch(
                np.full(n_entries, -1, np.int32),
                np.full(n_entries, -1, np.int64),
                np.empty(size, np.int64),
                *(np.empty(size, np.float64) for _ in range(3)),
            )
        yield scratch
        # After an error, scratch memory may be dirty and is dropped.
        self._idle.append(scratch)

    @cached_property
    def _longest(self) -> int:
        return int(np.diff(self.segment.offsets).max(initial=0))

    @cached_property
    def _places(self) -> Places:
        tokens = self.segment.tokens
        starts: Int64s = np.zeros(len(self.segment.vocabulary) + 1, np.int64)
        places: Int32s = np.empty(len(tokens), np.int32)
        lookups.list_places(tokens, starts, places)
        return sealed(Places(starts, places))

    @cached_property
    def _documents(self) -> SegmentTexts:
        segment, inverses = self.segment, np.empty(0, np.float64)
        scaled = np.full(len(segment.vocabulary), SCALE, np.float64)
        if self._frequencies is not None:
            inverses = inverse_frequencies(segment.vocabulary, self._scheme, self._frequencies)
            scaled = SCALE * inverses
        table = term_frequencies(self._scheme.weighting.tf, self._longest + 1)
        # Least weight of a further copy; zero if weights may be capped.
        step = np.diff(table[1:]).min(initial=np.inf)
        if len(table) < 3 or table[-1] >= _SURELY_EXACT:
            step = 0.0
        once = np.minimum(table[1] * scaled, MOST_WEIGHT)
        again = np.minimum(step * scaled, once)
        whole = [np.maximum(weights - _UNITS, 0).astype(np.int64) for weights in (once, again)]
        return sealed(SegmentTexts(segment.tokens, segment.offsets, inverses, table, *whole))


_NOTHING = SegmentHits(*(np.empty(0, np.int64) for _ in range(5)))


def _weight_of(number: float) -> np.float64:
    """Return the maximum weight of passages of a class."""
    return np.float64(2.0 ** (number / _CLASSES))


def _merge_buckets(buckets: Int64s) -> Int64s:
    """Join overlapping or adjoining ranges of each query.

    Rows are query, start and stop.
    """
    buckets = buckets[np.lexsort((buckets[:, 1], buckets[:, 0]))]
    # Offset queries so far that ranges of two queries never touch.
    origins = buckets[:, 0] * (int(buckets[:, 2].max(initial=0)) + 1)
    behind = np.maximum.accumulate(origins + buckets[:, 2])
    is_first = np.ones(len(buckets), np.bool_)
    is_first[1:] = (origins + buckets[:, 1])[1:] > behind[:-1]
    rows = np.flatnonzero(is_first)
    merged = buckets[rows]
    if len(rows):
        merged[:, 2] = np.maximum.reduceat(buckets[:, 2], rows)
    return merged


def _usual_span(reaches: Int64s) -> int:
    """Return the least extent, of some quantiles, that few runs of buckets exceed."""
    few = len(reaches) // _FEW_OF + _FEW
    for share in (2, 4, 16, 64, 256, 1024, 4096):
        place = len(reaches) - 1 - len(reaches) // share
        span = int(np.partition(reaches, place)[place])
        is_far = reaches > span
        if np.count_nonzero(is_far[1:] & ~is_far[:-1]) + is_far[0] <= few:
            return span
    return int(reaches.max())


def _far_runs(reaches: Int64s, span: int) -> Int64s:
    """Return the runs of larger extents, as in ``Reach``."""
    bounds = np.flatnonzero(np.diff(reaches > span, prepend=False, append=False)).reshape(-1, 2)
    ends = [(np.arange(first, stop) + reaches[first:stop]).max() for first, stop in bounds.tolist()]
    return np.column_stack([bounds, np.array(ends, np.int64)])
