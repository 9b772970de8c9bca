"""Exact similarity joins: all pairs of sets at or above a threshold, none missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Literal

import numpy as np

from neardup.kernels import set_join
from neardup.matching.measures import Measure
from neardup.matching.pieces import Columns, check_limit, join_columns, probe_pieces
from neardup.matching.postings import group_records, index_groups, rank_sets
from neardup.tables import Bytes, Int32s, Int64s, ScoredPairs, ShingleSets

Algorithm = Literal["allpairs", "ppjoin", "ppjoin+"]
ALGORITHMS: dict[str, int] = {
    "allpairs": set_join.ALL_PAIRS,
    "ppjoin": set_join.PPJOIN,
    "ppjoin+": set_join.PPJOIN_PLUS,
}
DEFAULT_ALGORITHM: Algorithm = "ppjoin"


@dataclass(frozen=True)
class JoinCounts:
    """What each filter let through.

    ``hits`` postings under the tokens of probing prefixes, of two collections those of the other
    one; ``after_size`` of those whose record has a fitting size and comes first;
    ``after_position`` and ``after_suffix`` (both 0 for All-Pairs) those that the two filters let
    pass; ``verified`` pairs whose overlap was counted to the end, ``results`` those at the
    threshold.
    """

    hits: int
    after_size: int
    after_position: int
    after_suffix: int
    verified: int
    results: int


def join_sets(
    sets: ShingleSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    algorithm: Algorithm = DEFAULT_ALGORITHM,
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
        Of plain sets; for ``containment`` the first of a pair is the one that lies in the other.
    sides
        For a join of two collections (n,): 1 for a set of the left one, 2 of the right one, 3 of
        both, 0 of neither. Only pairs of sets of different collections are found.
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
    Memory: 20 bytes an element while they are ranked, then 8; 8 bytes a posting (the indexing
    prefixes), 8 a distinct element that several sets have (24 if two collections are joined), 12 a
    pair found, and for each worker 8 bytes a set. Results do not depend on ``workers``.
    """
    is_wanted = sets.sizes > 0 if sides is None else (sets.sizes > 0) & (sides > 0)
    order = np.flatnonzero(is_wanted)
    order = order[np.argsort(sets.sizes[order], kind="stable")]
    records = rank_sets(sets, order)
    sizes = sets.sizes[order]
    n = len(order)
    least, probing, indexing = measure.size_bounds(sizes)
    first_partner, last_partner = measure.partner_ranges(sizes, least)
    # Prefixes start with the tokens that no other record has, which are not in the runs.
    probing, indexing = (records.shorten(prefixes, sizes) for prefixes in (probing, indexing))
    is_directed = measure.is_directed
    # Of a containment the one that looks is the one contained.
    groups = group_records(n, None if sides is None else sides[order], is_directed=is_directed)
    index = index_groups(records, indexing, groups)

    counts: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
    lock = Lock()

    def make_scratch() -> tuple[Int32s, Int32s]:
        return np.zeros(n, np.int32), np.empty(n, np.int32)

    def probe(
        start: int, stop: int, scratch: tuple[Int32s, Int32s], columns: Columns
    ) -> tuple[int, int]:
        shared, touched = scratch
        left, right, overlaps = columns
        more: Int64s = np.zeros(set_join.N_COUNTS, np.int64)
        reached, n_pairs = set_join.probe_records(
            start,
            stop,
            ALGORITHMS[algorithm],
            *measure.in_kernels,
            records.tokens,
            records.starts,
            sizes,
            records.sizes,
            probing,
            indexing,
            first_partner,
            last_partner,
            groups.n_groups,
            groups.first,
            groups.last,
            index.starts,
            index.records,
            index.places,
            shared,
            touched,
            left,
            right,
            overlaps,
            more,
        )
        with lock:
            counts[:] += more
        return int(reached), int(n_pairs)

    found: list[Columns] = []
    n_results = 0
    for stop, columns in probe_pieces(n, 3, make_scratch, probe, workers):
        found.append(columns)
        n_results += len(columns[0])
        check_limit(limit, n_results, stop / n)
        if progress is not None:
            progress(stop)
    counts[set_join.RESULTS] = n_results
    pairs = _pairs(found, order, is_directed=is_directed)
    return pairs, JoinCounts(*(int(count) for count in counts))


def _pairs(found: list[Columns], order: Int64s, *, is_directed: bool) -> ScoredPairs:
    """Give the sets of pairs their numbers in the input, and sort the pairs."""
    left, right, overlaps = join_columns(found, 3)
    # The record that probed is the right one; in a containment it is the one contained.
    low, high = order[right], order[left]
    if not is_directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    sequence = np.lexsort((high, low))
    return ScoredPairs(low[sequence], high[sequence], overlaps[sequence].astype(np.int64))
