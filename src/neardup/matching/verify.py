"""Exact similarities of pairs of shingle sets."""

from __future__ import annotations

import numpy as np

from neardup.kernels import overlap
from neardup.matching.measures import Measure
from neardup.tables import Floats, Int64s, ShingleSets


def similarities_of(measure: Measure, overlaps: Int64s, left: Int64s, right: Int64s) -> Floats:
    """Turn overlaps into similarities; ``left`` and ``right`` are the sizes of the sets (n,)."""
    similarities: Floats = np.empty(len(overlaps), np.float64)
    overlap.score_overlaps(overlaps, left, right, measure.code, similarities)
    return similarities


def score_pairs(sets: ShingleSets, left: Int64s, right: Int64s, measure: Measure) -> Floats:
    """Work out the similarity of each pair (left[k], right[k]) of non-empty sets, exactly.

    The threshold of ``measure`` plays no part. Time O(size of both sets) a pair.
    """
    overlaps: Int64s = np.empty(len(left), np.int64)
    similarities: Floats = np.empty(len(left), np.float64)
    overlap.score_pairs(
        sets.values,
        sets.starts,
        sets.sizes,
        left,
        right,
        measure.code,
        0,
        1,
        overlaps,
        similarities,
    )
    return similarities
