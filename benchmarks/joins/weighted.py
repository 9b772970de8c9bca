"""The join of weighted sets beside that of plain ones: ``weighted.py FILE 0.5 0.8 --passes 3``.

FILE is JSON lines with a ``text``. Sets of words are made before the clock starts, which is that of
the process; plain and weighted joins take turns. Prints pairs of different sets, what the filters
left to be compared, and the median seconds, as JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import pyarrow as pa

from neardup.matching.join import Join
from neardup.matching.measures import Jaccard, WeightedJaccard
from neardup.matching.set_join import DEFAULT_ALGORITHM, SetJoin
from neardup.matching.weighted_join import WeightedJoin
from neardup.options.choices import InverseFrequency, TermFrequency
from neardup.runs.runner import Runner
from neardup.tables import Texts
from neardup.text.shingles import make_shingle_scheme, shingle_sets
from neardup.text.weighting import (
    WeightedScheme,
    Weighting,
    count_documents,
    frequency_lists,
    weighted_sets,
)

WEIGHTINGS: tuple[tuple[TermFrequency, InverseFrequency], ...] = (
    ("binary", "unary"),
    ("raw", "smooth"),
    ("log", "standard"),
)


def main() -> None:
    """Join at each threshold, several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("thresholds", nargs="+")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    lines = options.file.read_text(encoding="utf-8").splitlines()
    strings = [json.loads(line)["text"] for line in lines]
    texts = Texts.from_arrow(pa.array(strings, pa.large_string()))
    scheme = make_shingle_scheme(ngram=1)
    plain = shingle_sets(texts, scheme)
    tokens = scheme.tokenizer.hash_tokens(texts)
    counts = count_documents([frequency_lists(tokens, scheme)])
    weighted = {
        f"{tf} {idf}": weighted_sets(tokens, scheme, WeightedScheme(Weighting(tf, idf), counts))
        for tf, idf in WEIGHTINGS
    }
    for threshold in options.thresholds:
        set_join = SetJoin(plain, Jaccard.parse(threshold), DEFAULT_ALGORITHM)
        joins: dict[str, Join] = {"plain": set_join}
        for name, sets in weighted.items():
            joins[name] = WeightedJoin(sets, WeightedJaccard.parse(threshold))
        for name, report in _take_turns(joins, options.passes).items():
            found = {"threshold": threshold, "sets": name, "records": len(strings), **report}
            sys.stdout.write(json.dumps(found) + "\n")


def _take_turns(joins: dict[str, Join], passes: int) -> dict[str, dict[str, object]]:
    runner = Runner(1)
    seconds: dict[str, list[float]] = {name: [] for name in joins}
    reports: dict[str, dict[str, object]] = {}
    for run in range(passes + 1):
        for name, join in joins.items():
            start = time.process_time()
            pairs, counts = join.run(None, None, runner)
            # The first one compiles.
            if run:
                seconds[name].append(time.process_time() - start)
            reports[name] = {"pairs": len(pairs), "verified": vars(counts)["verified"]}
    return {
        name: report | {"seconds": round(statistics.median(seconds[name]), 3)}
        for name, report in reports.items()
    }


if __name__ == "__main__":
    main()
