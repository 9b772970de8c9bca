"""Chain forward hits of two texts across bridgeable gaps.

First, nearby hits on one diagonal become *runs*. Then runs are linked: a gap costs its width, and
is bridged if the evidence on both sides exceeds it. So two long stretches stay one passage over a
chapter that one text lacks, but two one-line quotations are not joined over a paragraph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    Bools,
    ConstBools,
    ConstFloats,
    ConstInt64Rows,
    ConstInt64s,
    Floats,
    Int,
    Int64s,
)
from neardup.kernels.common.ordering import ascending, order_of, sort_order


class LinkRules(NamedTuple):
    """Limits and costs of gaps between consecutive hits.

    Parts of two hits are at most ``most_gap`` tokens apart, in either text, and the two distances
    differ by at most ``most_shift``. A hit of the document may begin ``most_back`` tokens before
    its predecessor. A token of the wider gap costs ``gap_cost``, a token of the difference of the
    gaps an eighth of that. Both limits are 64-bit integers if unlimited.
    """

    most_gap: int
    most_shift: int
    most_back: int
    gap_cost: np.float64


class ChainRules(NamedTuple):
    """Rules for joining hits.

    Hits up to ``near`` tokens apart form a run. Runs are linked over gaps of up to ``gap`` tokens;
    each token of a gap costs ``gap_cost`` shared tokens of evidence.
    """

    near: int
    gap: int
    gap_cost: np.float64


class Chains(NamedTuple):
    """Chains of hits, most evidence first.

    Chain c has the runs ``bounds[c]`` to ``bounds[c + 1]``, run r the hits ``members[runs[r]]`` to
    ``members[runs[r + 1]]``, and ``evidence[r]`` shared tokens. There is room for a run per hit.
    """

    members: Int64s
    runs: Int64s
    bounds: Int64s
    evidence: Floats


class Hit(NamedTuple):
    """Similar query and document parts in tokens, ends exclusive."""

    query_start: Int
    query_stop: Int
    start: Int
    stop: Int


@inlined
def join_hits(one: Hit, other: Hit) -> Hit:
    """Return the smallest hit that contains both hits."""
    return Hit(
        min(one.query_start, other.query_start),
        max(one.query_stop, other.query_stop),
        min(one.start, other.start),
        max(one.stop, other.stop),
    )


@inlined
def holds(outer: Hit, inner: Hit) -> bool:
    """Return whether a hit contains another in both texts."""
    return bool(
        outer.query_start <= inner.query_start
        and inner.query_stop <= outer.query_stop
        and outer.start <= inner.start
        and inner.stop <= outer.stop
    )


@inlined
def hit_of(rows: ConstInt64Rows, k: Int) -> Hit:
    """Return a hit of a table."""
    return Hit(rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3])


@helper
def hull(hits: ConstInt64Rows, members: ConstInt64s, first: Int, stop: Int) -> Hit:
    """Return the smallest hit that contains some members."""
    whole = hit_of(hits, members[first])
    for k in range(first + 1, stop):
        whole = join_hits(whole, hit_of(hits, members[k]))
    return whole


@inlined
def _value_behind(
    hits: ConstInt64Rows, evidence: ConstFloats, i: Int, j: Int, rules: LinkRules
) -> float:
    """Return the value of hit i after j, or -inf."""
    query_gap = hits[i, 0] - hits[j, 1]
    gap = hits[i, 2] - hits[j, 3]
    shift = abs(gap - query_gap)
    if (
        max(query_gap, gap) > rules.most_gap
        or shift > rules.most_shift
        or hits[i, 2] < hits[j, 2] - rules.most_back
    ):
        return -np.inf
    query_length, length = hits[i, 1] - hits[i, 0], hits[i, 3] - hits[i, 2]
    # The overlap with the hit before adds nothing.
    new = min(
        min(hits[i, 1] - hits[j, 1], query_length) / query_length,
        min(hits[i, 3] - hits[j, 3], length) / length,
    )
    cost = rules.gap_cost * (max(query_gap, gap, np.int64(0)) + shift / 8)
    return float(evidence[i] * max(new, 0.0) - cost)


class Links(NamedTuple):
    """Values and predecessors of the best chains to each hit."""

    scores: Floats
    greatest: Floats
    before: Int64s
    are_open: Bools


@helper
def link_hits(
    hits: ConstInt64Rows,
    evidence: ConstFloats,
    are_taken: ConstBools,
    rules: LinkRules,
    links: Links,
) -> None:
    """Find the best chain that ends with each hit.

    Hits are sorted by query start. Hits that ``are_taken`` do not count. Of equal chains the one
    whose last hit but one is latest counts. Chains are searched for hits that ``are_open``, and for
    chains through a hit taken since; no other can have changed. ``greatest`` is scratch.
    """
    scores, greatest, before, are_open = links
    longest = np.int64(0)
    for i in range(hits.shape[0]):
        longest = max(longest, hits[i, 1] - hits[i, 0])
    for i in range(hits.shape[0]):
        greatest[i] = greatest[i - 1] if i else -np.inf
        if are_taken[i]:
            scores[i] = -np.inf
            continue
        last = before[i]
        if last >= 0 and (are_taken[last] or are_open[last]):
            are_open[i] = True
        if are_open[i]:
            scores[i], before[i] = evidence[i], -1
            for j in range(i - 1, -1, -1):
                # No remaining hit is worth more, or near enough.
                if greatest[j] + evidence[i] <= scores[i]:
                    break
                if hits[j, 0] + longest + rules.most_gap < hits[i, 0]:
                    break
                if are_taken[j] or hits[j, 0] == hits[i, 0]:
                    continue
                score = scores[j] + _value_behind(hits, evidence, i, j, rules)
                if score > scores[i]:
                    scores[i], before[i] = score, j
        greatest[i] = max(greatest[i], scores[i])
    are_open[:] = False


@helper
def _no_links(n: Int) -> Links:
    return Links(np.empty(n), np.empty(n), np.full(n, -1, np.int64), np.ones(n, np.bool_))


@helper
def _best_first(scores: ConstFloats) -> Int64s:
    """Return the places of descending scores, equal ones by place."""
    n = scores.shape[0]
    keys, order, scratch = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        # As whole numbers in the same order.
        bits = np.float64(0.0 - scores[i]).view(np.int64)
        keys[i] = bits if bits >= 0 else bits ^ np.int64(0x7FFFFFFFFFFFFFFF)
    order_of(keys, order, scratch)
    return order


@kernel
def chain_hits(
    hits: ConstInt64Rows, similarities: ConstFloats, rules: ChainRules, chains: Chains
) -> tuple[Int, Int]:
    """Join hits of two texts to chains ascending in both.

    Rows of ``hits`` are start and stop in the query, start and stop in the document; sorted. The
    best chain is removed, then the best of the remaining runs, and so on; moved passages end up in
    separate chains. The value of a chain is the evidence of its runs minus the cost of its gaps. A
    branch within a run is the same passage found again, and is left out. Returns the numbers of
    runs and of chains.
    """
    n = hits.shape[0]
    evidence = np.empty(n)
    for i in range(n):
        evidence[i] = similarities[i] * min(hits[i, 1] - hits[i, 0], hits[i, 3] - hits[i, 2])
    near = rules.near
    links = _no_links(n)
    are_taken = np.zeros(n, np.bool_)
    link_rules = LinkRules(near, near, near // 2, rules.gap_cost)
    link_hits(hits, evidence, are_taken, link_rules, links)

    # Each hit follows its best predecessor; runs have their hits one behind the other.
    run_of = np.full(n, -1, np.int64)
    members, starts = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    wholes, worths = np.empty((n, 4), np.int64), np.empty(n)
    n_runs = 0
    order = _best_first(links.scores)
    for k in range(n):
        end = order[k]
        at, size = end, 0
        while at >= 0 and run_of[at] < 0:
            at, size = links.before[at], size + 1
        if size == 0:
            continue
        first, stop = end, starts[n_runs] + size
        for i in range(stop - 1, starts[n_runs] - 1, -1):
            members[i], first, end = end, end, links.before[end]
        whole = hull(hits, members, starts[n_runs], stop)
        run = np.int64(n_runs)
        # Here ``end`` is the hit where the run begins as a branch, or -1.
        if end >= 0 and holds(hit_of(wholes, run_of[end]), whole):
            run = run_of[end]
        for i in range(starts[n_runs], stop):
            run_of[members[i]] = run
        if run < n_runs:
            continue
        wholes[run, 0], wholes[run, 1] = whole.query_start, whole.query_stop
        wholes[run, 2], wholes[run, 3] = whole.start, whole.stop
        worths[run] = links.scores[order[k]] - links.scores[first] + evidence[first]
        n_runs += 1
        starts[n_runs] = stop

    # Chains of runs by their places.
    order = ascending(0, n_runs)
    sort_order(wholes[:, 2].copy(), order)
    sort_order(wholes[:, 0].copy(), order)
    places, evidence = np.empty((n_runs, 4), np.int64), np.empty(n_runs)
    for i in range(n_runs):
        evidence[i] = worths[order[i]]
        for column in range(4):
            places[i, column] = wholes[order[i], column]
    links, are_taken = _no_links(n_runs), np.zeros(n_runs, np.bool_)
    link_rules = LinkRules(rules.gap, rules.gap, 0, rules.gap_cost)
    n_done, n_chains, n_members = 0, 0, 0
    chains.bounds[0] = chains.runs[0] = 0
    while n_done < n_runs:
        link_hits(places, evidence, are_taken, link_rules, links)
        end = np.int64(0)
        for i in range(n_runs):
            if links.scores[i] > links.scores[end]:
                end = np.int64(i)
        # A taken run has no chain, and no chain leads to it.
        at, size = end, 0
        while at >= 0:
            at, size = links.before[at], size + 1
        at = end
        for i in range(n_done + size - 1, n_done - 1, -1):
            # For now, in place of the number of its hits.
            chains.runs[i + 1] = at
            at = links.before[at]
        for i in range(n_done, n_done + size):
            at = chains.runs[i + 1]
            are_taken[at] = True
            chains.evidence[i] = evidence[at]
            for k in range(starts[order[at]], starts[order[at] + 1]):
                chains.members[n_members] = members[k]
                n_members += 1
            chains.runs[i + 1] = n_members
        n_done += size
        n_chains += 1
        chains.bounds[n_chains] = n_done
    return n_runs, n_chains


# Parts that windows find are narrow; joined, they extend over the maximum.
WIDER = 2


@kernel
def group_contained(
    hits: ConstInt64Rows, similarities: ConstFloats, times: int, near: int, chains: Chains
) -> tuple[Int, Int]:
    """Group hits of two texts, unordered within the document.

    ``hits`` are as for ``chain_hits``; ``similarities`` are the shares of the query's parts that
    the document's parts contain. A document's part is at most ``times`` as long as the query's
    part, and hits are at most ``near`` tokens of the query apart. Each hit joins the group whose
    part of the document grows least. Groups are chains of one run.
    """
    n = hits.shape[0]
    wholes = np.empty((n, 4), np.int64)
    group_of, last_of = np.empty(n, np.int64), np.empty(n, np.int64)
    n_groups, n_closed = 0, 0
    for number in range(n):
        hit = hit_of(hits, number)
        while n_closed < n_groups and wholes[n_closed, 1] + near < hit.query_start:
            n_closed += 1
        chosen, least = np.int64(-1), np.int64(0)
        for group in range(n_closed, n_groups):
            whole = hit_of(wholes, group)
            # A different part of the document with the same window stays apart.
            is_same = hits[last_of[group], 0] == hit.query_start
            if whole.query_stop + near < hit.query_start or is_same:
                continue
            both = join_hits(whole, hit)
            growth = (both.stop - both.start) - (whole.stop - whole.start)
            is_short = both.stop - both.start <= times * (both.query_stop - both.query_start)
            if is_short and (chosen < 0 or growth < least):
                chosen, least = np.int64(group), np.int64(growth)
        if chosen < 0:
            chosen = np.int64(n_groups)
            n_groups += 1
            joined = hit
        else:
            joined = join_hits(hit_of(wholes, chosen), hit)
        wholes[chosen, 0], wholes[chosen, 1] = joined.query_start, joined.query_stop
        wholes[chosen, 2], wholes[chosen, 3] = joined.start, joined.stop
        group_of[number], last_of[chosen] = chosen, number

    # The overlap with the previous hit is not counted as evidence again.
    evidence, stops = np.zeros(n_groups), np.zeros(n_groups, np.int64)
    for number in range(n):
        group = group_of[number]
        new = max(hits[number, 1] - max(stops[group], hits[number, 0]), 0)
        evidence[group] += similarities[number] * new
        stops[group] = max(stops[group], hits[number, 1])
    # Of several parts with equal evidence, the shortest comes first.
    for group in range(n_groups):
        evidence[group] -= (wholes[group, 3] - wholes[group, 2]) / (WIDER * times)
    order, ranks = _best_first(evidence), np.empty(n_groups, np.int64)
    for i in range(n_groups):
        ranks[order[i]] = i
        chains.evidence[i] = evidence[order[i]]
    for number in range(n):
        group_of[number] = ranks[group_of[number]]
    order_of(group_of, chains.members[:n], last_of)
    chains.bounds[0] = chains.runs[0] = 0
    for i in range(n):
        chains.runs[group_of[chains.members[i]] + 1] = i + 1
    for group in range(n_groups):
        chains.bounds[group + 1] = group + 1
    return n_groups, n_groups
