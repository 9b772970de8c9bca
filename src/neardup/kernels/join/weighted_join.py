"""Join weighted sets exactly by prefixes of weights.

The join is ``kernels.join.set_join_kernels`` with sums of weights in place of counts: records are
sorted by their total weight, each a sorted run of token ranks, the rarest token first. Tokens of a
single record are left out of the runs, and a token's weight is capped at its second largest weight
in any record, because no two records share more.

Filters compare floating-point sums with bounds lowered by ``MARGIN``, far more than the error of
these sums, so that no pair at the threshold is lost; integers decide the remaining pairs.

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
    Floats,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.common.bits import MARGIN, compare_products
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.join.overlap import Threshold, WideMatches
from neardup.kernels.join.postings import Postings, RecordGroups

# Indices of the counts, in the order of the filters.
HITS, AFTER_WEIGHT, AFTER_POSITION, VERIFIED, RESULTS = 0, 1, 2, 3, 4
N_COUNTS = 5

_PRUNED = np.int64(-1)

# Steps of the merge between two looks whether the threshold is out of reach.
_STEPS = 8


class WeightedRecords(NamedTuple):
    """Records by total weight, and their ranges of partners.

    Record x weighs ``totals[x]``. Its run of ``lengths[x]`` tokens is at ``starts[x]`` in
    ``tokens``; token k of all runs weighs ``sums[k + 1] - sums[k]``. It looks up the first
    ``probing[x]`` and is indexed under the first ``indexing[x]``. Its partners lie between
    ``first_partner[x]`` and x itself.
    """

    tokens: ConstInt32s
    sums: ConstInt64s
    starts: ConstInt64s
    lengths: ConstInt64s
    totals: ConstInt64s
    probing: ConstInt64s
    indexing: ConstInt64s
    first_partner: ConstInt64s


class SeenPartners(NamedTuple):
    """Common weights with n partners, zeroed between two records.

    ``common`` is the common weight so far, -1 for a partner that is ruled out. The tokens after
    ``own_next`` and ``partner_next`` are not compared yet. ``touched`` lists the partners.
    """

    common: Int64s
    own_next: Int32s
    partner_next: Int32s
    touched: Int32s


@kernel
def keep_shared(numbers: ConstInt32s, frequencies: ConstInt64s, weights: Int64s) -> int:
    """Move repeated numbers' weights to the front and count them."""
    n_left = 0
    for k in range(numbers.shape[0]):
        if frequencies[numbers[k]] > 1:
            weights[n_left] = weights[k]
            n_left += 1
    return n_left


@kernel
def order_weights(
    weights: ConstInt64s,
    places: ConstInt32s,
    starts: ConstInt64s,
    lengths: ConstInt64s,
    ordered: Int64s,
) -> None:
    """Sort each run's weights in the order of its tokens.

    ``places`` has the former places of the tokens. The runs are adjacent.
    """
    for x in range(starts.shape[0]):
        for k in range(starts[x], starts[x] + lengths[x]):
            ordered[k] = weights[starts[x] + places[k]]


@kernel
def cap_weights(tokens: ConstInt32s, heaviest: Int64s, second: Int64s, weights: Int64s) -> None:
    """Lower each token's weights to the second heaviest, with copies.

    No token is in a run twice. ``heaviest`` and ``second`` (n_tokens, zero) are scratch.
    """
    for k in range(tokens.shape[0]):
        token, weight = tokens[k], weights[k]
        if weight > heaviest[token]:
            second[token] = heaviest[token]
            heaviest[token] = weight
        elif weight > second[token]:
            second[token] = weight
    for k in range(tokens.shape[0]):
        weights[k] = min(weights[k], second[tokens[k]])


@kernel
def weight_prefixes(
    starts: ConstInt64s, lengths: ConstInt64s, sums: ConstInt64s, needed: Floats, prefixes: Int64s
) -> None:
    """Compute prefixes after which runs weigh less than needed."""
    for x in range(starts.shape[0]):
        first, place = starts[x], starts[x] + lengths[x]
        end = sums[place]
        while place > first and np.float64(end - sums[place - 1]) < needed[x]:
            place -= 1
        prefixes[x] = place - first


@inlined
def _common_rest(
    tokens: ConstInt32s, sums: ConstInt64s, x: Int, x_stop: Int, y: Int, y_stop: Int, needed: float
) -> np.int64:
    """Sum two runs' common weights while ``needed`` stays within reach."""
    common = np.int64(0)
    while x < x_stop and y < y_stop:
        if np.float64(common + min(sums[x_stop] - sums[x], sums[y_stop] - sums[y])) < needed:
            return common
        for _ in range(min(np.int64(_STEPS), x_stop - x, y_stop - y)):
            a, b = tokens[x], tokens[y]
            if a == b:
                common += min(sums[x + 1] - sums[x], sums[y + 1] - sums[y])
            x += np.int64(a <= b)
            y += np.int64(b <= a)
    return common


@kernel
def probe_weighted(
    start: int,
    stop: int,
    threshold: Threshold,
    records: WeightedRecords,
    groups: RecordGroups,
    index: Postings,
    seen: SeenPartners,
    matches: WideMatches,
    counts: Int64s,
) -> tuple[Int, Int]:
    """Find the partners of at most equal weight of records.

    In a match the right record has looked up the left one.

    Returns the first record not probed, which is below ``stop`` if the next one's partners might
    not fit into the output, and the number of pairs.
    """
    _, p, q = threshold
    tokens, sums, starts, lengths, totals, probing, indexing, first_partner = records
    left, right, common_weights = matches
    common, own_next, partner_next, touched = seen
    # c / (x + y - c) >= p / q  <=>  c >= (x + y) * p / (p + q)
    share = np.float64(p) / np.float64(p + q) * MARGIN
    n_pairs = np.int64(0)
    for x in range(start, stop):
        x_start, x_stop = starts[x], starts[x] + lengths[x]
        n_touched, hits, after_weight = np.int64(0), np.int64(0), np.int64(0)
        after_position, verified = np.int64(0), np.int64(0)
        for x_at in range(x_start, x_start + probing[x]):
            x_weight, x_rest = sums[x_at + 1] - sums[x_at], sums[x_stop] - sums[x_at + 1]
            first_key = np.int64(tokens[x_at]) * groups.n_groups
            for key in range(first_key + groups.first[x], first_key + groups.last[x]):
                end = index.starts[key + 1]
                k = first_at_least(index.records, index.starts[key], end, first_partner[x])
                hits += end - index.starts[key]
                while k < end and index.records[k] < x:
                    y = np.int64(index.records[k])
                    y_at = starts[y] + index.places[k]
                    k += 1
                    after_weight += 1
                    before = common[y]
                    if before == _PRUNED:
                        continue
                    if before == 0:
                        touched[n_touched] = y
                        n_touched += 1
                    weight = before + min(x_weight, sums[y_at + 1] - sums[y_at])
                    y_rest = sums[starts[y] + lengths[y]] - sums[y_at + 1]
                    needed = np.float64(totals[x] + totals[y]) * share
                    if np.float64(weight + min(x_rest, y_rest)) < needed:
                        common[y] = _PRUNED
                        continue
                    after_position += 1
                    common[y] = weight
                    own_next[y] = x_at + 1 - x_start
                    partner_next[y] = y_at + 1 - starts[y]
        if n_pairs + n_touched > left.shape[0]:
            for m in range(n_touched):
                common[touched[m]] = 0
            return x, n_pairs
        for m in range(n_touched):
            y = np.int64(touched[m])
            weight = common[y]
            common[y] = 0
            if weight <= 0:
                continue
            verified += 1
            # All common tokens of the prefix that ends first have been counted.
            x_from, y_from = x_start + own_next[y], starts[y] + partner_next[y]
            x_behind, y_behind = x_start + probing[x], starts[y] + indexing[y]
            if tokens[x_behind - 1] < tokens[y_behind - 1]:
                x_from = max(x_from, x_behind)
            else:
                y_from = max(y_from, y_behind)
            both = totals[x] + totals[y]
            needed = np.float64(both) * share - np.float64(weight)
            y_stop = starts[y] + lengths[y]
            weight += _common_rest(tokens, sums, x_from, x_stop, y_from, y_stop, needed)
            if compare_products(weight, p + q, both, p) >= 0:
                right[n_pairs] = x
                left[n_pairs] = y
                common_weights[n_pairs] = weight
                n_pairs += 1
        counts[HITS] += hits
        counts[AFTER_WEIGHT] += after_weight
        counts[AFTER_POSITION] += after_position
        counts[VERIFIED] += verified
    return stop, n_pairs
