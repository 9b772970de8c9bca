"""Candidates of edit-distance joins by q-grams, lengths and parities.

Strings are in order of length, each with the ranks, rarest first, and the positions of its q-grams.
An edit touches at most q adjacent q-grams of a string. So strings within distance D share one of
any q-grams that D edits cannot all touch, at positions that D edits can explain. If a string has
too few q-grams for that, or too frequent ones, all strings of fitting length are candidates.
Strings are indexed by collection, so that lookups read only the other collection.

References
----------
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, section 6.2.
Xiao, Wang, Lin (2008), Ed-Join: an efficient algorithm for similarity joins with edit distance
constraints, section 3.
Gravano et al. (2001), Approximate string joins in a database (almost) for free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64Rows,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64Rows,
)
from neardup.kernels.common.bits import count_ones, turn_bit
from neardup.kernels.common.hashing import mix64
from neardup.kernels.common.ordering import first_at_least, sort_range
from neardup.kernels.join.postings import (
    ALL_PAIRS,
    PPJOIN_PLUS,
    Postings,
    RecordGroups,
    count_common,
    suffix_distance,
)

# Indices of the counts, in the order of the filters.
HITS, AFTER_LENGTH, AFTER_POSITION, AFTER_PARITY, AFTER_SUFFIX, VERIFIED = range(6)
N_COUNTS = 6

_1 = np.uint64(1)


class Strings(NamedTuple):
    """Strings by length, and their ranges of partners.

    String x may differ from a partner y < x in ``allowed[x]`` edits, so its partners start at
    ``first_partner[x]``. ``parities`` (n, 2) are from ``string_parities``.
    """

    lengths: ConstInt64s
    allowed: ConstInt64s
    first_partner: ConstInt64s
    parities: ConstUint64Rows


class Grams(NamedTuple):
    """The q-grams of strings from ``starts[x]`` on, rarest first.

    ``tokens`` are their ranks, ``places`` their positions. The first ``probing[x]`` are looked up,
    or, if that is 0, the token ``n_tokens``, the first token of all strings.
    """

    tokens: ConstInt32s
    places: ConstInt32s
    starts: ConstInt64s
    sizes: ConstInt64s
    probing: Int64s
    n_tokens: int
    qgram: int


@kernel
def string_parities(values: ConstUint64s, offsets: ConstInt64s, parities: Uint64Rows) -> None:
    """Record parities of 64 classes of tokens and adjacent pairs.

    An edit takes a token away, adds one, or does both: it turns at most two bits of the first word.
    It does so with at most two pairs of adjacent tokens: four bits of the second.
    """
    for k in range(offsets.shape[0] - 1):
        of_tokens, of_twos = np.uint64(0), np.uint64(0)
        before = np.uint64(0)
        for i in range(offsets[k], offsets[k + 1]):
            value = mix64(values[i])
            of_tokens = turn_bit(of_tokens, value)
            if i > offsets[k]:
                of_twos = turn_bit(of_twos, mix64(before ^ (value >> _1)))
            before = value
        parities[k, 0], parities[k, 1] = of_tokens, of_twos


@inlined
def _may_be_within(parities: ConstUint64Rows, x: Int, y: Int, most: Int, longer: Int) -> bool:
    """Return whether ``most`` edits can explain two strings' parities.

    ``longer``, the difference of the lengths, counts edits that are insertions or deletions, which
    turn one bit less.
    """
    if count_ones(parities[x, 1] ^ parities[y, 1]) > 4 * most - longer:
        return False
    return bool(count_ones(parities[x, 0] ^ parities[y, 0]) <= 2 * most - longer)


@inlined
def _differ(
    tokens: ConstInt32s, x: Int, x_stop: Int, token: Int, y: Int, y_stop: Int, limit: Int
) -> bool:
    """Return whether two runs differ in more than ``limit`` q-grams.

    Counting starts at the first common q-gram, at x in the first run. The other run starts at y.
    Earlier q-grams at fitting places have no partner at such a place, except equal ones.
    """
    y_first = first_at_least(tokens, y, y_stop, token)
    limit -= y_first - y
    return bool(suffix_distance(tokens, x, x_stop, y_first, y_stop, limit) > limit)


@kernel
def prefix_lengths(
    places: ConstInt32s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    allowed: ConstInt64s,
    qgram: int,
    scratch: Int32s,
    prefixes: Int64s,
) -> None:
    """Compute prefixes of rare q-grams that ``allowed`` edits cannot destroy.

    The shortest prefix in order of rank, or 0 for strings with at most q q-grams per edit, since
    edits may touch all of these. ``places`` are the positions of the q-grams in order of rank;
    ``scratch`` is as long as the longest prefix, ``qgram * allowed + 1``.
    """
    for k in range(starts.shape[0]):
        # Every q-gram takes a place of its own, so one more than the edits touch is enough.
        low, high = allowed[k] + 1, qgram * allowed[k] + 1
        if high > sizes[k]:
            prefixes[k] = 0
            continue
        while low < high:
            middle = (low + high) >> 1
            for i in range(middle):
                scratch[i] = places[starts[k] + i]
            sort_range(scratch, 0, middle)
            n_edits, free_from = np.int64(0), np.int64(0)
            for i in range(middle):
                # Put each edit as far right as it still touches the first q-gram left.
                if scratch[i] >= free_from:
                    n_edits += 1
                    free_from = np.int64(scratch[i]) + qgram
            if n_edits > allowed[k]:
                high = middle
            else:
                low = middle + 1
        prefixes[k] = low


@inlined
def _count_between(index: Postings, first_key: Int, last_key: Int, lowest: Int, x: Int) -> Int:
    """Count postings of strings [lowest, x) under keys [first_key, last_key)."""
    n_postings = np.int64(0)
    for key in range(first_key, last_key):
        end = index.starts[key + 1]
        k = first_at_least(index.records, index.starts[key], end, lowest)
        n_postings += first_at_least(index.records, k, end, x) - k
    return n_postings


@kernel
def drop_long_lookups(
    first_partner: ConstInt64s, grams: Grams, groups: RecordGroups, index: Postings
) -> None:
    """Clear ``probing[x]`` if lookups would read too many postings.

    The limit is the number of strings of fitting length in x's groups. A string costs about as much
    as a posting: with a quarter or four times as many strings as the limit, joins of 10,000 names
    took 3 to 31 % longer (4 and 8 edits).
    """
    for x in range(first_partner.shape[0]):
        first, last = np.int64(groups.first[x]), np.int64(groups.last[x])
        lowest = first_partner[x]
        of_all = grams.n_tokens * groups.n_groups
        n_strings = _count_between(index, of_all + first, of_all + last, lowest, x)
        # Mostly there are so few postings that their strings do not matter.
        prefix = range(grams.starts[x], grams.starts[x] + grams.probing[x])
        n_postings = np.int64(0)
        for i in prefix:
            key = np.int64(grams.tokens[i]) * groups.n_groups
            n_postings += index.starts[key + last] - index.starts[key + first]
        if n_postings <= n_strings:
            continue
        n_postings = np.int64(0)
        for i in prefix:
            key = np.int64(grams.tokens[i]) * groups.n_groups
            n_postings += _count_between(index, key + first, key + last, lowest, x)
        if n_postings > n_strings:
            grams.probing[x] = 0


@kernel
def probe_strings(
    start: int,
    stop: int,
    algorithm: int,
    strings: Strings,
    grams: Grams,
    groups: RecordGroups,
    index: Postings,
    rests: ConstInt32s,
    last_seen: Int32s,
    left: Int32s,
    right: Int32s,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Find candidates of strings among the strings before each.

    The places of the index are positions in strings, ``rests`` the remaining length from there.
    ``last_seen`` (n, all -1 at first) is private to a worker.

    Returns the first string not probed, which is below ``stop`` if the next one's candidates might
    not fit into ``left`` (y) and ``right`` (x), and the number of candidates.
    """
    lengths, parities, probing = strings.lengths, strings.parities, grams.probing
    n_pairs = np.int64(0)
    room = left.shape[0]
    for x in range(start, stop):
        before = n_pairs
        hits, after_length = np.int64(0), np.int64(0)
        after_position, after_parity = np.int64(0), np.int64(0)
        after_suffix, verified = np.int64(0), np.int64(0)
        x_length, most = lengths[x], strings.allowed[x]
        x_start, x_stop = grams.starts[x], grams.starts[x] + grams.sizes[x]
        # So many q-grams no edit touches, so that they are in both.
        untouched = grams.sizes[x] - grams.qgram * most
        is_halved = probing[x] > 0 and untouched > 0
        for i in range(x_start, x_start + max(probing[x], 1)):
            token, place = np.int64(grams.n_tokens), np.int64(0)
            if probing[x] > 0:
                token, place = np.int64(grams.tokens[i]), np.int64(grams.places[i])
            rest = x_length - place
            first_key = token * groups.n_groups
            for key in range(first_key + groups.first[x], first_key + groups.last[x]):
                end = index.starts[key + 1]
                k = first_at_least(index.records, index.starts[key], end, strings.first_partner[x])
                hits += end - index.starts[key]
                while k < end and index.records[k] < x:
                    y = np.int64(index.records[k])
                    # Edits before and after the common token.
                    apart = abs(place - index.places[k]) + abs(rest - rests[k])
                    k += 1
                    after_length += 1
                    if last_seen[y] == x or (algorithm != ALL_PAIRS and apart > most):
                        continue
                    last_seen[y] = x
                    after_position += 1
                    y_start, y_stop = grams.starts[y], grams.starts[y] + grams.sizes[y]
                    if algorithm == PPJOIN_PLUS:
                        if not _may_be_within(parities, x, y, most, x_length - lengths[y]):
                            continue
                        after_parity += 1
                        # The token that all strings start with gives no information on the q-grams
                        # after it.
                        if is_halved:
                            limit = grams.sizes[x] + grams.sizes[y] - 2 * untouched - (i - x_start)
                            if _differ(grams.tokens, i, x_stop, token, y_start, y_stop, limit):
                                continue
                        after_suffix += 1
                    if untouched > 0 and untouched > count_common(
                        grams.tokens, x_start, x_stop, y_start, y_stop, untouched
                    ):
                        continue
                    verified += 1
                    if n_pairs < room:
                        left[n_pairs], right[n_pairs] = y, x
                    n_pairs += 1
        if n_pairs > room:
            # The caller will probe x again, with more room.
            for m in range(last_seen.shape[0]):
                if last_seen[m] == x:
                    last_seen[m] = -1
            return x, before
        counts[HITS] += hits
        counts[AFTER_LENGTH] += after_length
        counts[AFTER_POSITION] += after_position
        counts[AFTER_PARITY] += after_parity
        counts[AFTER_SUFFIX] += after_suffix
        counts[VERIFIED] += verified
    return stop, n_pairs
