"""Chain hits that run forward in two texts, as far as the gaps between them allow.

A chain ends at the end of common words of the two texts, in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import (
    Bools,
    ConstBools,
    ConstFloats,
    ConstInt64Rows,
    ConstInt64s,
    Floats,
    Int,
    Int64s,
)


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


@inlined
def _value_behind(
    hits: ConstInt64Rows, evidence: ConstFloats, i: Int, j: Int, rules: LinkRules
) -> float:
    """Return the value of hit i after hit j in a chain, less the gap; -inf if not allowed."""
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


@kernel
def link_hits(
    hits: ConstInt64Rows,
    evidence: ConstFloats,
    are_taken: ConstBools,
    longest: int,
    rules: LinkRules,
    scores: Floats,
    greatest: Floats,
    before: Int64s,
    are_open: Bools,
) -> None:
    """Find for each hit the best chain that ends with it.

    Hits have query start and stop, document start and stop; they are sorted by query start, and no
    part is empty or has more than ``longest`` tokens in the query. Hits that ``are_taken`` do not
    count. ``scores`` receives the evidence of a hit's best chain less its gaps, ``before`` the hit
    before it there, or -1. Of equal chains the one whose last hit but one is latest counts.

    Chains are searched for hits that ``are_open``, and for chains through a hit taken since; no
    other can have changed. ``greatest`` is scratch, as long.
    """
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


@kernel
def common_extent(
    query: ConstInt64s,
    document: ConstInt64s,
    weights: ConstInt64s,
    p: int,
    q: int,
    query_counts: Int64s,
    counts: Int64s,
    best: Int64s,
) -> None:
    """Find the prefixes of two texts with the most words in common.

    Texts are numbers of words, ``query_counts`` and ``counts`` scratch for as many. The first x and
    y words weigh v and w with copies, and share s: their value (p + q) s - p (v + w) is positive
    above a similarity of p / q. ``best`` receives the greatest value, x and y; nothing is taken
    below 1, and the shortest prefixes win a tie.
    """
    best[:] = 0
    query_counts[:] = 0
    of_query = np.int64(0)
    for x in range(1, query.shape[0] + 1):
        query_counts[query[x - 1]] += 1
        of_query += weights[query[x - 1]]
        counts[:] = 0
        shared, both = np.int64(0), of_query
        for y in range(1, document.shape[0] + 1):
            word = document[y - 1]
            counts[word] += 1
            both += weights[word]
            if counts[word] <= query_counts[word]:
                shared += weights[word]
            score = (p + q) * shared - p * both
            if score > best[0] or (score == best[0] > 0 and x + y < best[1] + best[2]):
                best[0], best[1], best[2] = score, x, y
