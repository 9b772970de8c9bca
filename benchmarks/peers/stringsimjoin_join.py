"""py_stringsimjoin's join of prepared sets: ``stringsimjoin_join.py STEM 0.8``.

It joins columns of text; each set is a text of its elements' numbers with blanks between, which is
the cheapest for it to cut. It knows only joins of two tables, so a table is joined with itself and
every pair found twice. Prints seconds, pairs and memory as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pandas as pd
from py_stringmatching.tokenizer.delimiter_tokenizer import DelimiterTokenizer
from py_stringsimjoin.join.jaccard_join import jaccard_join

from benchmarks.joins.exchange import (
    describe_pairs,
    read_sets,
    set_join_parser,
    sorted_pairs,
    split_sets,
)
from benchmarks.measuring.clocks import Memory


def main() -> None:
    """Join once."""
    options = set_join_parser(__doc__).parse_args()
    memory = Memory()
    sets = split_sets(*read_sets(options.sets, options.records))
    texts = [" ".join(map(str, elements)) for elements in sets]
    records = pd.DataFrame({"number": np.arange(len(texts)), "text": texts})
    start = time.perf_counter()
    found = jaccard_join(
        records,
        records,
        "number",
        "number",
        "text",
        "text",
        DelimiterTokenizer(return_set=True),
        float(options.threshold),
        allow_empty=False,
        show_progress=False,
    )
    seconds = time.perf_counter() - start
    report = {"records": len(records), "seconds": [round(seconds, 6)], "memory": memory.report()}
    once = found[found["l_number"] < found["r_number"]]
    columns = (once[name].to_numpy(np.int64) for name in ("l_number", "r_number"))
    report |= describe_pairs(sorted_pairs(*columns), options.pairs)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
