"""Exact edit-distance joins: all pairs of strings within a distance, none missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from neardup.kernels.edit import join
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from neardup.matching.edit_distances import as_characters, distances_within
from neardup.matching.edit_threshold import EditThreshold
from neardup.matching.join import FilterCounts, Join
from neardup.matching.pieces import Columns, Tally, collect_pieces, probe_pieces
from neardup.matching.postings import group_records
from neardup.matching.qgrams import Reach, choose_qgram, index_grams
from neardup.matching.salting import salt_tokens
from neardup.options.choices import Algorithm
from neardup.runtime.runner import Runner
from neardup.tables import Bytes, Floats, Int32s, Int64s, ScoredPairs, TokenLists, Uint64s


@dataclass(frozen=True)
class EditJoinCounts(FilterCounts):
    """What each filter let through.

    ``hits`` postings under the q-grams looked up, and all strings beside each that is not looked
    up, of two collections those of the other one; ``after_length`` of those, the ones of fitting
    length that come first; ``after_position`` pairs with a common q-gram at fitting places, or of
    a string not looked up; ``after_parity`` of those that so few edits may lie between by the
    parities of their tokens, and ``after_suffix`` by halving their q-grams (both 0 but for PPJoin+;
    All-Pairs asks for no places); ``verified`` those with enough common q-grams, whose distance is
    worked out; ``results`` pairs within the distance.
    """

    hits: int
    after_length: int
    after_position: int
    after_parity: int
    after_suffix: int
    verified: int
    results: int


@dataclass(frozen=True)
class EditJoin(Join):
    """Strings of tokens, joined by edit distance, exactly; with ``keys`` as ``join_strings``."""

    strings: TokenLists
    threshold: EditThreshold
    qgram: int | None
    algorithm: Algorithm = DEFAULT_ALGORITHM
    keys: Uint64s | None = None
    score_name: ClassVar[str] = "distance"

    @property
    def is_directed(self) -> bool:
        """Never."""
        return False

    @property
    def own_scores(self) -> Int64s:
        """No edits."""
        return np.zeros(len(self.strings), np.int64)

    @property
    def twins(self) -> Int64s:
        """All strings."""
        return np.arange(len(self.strings))

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, EditJoinCounts]:
        """Join by q-grams."""
        return join_strings(
            self.strings,
            self.threshold,
            sides=sides,
            qgram=self.qgram,
            algorithm=self.algorithm,
            limit=limit,
            runner=runner,
            keys=self.keys,
        )

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """1 - distance / length of the longer string."""
        longer = self._longer(pairs)
        similarities: Floats = (longer - pairs.scores) / longer
        return similarities

    def fractions(self, pairs: ScoredPairs) -> tuple[Int64s, Int64s]:
        """Return what the threshold ranks pairs by."""
        return self.threshold.fractions(pairs.scores, self._longer(pairs))

    def steps(self) -> Iterator[Self]:
        """Allow more edits."""
        for threshold in self.threshold.falling():
            yield replace(self, threshold=threshold)

    def _longer(self, pairs: ScoredPairs) -> Int64s:
        lengths = np.diff(self.strings.offsets)
        longer: Int64s = np.maximum(lengths[pairs.left], lengths[pairs.right])
        return longer


def join_strings(
    strings: TokenLists,
    threshold: EditThreshold,
    *,
    sides: Bytes | None = None,
    qgram: int | None = None,
    algorithm: Algorithm = DEFAULT_ALGORITHM,
    limit: int | None = None,
    runner: Runner,
    keys: Uint64s | None = None,
) -> tuple[ScoredPairs, EditJoinCounts]:
    """Find all pairs of strings within the distance.

    Parameters
    ----------
    strings
        n strings of tokens, each a hash; an empty one is similar to nothing.
    threshold
        Most edits: insertions, deletions and substitutions of one token.
    sides
        For a join of two collections (n,): 1 for a string of the left one, 2 of the right one, 3
        of both, 0 of neither. Only pairs of different collections are found.
    qgram
        Tokens in a q-gram, by which candidates are found; None chooses. The pairs are the same.
    algorithm
        ``allpairs`` filters by prefix and length, ``ppjoin`` also by the places of q-grams,
        ``ppjoin+`` also by parities and suffix; ``auto`` is ``ppjoin+``. All find the same pairs.
    limit
        Stop with an error at more pairs than this.
    runner
        Blocks of strings are probed at the same time; reports those probed as stage ``join``.
    keys
        A key of each string; only pairs of equal ones are found.

    Returns
    -------
    The pairs in ascending order, left less than right, with their distances as scores, and what
    the filters did.

    Raises
    ------
    ResultLimitError
        At more than ``limit`` pairs.
    InvalidParameterError
        For more than a million different tokens.

    Notes
    -----
    A string is not looked up by q-grams, but compared with all of fitting length, where it has so
    few that edits may touch them all, or such frequent ones that it would meet more strings.

    Memory about 50 bytes a token, 12 a pair found, and for each thread 4 bytes a string. Results do
    not depend on the number of threads.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 6.
    Xiao, Wang, Lin (2008), Ed-Join: an efficient algorithm for similarity joins with edit distance
    constraints.
    """
    order = _order(strings, sides)
    ordered = _take(strings, order)
    lengths = np.diff(ordered.offsets)
    allowed = threshold.allowed(lengths)
    tally = Tally(join.N_COUNTS)
    own_keys = None if keys is None else keys[order]
    pieces = _probe(
        ordered if own_keys is None else salt_tokens(ordered, own_keys),
        Reach.of(lengths, allowed),
        None if sides is None else sides[order],
        choose_qgram(lengths, allowed) if qgram is None else qgram,
        ALGORITHMS["ppjoin+" if algorithm == "auto" else algorithm],
        tally,
        runner,
    )
    characters = as_characters(ordered)

    def verify(candidates: Columns) -> Columns:
        left, right = candidates
        if own_keys is not None:
            # Short strings are near each other even if they have no token in common.
            is_within = own_keys[left] == own_keys[right]
            left, right = left[is_within], right[is_within]
        most = allowed[right]
        distances = distances_within(characters[left], characters[right], most, runner.workers)
        near = distances <= most
        return left[near], right[near], distances[near]

    found = collect_pieces(
        ((stop, verify(candidates)) for stop, candidates in pieces),
        len(order),
        3,
        limit,
        lambda done: runner.report("join", done, len(strings)),
    )
    return _pairs(found, order), EditJoinCounts(*[*tally.counts.tolist(), len(found[0])])


def _order(strings: TokenLists, sides: Bytes | None) -> Int64s:
    """Return the strings that may have partners, by length."""
    lengths = np.diff(strings.offsets)
    is_wanted = lengths > 0 if sides is None else (lengths > 0) & (sides > 0)
    order = np.flatnonzero(is_wanted)
    return order[np.argsort(lengths[order], kind="stable")]


def _take(strings: TokenLists, order: Int64s) -> TokenLists:
    """Return some strings in the order named, one after another."""
    lengths = np.diff(strings.offsets)[order]
    offsets: Int64s = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values: Uint64s = np.empty(int(offsets[-1]), np.uint64)
    shingles.copy_sets(strings.values, strings.offsets[order], lengths, values, offsets[:-1])
    return TokenLists(values, offsets)


def _probe(
    strings: TokenLists,
    reach: Reach,
    sides: Bytes | None,
    qgram: int,
    algorithm: int,
    tally: Tally,
    runner: Runner,
) -> Iterator[tuple[int, Columns]]:
    """Find pairs of strings, in order of length, that may be within the distance."""
    n = len(strings)
    groups = group_records(n, sides)
    grams, index = index_grams(strings, reach, qgram, groups)
    # Some strings are compared with all of fitting length, where that is faster than looking up.
    join.drop_long_lookups(reach.first_partner, grams, groups, index)
    rests = (reach.lengths[index.records] - index.places).astype(np.int32)
    parities: Uint64s = np.empty((n, 2), np.uint64)
    join.string_parities(strings.values, strings.offsets, parities)
    table = sealed(join.Strings(reach.lengths, reach.allowed, reach.first_partner, parities))

    def probe(start: int, stop: int, last_seen: Int32s, columns: Columns) -> tuple[int, int]:
        left, right = columns
        counts: Int64s = np.zeros(join.N_COUNTS, np.int64)
        reached, n_pairs = join.probe_strings(
            start,
            stop,
            algorithm,
            table,
            grams,
            groups,
            index,
            rests,
            last_seen,
            left,
            right,
            counts,
        )
        tally.add(counts)
        return int(reached), int(n_pairs)

    return probe_pieces(n, 2, lambda: np.full(n, -1, np.int32), probe, runner)


def _pairs(found: Columns, order: Int64s) -> ScoredPairs:
    """Give the strings of pairs their numbers in the input, and sort the pairs."""
    left, right, distances = found
    low = np.minimum(order[left], order[right])
    high = np.maximum(order[left], order[right])
    sequence = np.lexsort((high, low))
    return ScoredPairs(low[sequence], high[sequence], distances[sequence].astype(np.int64))
