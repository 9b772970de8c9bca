"""neardup's join of strings by edit distance, in one process: ``edit_join.py FILE 2 --passes 5``.

The clock runs from texts in memory to the sorted pairs. Prints seconds of every pass, pairs, what
the filters did, and memory, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.texts import make_texts
from benchmarks.measuring.clocks import Memory
from benchmarks.timed import describe_pairs, sorted_pairs
from neardup.matching.edit_join import EditJoinCounts, EditThreshold, join_strings
from neardup.tables import ScoredPairs
from neardup.text.shingles import make_shingle_scheme

CHARACTERS = make_shingle_scheme("characters", ngram=1).tokenizer
WARM_UP_RECORDS = 200


def main() -> None:
    """Join, several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("distance", type=int, help="most edits")
    parser.add_argument("--records", type=int, help="only the first ones")
    parser.add_argument("--rows", type=int, help="give the digest of the first records' pairs")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="write those pairs (.npy)")
    options = parser.parse_args()
    how = (EditThreshold(options.distance), options.workers)
    join(read_strings(options.source, WARM_UP_RECORDS), *how)
    memory = Memory()
    texts = read_strings(options.source, options.records)
    report: dict[str, object] = {"records": len(texts), "workers": options.workers}
    seconds, cpu = [], []
    for number in range(options.passes):
        start, cpu_start = time.perf_counter(), time.process_time()
        pairs, counts = join(texts, *how)
        seconds.append(round(time.perf_counter() - start, 6))
        cpu.append(round(time.process_time() - cpu_start, 6))
        if number == 0:
            # Before anything is done that is not the join's.
            report |= {"memory": memory.report(), "filters": vars(counts)}
            found = sorted_pairs(pairs.left, pairs.right)
            in_rows = found[found[:, 0] < (len(texts) if options.rows is None else options.rows)]
            report |= {"all_pairs": len(found), **describe_pairs(in_rows, options.pairs)}
        del pairs
    sys.stdout.write(json.dumps({**report, "seconds": seconds, "cpu": cpu}) + "\n")


def join(
    texts: list[str], threshold: EditThreshold, workers: int
) -> tuple[ScoredPairs, EditJoinCounts]:
    """Cut texts into characters and join them."""
    strings = CHARACTERS.hash_tokens(make_texts(texts))
    return join_strings(strings, threshold, workers=workers)


if __name__ == "__main__":
    main()
