"""neardup's join of prepared sets, in one process: ``set_join.py STEM 0.8 --passes 5``.

The clock runs from the sets in memory to the sorted pairs: elements are ranked and indexed, records
probed. Prints seconds of every pass, pairs, what the filters did, and memory, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.joins.exchange import describe_pairs, read_sets, set_join_parser, time_join
from benchmarks.measuring.clocks import Memory
from neardup.matching.join import DEFAULT_ALGORITHM
from neardup.matching.measures import make_measure
from neardup.matching.set_join import SetJoin
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner
from neardup.tables import ShingleSets

WARM_UP_RECORDS = 200


def main() -> None:
    """Join, several times."""
    parser = set_join_parser(__doc__)
    parser.add_argument("--algorithm", choices=get_args(Algorithm), default=DEFAULT_ALGORITHM)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    measure = make_measure("jaccard", options.threshold)
    how = {"algorithm": options.algorithm, "workers": options.workers}
    runner = Runner(options.workers)
    warm_up = _read(options.sets, WARM_UP_RECORDS)
    SetJoin(warm_up, measure, options.algorithm).run(None, None, runner)
    memory = Memory()
    sets = _read(options.sets, options.records)
    report = {"records": len(sets), "elements": int(sets.sizes.sum()), **how}
    report |= time_join(
        lambda: SetJoin(sets, measure, options.algorithm).run(None, None, runner),
        options.passes,
        memory,
        describe_pairs,
    )
    sys.stdout.write(json.dumps(report) + "\n")


def _read(stem: Path, records: int) -> ShingleSets:
    values, sizes = read_sets(stem, records)
    return ShingleSets(values, np.cumsum(sizes) - sizes, sizes)


if __name__ == "__main__":
    main()
