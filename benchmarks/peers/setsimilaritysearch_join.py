"""SetSimilaritySearch's join of prepared sets: ``setsimilaritysearch_join.py STEM 0.8``.

It takes a list of sets of Python values; these are lists of integers, which it ranks itself. Its
pairs go into an array as they come. Prints seconds, pairs and memory as JSON.
"""

from __future__ import annotations

from array import array

import numpy as np
from SetSimilaritySearch import all_pairs

from benchmarks.joins.exchange import Integers, time_peer_join


def join(sets: list[list[int]], threshold: float) -> array[int]:
    """Find pairs; their numbers come one after another."""
    found = array("q")
    for first, second, _ in all_pairs(
        sets, similarity_func_name="jaccard", similarity_threshold=threshold
    ):
        found.append(first)
        found.append(second)
    return found


def columns(found: array[int]) -> tuple[Integers, Integers]:
    """Return the first and the second numbers."""
    numbers = np.frombuffer(found, np.int64) if found else np.empty(0, np.int64)
    return numbers[::2], numbers[1::2]


if __name__ == "__main__":
    time_peer_join(__doc__, list, join, columns)
