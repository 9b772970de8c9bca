"""Exact similarities of pairs of shingle sets."""

from __future__ import annotations

import numpy as np

from neardup.kernels.common import parities
from neardup.kernels.join import overlap
from neardup.kernels.join.overlap import MeasuredSets
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.tables import Floats, Int64s, ShingleSets, WeightedSets


def measure_sets(sets: ShingleSets | WeightedSets) -> MeasuredSets:
    """Return the sets for kernels, with facts on each for faster comparison."""
    if isinstance(sets, WeightedSets):
        weights, totals, words = sets.weights, sets.totals, np.empty(0, np.uint64)
    else:
        weights, totals, words = np.empty(0, np.int64), sets.sizes, np.empty(len(sets), np.uint64)
        parities.set_parities(sets.values, sets.starts, sets.sizes, words)
    return sealed(MeasuredSets(sets.values, sets.starts, sets.sizes, weights, totals, words))


def overlaps_at_threshold(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, measure: Measure
) -> Int64s:
    """Count common elements of pairs at the threshold.

    For weighted sets it sums common weights. Sets are not empty. -1 for the other pairs.
    ``left[k]`` is the set that would go, ``right[k]`` the one that stays.
    """
    if isinstance(sets, WeightedSets):
        from neardup.kernels.join import weighted

        overlaps: Int64s = np.empty(len(left), np.int64)
        _, p, q = measure.in_kernels
        weighted.common_weights(
            sets.values,
            sets.weights,
            sets.starts,
            sets.sizes,
            sets.totals,
            left,
            right,
            p,
            q,
            overlaps,
        )
        return overlaps
    return _score(sets, left, right, measure.in_kernels)[0]


def score_pairs(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, measure: Measure
) -> Floats:
    """Compute the exact similarity of each pair of nonempty sets.

    The threshold of ``measure`` is ignored. Time O(size of both sets) per pair.
    """
    if isinstance(sets, WeightedSets):
        # Only few jobs need it.
        from neardup.kernels.join import weighted

        similarities: Floats = np.empty(len(left), np.float64)
        weighted.score_weighted_pairs(
            sets.values,
            sets.weights,
            sets.starts,
            sets.sizes,
            sets.totals,
            left,
            right,
            similarities,
        )
        return similarities
    return _score(sets, left, right, measure.in_kernels._replace(p=0, q=1))[1]


def _score(
    sets: ShingleSets, left: Int64s, right: Int64s, threshold: overlap.Threshold
) -> tuple[Int64s, Floats]:
    overlaps: Int64s = np.empty(len(left), np.int64)
    similarities: Floats = np.empty(len(left), np.float64)
    table = sealed(overlap.Sets(sets.values, sets.starts, sets.sizes))
    overlap.score_pairs(table, left, right, threshold, overlaps, similarities)
    return overlaps, similarities
