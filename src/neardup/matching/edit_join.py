"""Exact edit-distance joins: all pairs of strings within a distance, none missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from threading import Lock

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from neardup.errors import InvalidParameterError
from neardup.kernels import edit_join, shingles
from neardup.matching.pieces import Columns, check_limit, join_columns, probe_pieces
from neardup.matching.postings import (
    Groups,
    Postings,
    RankedRecords,
    group_records,
    index_groups,
    index_prefixes,
    number_values,
    rank_records,
)
from neardup.tables import Bytes, Int32s, Int64s, ScoredPairs, TokenLists, Uint64s

_LONGEST_QGRAM = 6
_LONGEST = 2**31 - 1

# A token is a code point while strings are compared; surrogates are left out.
_FIRST_SURROGATE, _N_SURROGATES, _MOST_TOKENS = 0xD800, 0x800, 0x110000 - 0x800


@dataclass(frozen=True)
class EditThreshold:
    """How far two strings may be apart: so many edits, or such a share of the longer one.

    ``max_distance`` edits at most, or, where that is None, a similarity of 1 - distance / length
    of the longer string that is at least ``similarity``.
    """

    max_distance: int | None
    similarity: Fraction | None = None

    def allowed(self, lengths: Int64s) -> Int64s:
        """Most edits between strings of which the longer one has these lengths."""
        if self.similarity is None:
            # No pair is further apart than its longer string is long.
            return np.minimum(lengths, min(self.max_distance or 0, _LONGEST))
        p, q = self.similarity.numerator, self.similarity.denominator
        most: Int64s = lengths * (q - p) // q
        return most


@dataclass(frozen=True)
class EditJoinCounts:
    """What each filter let through.

    ``hits`` postings under the q-grams looked up, and all strings beside each that is not looked
    up, of two collections those of the other one; ``after_length`` of those, the ones of fitting
    length that come first; ``after_position`` pairs with a common q-gram at fitting places, or of
    a string not looked up; ``after_parity`` of those that so few edits may lie between by the
    parities of their tokens; ``verified`` those with enough common q-grams, whose distance is
    worked out; ``results`` pairs within the distance.
    """

    hits: int
    after_length: int
    after_position: int
    after_parity: int
    verified: int
    results: int


def join_strings(
    strings: TokenLists,
    threshold: EditThreshold,
    *,
    sides: Bytes | None = None,
    qgram: int | None = None,
    workers: int = 1,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
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
    workers
        Blocks of strings probed at the same time.
    limit
        Stop with an error at more pairs than this.
    progress
        Called with the number of strings probed so far.

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

    Memory about 50 bytes a token, 12 a pair found, and for each worker 4 bytes a string. Results do
    not depend on ``workers``.

    References
    ----------
    Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 6.
    Xiao, Wang, Lin (2008), Ed-Join: an efficient algorithm for similarity joins with edit distance
    constraints.
    """
    all_lengths = np.diff(strings.offsets)
    is_wanted = all_lengths > 0 if sides is None else (all_lengths > 0) & (sides > 0)
    order = np.flatnonzero(is_wanted)
    order = order[np.argsort(all_lengths[order], kind="stable")]
    lengths = all_lengths[order]
    n = len(order)
    ordered = _take(strings, order, lengths)
    allowed = threshold.allowed(lengths)
    if qgram is None:
        qgram = choose_qgram(lengths, allowed)
    first_partner: Int64s = np.searchsorted(lengths, lengths - allowed).astype(np.int64)
    groups = group_records(n, None if sides is None else sides[order])
    grams, probing, index = _index_grams(ordered, lengths, allowed, first_partner, qgram, groups)
    _drop_long_lookups(grams, first_partner, groups, index, probing)
    rests = (lengths[index.records] - index.places).astype(np.int32)
    parities: Uint64s = np.empty((n, 2), np.uint64)
    edit_join.string_parities(ordered.values, ordered.offsets, parities)

    counts: Int64s = np.zeros(edit_join.N_COUNTS, np.int64)
    lock = Lock()

    def probe(start: int, stop: int, last_seen: Int32s, columns: Columns) -> tuple[int, int]:
        left, right = columns
        more: Int64s = np.zeros(edit_join.N_COUNTS, np.int64)
        reached, n_pairs = edit_join.probe_strings(
            start,
            stop,
            lengths,
            allowed,
            first_partner,
            parities,
            grams.tokens,
            grams.places,
            grams.starts,
            grams.sizes,
            grams.n_tokens,
            qgram,
            probing,
            groups.n_groups,
            groups.first,
            groups.last,
            index.starts,
            index.records,
            index.places,
            rests,
            last_seen,
            left,
            right,
            more,
        )
        with lock:
            counts[:] += more
        return int(reached), int(n_pairs)

    found: list[Columns] = []
    n_results = 0
    texts = _as_python_strings(ordered)
    for stop, (left, right) in probe_pieces(n, 2, lambda: np.full(n, -1, np.int32), probe, workers):
        most = allowed[right]
        distances = _distances(texts, left, right, most, workers)
        near = distances <= most
        found.append((left[near], right[near], distances[near]))
        n_results += int(near.sum())
        check_limit(limit, n_results, stop / n)
        if progress is not None:
            progress(stop)
    hits, after_length, after_position, after_parity, verified = (int(count) for count in counts)
    return _pairs(found, order), EditJoinCounts(
        hits, after_length, after_position, after_parity, verified, n_results
    )


def choose_qgram(lengths: Int64s, allowed: Int64s) -> int:
    """Choose the size of q-grams: long ones are rarer, short ones help more strings.

    A string of fewer than q * (D + 1) tokens cannot be looked up; with the size chosen only one in
    20 is so short.
    """
    shares = np.sort(lengths // (allowed + 1))
    share = int(shares[len(shares) // 20]) if len(shares) else 1
    return min(max(share, 1), _LONGEST_QGRAM)


def _take(strings: TokenLists, order: Int64s, lengths: Int64s) -> TokenLists:
    """Give some strings in the order named, one after another."""
    offsets: Int64s = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values: Uint64s = np.empty(int(offsets[-1]), np.uint64)
    shingles.copy_sets(strings.values, strings.offsets[order], lengths, values, offsets[:-1])
    return TokenLists(values, offsets)


def _index_grams(
    strings: TokenLists,
    lengths: Int64s,
    allowed: Int64s,
    first_partner: Int64s,
    qgram: int,
    groups: Groups,
) -> tuple[RankedRecords, Int64s, Postings]:
    """Rank the q-grams of all strings and index those that a longer partner may look up.

    Gives the q-grams, how many of each string's are looked up (0 if all of them may be hit by
    edits), and the index, whose places are those in the strings. One token more, behind the last
    q-gram's, is in all strings, at place 0.
    """
    values: Uint64s = np.empty(len(strings.values), np.uint64)
    offsets: Int64s = np.empty(len(strings) + 1, np.int64)
    # A string shorter than q gets one hash of all its tokens, which no q-gram has.
    shingles.hash_shingles(strings.values, strings.offsets, qgram, values, offsets)
    n_grams = np.diff(offsets)
    grams = rank_records(values[: offsets[-1]], offsets[:-1], n_grams)
    # The longest partner that a string may have is the last one whose range reaches back to it.
    longest = np.searchsorted(first_partner, np.arange(len(lengths)), side="right") - 1
    probing = _prefix_lengths(grams, allowed, qgram)
    indexing = _prefix_lengths(grams, allowed[longest], qgram)
    # All q-grams of a string that is too short to be looked up, in case a longer one is not.
    indexing[indexing == 0] = n_grams[indexing == 0]
    index = index_groups(grams, indexing, groups)
    places = grams.places[grams.starts[index.records] + index.places]
    of_all = _index_all(groups)
    return (
        grams,
        probing,
        Postings(
            np.concatenate([index.starts, index.starts[-1] + of_all.starts[1:]]),
            np.concatenate([index.records, of_all.records]),
            np.concatenate([places, of_all.places]),
        ),
    )


def _index_all(groups: Groups) -> Postings:
    """Index strings under one token that they all have, at place 0."""
    n = len(groups.of_records)
    numbers = np.arange(n, dtype=np.int64)
    ones = np.ones(n, np.int64)
    return index_prefixes(groups.of_records.astype(np.int32), numbers, ones, groups.n_groups)


def _drop_long_lookups(
    grams: RankedRecords, first_partner: Int64s, groups: Groups, index: Postings, probing: Int64s
) -> None:
    """Have strings compared with all of fitting length where that is faster than looking up."""
    edit_join.drop_long_lookups(
        first_partner,
        grams.tokens,
        grams.starts,
        grams.n_tokens,
        groups.n_groups,
        groups.first,
        groups.last,
        index.starts,
        index.records,
        probing,
    )


def _prefix_lengths(grams: RankedRecords, allowed: Int64s, qgram: int) -> Int64s:
    prefixes: Int64s = np.empty(len(allowed), np.int64)
    most = min(qgram * int(allowed.max(initial=0)) + 1, int(grams.sizes.max(initial=0)))
    scratch: Int32s = np.empty(most, np.int32)
    edit_join.prefix_lengths(
        grams.places, grams.starts, grams.sizes, allowed, qgram, scratch, prefixes
    )
    return prefixes


def _as_python_strings(strings: TokenLists) -> npt.NDArray[np.object_]:
    """Give strings in which each token is one character, whichever; RapidFuzz compares those."""
    numbers, frequencies = number_values(strings.values)
    if len(frequencies) > _MOST_TOKENS:
        message = (
            f"an edit-distance join may have {_MOST_TOKENS:,} different tokens at most, "
            f"got {len(frequencies):,}; use a tokenizer with fewer"
        )
        raise InvalidParameterError(message)
    numbers[numbers >= _FIRST_SURROGATE] += _N_SURROGATES
    text = numbers.astype("<u4").tobytes().decode("utf-32-le")
    texts = np.empty(len(strings), np.object_)
    texts[:] = [text[start:stop] for start, stop in pairwise(strings.offsets.tolist())]
    return texts


def _distances(
    texts: npt.NDArray[np.object_], left: Int32s, right: Int32s, most: Int64s, workers: int
) -> Int32s:
    """Work out edit distances; of those beyond ``most`` only that they are."""
    # One bound for all: beyond it RapidFuzz stops early and gives the next larger number.
    distances: Int32s = process.cpdist(
        texts[left],
        texts[right],
        scorer=Levenshtein.distance,
        score_cutoff=int(most.max(initial=0)),
        dtype=np.int32,
        workers=workers,
    )
    return distances


def _pairs(found: list[Columns], order: Int64s) -> ScoredPairs:
    """Give the strings of pairs their numbers in the input, and sort the pairs."""
    left, right, distances = join_columns(found, 3)
    low = np.minimum(order[left], order[right])
    high = np.maximum(order[left], order[right])
    sequence = np.lexsort((high, low))
    return ScoredPairs(low[sequence], high[sequence], distances[sequence].astype(np.int64))
