"""Processes that look texts up while another adds: ``documents/readers.py INDEX QUERIES NEW``.

Readers refresh their view now and then. Prints look-ups and insertions a second as JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.documents.timed import read_rows
from benchmarks.measuring.figures import latencies
from neardup import DocumentIndex

if TYPE_CHECKING:
    from multiprocessing.queues import Queue
    from multiprocessing.synchronize import Barrier

REFRESH_EVERY = 100
COMMIT_EVERY = 1000


def read(
    number: int, folder: Path, queries: Path, seconds: float, start: Barrier, reports: Queue[Any]
) -> None:
    """Look texts up for some seconds; each is like the document of its id."""
    rows = read_rows(queries)
    rows = rows[number * len(rows) // 2 :] + rows[: number * len(rows) // 2]
    index = DocumentIndex.open(folder)
    is_known = [name in dict(index.query(text)) for name, text in rows]
    start.wait()
    ends, milliseconds, n_missed = time.perf_counter() + seconds, [], 0
    used, before = time.process_time(), len(index)
    while time.perf_counter() < ends:
        place = len(milliseconds) % len(rows)
        name, text = rows[place]
        begun = time.perf_counter()
        if len(milliseconds) % REFRESH_EVERY == 0:
            index.refresh()
        found = dict(index.query(text))
        milliseconds.append((time.perf_counter() - begun) * 1e3)
        n_missed += is_known[place] and name not in found
    index.refresh()
    reports.put(
        {
            "lookups": len(milliseconds),
            "cpu": time.process_time() - used,
            "missed": n_missed,
            "seen_new": len(index) - before,
            **latencies(milliseconds),
        }
    )


def write(folder: Path, new: Path, seconds: float, start: Barrier) -> dict[str, float]:
    """Insert documents for some seconds."""
    rows = iter(read_rows(new))
    index = DocumentIndex.open(folder, commit_every=COMMIT_EVERY)
    for row in islice(rows, COMMIT_EVERY):
        index.insert(*row)
    start.wait()
    begun, n_inserted = time.perf_counter(), 0
    used = time.process_time()
    for name, text in rows:
        index.insert(name, text)
        n_inserted += 1
        if n_inserted % 100 == 0 and time.perf_counter() - begun >= seconds:
            break
    index.commit()
    taken = time.perf_counter() - begun
    return {"insertions": n_inserted, "seconds": taken, "cpu": time.process_time() - used}


def main() -> None:
    """Start readers, and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--no-writer", action="store_true")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(options.readers + 1)
    reports = context.Queue()
    processes = [
        context.Process(
            target=read,
            args=(number, options.folder, options.queries, options.seconds, start, reports),
        )
        for number in range(options.readers)
    ]
    for process in processes:
        process.start()
    writer = None
    if options.no_writer:
        start.wait()
    else:
        writer = write(options.folder, options.new, options.seconds, start)
    readers = [reports.get() for _ in processes]
    for process in processes:
        process.join()
    report = {"seconds": options.seconds, "readers": readers, "writer": writer}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
