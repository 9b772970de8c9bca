"""Sets, pairs and passes of the scripts that time a join in their own process.

It runs in the environments of all peers, so it needs NumPy alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sized
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from benchmarks.measuring.clocks import Memory

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

Given = TypeVar("Given", bound=Sized)
Found = TypeVar("Found")


def write_sets(stem: Path, values: Hashes, sizes: Integers) -> None:
    """Write sets, one after another, as two files of plain numbers."""
    values.tofile(stem.with_suffix(".values"))
    sizes.tofile(stem.with_suffix(".sizes"))


def read_sets(stem: Path, records: int) -> tuple[Hashes, Integers]:
    """Read the elements of the first sets, one set after another, and their sizes."""
    sizes = np.fromfile(stem.with_suffix(".sizes"), np.int64, records)
    values = np.fromfile(stem.with_suffix(".values"), np.uint64, int(sizes.sum()))
    return values, sizes


def split_sets(values: Hashes, sizes: Integers) -> Iterator[list[int]]:
    """Yield each set as a list of Python's integers."""
    stop = 0
    for size in sizes.tolist():
        start, stop = stop, stop + size
        yield values[start:stop].tolist()


def sorted_pairs(first: Integers, second: Integers) -> Integers:
    """Put pairs (n, 2) in order, the lower number of each first."""
    pairs = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64)


def describe_pairs(pairs: Integers) -> dict[str, Any]:
    """Return the number and the digest of sorted pairs."""
    return {"pairs": len(pairs), "digest": hashlib.blake2b(pairs.tobytes()).hexdigest()[:32]}


def time_join(
    join: Callable[[], tuple[Any, Any]],
    passes: int,
    memory: Memory,
    describe: Callable[[Integers], dict[str, Any]],
) -> dict[str, Any]:
    """Run neardup's join several times."""
    report: dict[str, Any] = {}
    seconds, cpu = [], []
    for number in range(passes):
        start, cpu_start = time.perf_counter(), time.process_time()
        pairs, counts = join()
        seconds.append(round(time.perf_counter() - start, 6))
        cpu.append(round(time.process_time() - cpu_start, 6))
        if number == 0:
            # Before anything is done that is not the join's.
            report |= {"memory": memory.report(), "filters": vars(counts)}
            report |= describe(sorted_pairs(pairs.left, pairs.right))
        del pairs
    return {**report, "seconds": seconds, "cpu": cpu}


def set_join_parser(description: str | None) -> argparse.ArgumentParser:
    """Make the parser of the options that all joins of sets share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sets", type=Path, help="what shingle_sets.py wrote, without its suffix")
    parser.add_argument("threshold", help="least Jaccard similarity")
    parser.add_argument("--records", type=int, default=-1, help="only the first ones")
    return parser


def time_peer_join(
    description: str | None,
    prepare: Callable[[Iterator[list[int]]], Given],
    join: Callable[[Given, float], Found],
    columns: Callable[[Found], tuple[Integers, Integers]],
) -> None:
    """Run a peer's join of prepared sets once; print seconds, pairs and memory as JSON."""
    options = set_join_parser(description).parse_args()
    memory = Memory()
    given = prepare(split_sets(*read_sets(options.sets, options.records)))
    start = time.perf_counter()
    found = join(given, float(options.threshold))
    seconds = time.perf_counter() - start
    report = {"records": len(given), "seconds": [round(seconds, 6)], "memory": memory.report()}
    report |= describe_pairs(sorted_pairs(*columns(found)))
    sys.stdout.write(json.dumps(report) + "\n")
