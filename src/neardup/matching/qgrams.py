"""The q-grams by which strings find each other: their size, their prefixes, and the index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.edit import join
from neardup.kernels.join.postings import Groups, Postings
from neardup.kernels.text import shingles
from neardup.kernels.types import sealed
from neardup.matching.postings import RankedRecords, index_groups, index_prefixes, rank_records
from neardup.tables import Int32s, Int64s, TokenLists, Uint64s

_LONGEST_QGRAM = 6


@dataclass(frozen=True)
class Reach:
    """How far each string looks for partners; strings are in order of length.

    String x may differ in ``allowed[x]`` edits from those before it, of which the first that is
    long enough is ``first_partner[x]``.
    """

    lengths: Int64s
    allowed: Int64s
    first_partner: Int64s

    @classmethod
    def of(cls, lengths: Int64s, allowed: Int64s) -> Reach:
        """Find the first partners."""
        first_partner = np.searchsorted(lengths, lengths - allowed).astype(np.int64)
        return cls(lengths, allowed, first_partner)

    @property
    def longest(self) -> Int64s:
        """The longest partner that each string may have."""
        # It is the last one whose range reaches back to the string.
        numbers = np.arange(len(self.lengths))
        longest: Int64s = np.searchsorted(self.first_partner, numbers, side="right") - 1
        return longest


def choose_qgram(lengths: Int64s, allowed: Int64s) -> int:
    """Choose the size of q-grams: long ones are rarer, short ones help more strings.

    A string of fewer than q * (D + 1) tokens cannot be looked up; with the size chosen only one in
    20 is so short.
    """
    shares = np.sort(lengths // (allowed + 1))
    share = int(shares[len(shares) // 20]) if len(shares) else 1
    return min(max(share, 1), _LONGEST_QGRAM)


def index_grams(
    strings: TokenLists, reach: Reach, qgram: int, groups: Groups
) -> tuple[join.Grams, Postings]:
    """Rank the q-grams of all strings and index those that a longer partner may look up.

    Returns
    -------
    The q-grams, with how many of each string's are looked up (0 if edits may touch all of them),
    and the index, whose places are those in the strings. One token more, behind the last q-gram's,
    is in all strings, at place 0.
    """
    grams = _rank_grams(strings, qgram)
    probing = _prefix_lengths(grams, reach.allowed, qgram)
    indexing = _prefix_lengths(grams, reach.allowed[reach.longest], qgram)
    # All q-grams of a string that is too short to be looked up, in case a longer one is not.
    indexing[indexing == 0] = grams.sizes[indexing == 0]
    table = sealed(
        join.Grams(
            tokens=grams.tokens,
            places=grams.places,
            starts=grams.starts,
            sizes=grams.sizes,
            probing=probing,
            n_tokens=grams.n_tokens,
            qgram=qgram,
        )
    )
    return table, _index_places(grams, indexing, groups)


def _rank_grams(strings: TokenLists, qgram: int) -> RankedRecords:
    values: Uint64s = np.empty(len(strings.values), np.uint64)
    offsets: Int64s = np.empty(len(strings) + 1, np.int64)
    # A string shorter than q gets one hash of all its tokens, which no q-gram has.
    shingles.hash_shingles(strings.values, strings.offsets, qgram, values, offsets)
    return rank_records(values[: offsets[-1]], offsets[:-1], np.diff(offsets))


def _prefix_lengths(grams: RankedRecords, allowed: Int64s, qgram: int) -> Int64s:
    """Count the rarest q-grams of each string that its allowed edits cannot all touch, or 0."""
    prefixes: Int64s = np.empty(len(allowed), np.int64)
    most = min(qgram * int(allowed.max(initial=0)) + 1, int(grams.sizes.max(initial=0)))
    scratch: Int32s = np.empty(most, np.int32)
    join.prefix_lengths(grams.places, grams.starts, grams.sizes, allowed, qgram, scratch, prefixes)
    return prefixes


def _index_places(grams: RankedRecords, indexing: Int64s, groups: Groups) -> Postings:
    """Index prefixes of strings by places in the string, and all strings under one token more."""
    index = index_groups(grams, indexing, groups)
    places = grams.places[grams.starts[index.records] + index.places]
    of_all = _index_all(groups)
    return sealed(
        Postings(
            np.concatenate([index.starts, index.starts[-1] + of_all.starts[1:]]),
            np.concatenate([index.records, of_all.records]),
            np.concatenate([places, of_all.places]),
        )
    )


def _index_all(groups: Groups) -> Postings:
    """Index strings under one token that they all have, at place 0."""
    n = len(groups.of_records)
    numbers = np.arange(n, dtype=np.int64)
    ones = np.ones(n, np.int64)
    return index_prefixes(groups.of_records.astype(np.int32), numbers, ones, groups.n_groups)
