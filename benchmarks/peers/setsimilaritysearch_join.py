"""SetSimilaritySearch's join of prepared sets: ``setsimilaritysearch_join.py STEM 0.8``.

It takes a list of sets of Python values; these are lists of integers, which it ranks itself. Its
pairs go into an array as they come. Prints seconds, pairs and memory as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from array import array

import numpy as np
from SetSimilaritySearch import all_pairs

from benchmarks.joins.exchange import (
    describe_pairs,
    read_sets,
    set_join_parser,
    sorted_pairs,
    split_sets,
)
from benchmarks.measuring.clocks import Memory


def main() -> None:
    """Join once."""
    options = set_join_parser(__doc__).parse_args()
    memory = Memory()
    sets = list(split_sets(*read_sets(options.sets, options.records)))
    found = array("q")
    start = time.perf_counter()
    for first, second, _ in all_pairs(
        sets, similarity_func_name="jaccard", similarity_threshold=float(options.threshold)
    ):
        found.append(first)
        found.append(second)
    seconds = time.perf_counter() - start
    report = {"records": len(sets), "seconds": [round(seconds, 6)], "memory": memory.report()}
    pairs = np.frombuffer(found, np.int64) if found else np.empty(0, np.int64)
    report |= describe_pairs(sorted_pairs(pairs[::2], pairs[1::2]), options.pairs)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
