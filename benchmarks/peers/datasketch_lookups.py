"""Texts looked up in a ``MinHashLSH`` of datasketch 2, candidates compared exactly.

``datasketch_lookups.py DOCUMENTS QUERIES... --bands 16x6 --threshold 0.8``. Signatures are
made as in ``datasketch_dedup``. What is compared are the documents' sets of 64-bit hashes of
shingles, kept in memory as arrays: as exact as ours, and faster than cutting texts again. Building
takes some minutes for a million documents. Prints milliseconds of queries as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from datasketch import LeanMinHash, MinHash, MinHashLSH

from benchmarks.corpora.lines import read_rows
from benchmarks.measuring.clocks import Match, Memory, time_queries
from benchmarks.peers.datasketch_dedup import SCHEME, SEED
from benchmarks.peers.pipeline import (
    Block,
    Options,
    find_words,
    map_blocks,
    read_lines,
    shingles_of,
    words_of,
)

Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]
Values = np.ndarray[tuple[int, int], np.dtype[np.uint32]]


def hashes_of(shingles: list[bytes]) -> set[int]:
    """Return the set that is compared."""
    return set(map(xxhash.xxh3_64_intdigest, shingles))


def sketch(block: Block, num_perm: int) -> tuple[list[str], Values, list[Hashes]]:
    """Return ids, signatures as rows of one array, and sets of a block of documents."""
    rows = [words_of(line) for line in read_lines(block)]
    shingles = [[each.encode() for each in shingles_of(words)] for _, words in rows]
    made = MinHash.generator(
        shingles, num_perm=num_perm, seed=SEED, hashfunc=xxhash.xxh32_intdigest, scheme=SCHEME
    )
    values = np.array([minhash.hashvalues for minhash in made], dtype=np.uint32)
    sets = [np.fromiter(hashes_of(each), np.uint64) for each in shingles]
    return [name for name, _ in rows], values, sets


class Index:
    """Index of datasketch with exact comparison of the candidates."""

    def __init__(self, options: Options) -> None:
        self._num_perm, self._threshold = options.num_perm, options.threshold or 0.0
        self._lsh = MinHashLSH(num_perm=options.num_perm, params=(options.bands, options.rows))
        self._empty = MinHash(
            num_perm=options.num_perm, seed=SEED, hashfunc=xxhash.xxh32_intdigest, scheme=SCHEME
        )
        self.ids: list[str] = []
        self._sets: list[Hashes] = []
        for ids, values, sets in map_blocks(partial(sketch, num_perm=options.num_perm), options):
            made = [LeanMinHash(seed=SEED, hashvalues=row, scheme=SCHEME) for row in values]
            self.insert(ids, made, sets)

    def insert(self, ids: list[str], made: list[LeanMinHash], sets: list[Hashes]) -> None:
        """Insert a block of documents."""
        for name, minhash, own in zip(ids, made, sets, strict=True):
            self._lsh.insert(len(self.ids), minhash, check_duplication=False)
            self.ids.append(name)
            self._sets.append(own)

    def documents(self, candidates: list[Any]) -> list[tuple[str, Hashes]]:
        """Return ids and sets of documents."""
        return [(self.ids[number], self._sets[number]) for number in candidates]

    def query(self, text: str) -> list[Match]:
        """Return documents at the threshold, the most similar first."""
        shingles = [each.encode() for each in shingles_of(find_words(text.casefold()))]
        # A copy has the permutations already.
        minhash = self._empty.copy()
        minhash.update_batch(shingles)
        candidates = self._lsh.query(minhash)
        if not candidates:
            return []
        found = []
        own = hashes_of(shingles)
        for name, other in self.documents(candidates):
            common = len(own.intersection(other.tolist()))
            similarity = common / (len(own) + len(other) - common)
            if similarity >= self._threshold:
                found.append((name, similarity))
        found.sort(key=lambda each: -each[1])
        return found


def main() -> None:
    """Build the index and look queries up."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("documents", type=Path)
    parser.add_argument("queries", type=Path, nargs="+")
    parser.add_argument("--bands", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    options = Options(
        given.documents, Path(), given.bands, given.rows, given.threshold, given.workers
    )
    memory = Memory()
    start = time.perf_counter()
    index = Index(options)
    built = time.perf_counter() - start
    timed = [time_queries(index.query, read_rows(path)) for path in given.queries]
    report = {
        "documents": len(index.ids),
        "build_seconds": built,
        "queries": [summary for summary, _ in timed],
        "matches": [matches for _, matches in timed],
        "memory": memory.report(),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
