"""Find segment buckets with enough of a query's tokens.

A similar passage shares the more of the query's weight, the more it weighs itself. The query's
tokens that a passage lacks weigh at most the rest of the query. So the passage has one of the
rarest tokens, if together they weigh more than the rest, and a greater share of a larger set of
rare tokens. Lists of places are read from the shortest on, until few enough places are left; lists
of frequent tokens, with most of the places, are seldom read.

Places are counted in buckets of a few tokens, one block at a time, and counts within reach of a
bucket are added up. The reach of passages depends on their weight, and on the text: it is further
in repetitive text. Passages have a least number of tokens: if these weigh more than the lightest
passages, more must be shared. If enough is within reach, the longer lists are entered too, one by
one.

Queries are parts of one list of tokens, weighed and hashed here. They may overlap, as the windows
of a long text do: their tokens are numbered once, for all.

References
----------
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, sections 2.2
and 3.1, for sizes and prefixes of sets; here a set is any sub-text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.arrays import (
    Bools,
    ConstFloats,
    ConstInt32s,
    ConstInt64Rows,
    ConstInt64s,
    ConstUint64s,
    Floats,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
    Uint16s,
    Uint64Rows,
)
from neardup.kernels.common.hashing import ln, mix64
from neardup.kernels.common.ordering import first_at_least, order_of
from neardup.kernels.passage.segment_kernels import Limits, SegmentTexts
from neardup.kernels.passage.window_kernels import occurrence_hash
from neardup.kernels.sketch.weighted_minhash import scaled_weight, weighted_minimum

_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


class QueryTokens(NamedTuple):
    """Queries ``numbers[starts[k] : stops[k]]`` of at most ``longest`` tokens.

    Distinct tokens have numbers, ``hashes`` and inverse document frequencies ``inverses``; a token
    that a query has f times weighs ``term_weights[f]`` times the latter.
    """

    numbers: ConstInt32s
    starts: ConstInt64s
    stops: ConstInt64s
    hashes: ConstUint64s
    inverses: ConstFloats
    term_weights: ConstFloats
    longest: int


@helper
def count_tokens(
    numbers: ConstInt32s, start: Int, stop: Int, counts: Int32s, types: Int32s, copies: Int32s
) -> int:
    """Count a query's distinct tokens and their copies.

    ``counts``, one for each number, is zero, and zero again afterwards.
    """
    n = 0
    for i in range(start, stop):
        number = numbers[i]
        if counts[number] == 0:
            types[n] = number
            n += 1
        counts[number] += 1
    for t in range(n):
        copies[t] = counts[types[t]]
        counts[types[t]] = 0
    return n


@helper
def weigh_tokens(
    types: ConstInt32s,
    copies: ConstInt32s,
    n_types: Int,
    inverses: ConstFloats,
    term_weights: ConstFloats,
    weights: Int64s,
) -> int:
    """Compute a query's token weights and return their sum."""
    total = 0
    for t in range(n_types):
        weights[t] = scaled_weight(term_weights[copies[t]], inverses[types[t]])
        total += weights[t]
    return total


@kernel
def least_keys(
    wanted: QueryTokens,
    chosen: ConstInt64s,
    most_copies: int,
    seeds: ConstUint64s,
    keys: Uint64Rows,
    have_weight: Bools,
) -> None:
    """Write the least hash value's identity per query and seed.

    Row k of ``keys`` belongs to query ``chosen[k]``, and has no meaning where ``have_weight``
    becomes false, without tokens. At most ``most_copies`` copies of each token count.
    """
    numbers, hashes = wanted.numbers, wanted.hashes
    counts = np.zeros(hashes.shape[0], np.int32)
    longest = wanted.longest
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for k in range(keys.shape[0]):
        start, stop = wanted.starts[chosen[k]], wanted.stops[chosen[k]]
        n_types = count_tokens(numbers, start, stop, counts, types, copies)
        have_weight[k] = n_types > 0
        for s in range(seeds.shape[0]):
            seed, best = seeds[s], _LARGEST
            for t in range(n_types):
                mixed = mix64(hashes[types[t]] ^ seed)
                f = min(np.int64(copies[t]), np.int64(most_copies))
                for x in range(1, f + 1):
                    best = min(best, occurrence_hash(mixed, x))
            keys[k, s] = mix64(best)


@kernel
def weighted_keys(
    wanted: QueryTokens,
    chosen: ConstInt64s,
    seeds: ConstUint64s,
    keys: Uint64Rows,
    have_weight: Bools,
) -> None:
    """Write the weighted minimum's identity per query and seed.

    Row k of ``keys`` belongs to query ``chosen[k]``, and has no meaning where ``have_weight``
    becomes false, without tokens of positive weight.
    """
    numbers, hashes, inverses = wanted.numbers, wanted.hashes, wanted.inverses
    term_weights = wanted.term_weights
    counts = np.zeros(hashes.shape[0], np.int32)
    longest = wanted.longest
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    own_hashes, log_weights = np.empty(longest, np.uint64), np.empty(longest, np.float64)
    for k in range(keys.shape[0]):
        start, stop = wanted.starts[chosen[k]], wanted.stops[chosen[k]]
        n_types = count_tokens(numbers, start, stop, counts, types, copies)
        for t in range(n_types):
            own_hashes[t] = hashes[types[t]]
            weight = scaled_weight(term_weights[copies[t]], inverses[types[t]])
            log_weights[t] = ln(np.float64(weight)) if weight > 0 else -np.inf
        have_weight[k] = weighted_minimum(
            own_hashes[:n_types], log_weights[:n_types], seeds, keys[k]
        )


# Lists are read until the others together have less than this share of the needed weight.
_NOT_READ = 0.75

# Starts of a block, in buckets. Weights are counted in whole numbers, so small that the sums fit in
# 16 bits even if a bucket counts a list several times.
_SIZE, _WHOLE, _MOST_EXTRA = 1024, np.float64(60_000), np.float64(65_535)

# Runs of so many buckets with a further reach are checked before they are chosen.
_LONG_RUN = 8

# Rounding error of the share that passages have of a query's weight.
_SHARE = 1e-6


class Places(NamedTuple):
    """Ascending places of tokens in a segment.

    Entry e of the vocabulary is at ``places[starts[e] : starts[e + 1]]``.
    """

    starts: ConstInt64s
    places: ConstInt32s


class Reach(NamedTuple):
    """Bounds on the extent of passages up to some weight.

    From any start in a bucket of ``1 << bits`` tokens they extend at most over the next ``span``
    buckets. Rows of ``far`` are runs of buckets with a further extent: first bucket, end, and last
    bucket reached. ``weights`` has the least weight of passages that begin in each bucket.
    """

    bits: int
    span: int
    far: ConstInt64Rows
    weights: ConstFloats


@kernel
def list_places(tokens: ConstInt32s, starts: Int64s, places: Int32s) -> None:
    """List the places of each vocabulary entry.

    ``starts`` has one row more than there are entries, and is 0 at first.
    """
    n_entries = starts.shape[0] - 1
    for i in range(tokens.shape[0]):
        starts[tokens[i] + 1] += 1
    # Counts, held one row further on, become ends and then, filled backwards, starts.
    for e in range(n_entries):
        starts[e + 1] += starts[e]
    for i in range(tokens.shape[0] - 1, -1, -1):
        row = tokens[i] + 1
        starts[row] -= 1
        places[starts[row]] = i
    for e in range(n_entries):
        starts[e] = starts[e + 1]
    starts[n_entries] = tokens.shape[0]


@kernel
def find_least_weights(
    documents: SegmentTexts, n_least: int, bits: int, counts: Int32s, weights: Floats
) -> None:
    """Find least weights of sub-texts of ``n_least`` tokens by start.

    ``weights`` has a row per bucket of ``1 << bits`` tokens: the least over its starts, infinite
    without any. ``counts`` has 0 for each entry of the vocabulary, and is left so.
    """
    tokens, offsets = documents.tokens, documents.offsets
    once, again = documents.once, documents.again
    for bucket in range(weights.shape[0]):
        weights[bucket] = np.inf
    for d in range(offsets.shape[0] - 1):
        first, weight = offsets[d], np.int64(0)
        for last in range(offsets[d], offsets[d + 1]):
            token = tokens[last]
            weight += again[token] if counts[token] > 0 else once[token]
            counts[token] += 1
            if last + 1 - first < n_least:
                continue
            weights[first >> bits] = min(weights[first >> bits], np.float64(weight))
            token = tokens[first]
            counts[token] -= 1
            weight -= again[token] if counts[token] > 0 else once[token]
            first += 1
        for place in range(first, offsets[d + 1]):
            counts[tokens[place]] = 0


@kernel
def find_reaches(
    documents: SegmentTexts, budget: np.float64, bits: int, counts: Int32s, reaches: Int64s
) -> None:
    """Find the reach in buckets of sub-texts up to ``budget``.

    ``reaches`` has a row per bucket, the furthest over its starts. ``counts`` has 0 for each entry
    of the vocabulary, and is left so.
    """
    tokens, offsets = documents.tokens, documents.offsets
    once, again = documents.once, documents.again
    for bucket in range(reaches.shape[0]):
        reaches[bucket] = 0
    for d in range(offsets.shape[0] - 1):
        stop, weight = offsets[d], np.int64(0)
        for start in range(offsets[d], offsets[d + 1]):
            while stop < offsets[d + 1]:
                token = tokens[stop]
                more = again[token] if counts[token] > 0 else once[token]
                if stop > start and np.float64(weight + more) > budget:
                    break
                counts[token] += 1
                weight += more
                stop += 1
            bucket = start >> bits
            reaches[bucket] = max(reaches[bucket], ((stop - 1) >> bits) - bucket)
            token = tokens[start]
            counts[token] -= 1
            weight -= again[token] if counts[token] > 0 else once[token]


@helper
def _count_places(
    places: ConstInt32s,
    row: Int,
    stop: Int,
    amount: np.uint16,
    block: Int,
    bits: Int,
    counts: Uint16s,
) -> Int:
    """Add an amount to buckets with a list's places.

    Returns the first row after the first ``_SIZE`` buckets.
    """
    size, last, behind = counts.shape[0], np.int64(-1), row
    while row < stop:
        bucket = (np.int64(places[row]) >> bits) - block
        if bucket >= size:
            break
        if bucket != last:
            counts[bucket] += amount
            last = bucket
        row += 1
        if bucket < _SIZE:
            behind = row
    return behind


@helper
def _add_reached(counts: Uint16s, span: Int, sums: Uint16s) -> None:
    """Sum the counts within ``span`` buckets after each bucket."""
    for b in range(_SIZE):
        sums[b] = counts[b]
    for s in range(1, span + 1):
        for b in range(_SIZE):
            sums[b] += counts[b + s]
    for b in range(counts.shape[0]):
        counts[b] = 0


@helper
def _take_extra(
    weights: ConstFloats, block: Int, lightest: np.float64, scale: np.float64, sums: Uint16s
) -> None:
    """Subtract the additional share that passages above the lightest need."""
    for b in range(min(weights.shape[0] - block, np.int64(_SIZE))):
        extra = min((weights[block + b] - lightest) * scale, _MOST_EXTRA)
        sums[b] -= min(sums[b], np.uint16(max(extra, 0.0)))


@helper
def _count_list(
    places: ConstInt32s,
    row: Int,
    stop: Int,
    amount: np.uint16,
    block: Int,
    low: Int,
    high: Int,
    reach: Reach,
    sums: Uint16s,
) -> None:
    """Add an amount to buckets within reach of a list."""
    for i in range(row, stop):
        bucket = (np.int64(places[i]) >> reach.bits) - block
        if bucket > high + reach.span:
            break
        for b in range(max(bucket - reach.span, low), min(bucket, high) + 1):
            sums[b] += amount
        low = max(low, bucket + 1)


@helper
def _greatest(sums: Uint16s, low: Int, high: Int) -> Int:
    greatest = np.uint16(0)
    for b in range(low, high + 1):
        greatest = max(greatest, sums[b])
    return np.int64(greatest)


@helper
def _next_of(sums: Uint16s, low: Int, stop: Int, least: Int) -> Int:
    """Return the next bucket with at least ``least``, or ``stop``."""
    while low < stop and np.int64(sums[low]) < least:
        low += 1
    return low


@helper
def _add_run(rows: Int64Rows, n: Int, least: Int, k: Int, first: Int, behind: Int) -> Int:
    """Append a run of starts or extend an adjacent run."""
    if least < n <= rows.shape[0] and rows[n - 1, 2] == first:
        rows[n - 1, 2] = behind
        return n
    if n < rows.shape[0]:
        rows[n, 0], rows[n, 1], rows[n, 2] = k, first, behind
    return n + 1


@kernel
def weigh_queries(wanted: QueryTokens, first_query: int, totals: Int64s) -> None:
    """Compute the total weights of queries from ``first_query`` on."""
    longest = wanted.longest
    counts = np.zeros(wanted.hashes.shape[0], np.int32)
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    weights = np.empty(longest, np.int64)
    for k in range(totals.shape[0]):
        start, stop = wanted.starts[first_query + k], wanted.stops[first_query + k]
        n_types = count_tokens(wanted.numbers, start, stop, counts, types, copies)
        totals[k] = weigh_tokens(
            types, copies, n_types, wanted.inverses, wanted.term_weights, weights
        )


@kernel
def find_buckets(
    wanted: QueryTokens,
    first_query: int,
    chosen: ConstInt64s,
    entries: ConstInt32s,
    first_tokens: ConstInt64s,
    n_tokens: int,
    places: Places,
    reach: Reach,
    lightest: ConstFloats,
    limits: Limits,
    n_done: int,
    buckets: Int64Rows,
) -> tuple[Int, Int]:
    """Find buckets of passage starts that may match queries.

    Query k is ``first_query + k``; the first ``n_done`` ``chosen`` queries are left out.
    ``entries`` has for each number of a query's token the entry of the vocabulary, or -1. Passages
    begin at ``first_tokens`` or later, weigh at least ``lightest`` of k, and are bounded by
    ``reach``, in a segment of ``n_tokens``. Rows of ``buckets`` receive k, the first start and the
    end of the starts.

    Returns the number of chosen queries done, fewer than all if the buckets of the next one do not
    fit, and the number of rows.
    """
    bits, span = reach.bits, reach.span
    longest = wanted.longest
    of_numbers = np.zeros(wanted.hashes.shape[0], np.int32)
    types, copies = np.empty(longest, np.int32), np.empty(longest, np.int32)
    weights, listed = np.empty(longest, np.int64), np.empty(longest, np.int64)
    all_sizes, all_orders = np.empty(longest, np.int64), np.empty(longest, np.int64)
    spare, sizes = np.empty(longest, np.int64), np.empty(longest, np.int64)
    own = np.empty(longest, np.float64)
    rows, stops = np.empty(longest, np.int64), np.empty(longest, np.int64)
    amounts, leasts = np.empty(longest, np.uint16), np.empty(longest, np.int64)
    counts, sums = np.zeros(_SIZE + span, np.uint16), np.empty(_SIZE, np.uint16)
    n_rows: Int = np.int64(0)
    for i in range(n_done, chosen.shape[0]):
        k = chosen[i]
        query, first_token = first_query + k, first_tokens[k]
        n_types = count_tokens(
            wanted.numbers, wanted.starts[query], wanted.stops[query], of_numbers, types, copies
        )
        weight = weigh_tokens(types, copies, n_types, wanted.inverses, wanted.term_weights, weights)
        # Types of the query in the segment with a positive weight.
        total, n_lists = 0.0, np.int64(0)
        for t in range(n_types):
            entry = entries[types[t]]
            if entry >= 0 and weights[t] > 0:
                total += np.float64(weights[t])
                all_sizes[n_lists] = places.starts[entry + 1] - places.starts[entry]
                listed[n_lists] = t
                n_lists += 1
        share = limits.threshold - _SHARE
        needed = share * (np.float64(weight) + lightest[k]) / (1.0 + share)
        needed = max(needed, share * np.float64(weight))
        if n_lists == 0 or total < needed:
            continue
        order_of(all_sizes[:n_lists], all_orders[:n_lists], spare[:n_lists])
        unit, rest = total * np.float64(span + 1) / _WHOLE, total
        n_read: Int = np.int64(0)
        for o in range(n_lists):
            t = listed[all_orders[o]]
            entry = entries[types[t]]
            own[o], sizes[o] = np.float64(weights[t]), all_sizes[all_orders[o]]
            rows[o], stops[o] = places.starts[entry], places.starts[entry + 1]
            amount = np.int64(own[o] / unit)
            amounts[o] = np.uint16(amount)
            n_read += np.int64(rest >= _NOT_READ * needed)
            rest -= own[o]
            # Each list that is read may lack a unit for rounding.
            leasts[o] = max(np.int64((needed - max(rest, 0.0)) / unit) - o - 2, np.int64(1))
        # Passages that weigh more than the lightest share more.
        extra = np.float64(0.0 if limits.times else share / (1.0 + share) / unit)
        if first_token > 0:
            for o in range(n_lists):
                rows[o] = first_at_least(places.places, rows[o], stops[o], first_token)
        n_before = n_rows
        for f in range(reach.far.shape[0]):
            first, behind = reach.far[f, 0], reach.far[f, 1]
            if behind << bits <= first_token:
                continue
            if behind - first > _LONG_RUN:
                reached = 0.0
                for o in range(n_lists):
                    row = first_at_least(places.places, rows[o], stops[o], first << bits)
                    if row < stops[o] and np.int64(places.places[row]) >> bits <= reach.far[f, 2]:
                        reached += own[o]
                if reached < needed:
                    continue
            first = max(first << bits, first_token)
            n_rows = _add_run(buckets, n_rows, n_before, k, first, behind << bits)
        next_bucket: Int = first_token >> bits
        while True:
            nearest = np.int64(n_tokens)
            for o in range(n_read):
                if rows[o] < stops[o]:
                    nearest = min(nearest, np.int64(places.places[rows[o]]))
            if nearest == n_tokens:
                break
            block = max((nearest >> bits) - span, next_bucket)
            next_bucket = block + _SIZE
            for o in range(n_read):
                rows[o] = _count_places(
                    places.places, rows[o], stops[o], amounts[o], block, bits, counts
                )
            _add_reached(counts, span, sums)
            least = leasts[n_read - 1]
            if _greatest(sums, np.int64(0), _SIZE - 1) < least:
                continue
            if extra > 0.0:
                _take_extra(reach.weights, block, lightest[k], extra, sums)
            behind_run: Int = np.int64(0)
            while _greatest(sums, behind_run, _SIZE - 1) >= least:
                # The next run of buckets that reach enough, and each other.
                low: Int = _next_of(sums, behind_run, _SIZE, least)
                high: Int = low
                following: Int = low
                n_counted: Int = n_read
                enough = least
                while following < _SIZE and (following == low or following <= high + span):
                    high = following
                    following = _next_of(sums, high + 1, min(high + span + 1, _SIZE), least)
                behind_run = high + 1
                while n_counted < n_lists:
                    own_row = first_at_least(
                        places.places, rows[n_counted], stops[n_counted], (block + low) << bits
                    )
                    rows[n_counted] = own_row
                    _count_list(
                        places.places,
                        own_row,
                        stops[n_counted],
                        amounts[n_counted],
                        block,
                        low,
                        high,
                        reach,
                        sums,
                    )
                    enough = leasts[n_counted]
                    n_counted += 1
                    low = _next_of(sums, low, high + 1, enough)
                    if low > high:
                        break
                    while np.int64(sums[high]) < enough:
                        high -= 1
                for b in range(low, high + 1):
                    if np.int64(sums[b]) >= enough:
                        first = max((block + b) << bits, first_token)
                        behind = (block + b + 1) << bits
                        n_rows = _add_run(buckets, n_rows, n_before, k, first, behind)
        if n_rows > buckets.shape[0]:
            return np.int64(i), n_before
    return np.int64(chosen.shape[0]), n_rows
