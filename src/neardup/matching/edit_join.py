"""Join strings exactly by edit distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidParameterError
from neardup.kernels.arrays import Int, sealed
from neardup.kernels.join import edit_join_kernels as join
from neardup.kernels.join.postings import Postings, RecordGroups
from neardup.kernels.text import shingle_kernels
from neardup.matching.join import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    NARROW,
    Columns,
    Compared,
    Costs,
    FilterCounts,
    Join,
    PlacedRecords,
    collect_pairs,
    group_records,
    index_groups,
    index_prefixes,
    number_values,
    order_by_size,
    probe_pieces,
    rank_numbers,
    salt_tokens,
)
from neardup.matching.measures import EditThreshold
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import Bytes, Floats, Int32s, Int64s, ScoredPairs, TokenLists, Uint64s
from neardup.text.shingles import take_ranges

# A token is a code point while strings are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _MOST_TOKENS = 0xD800, 0x800, 0x110000 - 0x800

Characters = npt.NDArray[np.object_]


def as_characters(strings: TokenLists) -> Characters:
    """Map tokens to characters so that RapidFuzz can compare strings."""
    numbers, frequencies = number_values(strings.values)
    if len(frequencies) > _MOST_TOKENS:
        message = (
            f"an edit-distance join may have {_MOST_TOKENS:,} different tokens at most, "
            f"got {len(frequencies):,}; choose another tokenizer, such as characters"
        )
        raise InvalidParameterError(message, "tokenizer")
    numbers[numbers >= _FIRST_SURROGATE] += _N_SURROGATES
    text = numbers.astype("<u4").tobytes().decode("utf-32-le")
    characters = np.empty(len(strings), np.object_)
    characters[:] = [text[start:stop] for start, stop in pairwise(strings.offsets.tolist())]
    return characters


def distances_within(left: Characters, right: Characters, most: Int64s, workers: int) -> Int32s:
    """Return edit distances up to ``most``, else a larger number."""
    # One bound for all: beyond it RapidFuzz stops early and gives the next larger number.
    distances: Int32s = process.cpdist(
        left,
        right,
        scorer=Levenshtein.distance,
        score_cutoff=int(most.max(initial=0)),
        dtype=np.int32,
        workers=workers,
    )
    return distances


_LONGEST_QGRAM = 6


@dataclass(frozen=True)
class PartnerRanges:
    """Possible partners of each string, in order of length.

    String x may differ in ``allowed[x]`` edits from shorter strings, from ``first_partner[x]`` on.
    """

    lengths: Int64s
    allowed: Int64s
    first_partner: Int64s

    @classmethod
    def of(cls, lengths: Int64s, allowed: Int64s) -> PartnerRanges:
        """Find the first partners."""
        first_partner = np.searchsorted(lengths, lengths - allowed).astype(np.int64)
        return cls(lengths, allowed, first_partner)

    @property
    def longest(self) -> Int64s:
        """Return the longest possible partner of each string."""
        # It is the last one whose range reaches back to the string.
        numbers = np.arange(len(self.lengths))
        longest: Int64s = np.searchsorted(self.first_partner, numbers, side="right") - 1
        return longest


def choose_qgram(lengths: Int64s, allowed: Int64s) -> int:
    """Choose the size of q-grams.

    Long q-grams are rarer, but a string of fewer than q * (D + 1) tokens cannot be looked up. With
    this size only one in 20 is so short.
    """
    shares = np.sort(lengths // (allowed + 1))
    share = int(shares[len(shares) // 20]) if len(shares) else 1
    return min(max(share, 1), _LONGEST_QGRAM)


def index_grams(
    strings: TokenLists, reach: PartnerRanges, qgram: int, groups: RecordGroups
) -> tuple[join.Grams, Postings]:
    """Rank all q-grams and index prefixes for longer partners.

    Places are positions in strings. An extra token, after the last q-gram, is in all at place 0.
    """
    values: Uint64s = np.empty(len(strings.values), np.uint64)
    offsets: Int64s = np.empty(len(strings) + 1, np.int64)
    # A string shorter than q gets one hash of all its tokens, which no q-gram has.
    shingle_kernels.hash_shingles(strings.values, strings.offsets, qgram, values, offsets)
    numbered = number_values(values[: offsets[-1]])
    grams = rank_numbers(*numbered, offsets[:-1], np.diff(offsets))
    probing = _prefix_lengths(grams, reach.allowed, qgram)
    indexing = _prefix_lengths(grams, reach.allowed[reach.longest], qgram)
    # All q-grams of a string that is too short to be looked up, in case a longer one is not.
    indexing[indexing == 0] = grams.sizes[indexing == 0]
    table = join.Grams(
        tokens=grams.tokens,
        places=grams.places,
        starts=grams.starts,
        sizes=grams.sizes,
        probing=probing,
        n_tokens=grams.n_tokens,
        qgram=qgram,
    )
    index = index_groups(grams, indexing, groups)
    numbers = np.arange(len(strings), dtype=np.int64)
    of_all = index_prefixes(
        groups.of_records.astype(np.int32), numbers, np.ones_like(numbers), groups.n_groups
    )
    postings = Postings(
        np.concatenate([index.starts, index.starts[-1] + of_all.starts[1:]]),
        np.concatenate([index.records, of_all.records]),
        np.concatenate([grams.places[grams.starts[index.records] + index.places], of_all.places]),
    )
    return sealed(table), sealed(postings)


def _prefix_lengths(grams: PlacedRecords, allowed: Int64s, qgram: int) -> Int64s:
    """Count rarest q-grams that edits cannot all touch, or 0."""
    prefixes: Int64s = np.empty(len(allowed), np.int64)
    most = min(qgram * int(allowed.max(initial=0)) + 1, int(grams.sizes.max(initial=0)))
    scratch: Int32s = np.empty(most, np.int32)
    join.prefix_lengths(grams.places, grams.starts, grams.sizes, allowed, qgram, scratch, prefixes)
    return prefixes


@dataclass(frozen=True)
class EditJoinCounts(FilterCounts):
    """Count the candidates after each filter.

    ``hits`` counts postings of the q-grams looked up; a string that is not looked up has all
    strings of the other collection as hits. ``after_length`` counts hits of fitting length that
    come first, ``after_position`` pairs with a common q-gram, at fitting positions except for
    All-Pairs, and pairs of a string that is not looked up. ``after_parity`` and ``after_suffix``
    count pairs that pass these filters of PPJoin+, and are 0 for other algorithms. ``verified``
    counts pairs whose distance is computed.
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
    """Exact join of token strings by edit distance.

    An empty string is similar to nothing. ``qgram`` is the tokens per q-gram of the candidate
    index, chosen if None. ``allpairs`` filters by prefix and length, ``ppjoin`` also by the places
    of q-grams, ``ppjoin+`` also by parities and suffix. All find the same pairs. With ``keys``,
    only pairs of strings of equal keys are found.

    A string is compared with all strings of fitting length if edits may touch all of its q-grams,
    or if a lookup would return more strings. Memory about 50 bytes per token, 12 per pair found,
    and 4 bytes per string and thread.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 6.
    Xiao, Wang, Lin (2008), Ed-Join: an efficient algorithm for similarity joins with edit distance
    constraints.
    """

    strings: TokenLists
    threshold: EditThreshold
    qgram: int | None = None
    algorithm: Algorithm = DEFAULT_ALGORITHM
    keys: Uint64s | None = None
    score_name: ClassVar[str] = "distance"
    counted: ClassVar[type[FilterCounts]] = EditJoinCounts
    costs: ClassVar[Costs] = Costs(250, 50, 50)

    @property
    def is_directed(self) -> bool:
        """A distance is the same in either direction."""
        return False

    @property
    def own_scores(self) -> Int64s:
        """Return a zero score for each string."""
        return np.zeros(len(self.strings), np.int64)

    @property
    def twins(self) -> Int64s:
        """Return the positions of all strings."""
        return np.arange(len(self.strings))

    def of(self, records: Compared, keys: Uint64s | None) -> Self:
        """Return the join of other strings."""
        assert isinstance(records, TokenLists)
        return replace(self, strings=records, keys=keys)

    def may_match(self, smaller: int, larger: int) -> bool:
        """Return whether two lengths allow a pair within the distance."""
        return bool(larger - smaller <= self.threshold.allowed(np.array([larger]))[0])

    def run(
        self, sides: Bytes | None, limit: int | None, runner: Runner
    ) -> tuple[ScoredPairs, EditJoinCounts]:
        """Join strings by their q-grams, with distances as scores."""
        strings, threshold, keys = self.strings, self.threshold, self.keys
        order = order_by_size(np.diff(strings.offsets), sides)
        ordered = take_ranges(strings.values, strings.offsets[order], strings.offsets[order + 1])
        lengths = np.diff(ordered.offsets)
        allowed = threshold.allowed(lengths)
        counts: Int64s = np.zeros(join.N_COUNTS, np.int64)
        own_keys = None if keys is None else keys[order]
        pieces = _probe(
            ordered if own_keys is None else salt_tokens(ordered, own_keys),
            PartnerRanges.of(lengths, allowed),
            None if sides is None else sides[order],
            choose_qgram(lengths, allowed) if self.qgram is None else self.qgram,
            ALGORITHMS[self.algorithm],
            counts,
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

        verified = ((stop, verify(candidates)) for stop, candidates in pieces)
        pairs = collect_pairs(verified, order, limit, runner)
        return pairs, EditJoinCounts(*[*counts.tolist(), len(pairs)])

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """1 - distance / length of the longer string."""
        lengths = np.diff(self.strings.offsets)
        longer = np.maximum(lengths[pairs.left], lengths[pairs.right])
        similarities: Floats = (longer - pairs.scores) / longer
        return similarities


def _probe(
    strings: TokenLists,
    reach: PartnerRanges,
    sides: Bytes | None,
    qgram: int,
    algorithm: int,
    counts: Int64s,
    runner: Runner,
) -> Iterator[tuple[int, Columns]]:
    """Find candidate pairs of strings in order of length."""
    n = len(strings)
    groups = group_records(n, sides)
    grams, index = index_grams(strings, reach, qgram, groups)
    # Some strings are compared with all of fitting length, where that is faster than looking up.
    join.drop_long_lookups(reach.first_partner, grams, groups, index)
    rests = (reach.lengths[index.records] - index.places).astype(np.int32)
    parities: Uint64s = np.empty((n, 2), np.uint64)
    join.string_parities(strings.values, strings.offsets, parities)
    table = sealed(join.Strings(reach.lengths, reach.allowed, reach.first_partner, parities))

    def probe(
        start: int, stop: int, last_seen: Int32s, columns: Columns, own_counts: Int64s
    ) -> tuple[Int, Int]:
        return join.probe_strings(
            start,
            stop,
            algorithm,
            table,
            grams,
            groups,
            index,
            rests,
            last_seen,
            columns[0],
            columns[1],
            own_counts,
        )

    return probe_pieces(n, NARROW[:2], lambda: np.full(n, -1, np.int32), probe, counts, runner)
