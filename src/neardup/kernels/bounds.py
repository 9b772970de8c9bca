"""How similar to a query a sub-text can be at most, from the tokens that it may have in common.

Every place of a text adds to the weight that sub-text and query share, at most so much, and to the
sub-text's own weight, at least so much; where the sub-text has the token before, both are others.
With these sums instead of the true ones a sub-text is never less similar. First sums are taken that
hold for all starts of a range, in two passes over what lies behind it, then those of each start.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper
from neardup.kernels.types import ConstFloats, ConstInt32s, Floats, Int, Int32s, Int64s
from neardup.kernels.weights import MOST_WEIGHT, SCALE

_SCALE, _MOST = np.float64(SCALE), np.float64(MOST_WEIGHT)

# What sums of weights may be off by, as a share of the query's weight, and for each token.
_SHARE, _UNITS = 1e-6, 2.0


@helper
def largest_shares(
    types: ConstInt32s,
    copies: ConstInt32s,
    n_types: Int,
    inverses: ConstFloats,
    term_weights: ConstFloats,
    once: Floats,
    again: Floats,
) -> None:
    """Give what the first copy of each of a query's tokens adds to what is shared, and a later one.

    The latter at most: no copy does more, and none that the query does not have itself.
    """
    for t in range(n_types):
        weight = inverses[types[t]] * _SCALE
        once[t] = min(term_weights[1] * weight, _MOST)
        again[t] = 0.0
        for x in range(2, copies[t] + 1):
            again[t] = max(again[t], (term_weights[x] - term_weights[x - 1]) * weight)
        again[t] = min(again[t], _MOST)


@helper
def _may_reach(
    start: Int,
    stop: Int,
    least: Int,
    needed: np.float64,
    before: Int64s,
    firsts: Floats,
    laters: Floats,
) -> bool:
    """Return whether a sub-text that begins at ``start`` may reach a sum.

    Sub-texts have ``least`` tokens or more and end before ``stop``. A place whose token stands
    ``before`` in the sub-text adds what ``laters`` has for it, else what ``firsts`` has.
    """
    reached = 0.0
    for place in range(start, min(start + least - 1, stop)):
        reached += firsts[place] if before[place] < start else laters[place]
    for place in range(start + least - 1, stop):
        reached += firsts[place] if before[place] < start else laters[place]
        if reached >= needed:
            return True
    return False


@helper
def possible_starts(
    first: Int,
    last: Int,
    end: Int,
    min_tokens: Int,
    threshold: np.float64,
    total: np.float64,
    tokens: ConstInt32s,
    known: Int32s,
    once: Floats,
    again: Floats,
    inverses: ConstFloats,
    first_weight: np.float64,
    least_step: np.float64,
    seen: Int64s,
    before: Int64s,
    firsts: Floats,
    laters: Floats,
    sums: Floats,
) -> tuple[Int, Int]:
    """Narrow a range of starts to those from which a sub-text may be as similar as ``threshold``.

    Sub-texts have ``min_tokens`` or more and end before ``end``. ``known`` has the number of each
    entry of the vocabulary in the query, or -1, ``once`` and ``again`` what ``largest_shares``
    gives. A token weighs ``first_weight`` times its inverse document frequency, each further copy
    ``least_step`` times that or more; ``inverses`` may be empty, for 1 each. ``seen`` is scratch
    that has for each entry of the vocabulary a place where it stands, or -1; the rest is scratch
    for each token up to ``end``, and one more.

    Returns the first and the last start; the first is greater where there is none.
    """
    has_inverses = inverses.shape[0] > 0
    first_weight, least_step = first_weight * _SCALE, least_step * _SCALE
    least = max(min_tokens, 1)
    most = total / threshold
    slack = _SHARE * total
    gain, price = 1.0 + threshold, threshold
    sum_, behind_last = 0.0, 0.0
    sums[0] = 0.0
    # Up to where the lightest sub-text is too heavy.
    n = np.int64(0)
    size = end - first
    while n < size and behind_last <= most + slack + _UNITS * n:
        token = tokens[first + n]
        number = known[token]
        weight, later_weight = first_weight, least_step
        if has_inverses:
            weight = min(weight * inverses[token], _MOST)
            later_weight *= inverses[token]
        later_weight = min(later_weight, weight)
        shared, later_shared = 0.0, 0.0
        if number >= 0:
            shared, later_shared = once[number], again[number]
        place = seen[token] - first
        seen[token] = first + n
        place = -1 if place >= n else max(place, np.int64(-1))
        before[n] = place
        firsts[n] = gain * shared - price * weight
        laters[n] = gain * later_shared - price * later_weight
        # Whatever the start: the token's first copy, a later one, or either.
        if place < 0:
            sum_ += firsts[n]
        elif first + place >= last:
            sum_ += laters[n]
        else:
            sum_ += max(firsts[n], laters[n])
        if first + n >= last:
            behind_last += weight if place < 0 else later_weight
        n += 1
        sums[n] = sum_
    slack += _UNITS * gain * n
    needed = price * total - slack
    low, high = np.int64(size), np.int64(-1)
    # From right to left the greatest sum up to an end; it is compared with that before the start.
    best, behind = -np.inf, n
    for start in range(min(last - first, n - least), -1, -1):
        while behind >= start + least:
            best = max(best, sums[behind])
            behind -= 1
        if best - sums[start] < needed:
            continue
        if high < 0:
            if not _may_reach(start, n, least, needed, before, firsts, laters):
                continue
            high = np.int64(start)
        low = np.int64(start)
    while low < high and not _may_reach(low, n, least, needed, before, firsts, laters):
        low += 1
    return first + low, first + high
