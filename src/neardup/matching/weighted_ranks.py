"""Weighted sets as runs of token ranks and their weights, and prefixes by weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.common.wide import MARGIN
from neardup.kernels.join import postings, weighted
from neardup.kernels.text import shingles
from neardup.matching.measures import Measure
from neardup.matching.postings import RankedRecords, number_values, rank_numbers
from neardup.tables import Floats, Int64s, Uint64s, WeightedSets


@dataclass(frozen=True)
class WeightedRuns:
    """Runs of token ranks, and running sums of what their tokens weigh.

    Token k of all runs weighs ``sums[k + 1] - sums[k]``; sums may wrap around, differences do not.
    """

    ranked: RankedRecords
    sums: Int64s

    def prefixes(self, needed: Floats) -> Int64s:
        """Count the tokens of each run before those that together weigh less than is needed.

        Two sets that have in common what is needed for each of them share one of these tokens,
        whatever the order of all tokens.
        """
        lengths: Int64s = np.empty(len(needed), np.int64)
        weighted.weight_prefixes(self.ranked.starts, self.ranked.sizes, self.sums, needed, lengths)
        return lengths


def needed_weights(measure: Measure, totals: Int64s) -> tuple[Floats, Floats]:
    """Return what sets of these total weights have in common with a partner, rounded down.

    At least with any partner at the threshold, and with one that weighs no less.
    """
    # c / (x + y - c) >= t and c <= y: c >= t * x. Of y >= x: c >= 2 * t * x / (1 + t).
    share = float(measure.threshold)
    with_any: Floats = totals.astype(np.float64) * (share * MARGIN)
    return with_any, with_any * (2 / (1 + share))


def rank_weighted_sets(sets: WeightedSets, order: Int64s) -> WeightedRuns:
    """Sort the elements of sets, in the order named, from the rarest to the most frequent of all.

    Elements that only one set has are left out, and none weighs more than in the second of the sets
    where it weighs most: what is above that no two sets have in common.

    Notes
    -----
    Memory 28 bytes an element and up to 50 a distinct one while it works, then 16 an element that
    several sets have.
    """
    sizes = sets.sizes[order]
    starts: Int64s = np.cumsum(sizes) - sizes
    n_elements = int(sizes.sum())
    values: Uint64s = np.empty(n_elements, np.uint64)
    weights: Int64s = np.empty(n_elements, np.int64)
    own_starts = sets.starts[order]
    shingles.copy_sets(sets.values, own_starts, sizes, values, starts)
    shingles.copy_sets(
        sets.weights.view(np.uint64), own_starts, sizes, weights.view(np.uint64), starts
    )
    numbers, frequencies = number_values(values)
    del values
    n_left = weighted.keep_shared(numbers, frequencies, weights)
    weights = weights[:n_left].copy()
    lengths: Int64s = np.empty(len(sizes), np.int64)
    postings.leave_out_unique(numbers, frequencies, starts, sizes, lengths)
    numbers = numbers[:n_left].copy()
    ranked = rank_numbers(numbers, frequencies, np.cumsum(lengths) - lengths, lengths)
    del numbers
    sums: Int64s = np.zeros(n_left + 1, np.int64)
    weighted.order_weights(weights, ranked.places, ranked.starts, lengths, sums[1:])
    heaviest, second = (np.zeros(ranked.n_tokens, np.int64) for _ in range(2))
    weighted.cap_weights(ranked.tokens, heaviest, second, sums[1:])
    return WeightedRuns(ranked, np.cumsum(sums, out=sums))
