"""Exact similarity of sets, and exact comparison with thresholds.

A threshold is the fraction p / q. Nothing is rounded before a comparison: for two set sizes the
least overlap that reaches the threshold is worked out in integers, and overlaps are counted.
p, q < 2^30 and sizes < 2^31 keep every product below within 63 bits, or 128 where noted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel
from neardup.kernels.arrays import (
    ConstInt32s,
    ConstInt64s,
    ConstUint64s,
    Floats,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.common.bits import MARGIN, compare_products, count_ones, wide_product


class MeasuredSets(NamedTuple):
    """Sorted sets with sizes, parities or weights.

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


class DocumentKeys(NamedTuple):
    """Candidate keys ``keys[starts[d] : starts[d + 1]]`` of documents d."""

    starts: ConstInt64s
    keys: ConstInt32s


class Comparisons(NamedTuple):
    """Last comparisons of documents, and counts of comparisons.

    ``last_compared`` (n, all -1 at first) is the last document that each was compared with.
    ``counts`` adds up comparisons and pairs that reached the threshold.
    """

    last_compared: Int32s
    counts: Int64s


# Codes of the measures; x is the first set (the one that might go), y the second (that stays).
JACCARD, COSINE, DICE, CONTAINMENT, MAX_CONTAINMENT, OVERLAP, WEIGHTED_JACCARD = range(7)


class Threshold(NamedTuple):
    """A measure's code and the least similarity p / q."""

    measure: int
    p: int
    q: int


class NarrowMatches(NamedTuple):
    """Output arrays for pairs and their overlaps."""

    left: Int32s
    right: Int32s
    overlaps: Int32s


class WideMatches(NamedTuple):
    """Output arrays for pairs and overlaps or common weights."""

    left: Int32s
    right: Int32s
    overlaps: Int64s


@inlined
def _cosine_reaches(overlap: Int, x: Int, y: Int, p: Int, q: Int) -> np.bool_ | bool:
    """Return whether cosine similarity reaches p / q."""
    scaled = np.uint64(overlap * q)
    left_high, left_low = wide_product(scaled, scaled)
    right_high, right_low = wide_product(np.uint64(p * x), np.uint64(p * y))
    return left_high > right_high or (left_high == right_high and left_low >= right_low)


@inlined
def required_overlap(measure: Int, x: Int, y: Int, p: Int, q: Int) -> Int:
    """Return the least overlap of sizes x and y that reaches p / q."""
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
    # Cosine: start just below the real root, whose floating-point error is far less than two.
    overlap = np.int64(math.sqrt(np.float64(x) * np.float64(y)) * p / q) - 2
    overlap = max(overlap, np.int64(0))
    while not _cosine_reaches(overlap, x, y, p, q):
        overlap += 1
    return overlap


@inlined
def similarity(measure: Int, overlap: Int, x: Int, y: Int) -> float:
    """Return the similarity, rounded once (twice for cosine)."""
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
    """Return whether x is closer to y than to ``other``.

    The three sets are given by their sizes, or total weights, and the overlaps, or common weights,
    of the first set with the two. The comparison is exact.
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
        left_high, left_low = wide_product(np.uint64(overlap * overlap), np.uint64(other))
        right_high, right_low = wide_product(np.uint64(other_overlap * other_overlap), np.uint64(y))
        return bool(left_high > right_high or (left_high == right_high and left_low > right_low))
    return bool(left > right)


@inlined
def overlap_at_least(
    values: ConstUint64s, x_start: Int, x_size: Int, y_start: Int, y_size: Int, required: Int
) -> Int:
    """Return two sorted sets' overlap, or -1 if below ``required``."""
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


# Steps of the merge between two looks whether the threshold is out of reach.
_STEPS = 16


@helper
def common_weight(sets: MeasuredSets, x: Int, y: Int, p: Int, q: Int) -> Int:
    """Sum the lesser weights of common elements.

    Returns -1 if the Jaccard similarity is below p / q. Weights are whole numbers whose sum over
    both sets is below 2^62. Sets without weight are similar to nothing.
    """
    values, weights = sets.values, sets.weights
    i, x_stop = sets.starts[x], sets.starts[x] + sets.sizes[x]
    j, y_stop = sets.starts[y], sets.starts[y] + sets.sizes[y]
    x_left, y_left = sets.totals[x], sets.totals[y]
    both = x_left + y_left
    # c / (x + y - c) >= p / q  <=>  c * (p + q) >= p * (x + y)
    needed = np.float64(both) * np.float64(p) / np.float64(p + q) * MARGIN
    if np.float64(min(x_left, y_left)) < needed:
        return np.int64(-1)
    common = np.int64(0)
    while i < x_stop and j < y_stop:
        for _ in range(min(np.int64(_STEPS), x_stop - i, y_stop - j)):
            a, b = values[i], values[j]
            x_weight, y_weight = weights[i], weights[j]
            common += min(x_weight, y_weight) if a == b else np.int64(0)
            x_left -= x_weight if a <= b else np.int64(0)
            y_left -= y_weight if b <= a else np.int64(0)
            i += np.int64(a <= b)
            j += np.int64(b <= a)
        if np.float64(common + min(x_left, y_left)) < needed:
            return np.int64(-1)
    if common > 0 and compare_products(common, p + q, both, p) >= 0:
        return common
    return np.int64(-1)


@inlined
def common_at_threshold(
    sets: MeasuredSets, threshold: Threshold, x: Int, y: Int, either_way: bool
) -> Int:
    """Return the overlap or common weight, -1 if not similar.

    With ``either_way`` a one-sided measure counts in whichever direction holds.
    """
    measure, p, q = threshold
    if measure == WEIGHTED_JACCARD:
        return np.int64(common_weight(sets, x, y, p, q))
    x_size, y_size = sets.sizes[x], sets.sizes[y]
    required = required_overlap(measure, x_size, y_size, p, q)
    if either_way:
        required = min(required, required_overlap(measure, y_size, x_size, p, q))
    # Most candidates that share only a key differ too much in their parities.
    if count_ones(sets.parities[x] ^ sets.parities[y]) > x_size + y_size - 2 * required:
        return np.int64(-1)
    overlap = overlap_at_least(
        sets.values, sets.starts[x], x_size, sets.starts[y], y_size, required
    )
    return np.int64(overlap if overlap >= required else -1)


@kernel
def score_pairs(
    sets: MeasuredSets,
    left: ConstInt64s,
    right: ConstInt64s,
    threshold: Threshold,
    overlaps: Int64s,
    similarities: Floats,
) -> None:
    """Compute overlaps or common weights, and similarities, of pairs.

    A pair (left[k], right[k]) below the threshold gets -1 and NaN; p = 0 scores every pair.
    """
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        common = common_at_threshold(sets, threshold, x, y, False)
        if threshold.p == 0:
            common = max(common, np.int64(0))
        overlaps[k], similarities[k] = common, np.nan
        if common >= 0:
            x_total, y_total = sets.totals[x], sets.totals[y]
            value = similarity(threshold.measure, common, x_total, y_total) if common > 0 else 0.0
            similarities[k] = value


@kernel
def score_overlaps(
    overlaps: ConstInt64s, left: ConstInt64s, right: ConstInt64s, measure: int, similarities: Floats
) -> None:
    """Work out similarities from overlaps and set sizes."""
    for k in range(overlaps.shape[0]):
        similarities[k] = similarity(measure, overlaps[k], left[k], right[k])
