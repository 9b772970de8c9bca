"""Whole commands with kernels compiled ahead, for each level, and compiled as they are called.

Run it with a Python that has neardup and Numba: ``python -m benchmarks.kernels.ways CORPUS``, some
MB of JSON lines. Prints the processor time of each way, and as times that of the first; the best
level comes first. Code that is compiled on call is in its cache when the clock starts, so that what
is left of it is the loading of Numba.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import run
from neardup.kernels import _native

AHEAD = {level: {"NEARDUP_LEVEL": level} for level in _native.LEVELS}
WAYS = {**AHEAD, "on call": {"NEARDUP_JIT": "1"}}


def commands(corpus: Path) -> dict[str, list[object]]:
    """Return the commands, in an order in which each finds what it needs."""
    return {
        "dedup": ["dedup", corpus, "-o", "clean"],
        "pairs": ["pairs", corpus, "--threshold", "0.7", "-o", "pairs.parquet"],
        "index build": ["index", "build", "index", corpus, "--min-tokens", "30"],
        "search": ["search", "index", corpus, "-o", "found.parquet"],
        "sketch": ["sketch", corpus, "-o", "sketches.parquet"],
    }


def main() -> None:
    """Measure every command in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {}
    # The first round fills caches.
    for number in range(1 + options.rounds):
        for way, variables in WAYS.items():
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                for name, words in commands(options.corpus.resolve()).items():
                    command = [sys.executable, "-m", "neardup", *map(str, words), "--quiet"]
                    taken = run(command, environment=variables)
                    if number:
                        found.setdefault((name, way), []).append(taken.cpu)
                os.chdir("/")
    others = list(WAYS)[1:]
    rows = []
    for name in commands(options.corpus):
        medians = [statistics.median(found[name, way]) for way in WAYS]
        rows.append((name, *medians, *(each / medians[0] for each in medians[1:])))
    header = ["command", *(f"{way}, CPU s" for way in WAYS), *(f"{way}, times" for way in others)]
    print(table(header, rows))


if __name__ == "__main__":
    main()
