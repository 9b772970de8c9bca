"""Repeated calls on open indexes of many short documents: ``passages/open_index.py FOLDER``.

Builds indexes of generated documents in FOLDER, unless they are there, and takes the milliseconds
of ``PassageIndex.search`` of one text and of ``PassageIndex.add`` of one document, call by call on
an index that stays open. Words are as frequent as in English (Zipf), and every document has some
of its own, as names and numbers are, so that the vocabulary grows with the documents. The query is
ten words of a document in the middle. Works with every neardup that has a ``PassageIndex``, so that
two of them can be compared. Prints medians as JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup import PassageIndex

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (10_000, 100_000, 1_000_000)
WORDS, COMMON = 12, 8  # of a document, and those that others have, too
VOCABULARY = 50_000
MIN_TOKENS, NUM_PERM = 8, 64
SEARCHES, ADDITIONS = 50, 5


def make_documents(n_documents: int) -> pa.Table:
    """Generate documents; the first ones are the same for every number."""
    texts: list[str] = []
    weights = 1 / np.arange(1, VOCABULARY + 1)
    edges = np.cumsum(weights / weights.sum())
    for first in range(0, n_documents, 10_000):
        rng = np.random.default_rng(first)
        common = np.searchsorted(edges, rng.random((10_000, COMMON))).tolist()
        own = rng.integers(0, 2**60, (10_000, WORDS - COMMON)).tolist()
        for of_all, of_one in zip(common, own, strict=True):
            words = [f"w{word}" for word in of_all] + [f"n{word}" for word in of_one]
            texts.append(" ".join(words[i // 3 + (i % 3) * 4] for i in range(WORDS)))
    texts = texts[:n_documents]
    return pa.table({"id": [f"d{i}" for i in range(n_documents)], "text": texts})


def build(folder: Path, n_documents: int) -> float:
    """Build an index; returns the seconds."""
    table = make_documents(n_documents)
    start = time.perf_counter()
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    index = PassageIndex.create(part, min_tokens=MIN_TOKENS, num_perm=NUM_PERM)
    index.add(table, id_column="id")
    part.rename(folder)
    return time.perf_counter() - start


def milliseconds(call: Callable[[int], object], n_calls: int) -> dict[str, float]:
    """Time calls one by one; the first one apart."""
    times = []
    for number in range(n_calls + 1):
        start = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - start) * 1e3)
    first, *others = times
    return {
        "first": round(first, 3),
        "median": round(statistics.median(others), 3),
        "least": round(min(others), 3),
        "most": round(max(others), 3),
    }


def measure(folder: Path, n_documents: int) -> dict[str, Any]:
    """Search an open index again and again, then add documents to a copy of it one by one."""
    (text,) = make_documents(n_documents)["text"][
        n_documents // 2 : n_documents // 2 + 1
    ].to_pylist()
    query = " ".join(text.split()[1:11])
    start = time.perf_counter()
    index = PassageIndex.open(folder)
    report: dict[str, Any] = {"open_seconds": round(time.perf_counter() - start, 3)}
    for workers in (1, 2):
        found: list[Any] = []
        report[f"search_{workers}"] = milliseconds(
            lambda _, n=workers, all_=found: all_.append(index.search(query, 0.8, workers=n)),
            SEARCHES,
        )
        report["passages"] = pa.table(getattr(found[0], "passages", found[0])).num_rows
    del index
    copy = folder.with_name(f"{folder.name}.copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    index = PassageIndex.open(copy)

    def add(number: int) -> None:
        index.add([{"id": f"new{number}", "text": f"{query} {number}"}], id_column="id")

    def add_and_search(number: int) -> None:
        add(ADDITIONS + 1 + number)
        index.search(query, 0.8, workers=1)

    report["add"] = milliseconds(add, ADDITIONS)
    report["add_and_search"] = milliseconds(add_and_search, ADDITIONS)
    shutil.rmtree(copy)
    return report


def main() -> None:
    """Build what is missing, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    report = {}
    for size in options.sizes:
        folder = options.folder / f"short-{size}"
        built = {} if folder.exists() else {"build_seconds": round(build(folder, size), 1)}
        report[size] = {**built, **measure(folder, size)}
        sys.stderr.write(json.dumps({size: report[size]}) + "\n")
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
