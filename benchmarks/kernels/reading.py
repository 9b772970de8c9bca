"""Speed of reading rows, from file to the columns of a job, in one thread: ``reading.py FILE``.

Prints the processor time of every pass as JSON: of reading blocks and cutting them into rows, and
of reading text and ids of all rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

from neardup.files.formats import file_source
from neardup.files.rows import ColumnNames, RowBlock, Source


def cut(source: Source) -> float:
    """Read all blocks; give the seconds."""
    start = time.process_time()
    for _ in source.blocks():
        pass
    return time.process_time() - start


def parse(source: Source, columns: ColumnNames) -> float:
    """Read the columns of all blocks; give the seconds, but not those of ``cut``."""
    seconds = 0.0

    def timed(block: RowBlock) -> float:
        start = time.process_time()
        block.parse(columns)
        return time.process_time() - start

    for block in source.blocks():
        seconds += timed(block)
    return seconds


def main() -> None:
    """Time passes over a file and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--id-column", default="id")
    options = parser.parse_args()
    source = file_source(str(options.file), options.file.name)
    columns = ColumnNames(options.text_column, options.id_column)
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    # The first round warms up.
    for number in range(1 + options.passes):
        for name, taken in (("blocks", cut(source)), ("columns", parse(source, columns))):
            seconds[name] += [round(taken, 6)] * bool(number)
    report = {"bytes": options.file.stat().st_size, "passes": options.passes, "seconds": seconds}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
