"""All edit distances with RapidFuzz: ``rapidfuzz_distances.py FILE 2 --rows 5000 --workers 2``.

``cdist`` gives a matrix of all distances, for as many rows at a time as memory should hold. The
clock runs during its calls only. Prints seconds, the number of distances, pairs (those within the
distance, each once) and memory as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from benchmarks.corpora.lines import read_strings
from benchmarks.joins.exchange import describe_pairs, sorted_pairs
from benchmarks.measuring.clocks import Memory

SLAB = 500  # rows at a time


def main() -> None:
    """Compare the first rows with all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("distance", type=int, help="most edits")
    parser.add_argument("--records", type=int, help="only the first ones")
    parser.add_argument("--rows", type=int, required=True, help="compare so many with all")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    memory = Memory()
    texts = read_strings(options.source, options.records)
    rows = min(options.rows, len(texts))
    found = []
    seconds = cpu = 0.0
    for start in range(0, rows, SLAB):
        slab = texts[start : min(start + SLAB, rows)]
        clock, cpu_clock = time.perf_counter(), time.process_time()
        distances = process.cdist(
            slab,
            texts,
            scorer=Levenshtein.distance,
            score_cutoff=options.distance,
            dtype=np.uint8,
            workers=options.workers,
        )
        seconds += time.perf_counter() - clock
        cpu += time.process_time() - cpu_clock
        left, right = np.nonzero(distances <= options.distance)
        left += start
        found.append((left[left < right], right[left < right]))
    report = {
        "records": len(texts),
        "distances": rows * len(texts),
        "seconds": [round(seconds, 6)],
        "cpu": [round(cpu, 6)],
        "memory": memory.report(),
    }
    columns = (np.concatenate(column) for column in zip(*found, strict=True))
    report |= describe_pairs(sorted_pairs(*columns))
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
