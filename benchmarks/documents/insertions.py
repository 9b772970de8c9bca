"""Documents inserted one at a time: ``documents/insertions.py INDEX DOCUMENTS``.

The index is made if it is not there. Prints seconds, of the processor too, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.documents.timed import read_rows
from neardup import DocumentIndex

# Of the documents, so many more come first.
_WARM_UP_SHARE = 10


def main() -> None:
    """Insert documents."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--number", type=int, default=40_000)
    parser.add_argument("--commit-every", type=int, default=1000)
    parser.add_argument("--if-new", action="store_true", help="only those that are like no other")
    options = parser.parse_args()
    if not options.folder.exists():
        DocumentIndex.create(options.folder)
    index = DocumentIndex.open(options.folder, commit_every=options.commit_every)
    insert = index.insert_if_new if options.if_new else index.insert
    rows = read_rows(options.documents)
    others, rows = rows[options.number :], rows[: options.number]
    for name, text in others[: options.number // _WARM_UP_SHARE]:
        insert(name, text)
    index.commit()
    n_before = len(index)
    start, start_cpu = time.perf_counter(), time.process_time()
    for name, text in rows:
        insert(name, text)
    index.commit()
    report = {
        "offered": len(rows),
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
        "inserted": len(index) - n_before,
        "segments": index.info()["segments"],
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
