"""Windows of one text in one process: ``partition.py CORPUS --tokens 1000000 --passes 3``.

The texts of the corpus are put one behind the other, and the first words taken as a single text.
Its windows are listed under each hash function in turn, in one thread. Prints seconds of every
pass, for all hash functions together, as JSON; with ``--allalign`` also AllAlign's.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.windows.words import one_text, read_words
from neardup.passages import windows
from neardup.passages.scheme import make_passage_scheme
from neardup.tables import Uint64s

if TYPE_CHECKING:
    from collections.abc import Callable

# The texts cut by hash functions to see whether two partitions are one, cell by cell.
CHECKED_TOKENS, CHECKED_TEXTS = 60, 40

Rows = tuple[Uint64s, Any]


def read_tokens(path: Path, n_tokens: int) -> Uint64s:
    """Read the first words of a corpus.

    Raises
    ------
    SystemExit
        If there are fewer: nothing is repeated.
    """
    values = read_words(path).values
    if len(values) < n_tokens:
        sys.exit(f"{path.name} has {len(values):,} words, fewer than {n_tokens:,}")
    return values[:n_tokens]


class KernelClock:
    """Stands between ``neardup.passages.windows`` and its kernel, and takes its time."""

    def __init__(self) -> None:
        self._kernel = windows.windows.multiset_windows
        self.seconds = 0.0

    def multiset_windows(self, *arguments: Any) -> Any:
        """Run the kernel."""
        start = time.perf_counter()
        result = self._kernel(*arguments)
        self.seconds += time.perf_counter() - start
        return result


def rows_of(lists: windows.WindowLists) -> Rows:
    """Give keys and corners (a, b - a, c - b, d - c) of windows."""
    corners = np.column_stack([lists.starts, lists.spans])
    corners[lists.wide_rows, 1:] = lists.wide_spans
    return np.repeat(lists.keys, np.diff(lists.offsets)), corners


def cells(rows: Rows) -> dict[tuple[int, int], int]:
    """Give the min-hash of every sub-text, as windows tell it.

    Raises
    ------
    SystemExit
        If a sub-text is in two windows.
    """
    found: dict[tuple[int, int], int] = {}
    n = 0
    for key, (a, first, second, third) in zip(rows[0].tolist(), rows[1].tolist(), strict=True):
        b, c = a + first, a + first + second
        for start in range(a, b + 1):
            for end in range(c, c + third + 1):
                found[start, end] = key
                n += 1
    if n != len(found):
        sys.exit("a sub-text is in two windows")
    return found


def check_same(values: Uint64s, seeds: list[int], list_others: Callable[..., Rows]) -> None:
    """See that another partition says the same of all sub-texts of some short texts.

    Raises
    ------
    SystemExit
        If it does not.
    """
    for number, start in enumerate(range(0, CHECKED_TEXTS * CHECKED_TOKENS, CHECKED_TOKENS)):
        # Words by their last bit or two, too, so that tokens come often.
        some = values[start : start + CHECKED_TOKENS]
        some = some & np.uint64(3) if number % 2 else some
        texts, seed = one_text(some), seeds[number % len(seeds)]
        own = cells(rows_of(windows.multiset_windows(texts, seed, 1)))
        if own != cells(list_others(texts, seed, 1)) or len(own) != len(some) * (len(some) + 1) / 2:
            sys.exit("two partitions of one text are not the same")


def time_passes(work: Callable[[int], int], seeds: list[int], passes: int) -> dict[str, Any]:
    """Run work for all seeds, several times; give seconds and the sum of what it gives."""
    work(seeds[0])  # to warm up
    seconds = []
    total = 0
    for _ in range(passes):
        start = time.perf_counter()
        total = sum(work(seed) for seed in seeds)
        seconds.append(round(time.perf_counter() - start, 6))
    return {"windows": total, "seconds": seconds}


def main() -> None:
    """Time the partition of one text."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--min-tokens", type=int, default=1)
    parser.add_argument("--tf", choices=("binary", "raw"), default="raw")
    parser.add_argument("--functions", type=int, default=64)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--allalign", action="store_true")
    options = parser.parse_args()
    seeds = [int(seed) for seed in make_passage_scheme().seeds[: options.functions]]
    values = read_tokens(options.corpus, options.tokens)
    texts = one_text(values)
    most = 1 if options.tf == "binary" else windows.ALL_COPIES
    report: dict[str, Any] = {
        "tokens": options.tokens,
        "types": len(texts.type_hashes),
        "greatest_frequency": int(np.diff(texts.type_starts).max()),
        "min_tokens": options.min_tokens,
        "tf": options.tf,
        "functions": options.functions,
    }
    if options.allalign:
        from benchmarks.windows.allalign import allalign_windows

        check_same(values, seeds, allalign_windows)
        report["allalign"] = time_passes(
            lambda seed: len(allalign_windows(texts, seed, options.min_tokens)[0]),
            seeds,
            options.passes,
        )
    clock = KernelClock()
    # What the windows are listed with; nothing else of that module is replaced.
    windows.windows = clock  # type: ignore[assignment]
    own = partial(windows.multiset_windows, texts, min_tokens=options.min_tokens, most_copies=most)
    marks = []

    def count(seed: int) -> int:
        found = len(own(seed))
        marks.append(clock.seconds)
        return found

    report["neardup"] = time_passes(count, seeds, options.passes)
    ends = marks[:: options.functions]
    report["neardup"]["kernel_seconds"] = [round(b - a, 6) for a, b in pairwise(ends)]
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
