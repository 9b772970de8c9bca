"""Pairs that only one of two joins found: ``pair_differences.py STEM 0.8 OURS.npy THEIRS.npy``.

Prints their numbers as JSON, with the exact similarities looked up in the sets.
"""

from __future__ import annotations

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.joins.exchange import read_sets


def main() -> None:
    """Compare two files of pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, help="what shingle_sets.py wrote, without its suffix")
    parser.add_argument("threshold", type=Fraction, help="least Jaccard similarity")
    parser.add_argument("pairs", type=Path, nargs=2, help="ours and theirs (.npy)")
    options = parser.parse_args()
    ours, theirs = ({(a, b) for a, b in np.load(file).tolist()} for file in options.pairs)
    values, sizes = read_sets(options.sets, -1)
    stops = np.cumsum(sizes)

    def similarity(first: int, second: int) -> Fraction:
        a, b = (values[stops[record] - sizes[record] : stops[record]] for record in (first, second))
        common = len(np.intersect1d(a, b, assume_unique=True))
        return Fraction(common, len(a) + len(b) - common)

    least = options.threshold
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
