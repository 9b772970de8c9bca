"""Exact set joins by All-Pairs, PPJoin and PPJoin+.

Records are sorted by size, each a sorted run of token ranks, the rarest token first. Tokens of a
single record would come first and never match, so they are left out of the runs. A record is
indexed under the tokens of its indexing prefix. After the index is complete, each record looks up
its partners with the tokens of its probing prefix. In a symmetric measure a record looks among
earlier records only, so that each pair occurs once. With two collections a record looks in the
other collection. Blocks of records can be probed at the same time.

Parities are bits that bound the difference of two records from below. A token turns one of a
record's bits, its rank modulo their number. If two records differ in a bit, a token of only one
record has turned it. Each differing bit has its own token. The number of differing bits is
therefore a lower bound on the number of differing tokens (``kernels.common.bits``). Tokens of
adjacent ranks turn different bits. That spreads them better than chance.

References
----------
Bayardo, Ma, Srikant (2007), Scaling up all pairs similarity search.
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int32s,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.bits import count_ones, turn_bit
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.join.overlap import NarrowMatches, Threshold, required_overlap
from neardup.kernels.join.postings import (
    PPJOIN,
    PPJOIN_PLUS,
    Postings,
    RecordGroups,
    count_common,
    suffix_distance,
)

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


class ParityRows(NamedTuple):
    """Parities of records, in ``n_words`` words each.

    ``n_words`` is a power of two, or 0 for no parities. ``firsts`` has two words per record, its
    size and length, and the first word of its parities. These are read for all partners; ``others``
    has the remaining words, which are read seldom, so that the frequent reads stay in a cache.
    """

    firsts: ConstUint64s
    others: ConstUint64s
    n_words: int


@kernel
def fill_parity_rows(
    tokens: ConstInt32s,
    starts: ConstInt64s,
    lengths: ConstInt64s,
    sizes: ConstInt64s,
    n_words: int,
    firsts: Uint64s,
    others: Uint64s,
) -> None:
    """Fill the parity rows of records from their token runs."""
    words = np.zeros(n_words, np.uint64)
    for r in range(starts.shape[0]):
        for i in range(starts[r], starts[r] + lengths[r]):
            token = np.uint64(tokens[i])
            word = token >> np.uint64(6) & np.uint64(n_words - 1)
            words[word] = turn_bit(words[word], token)
        firsts[2 * r] = np.uint64(sizes[r]) << _32 | np.uint64(lengths[r])
        firsts[2 * r + 1] = words[0]
        words[0] = 0
        for k in range(1, n_words):
            others[r * (n_words - 1) + k - 1] = words[k]
            words[k] = 0


@inlined
def read_sizes(parities: ParityRows, record: Int) -> tuple[Int, Int]:
    """Return the size and the length of a record."""
    word = parities.firsts[np.uint64(2 * record)]
    return np.int64(word >> _32), np.int64(word & _LOW32)


@inlined
def first_distance(parities: ParityRows, x: Int, y: Int) -> Int:
    """Bound the difference of two records by their first words."""
    firsts = parities.firsts
    return count_ones(firsts[np.uint64(2 * x + 1)] ^ firsts[np.uint64(2 * y + 1)])


@inlined
def other_distance(parities: ParityRows, x: Int, y: Int, limit: Int) -> Int:
    """Bound the further difference by other words, loosely above ``limit``."""
    others, n_others = parities.others, parities.n_words - 1
    distance, word = np.int64(0), np.int64(0)
    while word < n_others and distance <= limit:
        x_word, y_word = others[x * n_others + word], others[y * n_others + word]
        distance += count_ones(x_word ^ y_word)
        word += 1
    return distance


# Indices of the counts, in the order of the filters.
HITS, AFTER_SIZE, AFTER_PARITY, AFTER_POSITION, AFTER_SUFFIX, VERIFIED, RESULTS = range(7)
N_COUNTS = 7

_PRUNED = np.int32(-1)

# Number of partner sizes with a cached required overlap, which saves a division.
_REMEMBERED = 1024


class SizedRecords(NamedTuple):
    """Records by size, and their ranges of partners.

    Record x has ``sizes[x]`` tokens; the ``lengths[x]`` tokens that another record has too are at
    ``starts[x]`` in ``tokens``, and prefixes count these tokens. It looks up the first
    ``probing[x]`` and is indexed under the first ``indexing[x]``. Its partners lie in
    ``first_partner[x]`` to ``last_partner[x]``, exclusive.
    """

    tokens: ConstInt32s
    starts: ConstInt64s
    sizes: ConstInt64s
    lengths: ConstInt64s
    probing: ConstInt64s
    indexing: ConstInt64s
    first_partner: ConstInt64s
    last_partner: ConstInt64s


class PostingRun(NamedTuple):
    """Postings ``k`` to ``end``, exclusive, of x's token at ``i``."""

    x: Int
    i: Int
    k: Int
    end: Int


class SeenRecords(NamedTuple):
    """Shared tokens per partner of a record, or ``_PRUNED``.

    ``touched`` lists the records with nonzero ``shared``.
    """

    shared: Int32s
    touched: Int32s


@kernel
def prefix_lengths(
    sizes: ConstInt64s, threshold: Threshold, least: Int64s, probing: Int64s, indexing: Int64s
) -> None:
    """Compute least partner sizes and prefix lengths per size.

    ``least[k]`` is the least size of a partner that is not larger. A partner shares at least one of
    ``probing[k]`` tokens, and one of ``indexing[k]`` if it is not smaller. A set without any
    possible partner has prefixes of length 0. This is for measures that bound the sizes of both
    sets.
    """
    measure, p, q = threshold
    for k in range(sizes.shape[0]):
        n = sizes[k]
        if k > 0 and sizes[k - 1] == n:
            least[k], probing[k], indexing[k] = least[k - 1], probing[k - 1], indexing[k - 1]
            continue
        if required_overlap(measure, n, n, p, q) > n:
            least[k], probing[k], indexing[k] = n + 1, 0, 0
            continue
        # The least y whose required overlap still fits into it; that grows slower than y.
        low, high = np.int64(1), n
        while low < high:
            middle = (low + high) >> 1
            if required_overlap(measure, n, middle, p, q) <= middle:
                high = middle
            else:
                low = middle + 1
        least[k] = low
        probing[k] = n - required_overlap(measure, n, low, p, q) + 1
        indexing[k] = n - required_overlap(measure, n, n, p, q) + 1


@inlined
def _required(memo: Int64s, measure: Int, x_size: Int, y_size: Int, p: Int, q: Int) -> Int:
    """Return the cached required overlap of two sizes."""
    slot = y_size & (_REMEMBERED - 1)
    sizes = x_size << 32 | y_size
    if memo[slot] != sizes:
        memo[slot] = sizes
        memo[slot + _REMEMBERED] = required_overlap(measure, x_size, y_size, p, q)
    return np.int64(memo[slot + _REMEMBERED])


@inlined
def _count_token(
    read: PostingRun,
    algorithm: Int,
    threshold: Threshold,
    records: SizedRecords,
    index: Postings,
    memo: Int64s,
    seen: SeenRecords,
    n_touched: Int,
    counted: Int64s,
) -> Int:
    """Count another common token for the partners in postings.

    Returns how many are touched now.
    """
    measure, p, q = threshold
    x, i, k, end = read
    shared, touched = seen
    sizes, lengths, last_partner = records.sizes, records.lengths, records.last_partner[x]
    after_size, after_position = np.int64(0), np.int64(0)
    y_size: Int = -1
    required: Int = 0
    while k < end and index.records[k] < last_partner:
        y = np.int64(index.records[k])
        place = np.int64(index.places[k])
        k += 1
        if y == x:
            continue
        after_size += 1
        n_shared = shared[y]
        if n_shared == _PRUNED:
            continue
        if n_shared == 0:
            touched[n_touched] = y
            n_touched += 1
        if algorithm == PPJOIN:
            # Postings are in order of size, so the bound for one size serves many of them.
            if sizes[y] != y_size:
                y_size = sizes[y]
                required = _required(memo, measure, sizes[x], y_size, p, q)
            if n_shared + min(lengths[x] - i, lengths[y] - place) < required:
                shared[y] = _PRUNED
                continue
            after_position += 1
        shared[y] = n_shared + 1
    counted[AFTER_SIZE] += after_size
    counted[AFTER_POSITION] += after_position
    counted[AFTER_SUFFIX] += after_position
    return n_touched


@inlined
def _count_token_filtered(
    read: PostingRun,
    threshold: Threshold,
    records: SizedRecords,
    index: Postings,
    parities: ParityRows,
    memo: Int64s,
    seen: SeenRecords,
    n_touched: Int,
    counted: Int64s,
) -> Int:
    """Count another common token for partners that may be similar.

    As ``_count_token``. A partner is judged on its first posting: mostly its parities rule it out,
    so that nothing else of it is read.
    """
    measure, p, q = threshold
    x, i, first, end = read
    shared, touched = seen
    tokens, starts = records.tokens, records.starts
    x_size, x_length = records.sizes[x], records.lengths[x]
    end = first_at_least(index.records, first, end, records.last_partner[x])
    counted[AFTER_SIZE] += end - first
    for k in range(first, end):
        y = np.int64(index.records[np.uint64(k)])
        if y == x:
            counted[AFTER_SIZE] -= 1
            continue
        n_shared = shared[np.uint64(y)]
        if n_shared != 0:
            shared[np.uint64(y)] = n_shared + np.int32(n_shared > 0)
            continue
        y_size, y_length = read_sizes(parities, y)
        required = _required(memo, measure, x_size, y_size, p, q)
        limit = x_length + y_length - 2 * required
        distance = first_distance(parities, x, y)
        if distance > limit:
            continue
        touched[n_touched] = y
        n_touched += 1
        shared[y] = _PRUNED
        if distance + other_distance(parities, x, y, limit - distance) > limit:
            continue
        counted[AFTER_PARITY] += 1
        place = np.int64(index.places[k])
        if min(x_length - i, y_length - place) < required:
            continue
        counted[AFTER_POSITION] += 1
        # Where records may differ in more tokens than they have bits.
        if limit >= 64 * parities.n_words:
            limit -= i + place
            x_from, y_from = starts[x] + i + 1, starts[y] + place + 1
            x_stop, y_stop = starts[x] + x_length, starts[y] + y_length
            if suffix_distance(tokens, x_from, x_stop, y_from, y_stop, limit) > limit:
                continue
        counted[AFTER_SUFFIX] += 1
        shared[y] = 1
    return n_touched


@kernel
def probe_records(
    start: int,
    stop: int,
    algorithm: int,
    threshold: Threshold,
    records: SizedRecords,
    groups: RecordGroups,
    index: Postings,
    parities: ParityRows,
    shared: Int32s,
    touched: Int32s,
    matches: NarrowMatches,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Find the partners of records ``start`` to ``stop``.

    ``shared`` (n, all zero, and zero again afterwards) and ``touched`` (n) are private to a worker.
    In a match the right record has looked up the left one.

    Returns the first record not probed, which is below ``stop`` if the next one's partners might
    not fit into the output, and the number of pairs.
    """
    measure, p, q = threshold
    tokens, starts, sizes, lengths, probing, indexing, _, _ = records
    left, right, overlaps = matches
    memo = np.zeros(2 * _REMEMBERED, np.int64)
    seen = SeenRecords(shared, touched)
    counted = np.zeros(N_COUNTS, np.int64)
    n_pairs = np.int64(0)
    for x in range(start, stop):
        x_start, x_stop = starts[x], starts[x] + lengths[x]
        n_touched: Int = np.int64(0)
        counted[:] = 0
        for i in range(probing[x]):
            first_key = np.int64(tokens[x_start + i]) * groups.n_groups
            for key in range(first_key + groups.first[x], first_key + groups.last[x]):
                end = index.starts[key + 1]
                counted[HITS] += end - index.starts[key]
                k = first_at_least(index.records, index.starts[key], end, records.first_partner[x])
                read = PostingRun(x, i, k, end)
                if algorithm == PPJOIN_PLUS:
                    n_touched = _count_token_filtered(
                        read,
                        threshold,
                        records,
                        index,
                        parities,
                        memo,
                        seen,
                        n_touched,
                        counted,
                    )
                else:
                    n_touched = _count_token(
                        read, algorithm, threshold, records, index, memo, seen, n_touched, counted
                    )
        if n_pairs + n_touched > left.shape[0]:
            for m in range(n_touched):
                shared[touched[m]] = 0
            return x, n_pairs
        for m in range(n_touched):
            y = np.int64(touched[m])
            overlap = np.int64(shared[y])
            shared[y] = 0
            if overlap <= 0:
                continue
            counted[VERIFIED] += 1
            y_start = starts[y]
            required = _required(memo, measure, sizes[x], sizes[y], p, q)
            # After the prefix that ends first, all common tokens are still to be counted; as many
            # tokens of the other record as have been counted lie before them.
            x_prefix, y_prefix = probing[x], indexing[y]
            if tokens[x_start + x_prefix - 1] < tokens[y_start + y_prefix - 1]:
                x_from, y_from = x_start + x_prefix, y_start + overlap
            else:
                x_from, y_from = x_start + overlap, y_start + y_prefix
            overlap += count_common(
                tokens, x_from, x_stop, y_from, y_start + lengths[y], required - overlap
            )
            if overlap >= required:
                right[n_pairs] = x
                left[n_pairs] = y
                overlaps[n_pairs] = overlap
                n_pairs += 1
        counts += counted
    return stop, n_pairs
