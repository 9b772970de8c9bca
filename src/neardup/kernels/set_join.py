"""Exact similarity joins of sets: All-Pairs, PPJoin and PPJoin+ over one inverted index.

Records are sorted by size, each a sorted run of token ranks, the rarest token first. Tokens that
only one record has come first of all and never match, so they are left out of the runs. A record is
indexed under the tokens of its indexing prefix and looks partners up with those of its probing
prefix, once all are indexed: for symmetric measures among the records before it, so that every
pair comes up once, and of two collections among those of the other one. Blocks of records can be
probed at the same time.

References
----------
Bayardo, Ma, Srikant (2007), Scaling up all pairs similarity search.
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.overlap import Matches, Threshold, required_overlap
from neardup.kernels.postings import Groups, Postings, count_common, first_at_least
from neardup.kernels.types import ConstInt32s, ConstInt64s, Int, Int32s, Int64s

ALL_PAIRS, PPJOIN, PPJOIN_PLUS = 0, 1, 2

# What is counted, in the order of the filters.
HITS, AFTER_SIZE, AFTER_POSITION, AFTER_SUFFIX, VERIFIED, RESULTS = 0, 1, 2, 3, 4, 5
N_COUNTS = 6

_PRUNED = np.int32(-1)


class Records(NamedTuple):
    """Records by size, and how far each looks for partners.

    Record x has ``sizes[x]`` tokens; the ``lengths[x]`` of them that another record has too are at
    ``starts[x]`` in ``tokens``, and prefixes are counted in those. It looks up the first
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


@kernel
def prefix_lengths(
    sizes: ConstInt64s, threshold: Threshold, least: Int64s, probing: Int64s, indexing: Int64s
) -> None:
    """Work out least partner sizes and prefix lengths for sets of ascending sizes.

    ``least[k]`` is the least size of a partner that is no larger, ``probing[k]`` the tokens of
    which a partner shares at least one, ``indexing[k]`` the same for partners that are no smaller.
    A set that can have no partner at all has prefixes of length 0. For measures that bound the
    sizes of both sets by each other.
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
def _difference(a: Int, b: Int) -> np.int64:
    return np.int64(max(a, b)) - np.int64(min(a, b))


@helper
def _size_difference(
    tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int
) -> Int:
    """Bound the difference of two sorted runs by their sizes alone."""
    return _difference(x_stop - x, y_stop - y)


def _suffix_bound(deeper: Callable[..., Int]) -> Callable[..., Int]:
    """Make one level of the suffix filter, which bounds each half by the ``deeper`` level."""

    @helper
    def bound(tokens: ConstInt32s, x: Int, x_stop: Int, y: Int, y_stop: Int, limit: Int) -> Int:
        """Bound from below the number of tokens that are in one of two sorted runs only.

        More than ``limit`` means that the runs differ in more than ``limit`` tokens. The median of
        y halves both runs; where it falls in x can be bounded, and tokens of different halves
        never match. Algorithm 3 of the paper, with the bounds and empty runs that it leaves out.
        """
        x_size, y_size = x_stop - x, y_stop - y
        difference = _difference(x_size, y_size)
        if x_size == 0 or y_size == 0 or difference > limit:
            return difference
        half = y_size >> 1
        token = tokens[y + half]
        spread = (limit - difference) >> 1
        low, high = x + half - spread, x + half + spread
        if x_size < y_size:
            low -= difference
        else:
            high += difference
        # Outside these bounds the halves' sizes alone differ by more than the limit.
        if low >= x and tokens[low] > token:
            return limit + 1
        if high < x_stop and tokens[high] < token:
            return limit + 1
        cut = first_at_least(tokens, max(low, x), min(high, x_stop), token)
        found = cut < x_stop and tokens[cut] == token
        right = cut + np.int64(found)
        missing = np.int64(not found)
        right_difference = _difference(x_stop - right, y_size - half - 1)
        distance = _difference(cut - x, half) + right_difference + missing
        if distance > limit:
            return distance
        left = np.int64(deeper(tokens, x, cut, y, y + half, limit - right_difference - missing))
        distance = left + right_difference + missing
        if distance > limit:
            return distance
        rest = limit - left - missing
        return left + missing + np.int64(deeper(tokens, right, x_stop, y + half + 1, y_stop, rest))

    return bound


# Two levels of halving (MAXDEPTH of the paper's section 5.1); Numba has no cached recursion.
suffix_distance = _suffix_bound(_suffix_bound(_size_difference))


@kernel
def probe_records(
    start: int,
    stop: int,
    algorithm: int,
    threshold: Threshold,
    records: Records,
    groups: Groups,
    index: Postings,
    shared: Int32s,
    touched: Int32s,
    matches: Matches,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Find the partners of records ``start`` to ``stop``.

    ``shared`` (n, all zero, and zero again afterwards) and ``touched`` (n) are this worker's own.
    Of a match the right one is the record that looked, the left one its partner.

    Returns the first record not probed, which is below ``stop`` if the next one's partners might
    not fit into the output, and the number of pairs.
    """
    measure, p, q = threshold
    tokens, starts, sizes, lengths, probing, indexing, first_partner, last_partner = records
    left, right, overlaps = matches
    n_pairs = np.int64(0)
    for x in range(start, stop):
        x_size, x_start, x_stop = sizes[x], starts[x], starts[x] + lengths[x]
        n_touched = np.int64(0)
        hits, after_size, verified = np.int64(0), np.int64(0), np.int64(0)
        after_position, after_suffix = np.int64(0), np.int64(0)
        # Postings are in order of size, so the bound for one size serves many of them.
        y_size = np.int64(-1)
        required: Int = 0
        for i in range(probing[x]):
            first_key = np.int64(tokens[x_start + i]) * groups.n_groups
            for key in range(first_key + groups.first[x], first_key + groups.last[x]):
                end = index.starts[key + 1]
                k = first_at_least(index.records, index.starts[key], end, first_partner[x])
                hits += end - index.starts[key]
                while k < end and index.records[k] < last_partner[x]:
                    y = np.int64(index.records[k])
                    place = np.int64(index.places[k])
                    k += 1
                    if y == x:
                        continue
                    after_size += 1
                    seen = shared[y]
                    if seen == _PRUNED:
                        continue
                    if seen == 0:
                        touched[n_touched] = y
                        n_touched += 1
                    if algorithm != ALL_PAIRS:
                        if sizes[y] != y_size:
                            y_size = sizes[y]
                            required = required_overlap(measure, x_size, y_size, p, q)
                        if seen + min(lengths[x] - i, lengths[y] - place) < required:
                            shared[y] = _PRUNED
                            continue
                        after_position += 1
                        if algorithm == PPJOIN_PLUS and seen == 0:
                            limit = lengths[x] + lengths[y] - 2 * required - (i + place)
                            distance = suffix_distance(
                                tokens,
                                x_start + i + 1,
                                x_stop,
                                starts[y] + place + 1,
                                starts[y] + lengths[y],
                                limit,
                            )
                            if distance > limit:
                                shared[y] = _PRUNED
                                continue
                        after_suffix += 1
                    shared[y] = seen + 1
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
            verified += 1
            y_start = starts[y]
            if sizes[y] != y_size:
                y_size = sizes[y]
                required = required_overlap(measure, x_size, y_size, p, q)
            # Behind the prefix that ends first, all common tokens are still to be counted; they
            # lie behind as many tokens of the other record as have been counted.
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
        counts[HITS] += hits
        counts[AFTER_SIZE] += after_size
        counts[AFTER_POSITION] += after_position
        counts[AFTER_SUFFIX] += after_suffix
        counts[VERIFIED] += verified
    return stop, n_pairs
