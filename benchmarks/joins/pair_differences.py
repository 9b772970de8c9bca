"""Which pairs only one of two joins found: ``pair_differences.py STEM 0.8 OURS.npy THEIRS.npy``.

Prints their numbers as JSON, with the exact similarities looked up in the sets.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.joins.exchange import read_sets


def main() -> None:
    """Compare two files of pairs."""
    stem, threshold, *files = sys.argv[1:]
    ours, theirs = ({(a, b) for a, b in np.load(file).tolist()} for file in files)
    values, sizes = read_sets(Path(stem), -1)
    stops = np.cumsum(sizes)

    def similarity(first: int, second: int) -> Fraction:
        a, b = (values[stops[record] - sizes[record] : stops[record]] for record in (first, second))
        common = len(np.intersect1d(a, b, assume_unique=True))
        return Fraction(common, len(a) + len(b) - common)

    least = Fraction(threshold)
    missing = [similarity(*pair) for pair in ours - theirs]
    extra = [similarity(*pair) for pair in theirs - ours]
    report = {
        "missing": len(missing),
        "missing_at_threshold": sum(value == least for value in missing),
        "extra": len(extra),
        "extra_below_threshold": sum(value < least for value in extra),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
