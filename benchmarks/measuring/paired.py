"""Two versions of neardup timed in turn: ``paired.py OLD sketches.passes CORPUS --rounds 9``.

OLD is a folder with another checkout of this repository. Its passes and those of this one run in
processes of their own, now one first and now the other, so that what else the machine does hits
both. Prints a table: milliseconds of the median pass and of the best, and how many times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.measuring.environments import REPOSITORY
from benchmarks.measuring.markdown import table

Passes = defaultdict[str, list[float]]

HEADER = ("work", "old ms, median", "best", "new ms, median", "best", "medians", "bests")
# Passes of a process; its first one, to warm up, is not counted.
TOGETHER = 3


def report(checkout: Path, module: str, corpus: Path) -> dict[str, Any]:
    """Run passes of one version and return what they report."""
    path = os.pathsep.join(map(str, (checkout / "src", checkout)))
    cache = {"NEARDUP_CACHE_DIR": str(checkout / "benchmarks" / ".data" / "compiled")}
    command = (sys.executable, "-m", f"benchmarks.{module}", str(corpus), "--passes", str(TOGETHER))
    done = subprocess.run(
        command,
        cwd=checkout,
        env=os.environ | cache | {"PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(old: Path, module: str, corpus: Path, rounds: int) -> str:
    """Time both versions in turn and lay out what both of them have."""
    versions = (old, REPOSITORY)
    seconds: dict[Path, Passes] = {version: defaultdict(list) for version in versions}
    for number in range(rounds + 1):
        for version in versions[:: 1 if number % 2 else -1]:
            found = report(version, module, corpus)["seconds"]
            # The first round compiles.
            for work, taken in found.items() if number else ():
                seconds[version][work] += taken
    rows = [
        _row(work, taken, seconds[REPOSITORY][work])
        for work, taken in seconds[old].items()
        if work in seconds[REPOSITORY]
    ]
    return table(HEADER, rows)


def _row(work: str, old: list[float], new: list[float]) -> tuple[object, ...]:
    medians = statistics.median(old), statistics.median(new)
    bests = min(old), min(new)
    columns = (1e3 * x for pair in zip(medians, bests, strict=True) for x in pair)
    times = (figure[0] / figure[1] for figure in (medians, bests))
    return work, *(round(figure, 2) for figure in columns), *(round(x, 2) for x in times)


def main() -> None:
    """Compare two versions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("old", type=Path, help="folder of the other checkout")
    parser.add_argument("module", help="what to run: kernels.passes or sketches.passes")
    parser.add_argument("corpus", type=Path, help="JSON lines file with texts")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    old, corpus = options.old.resolve(), options.corpus.resolve()
    sys.stdout.write(compare(old, options.module, corpus, options.rounds) + "\n")


if __name__ == "__main__":
    main()
