"""Exact similarities of pairs of shingle sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels import overlap, parities
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.tables import Floats, Int64s, ShingleSets, Uint64s, WeightedSets


@dataclass(frozen=True)
class Sizes:
    """How large sets are, and what else their comparison needs, as kernels want it.

    ``totals`` are sizes, or sums of ``weights``, which are empty for sets without. By ``parities``,
    empty for weighted sets, most dissimilar pairs are told apart at a glance.
    """

    weights: Int64s
    totals: Int64s
    parities: Uint64s


def sizes_of(sets: ShingleSets | WeightedSets) -> Sizes:
    """Measure sets."""
    if isinstance(sets, WeightedSets):
        return Sizes(sets.weights, sets.totals, np.empty(0, np.uint64))
    found: Uint64s = np.empty(len(sets), np.uint64)
    parities.set_parities(sets.values, sets.starts, sets.sizes, found)
    return Sizes(np.empty(0, np.int64), sets.sizes, found)


def overlaps_at_threshold(
    sets: ShingleSets, left: Int64s, right: Int64s, measure: Measure
) -> Int64s:
    """Count the common elements of each pair of non-empty sets that reaches the threshold.

    -1 for the other pairs. ``left[k]`` is the set that would go, ``right[k]`` the one that stays.
    """
    return _score(sets, left, right, measure.in_kernels)[0]


def score_pairs(
    sets: ShingleSets | WeightedSets, left: Int64s, right: Int64s, measure: Measure
) -> Floats:
    """Work out the similarity of each pair (left[k], right[k]) of non-empty sets, exactly.

    The threshold of ``measure`` plays no part. Time O(size of both sets) a pair.
    """
    if isinstance(sets, WeightedSets):
        # Compiled when it is imported, and only few jobs need it.
        from neardup.kernels import weighted_overlap

        similarities: Floats = np.empty(len(left), np.float64)
        weighted_overlap.score_weighted_pairs(
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
