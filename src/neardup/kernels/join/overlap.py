"""Exact similarity of two sets, and exact comparison with a threshold.

A threshold is the fraction p / q. Nothing is rounded before a comparison: for two set sizes the
least overlap that reaches the threshold is worked out in integers, and overlaps are counted.
p, q < 2^30 and sizes < 2^31 keep every product below within 63 bits, or 128 where noted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.common.wide import compare_products
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Floats,
    Int,
    Int32s,
    Int64s,
)


class MeasuredSets(NamedTuple):
    """Sets of sorted values, and facts on each for faster comparison.

    Set k is ``values[starts[k] :][: sizes[k]]``. ``totals`` are the sizes, and ``parities`` from
    ``set_parities``. Weighted sets have ``weights`` aligned with the values, their sums as
    ``totals``, and no parities; plain sets have no weights.
    """

    values: ConstUint64s
    starts: ConstInt64s
    sizes: ConstInt64s
    weights: ConstInt64s
    totals: ConstInt64s
    parities: ConstUint64s


class Keys(NamedTuple):
    """Candidate keys of documents: d's are ``keys[starts[d] : starts[d + 1]]``."""

    starts: ConstInt64s
    keys: ConstInt32s


class Comparisons(NamedTuple):
    """Record of comparisons.

    ``last_compared`` (n, all -1 at first) is the last document that each was compared with.
    ``counts`` adds up comparisons and pairs that reached the threshold.
    """

    last_compared: Int32s
    counts: Int64s


# Codes of the measures; x is the first set (the one that might go), y the second (that stays).
# Sets with weights are compared by ``kernels.join.weighted``.
JACCARD, COSINE, DICE, CONTAINMENT, MAX_CONTAINMENT, OVERLAP, WEIGHTED_JACCARD, HAMMING = range(8)

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


class Threshold(NamedTuple):
    """The code of a measure, and the least similarity p / q of a pair."""

    measure: int
    p: int
    q: int


class Sets(NamedTuple):
    """Sets of sorted values: set k is ``values[starts[k] :][: sizes[k]]``."""

    values: ConstUint64s
    starts: ConstInt64s
    sizes: ConstInt64s


class Matches(NamedTuple):
    """Room for pairs and their overlaps."""

    left: Int32s
    right: Int32s
    overlaps: Int32s


class WideMatches(NamedTuple):
    """Room for pairs and their overlaps, which may be common weights."""

    left: Int32s
    right: Int32s
    overlaps: Int64s


@inlined
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Full product of two 64-bit numbers, as upper and lower 64 bits."""
    a_low, a_high = a & _LOW32, a >> _32
    b_low, b_high = b & _LOW32, b >> _32
    low = a_low * b_low
    middle = a_high * b_low + (low >> _32)
    cross = a_low * b_high + (middle & _LOW32)
    return a_high * b_high + (middle >> _32) + (cross >> _32), (cross << _32) | (low & _LOW32)


@inlined
def _cosine_reaches(overlap: Int, x: Int, y: Int, p: Int, q: Int) -> np.bool_ | bool:
    """Return whether overlap / sqrt(x * y) >= p / q, by squares."""
    scaled = np.uint64(overlap * q)
    left_high, left_low = _product(scaled, scaled)
    right_high, right_low = _product(np.uint64(p * x), np.uint64(p * y))
    return left_high > right_high or (left_high == right_high and left_low >= right_low)


@inlined
def required_overlap(measure: Int, x: Int, y: Int, p: Int, q: Int) -> Int:
    """Return the least overlap of sets of sizes x and y that reaches p / q.

    For a distance p is the most, and the overlap at least one.
    """
    if measure == JACCARD:
        # o / (x + y - o) >= p / q  <=>  o * (p + q) >= p * (x + y)
        return (p * (x + y) + p + q - 1) // (p + q)
    if measure == DICE:
        return (p * (x + y) + 2 * q - 1) // (2 * q)
    if measure == CONTAINMENT:
        return (p * x + q - 1) // q
    if measure == MAX_CONTAINMENT:
        return (p * min(x, y) + q - 1) // q
    if measure == OVERLAP:
        return p
    if measure == HAMMING:
        # x + y - 2 * o <= p; sets that need nothing in common are not joined by this.
        return max((x + y - p + 1) >> 1, 1)
    # Cosine: start just below the real root, whose floating-point error is far less than two.
    overlap = np.int64(math.sqrt(np.float64(x) * np.float64(y)) * p / q) - 2
    overlap = max(overlap, np.int64(0))
    while not _cosine_reaches(overlap, x, y, p, q):
        overlap += 1
    return overlap


@inlined
def similarity(measure: Int, overlap: Int, x: Int, y: Int) -> float:
    """Value of the measure, rounded once to 64-bit floating point (twice for cosine)."""
    if measure in (JACCARD, WEIGHTED_JACCARD):
        return overlap / (x + y - overlap)
    if measure == DICE:
        return 2 * overlap / (x + y)
    if measure == CONTAINMENT:
        return overlap / x
    if measure == MAX_CONTAINMENT:
        return overlap / min(x, y)
    if measure == OVERLAP:
        return float(overlap)
    return overlap / math.sqrt(np.float64(x) * np.float64(y))


@inlined
def is_closer(measure: Int, x: Int, overlap: Int, y: Int, other_overlap: Int, other: Int) -> bool:
    """Return whether a set of size x is more similar to one of size y than to another, exactly.

    ``overlap`` and ``other_overlap`` are its overlaps with the sets of sizes y and ``other``. Sizes
    of weighted sets are their total weights, overlaps common weights.
    """
    if measure == WEIGHTED_JACCARD:
        either, other_either = x + y - overlap, x + other - other_overlap
        return bool(compare_products(overlap, other_either, other_overlap, either) > 0)
    if measure == JACCARD:
        left = overlap * (x + other - other_overlap)
        right = other_overlap * (x + y - overlap)
    elif measure == DICE:
        left, right = overlap * (x + other), other_overlap * (x + y)
    elif measure == CONTAINMENT:
        left, right = overlap, other_overlap
    elif measure == MAX_CONTAINMENT:
        left, right = overlap * min(x, other), other_overlap * min(x, y)
    else:
        # Squares of cosines, multiplied by x * y * other.
        left_high, left_low = _product(np.uint64(overlap * overlap), np.uint64(other))
        right_high, right_low = _product(np.uint64(other_overlap * other_overlap), np.uint64(y))
        return bool(left_high > right_high or (left_high == right_high and left_low > right_low))
    return bool(left > right)


@inlined
def overlap_at_least(
    values: ConstUint64s, x_start: Int, x_size: Int, y_start: Int, y_size: Int, required: Int
) -> Int:
    """Count the common elements of two sorted sets; -1 once ``required`` is out of reach."""
    # Each element of one set that the other lacks uses up some of the slack.
    if required > x_size or required > y_size:
        return np.int64(-1)
    x_slack, y_slack = x_size - required, y_size - required
    i, j = np.int64(0), np.int64(0)
    overlap = np.int64(0)
    while i < x_size and j < y_size:
        # Without branches: which side advances is as good as random and would be mispredicted.
        for _ in range(min(np.int64(16), x_size - i, y_size - j)):
            a, b = values[np.uint64(x_start + i)], values[np.uint64(y_start + j)]
            overlap += np.int64(a == b)
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        if i - overlap > x_slack or j - overlap > y_slack:
            return np.int64(-1)
    return overlap


@kernel
def score_pairs(
    sets: Sets,
    left: ConstInt64s,
    right: ConstInt64s,
    threshold: Threshold,
    overlaps: Int64s,
    similarities: Floats,
) -> None:
    """Count the overlap and compute the similarity of each pair of sets (left[k], right[k]).

    A pair below the threshold gets overlap -1 and similarity NaN; p = 0 scores every pair.
    """
    values, starts, sizes = sets
    measure, p, q = threshold
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        required = required_overlap(measure, sizes[x], sizes[y], p, q)
        overlap = overlap_at_least(values, starts[x], sizes[x], starts[y], sizes[y], required)
        reached = overlap >= required
        overlaps[k] = overlap if reached else -1
        similarities[k] = similarity(measure, overlap, sizes[x], sizes[y]) if reached else np.nan


@kernel
def score_overlaps(
    overlaps: ConstInt64s, left: ConstInt64s, right: ConstInt64s, measure: int, similarities: Floats
) -> None:
    """Work out similarities from overlaps and set sizes."""
    for k in range(overlaps.shape[0]):
        similarities[k] = similarity(measure, overlaps[k], left[k], right[k])
