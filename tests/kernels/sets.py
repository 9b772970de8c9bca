"""Random sets, and what bounds of joins are by the definitions."""

from __future__ import annotations

import random
from itertools import count

import numpy as np

from neardup.matching.measures import MEASURES
from tests.oracles.measures import reaches

THRESHOLDS = ("0.2", "0.5", "0.54", "0.6", "0.75", "0.8", "0.9", "1")


def threshold_of(generator: random.Random, measure: str) -> str:
    return str(generator.randint(1, 5)) if measure == "overlap" else generator.choice(THRESHOLDS)


def least_overlap(measure, x, y, threshold):
    """Fewest common elements of sets of these sizes at the threshold; they may not have so many."""
    return next(o for o in count(1) if reaches(measure, o, x, y, threshold))


def suffix_bound(x, y, n_levels):
    """Least difference of two sorted runs: as often halved by the median of y, by sizes alone."""
    if not (x and y and n_levels):
        return abs(len(x) - len(y))
    median = y[len(y) // 2]
    cut, y_cut = sum(token < median for token in x), y.index(median)
    found = median in x
    return (
        suffix_bound(x[:cut], y[:y_cut], n_levels - 1)
        + suffix_bound(x[cut + found :], y[y_cut + 1 :], n_levels - 1)
        + (not found)
    )


def prefixes_of(sizes, measure, threshold):
    return MEASURES[measure](threshold).size_bounds(np.array(sizes, np.int64))
