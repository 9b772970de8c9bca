"""Trials of one index of documents in this process: ``trials.py lookups INDEX QUERIES...``.

``trials.py insertions INDEX DOCUMENTS`` inserts documents one at a time. Both print JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.corpora.lines import read_rows
from benchmarks.measuring.clocks import Memory, time_queries
from neardup import DocumentIndex

COMMIT_EVERY = 1000
# Insertions before the clock starts, and queries before the memory is taken.
WARM_UP = 200


def look_up(folder: Path, files: list[Path]) -> dict[str, Any]:
    """Open an index and look up the texts of each file, one by one."""
    queries = [read_rows(path) for path in files]
    memory = Memory()
    index = DocumentIndex.open(folder)
    timed = [time_queries(index.query, rows) for rows in queries]
    return {
        "queries": [summary for summary, _ in timed],
        "matches": [matches for _, matches in timed],
        "memory": memory.report(),
    }


def insert(folder: Path, documents: Path, *, if_new: bool) -> dict[str, Any]:
    """Insert documents into an index one at a time, durable after each thousand."""
    index = DocumentIndex.open(folder)
    call = index.insert_if_new if if_new else index.insert
    rows = read_rows(documents)
    for row in rows[:WARM_UP]:
        call(row["id"], row["text"])
    index.commit()
    before, start, start_cpu = len(index), time.perf_counter(), time.process_time()
    for number, row in enumerate(rows[WARM_UP:], 1):
        call(row["id"], row["text"])
        if number % COMMIT_EVERY == 0:
            index.commit()
    index.commit()
    return {
        "offered": len(rows) - WARM_UP,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
        "inserted": len(index) - before,
    }


def main() -> None:
    """Run one trial."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("trial", choices=("lookups", "insertions"))
    parser.add_argument("index", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--if-new", action="store_true", help="insert only new texts")
    options = parser.parse_args()
    if options.trial == "lookups":
        report = look_up(options.index, options.files)
    else:
        report = insert(options.index, options.files[0], if_new=options.if_new)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
