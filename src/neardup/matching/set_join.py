"""Exact similarity joins: all pairs of sets at or above a threshold, none missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from neardup.errors import ResultLimitError
from neardup.kernels import set_join, shingles
from neardup.matching.measures import Measure
from neardup.tables import Bytes, Int32s, Int64s, ScoredPairs, ShingleSets
from neardup.workers import map_ordered

Algorithm = Literal["allpairs", "ppjoin", "ppjoin+"]
ALGORITHMS: dict[str, int] = {
    "allpairs": set_join.ALL_PAIRS,
    "ppjoin": set_join.PPJOIN,
    "ppjoin+": set_join.PPJOIN_PLUS,
}

# Records probed in one piece of work: enough pieces that no core waits long for the last one.
_PIECE = 2048
_FIRST_OUTPUT = 1 << 16


@dataclass(frozen=True)
class JoinCounts:
    """What each filter let through.

    ``hits`` postings under the tokens of probing prefixes; ``after_size`` of those whose record
    has a fitting size, comes first and belongs to the other collection; ``after_position`` and
    ``after_suffix`` (both 0 for All-Pairs) those that the two filters let pass; ``verified`` pairs
    whose overlap was counted to the end, ``results`` those at the threshold.
    """

    hits: int
    after_size: int
    after_position: int
    after_suffix: int
    verified: int
    results: int


@dataclass(frozen=True)
class _Records:
    """Sets as sorted runs of token ranks, the rarest first, in order of size."""

    order: Int64s
    tokens: Int32s
    starts: Int64s
    sizes: Int64s
    n_tokens: int


def join_sets(
    sets: ShingleSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    algorithm: Algorithm = "ppjoin+",
    workers: int = 1,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[ScoredPairs, JoinCounts]:
    """Find all pairs of sets that reach the threshold.

    Parameters
    ----------
    sets
        n sets; an empty one is similar to nothing.
    measure
        Any; for ``containment`` the first of a pair is the one that lies in the other.
    sides
        For a join of two collections (n,): 1 for a set of the left one, 2 of the right one, 3 of
        both. Only pairs of sets of different collections are found.
    algorithm
        ``allpairs`` filters by prefix and size, ``ppjoin`` also by position, ``ppjoin+`` also by
        suffix. All find the same pairs.
    workers
        Blocks of records probed at the same time.
    limit
        Stop with an error at more pairs than this.
    progress
        Called with the number of records probed so far.

    Returns
    -------
    The pairs in ascending order, and what the filters did. Left is less than right, but for
    containment, where both (a, b) and (b, a) may be pairs.

    Raises
    ------
    ResultLimitError
        At more than ``limit`` pairs.

    Notes
    -----
    Memory: 4 bytes an element, 8 bytes a posting (the indexing prefixes), and for each worker 8
    bytes a set. Results do not depend on ``workers``.
    """
    records = _rank_tokens(sets)
    n = len(records.sizes)
    p, q = measure.threshold.numerator, measure.threshold.denominator
    least, probing, indexing = (np.empty(n, np.int64) for _ in range(3))
    set_join.prefix_lengths(records.sizes, measure.code, p, q, least, probing, indexing)
    first_partner, last_partner = _partner_ranges(records.sizes, least, measure)
    postings = _index(records, indexing)
    record_sides = np.empty(0, np.uint8) if sides is None else sides[records.order]

    def probe(start: int) -> tuple[Int32s, Int32s, Int32s, Int64s]:
        shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
        counts: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
        parts: list[tuple[Int32s, Int32s, Int32s]] = []
        room = _FIRST_OUTPUT
        stop = min(start + _PIECE, n)
        while start < stop:
            left, right, overlaps = (np.empty(room, np.int32) for _ in range(3))
            reached, n_pairs = set_join.probe_records(
                start,
                stop,
                ALGORITHMS[algorithm],
                measure.code,
                p,
                q,
                records.tokens,
                records.starts,
                records.sizes,
                probing,
                indexing,
                first_partner,
                last_partner,
                record_sides,
                *postings,
                shared,
                touched,
                left,
                right,
                overlaps,
                counts,
            )
            parts.append((left[:n_pairs], right[:n_pairs], overlaps[:n_pairs]))
            # A single record may have more candidates than fit: then make more room.
            room = room * 2 if reached == start else room
            start = int(reached)
        joined = tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))
        return (*joined, counts)  # type: ignore[return-value]

    found: list[tuple[Int32s, Int32s, Int32s]] = []
    counts: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
    n_results = 0
    starts = range(0, n, _PIECE)
    for start, (left, right, overlaps, more) in zip(
        starts, map_ordered(probe, starts, workers), strict=True
    ):
        found.append((left, right, overlaps))
        counts += more
        n_results += len(left)
        if limit is not None and n_results > limit:
            raise ResultLimitError(limit, n_results, min(start + _PIECE, n) / n)
        if progress is not None:
            progress(min(start + _PIECE, n))
    counts[set_join.RESULTS] = n_results
    is_directed = measure.name == "containment"
    pairs = _pairs(found, records.order, is_directed=is_directed)
    return pairs, JoinCounts(*(int(count) for count in counts))


def _rank_tokens(sets: ShingleSets) -> _Records:
    """Sort sets by size and their elements by rising document frequency."""
    order = np.flatnonzero(sets.sizes > 0)
    order = order[np.argsort(sets.sizes[order], kind="stable")]
    sizes = sets.sizes[order]
    ends = np.cumsum(sizes)
    starts: Int64s = ends - sizes
    n_elements = int(ends[-1]) if len(ends) else 0
    values = np.empty(n_elements, np.uint64)
    shingles.copy_sets(sets.values, sets.starts[order], sizes, values, starts)
    distinct, tokens, frequencies = np.unique(values, return_inverse=True, return_counts=True)
    # The rarest token gets the lowest rank; ties by hash, so that the order is fixed.
    ranks: Int64s = np.empty(len(distinct), np.int64)
    ranks[np.argsort(frequencies, kind="stable")] = np.arange(len(distinct))
    # Record number above, rank below: one sort of whole numbers sorts every record.
    packed = np.repeat(np.arange(len(order), dtype=np.int64) << 32, sizes)
    packed |= ranks[tokens]
    packed.sort()
    return _Records(order, packed.astype(np.int32), starts, sizes, len(distinct))


def _partner_ranges(sizes: Int64s, least: Int64s, measure: Measure) -> tuple[Int64s, Int64s]:
    """Give the range of records, by size, in which each record looks for partners."""
    numbers = np.arange(len(sizes), dtype=np.int64)
    if measure.name == "max-containment":
        # The smaller one probes, the larger ones come after it.
        return numbers + 1, np.full(len(sizes), len(sizes), np.int64)
    first: Int64s = np.searchsorted(sizes, least).astype(np.int64)
    if measure.name == "containment":
        return first, np.full(len(sizes), len(sizes), np.int64)
    return first, numbers


def _index(records: _Records, indexing: Int64s) -> tuple[Int64s, Int32s, Int32s]:
    """Build the inverted index of the indexing prefixes: starts, records and places."""
    starts: Int64s = np.zeros(records.n_tokens + 1, np.int64)
    set_join.count_postings(records.tokens, records.starts, indexing, starts)
    posting_records: Int32s = np.empty(int(starts[-1]), np.int32)
    places: Int32s = np.empty(int(starts[-1]), np.int32)
    set_join.fill_postings(
        records.tokens, records.starts, indexing, starts.copy(), posting_records, places
    )
    return starts, posting_records, places


def _pairs(
    found: list[tuple[Int32s, Int32s, Int32s]], order: Int64s, *, is_directed: bool
) -> ScoredPairs:
    """Give the sets of pairs their numbers in the input, and sort the pairs."""
    if not found:
        found = [(np.empty(0, np.int32),) * 3]
    left, right, overlaps = (np.concatenate(column) for column in zip(*found, strict=True))
    # The record that probed is the right one; in a containment it is the one contained.
    low, high = order[right], order[left]
    if not is_directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    sequence = np.lexsort((high, low))
    return ScoredPairs(low[sequence], high[sequence], overlaps[sequence].astype(np.int64))
