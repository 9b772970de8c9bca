"""Where in a segment so many tokens of a query stand together that a passage may be like it.

A passage as similar to a query as is asked for shares the more of the query's weight, the more it
weighs itself: passages are looked for by classes of their weight. What one lacks of the query's
tokens weighs no more than the rest. So it has one of the rarest tokens, if those together weigh
more than that, and of more of them as much as they weigh more. Lists of places are read from the
shortest on, until the places left are few enough to be looked at; those of frequent tokens, which
have most of the places, are seldom read.

Places are counted in buckets of a few tokens, those of a block at a time, and what is reached from
a bucket is added up. How far passages reach depends on what they weigh, and on the text: where that
repeats itself, further. Passages have some tokens at least: where these weigh more than the
lightest passages of a class, more must be shared. Where enough is reached, the longer lists are
entered, too, one by one for as long as that is so.

References
----------
Xiao, Wang, Lin, Yu (2008), Efficient similarity joins for near duplicate detection, sections 2.2
and 3.1, for sizes and prefixes of sets; here a set is any sub-text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.common.ordering import order_of
from neardup.kernels.passage.query_keys import Wanted, count_tokens, weigh_tokens
from neardup.kernels.passage.segments import Documents, Limits
from neardup.kernels.types import (
    ConstFloats,
    ConstInt32s,
    ConstInt64Rows,
    ConstInt64s,
    Floats,
    Int,
    Int32s,
    Int64Rows,
    Int64s,
    Uint16s,
)

# Nanoseconds to count a place, to enter a list at some place, and to look at a token of the text.
_PLACE, _ENTRY, _TOKEN = 1.5, 150.0, 3.0
# Buckets that are reached together: where one has enough, those around it often have, too.
_TOGETHER = 60.0
# Places reached from a bucket, on average, of a list that is not read whole.
_FREQUENT = 0.7

# Starts of a block, in buckets. Weights are counted in whole numbers; as often as a list may count
# from one bucket, all of a query's fit in 16 bits.
_SIZE, _WHOLE, _MOST_EXTRA = 1024, np.float64(60_000), np.float64(65_535)

# Runs of so many buckets from which passages reach further are looked at before they are chosen.
_LONG_RUN = 8

# What rounding takes from the share that passages have of a query's weight.
_SHARE = 1e-6


class Places(NamedTuple):
    """Where tokens stand: entry e of the vocabulary at ``places[starts[e] : starts[e + 1]]``.

    Places are counted through the segment, and ascend.
    """

    starts: ConstInt64s
    places: ConstInt32s


class Reach(NamedTuple):
    """How far passages reach that weigh no more than some budget.

    From any start in a bucket of ``1 << bits`` tokens over the ``span`` buckets behind it at most.
    Rows of ``far`` are runs of buckets from which they reach further: the first, the one behind the
    last, and the last one that is reached. ``weights`` has for each bucket what passages weigh at
    least that begin there.
    """

    bits: int
    span: int
    far: ConstInt64Rows
    weights: ConstFloats


@kernel
def list_places(tokens: ConstInt32s, starts: Int64s, places: Int32s) -> None:
    """List where each entry of the vocabulary stands, as ``Places`` has it.

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
    documents: Documents, n_least: int, bits: int, counts: Int32s, weights: Floats
) -> None:
    """Find what sub-texts of ``n_least`` tokens or more weigh at least, by where they begin.

    ``weights`` has a row for each bucket of ``1 << bits`` tokens: of its starts the least, infinite
    where none begin. ``counts`` has 0 for each entry of the vocabulary, and is left so.
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
    documents: Documents, budget: np.float64, bits: int, counts: Int32s, reaches: Int64s
) -> None:
    """Find over how many buckets behind its own a sub-text reaches that weighs ``budget`` at most.

    ``reaches`` has a row for each bucket, of its starts the furthest. ``counts`` has 0 for each
    entry of the vocabulary, and is left so.
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
def _first_from(places: ConstInt32s, low: Int, high: Int, token: Int) -> Int:
    """First row from ``low`` to ``high`` of a list with a place at ``token`` or behind."""
    while low < high:
        middle = (low + high) >> 1
        if places[middle] < token:
            low = middle + 1
        else:
            high = middle
    return low


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
    """Add an amount to the buckets from ``block`` on in which a list has a place, from ``row`` on.

    Returns the first row behind the first ``_SIZE`` of them.
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
    """Add up what is reached from each bucket of a block, up to ``span`` further."""
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
    """Take from what is reached what heavier passages must share more than the lightest."""
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
    """Add an amount to the buckets ``low`` to ``high`` of a block that reach a place of a list."""
    for i in range(row, stop):
        bucket = (np.int64(places[i]) >> reach.bits) - block
        if bucket > high + reach.span:
            break
        for b in range(max(bucket - reach.span, low), min(bucket, high) + 1):
            sums[b] += amount
        low = max(low, bucket + 1)


@helper
def _greatest(sums: Uint16s, low: Int, high: Int) -> Int:
    """Give the greatest sum of the buckets ``low`` to ``high``."""
    greatest = np.uint16(0)
    for b in range(low, high + 1):
        greatest = max(greatest, sums[b])
    return np.int64(greatest)


@helper
def _next_of(sums: Uint16s, low: Int, stop: Int, least: Int) -> Int:
    """Give the first bucket from ``low`` on with so much; ``stop`` if none before it has."""
    while low < stop and np.int64(sums[low]) < least:
        low += 1
    return low


@helper
def _add_run(rows: Int64Rows, n: Int, least: Int, k: Int, first: Int, behind: Int) -> Int:
    """Append a run of starts, to the one before it if that ends there; rows before are others'."""
    if least < n <= rows.shape[0] and rows[n - 1, 2] == first:
        rows[n - 1, 2] = behind
        return n
    if n < rows.shape[0]:
        rows[n, 0], rows[n, 1], rows[n, 2] = k, first, behind
    return n + 1


@helper
def _count_read(
    sizes: ConstInt64s, weights: Floats, needed: np.float64, n_tokens: Int, reach: Reach
) -> Int:
    """Choose how many of the shortest lists are read whole; ``weights`` are those of the lists.

    By how often so much would be reached from a bucket if places were spread evenly.
    """
    n_lists, rest, n_places = sizes.shape[0], 0.0, np.int64(0)
    for o in range(n_lists):
        rest += weights[o]
    n_buckets = np.float64((n_tokens >> reach.bits) + 1)
    # What is reached together, is looked at together.
    look = (_ENTRY + _TOKEN * np.float64((reach.span + 1) << reach.bits)) / _TOGETHER
    read = 0.0
    for o in range(n_lists):
        rest -= weights[o]
        read += weights[o]
        n_places += sizes[o]
        if rest >= needed or o + 1 == n_lists:
            continue
        usual = np.float64(n_places * (reach.span + 1)) / n_buckets
        wanted = (needed - rest) * np.float64(o + 1) / max(read, 1.0)
        chance, x = 1.0, 1.0
        while x < wanted + 1.0 and chance > 1e-9:
            chance *= usual / x
            x += 1.0
        further = np.float64(sizes[o + 1])
        # A list that is reached from many buckets is reached more than once from some.
        is_frequent = further * np.float64(reach.span + 1) > _FREQUENT * n_buckets
        if is_frequent or min(chance, 1.0) * n_buckets * look <= _PLACE * further:
            return np.int64(o + 1)
    return np.int64(n_lists)


@kernel
def weigh_queries(wanted: Wanted, first_query: int, totals: Int64s) -> None:
    """Give what queries from ``first_query`` on weigh."""
    longest = np.int64(0)
    for k in range(totals.shape[0]):
        longest = max(longest, wanted.stops[first_query + k] - wanted.starts[first_query + k])
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
    wanted: Wanted,
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
    """Find the starts of passages of a class that may be similar enough to queries.

    Query k is ``first_query + k``; of the ``chosen`` ones the first ``n_done`` are left out.
    ``entries`` has for each number of a query's token the entry of the vocabulary, or -1. Passages
    begin at ``first_tokens`` or behind, weigh ``lightest`` of k or more, and reach as far as
    ``reach`` says, in a segment of ``n_tokens``. Rows of ``buckets`` receive k, the first start and
    the one behind the last.

    Returns how many of the chosen queries are done, fewer than there are if the buckets of the next
    one do not fit, and how many rows there are.
    """
    bits, span = reach.bits, reach.span
    longest = np.int64(1)
    for i in range(n_done, chosen.shape[0]):
        query = first_query + chosen[i]
        longest = max(longest, wanted.stops[query] - wanted.starts[query])
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
        # Of the types that are in the segment, those that weigh something.
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
        for o in range(n_lists):
            t = listed[all_orders[o]]
            entry = entries[types[t]]
            own[o], sizes[o] = np.float64(weights[t]), all_sizes[all_orders[o]]
            rows[o], stops[o] = places.starts[entry], places.starts[entry + 1]
            amount = np.int64(own[o] / unit)
            amounts[o] = np.uint16(amount)
            rest -= own[o]
            # Each list that is read may lack a unit for rounding.
            leasts[o] = max(np.int64((needed - max(rest, 0.0)) / unit) - o - 2, np.int64(1))
        # For what passages weigh more than the lightest they share the more.
        extra = np.float64(0.0 if limits.times else share / (1.0 + share) / unit)
        n_read = _count_read(sizes[:n_lists], own[:n_lists], needed, n_tokens, reach)
        if first_token > 0:
            for o in range(n_lists):
                rows[o] = _first_from(places.places, rows[o], stops[o], first_token)
        n_before = n_rows
        for f in range(reach.far.shape[0]):
            first, behind = reach.far[f, 0], reach.far[f, 1]
            if behind << bits <= first_token:
                continue
            if behind - first > _LONG_RUN:
                reached = 0.0
                for o in range(n_lists):
                    row = _first_from(places.places, rows[o], stops[o], first << bits)
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
                    own_row = _first_from(
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
