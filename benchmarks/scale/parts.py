"""What is measured at scale: a function a part, which returns its cases."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measuring.figures import MB
from benchmarks.scale.collections import Made, scratch
from benchmarks.scale.measure import known_options, measure_dedup

Case = dict[str, Any]
Figures = dict[str, list[Case]]

GB = 10**9
MEMORY = ("--memory", "1GB")
REPEATS = 3
# Documents of these lengths make collections of the same number alike in bytes.
_SHAPE_BYTES = 1000
_SHAPES = (("bucket", 200_000), ("chain", 1_000_000), ("copies", 5_000_000))
_SIZES = (1, 2, 5, 10, 20)


@dataclass(frozen=True)
class Bench:
    """What is measured with: the Python that has neardup, and how small the collections are.

    ``shrink`` divides all sizes; ``most_bytes`` leaves out what is larger, where disk or time are
    short.
    """

    python: Path
    shrink: int = 1
    most_bytes: int | None = None
    _known: list[frozenset[str]] = field(default_factory=list)

    def bytes(self, gigabytes: int) -> int:
        """Return a size, shrunk."""
        return gigabytes * GB // self.shrink

    def knows(self, *options: str) -> bool:
        """Return whether ``neardup dedup`` has the options."""
        if not self._known:
            self._known.append(known_options(self.python))
        return self._known[0].issuperset(options)

    def measure(
        self, made: Made, variants: Sequence[Sequence[str]] = ((),), repeats: int = 1
    ) -> list[Case]:
        """Measure a collection under some options in turn; medians by wall time.

        Every variant runs once before if it is repeated, and once alone if it is not.
        """
        if made.bytes is not None and self.most_bytes is not None and made.bytes > self.most_bytes:
            return []
        runs: list[list[Case]] = [[] for _ in variants]
        with made.file() as path, scratch() as folder:
            for turn in range(repeats + (repeats > 1)):
                for each, options in zip(runs, variants, strict=True):
                    row = measure_dedup(self.python, path, options, folder)
                    if turn or repeats == 1:
                        each.append({"collection": made.kind, **row})
        return [_median(each) for each in runs]


def _median(runs: Sequence[Case]) -> Case:
    """Return the run of median wall time, with the wall and processor times of all."""
    middle = statistics.median_low([run["wall"] for run in runs])
    chosen = next(run for run in runs if run["wall"] == middle)
    return {**chosen, "walls": [run["wall"] for run in runs], "cpus": [run["cpu"] for run in runs]}


def in_memory(bench: Bench) -> Figures:
    """1 GB that fits in memory."""
    return {"cases": bench.measure(Made("ordinary", bench.bytes(1)), repeats=REPEATS)}


def growth(bench: Bench) -> Figures:
    """1 to 20 GB within 1 GB of memory."""
    options = MEMORY if bench.knows("--memory") else ()
    cases = []
    for size in _SIZES:
        cases += bench.measure(Made("ordinary", bench.bytes(size)), [options])
    return {"cases": cases}


def short(bench: Bench) -> Figures:
    """100 million documents of 50 bytes."""
    made = Made("short", documents=100_000_000 // bench.shrink, document_bytes=50)
    return {"cases": bench.measure(made)}


def shapes(bench: Bench) -> Figures:
    """Buckets, chains and copies, each with as many ordinary documents behind it."""
    cases = []
    for kind, count in _SHAPES:
        for each in (kind, "ordinary"):
            made = Made(each, documents=count // bench.shrink, document_bytes=_SHAPE_BYTES)
            cases += bench.measure(made)
    return {"cases": cases}


def workers(bench: Bench) -> Figures:
    """One worker and two, in turn."""
    variants = [("--workers", "1"), ("--workers", "2")]
    return {"cases": bench.measure(Made("ordinary", bench.bytes(1)), variants, REPEATS)}


PARTS: dict[str, Callable[[Bench], Figures]] = {
    "in_memory": in_memory,
    "growth": growth,
    "short": short,
    "shapes": shapes,
    "workers": workers,
}


def speed(case: Case) -> float:
    """Return the megabytes that were read a second."""
    read: float = case["input_bytes"] / MB / case["wall"]
    return read
