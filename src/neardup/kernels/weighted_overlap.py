"""Jaccard similarities of pairs of weighted sets."""

from __future__ import annotations

from neardup.kernels._compile import kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.types import ConstInt64s, ConstUint64s, Floats, Int64s


@kernel
def score_weighted_pairs(
    values: ConstUint64s,
    weights: ConstInt64s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    totals: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    similarities: Floats,
) -> None:
    """Work out the Jaccard similarity of each pair of weighted sets (left[k], right[k])."""
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        common = common_weight(
            values, weights, starts[x], sizes[x], totals[x], starts[y], sizes[y], totals[y], 0, 1
        )
        similarities[k] = common / (totals[x] + totals[y] - common) if common > 0 else 0.0


@kernel
def common_weights(
    values: ConstUint64s,
    weights: ConstInt64s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    totals: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    p: int,
    q: int,
    overlaps: Int64s,
) -> None:
    """Sum the common weights of each pair of sets; -1 where they are not similar by p / q."""
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        overlaps[k] = common_weight(
            values, weights, starts[x], sizes[x], totals[x], starts[y], sizes[y], totals[y], p, q
        )
