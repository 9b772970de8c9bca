"""An index opened, and queries looked up in it: ``documents/lookups.py INDEX QUERIES...``.

In one process and thread. Prints seconds and memory of opening, milliseconds of queries, and what
was found, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.documents.timed import read_rows, time_queries
from benchmarks.measuring.clocks import Memory
from neardup import DocumentIndex


def main() -> None:
    """Open the index, and look queries up."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", type=Path, nargs="+")
    parser.add_argument("--warm-up", type=Path, required=True, help="a small index to query before")
    options = parser.parse_args()
    rows = [read_rows(path) for path in options.queries]
    # Code is loaded now: what it takes is not the index's.
    small = DocumentIndex.open(options.warm_up)
    for _, text in rows[0][:20] + rows[-1][:20]:
        small.query(text)
    memory = Memory()
    start, start_cpu = time.perf_counter(), time.process_time()
    index = DocumentIndex.open(options.folder)
    n_documents = len(index)
    opened = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
        "memory": memory.report(),
    }
    timed = [time_queries(index.query, each) for each in rows]
    report = {
        "documents": n_documents,
        "segments": index.info()["segments"],
        "opened": opened,
        "queries": [summary for summary, _ in timed],
        "found": [found for _, found in timed],
        "memory": memory.report(),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
