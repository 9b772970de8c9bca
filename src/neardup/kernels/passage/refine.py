"""Refine chains of hits to verified, distinct passages."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstFloats,
    ConstInt64Rows,
    ConstInt64s,
    ConstUint64s,
    Int,
    Int64Rows,
)
from neardup.kernels.common.bits import compare_products
from neardup.kernels.common.ordering import ascending, sort_order
from neardup.kernels.passage.chains import (
    ChainRules,
    Chains,
    Hit,
    chain_hits,
    group_contained,
    hit_of,
    holds,
    hull,
    join_hits,
)
from neardup.kernels.passage.ends import (
    Pair,
    PassageRules,
    WordWeights,
    any_order,
    document_words,
    fit_document,
    fit_query,
    grow_equal,
    make_words,
    query_words,
    refine_ends,
    stretch_ends,
    stretch_query,
    tversky_index,
    weigh,
)

# Ends in one text depend on the ends in the other; they rarely move after these rounds.
_ROUNDS = 4


@inlined
def _weigh_hit(pair: Pair, hit: Hit) -> tuple[Int, Int, Int]:
    return weigh(
        query_words(pair, hit.query_start, hit.query_stop),
        document_words(pair, hit.start, hit.stop),
        pair.words,
        pair.weights,
    )


@helper
def _compare(pair: Pair, hit: Hit) -> tuple[Int, Int]:
    """Return two passages' common weight and the similarity's denominator.

    The first is negative below the threshold, and for overlapping passages of one text.
    """
    p, q, times = pair.rules.p, pair.rules.q, pair.rules.times
    if pair.apart >= 0 and hit.start < hit.query_stop + pair.apart:
        return np.int64(-1), np.int64(1)
    shared, of_query, of_document = _weigh_hit(pair, hit)
    either = max(of_query + of_document - shared, np.int64(1))
    if times > 0:
        either = max(of_query, np.int64(1))
        if of_document > times * of_query:
            shared = np.int64(0)
    if compare_products(shared, q, either, p) < 0:
        shared = np.int64(-1)
    return shared, either


@helper
def _is_better(pair: Pair, hit: Hit, shared: Int, either: Int, rows: Int64Rows, k: Int) -> bool:
    """Return whether a passage has more surplus than row k."""
    times = pair.rules.times
    if times > 0:
        own = _weigh_hit(pair, hit)
        others = _weigh_hit(pair, hit_of(rows, k))
        index = tversky_index(own[0], own[1], own[2], times)
        return index > tversky_index(others[0], others[1], others[2], times)
    more, longer = shared - rows[k, 4], either - rows[k, 5]
    p, q = pair.rules.p, pair.rules.q
    if more <= 0:
        return bool(longer < 0 and compare_products(-longer, p, -more, q) > 0)
    return bool(longer <= 0 or compare_products(more, q, longer, p) > 0)


@inlined
def _size(pair: Pair, hit: Hit) -> Int:
    """Return the length of the part that must reach ``min_tokens``."""
    length = hit.query_stop - hit.query_start
    return length if pair.rules.times > 0 else max(length, hit.stop - hit.start)


@inlined
def _set_row(rows: Int64Rows, k: Int, hit: Hit, shared: Int, either: Int) -> None:
    rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3] = hit
    rows[k, 4], rows[k, 5] = shared, either


@helper
def _end_choice(pair: Pair, whole: Hit, best: Hit, number: Int) -> tuple[bool, Hit]:
    """Return one choice of ends, numbered from the best.

    The first result is false if there is no choice of this number. Refined ends may include a
    difference that lowers the similarity too far, or make the passage too short. Then the ends move
    to the most similar part of sufficient length, and if that fails, only over equal tokens, or
    over everything that raises the similarity. For contained passages ``best`` is the first choice.
    """
    rules = pair.rules
    if rules.times > 0:
        if number == 1:
            return True, fit_document(pair, stretch_query(pair, best))
        return bool(number < 4), fit_document(pair, whole) if number == 2 else whole
    if number == 1:
        return stretch_ends(pair, whole) if rules.min_tokens else (False, whole)
    if number == 2 or number == 5:
        gain = rules.q if number == 2 else rules.p + rules.q
        return any_order(pair, whole, gain) if rules.min_tokens else (False, whole)
    return True, grow_equal(pair, whole) if number == 3 else whole


@helper
def _best_ends(pair: Pair, whole: Hit) -> Hit:
    """Return the first choice of ends."""
    if pair.rules.times == 0:
        return grow_equal(pair, refine_ends(pair, whole))
    best = whole
    for _ in range(_ROUNDS):
        moved = fit_document(pair, fit_query(pair, best))
        if moved == best:
            break
        best = moved
    return best


@helper
def _make_passage(pair: Pair, whole: Hit) -> tuple[Hit, Int, Int]:
    """Make the best passage of a chain, if similar enough.

    Otherwise the common weight is negative. Short passages are a last resort for later joins.
    """
    best = hit = _best_ends(pair, whole)
    short = whole
    short_shared: Int = -1
    short_either: Int = 1
    for number in range(6):
        is_there = True
        if number > 0:
            is_there, hit = _end_choice(pair, whole, best, number)
        if not is_there:
            continue
        shared, either = _compare(pair, hit)
        if shared >= 0 and _size(pair, hit) >= pair.rules.min_tokens:
            return hit, shared, either
        if shared >= 0 and short_shared < 0:
            short, short_shared, short_either = hit, shared, either
    return short, short_shared, short_either


@helper
def widest_gap(hits: ConstInt64Rows, members: ConstInt64s, bounds: ConstInt64s) -> Int:
    """Return the part after the widest gap, preferring the middle.

    Part k has the members from ``bounds[k]`` on. Overlapping parts have no gap, so that a run of
    them is halved.
    """
    n = len(bounds) - 1
    widest: Int = -1
    cut = np.int64(0)
    before = hull(hits, members, bounds[0], bounds[1])
    for k in range(1, n):
        after = hull(hits, members, bounds[k], bounds[k + 1])
        gap = max(after.query_start - before.query_stop, after.start - before.stop)
        gap = max(gap, np.int64(0))
        if gap > widest or (gap == widest and abs(2 * k - n) < abs(2 * cut - n)):
            widest, cut = gap, np.int64(k)
        before = after
    return cut


@helper
def _divide_chain(
    pair: Pair, hits: ConstInt64Rows, members: ConstInt64s, runs: ConstInt64s, found: Int64Rows
) -> Int:
    """Divide a chain into the fewest similar passages.

    A chain is split at its widest gap, a single run at the widest gap of its hits. These are not
    always its least similar places: neighbours are joined again while they are similar enough.
    """
    n_found = 0
    # Parts of several runs, and hits of a single run; a chain may lose one hit at a time.
    stack, n_stack = np.empty((runs[-1] - runs[0] + 1, 3), np.int64), 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(runs) - 1, 0
    places = ascending(runs[0], runs[-1] + 1)
    while n_stack:
        n_stack -= 1
        first, stop, is_run = stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2]
        bounds = places[first : stop + 1] if is_run else runs[first : stop + 1]
        hit, shared, either = _make_passage(pair, hull(hits, members, bounds[0], bounds[-1]))
        if shared >= 0:
            while n_found > 0:
                both = join_hits(hit_of(found, n_found - 1), hit)
                common, all_of_it = _compare(pair, both)
                if common < 0:
                    break
                hit, shared, either = both, common, all_of_it
                n_found -= 1
            _set_row(found, n_found, hit, shared, either)
            n_found += 1
            continue
        if not is_run and len(bounds) == 2:
            first, stop, is_run = bounds[0] - runs[0], bounds[1] - runs[0], np.int64(1)
            bounds = places[first : stop + 1]
        if len(bounds) == 2:
            continue
        cut = first + widest_gap(hits, members, bounds)
        stack[n_stack, 0], stack[n_stack, 1], stack[n_stack, 2] = cut, stop, is_run
        stack[n_stack + 1, 0], stack[n_stack + 1, 1], stack[n_stack + 1, 2] = first, cut, is_run
        n_stack += 2
    return n_found


@inlined
def _has_half(pair: Pair, outer: Hit, hit: Hit) -> tuple[bool, bool]:
    """Return whether passages overlap, and by half of ``hit``."""
    query = min(outer.query_stop, hit.query_stop) - max(outer.query_start, hit.query_start)
    length = hit.query_stop - hit.query_start
    document = min(outer.stop, hit.stop) - max(outer.start, hit.start)
    if pair.rules.times > 0:
        return bool(query > 0), bool(2 * query >= length)
    is_half = 2 * query >= length and 2 * document >= hit.stop - hit.start
    return bool(query > 0 and document > 0), bool(is_half)


@helper
def _keep(pair: Pair, rows: Int64Rows, n_kept: Int, hit: Hit, shared: Int, either: Int) -> Int:
    """Add or join a passage, and return the new count."""
    for k in range(n_kept):
        other = hit_of(rows, k)
        is_near, is_half = _has_half(pair, other, hit)
        if not is_near:
            continue
        both = join_hits(other, hit)
        common, all_of_it = _compare(pair, both)
        if common >= 0 and _is_better(pair, both, common, all_of_it, rows, k):
            _set_row(rows, k, both, common, all_of_it)
            return n_kept
        if is_half:
            return n_kept
    _set_row(rows, n_kept, hit, shared, either)
    return n_kept + 1


@helper
def without_inner(rows: Int64Rows, n_rows: Int) -> Int:
    """Discard passages within others in both texts, keeping one duplicate.

    The remaining passages are moved to the front, in order of their places; returns their number.
    """
    order, n_columns = ascending(0, n_rows), rows.shape[1]
    for column in (3, 2, 1, 0):
        keys = np.empty(n_rows, np.int64)
        for k in range(n_rows):
            keys[k] = -rows[k, column] if column % 2 else rows[k, column]
        sort_order(keys, order)
    kept, n_kept, first = np.empty((n_rows, n_columns), np.int64), 0, 0
    for i in range(n_rows):
        hit, is_inner = hit_of(rows, order[i]), False
        while first < n_kept and kept[first, 1] <= hit.query_start:
            first += 1
        for k in range(first, n_kept):
            is_inner |= holds(hit_of(kept, k), hit)
        if not is_inner:
            for column in range(n_columns):
                kept[n_kept, column] = rows[order[i], column]
            n_kept += 1
    for k in range(n_kept):
        for column in range(n_columns):
            rows[k, column] = kept[k, column]
    return np.int64(n_kept)


@helper
def _join_contained(pair: Pair, rows: Int64Rows, n_rows: Int) -> Int:
    """Join passages with short enough document parts, and count them."""
    n_joined = np.int64(0)
    for i in range(n_rows):
        hit, shared, either = hit_of(rows, i), rows[i, 4], rows[i, 5]
        k = np.int64(0)
        while k < n_joined:
            other = hit_of(rows, k)
            gap = max(hit.query_start - other.query_stop, other.query_start - hit.query_stop)
            both = join_hits(other, hit)
            common: Int = -1
            all_of_it: Int = 1
            if gap <= pair.rules.near:
                common, all_of_it = _compare(pair, both)
            k += 1
            if common >= 0:
                hit, shared, either = both, common, all_of_it
                for row in range(k, n_joined):
                    for column in range(6):
                        rows[row - 1, column] = rows[row, column]
                n_joined -= 1
                k = np.int64(0)
        _set_row(rows, n_joined, hit, shared, either)
        n_joined += 1
    return n_joined


@helper
def refine_chains(
    pair: Pair, hits: ConstInt64Rows, chains: Chains, n_chains: Int, kept: Int64Rows
) -> Int:
    """Make passages of chains in order of evidence.

    Passages that overlap in both texts are joined if the addition is similar enough; otherwise, a
    passage that lies half within a better one in both texts is discarded, for contained passages in
    the query. ``kept`` has a row per hit. Returns their number.
    """
    n_kept: Int = 0
    found = np.empty((hits.shape[0], 6), np.int64)
    for chain in range(n_chains):
        runs = chains.runs[chains.bounds[chain] : chains.bounds[chain + 1] + 1]
        whole, is_inner = hull(hits, chains.members, runs[0], runs[-1]), False
        for k in range(n_kept):
            is_inner |= holds(hit_of(kept, k), whole)
        if is_inner:
            continue
        n_found = _divide_chain(pair, hits, chains.members, runs, found)
        for k in range(n_found):
            n_kept = _keep(pair, kept, n_kept, hit_of(found, k), found[k, 4], found[k, 5])
    n_kept = without_inner(kept, n_kept)
    return _join_contained(pair, kept, n_kept) if pair.rules.times > 0 else n_kept


@kernel
def refine_hits(
    query: ConstUint64s,
    documents: ConstUint64s,
    offsets: ConstInt64s,
    hits: ConstInt64Rows,
    similarities: ConstFloats,
    bounds: ConstInt64s,
    aparts: ConstInt64s,
    chaining: ChainRules,
    rules: PassageRules,
    weights: WordWeights,
    passages: Int64Rows,
) -> Int:
    """Make passages of a query's hits in some documents.

    Document d is ``documents[offsets[d] : offsets[d + 1]]``, and has the hits from ``bounds[d]`` to
    ``bounds[d + 1]``, sorted by position. In ``aparts`` is -1, or for the query itself the least
    distance of two passages. Rows of ``passages`` receive document, places, and the weights whose
    fraction is the similarity; there is room for as many as there are hits. Returns their number.
    """
    longest, n_most = np.int64(0), np.int64(0)
    for d in range(len(aparts)):
        longest = max(longest, offsets[d + 1] - offsets[d])
        n_most = max(n_most, bounds[d + 1] - bounds[d])
    n_words = 2 * (len(query) + longest)
    words = make_words(n_words)
    query_numbers = np.full(len(query), -1, np.int64)
    numbers = np.empty(longest, np.int64)
    chains = Chains(
        np.empty(n_most, np.int64),
        np.empty(n_most + 1, np.int64),
        np.empty(n_most + 1, np.int64),
        np.empty(n_most),
    )
    kept, n_passages = np.empty((n_most, 6), np.int64), np.int64(0)
    for d in range(len(aparts)):
        document = documents[offsets[d] : offsets[d + 1]]
        if words.size[0] + len(query) + len(document) > n_words:
            # The words of earlier documents are forgotten.
            words.size[0] = 0
            words.slots[:] = -1
            query_numbers[:] = -1
        numbers[: len(document)] = -1
        pair = Pair(query, document, query_numbers, numbers, words, weights, rules, aparts[d])
        own, similar = hits[bounds[d] : bounds[d + 1]], similarities[bounds[d] : bounds[d + 1]]
        if rules.times > 0:
            _, n_chains = group_contained(own, similar, rules.times, rules.near, chains)
        else:
            _, n_chains = chain_hits(own, similar, chaining, chains)
        n_kept = refine_chains(pair, own, chains, n_chains, kept)
        for k in range(n_kept):
            passages[n_passages, 0] = d
            for column in range(6):
                passages[n_passages, column + 1] = kept[k, column]
            n_passages += 1
    return n_passages


@kernel
def measure_passages(
    query: ConstUint64s,
    document: ConstUint64s,
    apart: int,
    rules: PassageRules,
    weights: WordWeights,
    passages: Int64Rows,
) -> None:
    """Set the weights of a query's passages in a document.

    The common weight is -1 below p / q. Rows of ``passages`` are as for ``refine_hits``.
    """
    words = make_words(len(query) + len(document))
    numbers, others = np.full(len(query), -1, np.int64), np.full(len(document), -1, np.int64)
    pair = Pair(query, document, numbers, others, words, weights, rules, apart)
    for row in passages:
        row[5], row[6] = _compare(pair, Hit(row[1], row[2], row[3], row[4]))
