"""Job around every peer's library: read, shingle, verify, keep first, write.

No peer reads files, makes word shingles of our kind or writes results, so these parts are the
same for all. They are written as a careful user would write them: orjson, one pass over the file
in blocks that worker processes read for themselves, a second pass that copies the kept lines.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeVar

import orjson

NGRAM = 5
BLOCK_BYTES = 1 << 20

Result = TypeVar("Result")
Block = tuple[Path, int, int]
Shingles = list[str]

find_words = re.compile(r"\w+").findall

# Lists of millions of strings and no cycles: the collector would cost the peers 7 % of the time.
gc.disable()


@dataclass(frozen=True)
class Options:
    """The command line; ``threshold`` is None where candidates are not verified."""

    source: Path
    folder: Path
    bands: int
    rows: int
    threshold: float | None
    workers: int

    @property
    def num_perm(self) -> int:
        """As many hash functions as the bands use: no peer computes values that it ignores."""
        return self.bands * self.rows


def parse_options(description: str | None) -> Options:
    """Read the command line that all peers share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("source", type=Path, help="JSON lines with id and text")
    parser.add_argument("folder", type=Path, help="where kept.jsonl and removed.tsv go")
    parser.add_argument("--bands", type=int, default=16)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument(
        "--verify",
        type=float,
        metavar="THRESHOLD",
        help="remove only documents whose exact Jaccard similarity to a kept one reaches this",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    return Options(given.source, given.folder, given.bands, given.rows, given.verify, given.workers)


def words_of(line: bytes) -> tuple[str, list[str]]:
    """Return the id of a line and the casefolded words of its text."""
    record = orjson.loads(line)
    return record["id"], find_words(record["text"].casefold())


def shingles_of(words: list[str]) -> Shingles:
    """Join every five consecutive words, or all where there are fewer; none for no words.

    Repeats stay in: every peer ignores them. Mapping ``join`` was the fastest of three forms
    measured: 0.33 s for 3.2 million words, 0.41 s for f-strings, 0.53 s for slices.
    """
    if NGRAM > len(words) > 0:
        return [" ".join(words)]
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False)))


def blocks(path: Path) -> list[Block]:
    """Cut a file into ranges of bytes of about one megabyte that end with a line."""
    starts = [0]
    size = path.stat().st_size
    with path.open("rb") as file:
        while starts[-1] < size:
            file.seek(min(starts[-1] + BLOCK_BYTES, size))
            file.readline()
            starts.append(file.tell())
    return [(path, start, stop) for start, stop in pairwise(starts)]


def read_lines(block: Block) -> list[bytes]:
    """Read the lines of a block."""
    path, start, stop = block
    with path.open("rb") as file:
        file.seek(start)
        return file.read(stop - start).splitlines(keepends=True)


def map_blocks(work: Callable[[Block], Result], options: Options) -> Iterator[Result]:
    """Yield the results of ``work`` for all blocks in the order of the file.

    With more than one worker the blocks are worked on in that many processes.
    """
    todo = blocks(options.source)
    if options.workers == 1:
        yield from map(work, todo)
    else:
        with multiprocessing.Pool(options.workers) as pool:
            yield from pool.imap(work, todo)


class Survivors:
    """Decides who stays, in the order of the file, and writes the result.

    A document goes if an earlier document that stays is among its candidates and, where a
    threshold is given, has at least that exact Jaccard similarity to it.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._started = time.perf_counter()
        self._starts: list[int] = []
        self._shingles = lru_cache(maxsize=4096)(self._read_shingles)
        self.ids: list[str] = []
        self.keepers: dict[int, int] = {}
        self.n_candidates = 0

    def add(self, name: str, candidates: Iterable[int]) -> bool:
        """Decide about the next document."""
        number = len(self.ids)
        self.ids.append(name)
        earlier = sorted(c for c in candidates if c < number and c not in self.keepers)
        self.n_candidates += len(earlier)
        threshold = self._options.threshold
        for candidate in earlier:
            if threshold is None or self._similarity(number, candidate) >= threshold:
                self.keepers[number] = candidate
                return False
        return True

    def _similarity(self, number: int, other: int) -> float:
        """Return the Jaccard similarity of two documents' sets of shingles."""
        first, second = self._shingles(number), self._shingles(other)
        common = len(first & second)
        return common / (len(first) + len(second) - common)

    def _read_shingles(self, number: int) -> frozenset[str]:
        """Read one document again; keeping every set would need many times the file's size."""
        with self._options.source.open("rb") as file:
            if not self._starts:
                self._starts = list(accumulate(map(len, file), initial=0))
            file.seek(self._starts[number])
            return frozenset(shingles_of(words_of(file.readline())[1]))

    def write(self) -> None:
        """Write the kept lines and (removed id, kept id), and print counts and seconds."""
        folder = self._options.folder
        folder.mkdir(parents=True, exist_ok=True)
        with self._options.source.open("rb") as lines, (folder / "kept.jsonl").open("wb") as kept:
            kept.writelines(line for number, line in enumerate(lines) if number not in self.keepers)
        with (folder / "removed.tsv").open("w", encoding="utf-8", newline="\n") as pairs:
            pairs.writelines(
                f"{self.ids[number]}\t{self.ids[keeper]}\n"
                for number, keeper in self.keepers.items()
            )
        report = {
            "documents_in": len(self.ids),
            "documents_removed": len(self.keepers),
            "candidates": self.n_candidates,
            "bands": self._options.bands,
            "rows": self._options.rows,
            "threshold": self._options.threshold,
            "workers": self._options.workers,
            "seconds": round(time.perf_counter() - self._started, 3),
        }
        sys.stdout.write(json.dumps(report) + "\n")
