"""neardup's join of strings by edit distance, in one process: ``edit_join.py FILE 2 --passes 5``.

The clock runs from texts in memory to the sorted pairs. Prints seconds of every pass, pairs, what
the filters did, and memory, as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.texts import make_texts
from benchmarks.joins.exchange import Integers, describe_pairs, time_join
from benchmarks.measuring.clocks import Memory
from neardup.matching.edit_join import EditJoin, EditJoinCounts
from neardup.matching.measures import EditThreshold
from neardup.runs.runner import Runner
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
    options = parser.parse_args()
    how = (EditThreshold(options.distance), options.workers)
    join(read_strings(options.source, WARM_UP_RECORDS), *how)
    memory = Memory()
    texts = read_strings(options.source, options.records)
    rows = len(texts) if options.rows is None else options.rows

    def describe(found: Integers) -> dict[str, Any]:
        in_rows = found[found[:, 0] < rows]
        return {"all_pairs": len(found), **describe_pairs(in_rows)}

    report = {"records": len(texts), "workers": options.workers}
    report |= time_join(lambda: join(texts, *how), options.passes, memory, describe)
    sys.stdout.write(json.dumps(report) + "\n")


def join(
    texts: list[str], threshold: EditThreshold, workers: int
) -> tuple[ScoredPairs, EditJoinCounts]:
    """Cut texts into characters and join them."""
    strings = CHARACTERS.hash_tokens(make_texts(texts))
    return EditJoin(strings, threshold).run(None, None, Runner(workers))


if __name__ == "__main__":
    main()
