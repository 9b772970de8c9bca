"""Repeats by a suffix array, in the environment of the peers: ``suffix_array.py FILE``.

The texts of JSON lines are put one behind the other, a zero byte between them, as tools do that
remove repeats by suffix arrays. pydivsufsort (libdivsufsort) sorts the suffixes, which is the first
and longest step; common prefixes, and what to remove, are not worked out. Prints processor seconds
and the memory that this takes besides the text as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from pydivsufsort import divsufsort

from benchmarks.measuring.clocks import Memory


def main() -> None:
    """Build the array."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    with options.file.open(encoding="utf-8") as lines:
        text = bytearray()
        for line in lines:
            text += json.loads(line)["text"].encode() + b"\0"
    values = np.frombuffer(text, np.uint8)
    memory = Memory()
    start = time.process_time()
    divsufsort(values)
    seconds = time.process_time() - start
    report = {"bytes": len(text), "seconds": round(seconds, 3), "added": memory.report()["added"]}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
