"""``neardup pairs`` beside SetSimilaritySearch, whole processes from file to file, in turn.

    python -m benchmarks.joins.whole_beside_peer descriptions.jsonl --peers PYTHON

Both find the pairs of texts whose sets of words have the Jaccard similarity, and write them as CSV.
``PYTHON`` is that of an environment with SetSimilaritySearch and orjson. Prints ratios of medians,
and what memory each takes above a process that has only loaded what it uses.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring.jobs import script_command
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import Run, run

OWN_IMPORTS = "import neardup.cli.pairs, neardup.jobs.pairs.run, neardup.files.resolve"
PEER_IMPORTS = "import csv, re, orjson, SetSimilaritySearch"


def main() -> None:
    """Run both by turns and compare them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path, help="JSON lines with id and text")
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peer")
    parser.add_argument("--threshold", default="0.6")
    parser.add_argument("--workers", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own_output, peer_output = (str(Path(folder, name)) for name in ("own.csv", "peer.csv"))
        arguments = ("--ngram", "1", "--threshold", options.threshold, "--workers", options.workers)
        own = (sys.executable, "-m", "neardup", "pairs", str(options.source), *arguments)
        peer_arguments = (str(options.source), options.threshold, peer_output)
        peer = script_command(options.peers, "peers/setsimilaritysearch_pairs.py", *peer_arguments)
        rounds = [
            (run((*own, "--overwrite", "--output", own_output)), run(peer))
            for _ in range(options.rounds)
        ]
        n_pairs = [_count(own_output), _count(peer_output)]
    runs = [list(each) for each in zip(*rounds, strict=True)]
    idle = [run((sys.executable, "-c", OWN_IMPORTS)), run((options.peers, "-c", PEER_IMPORTS))]
    rows = [
        _row(name, each, n, before)
        for name, each, n, before in zip(
            ("neardup", "SetSimilaritySearch"), runs, n_pairs, idle, strict=True
        )
    ]
    ratios = (
        "times",
        "",
        *(other / own for own, other in zip(rows[0][2:], rows[1][2:], strict=True)),
    )
    header = ("process", "pairs", "wall s", "CPU s", "peak MB", "MB above its imports")
    sys.stdout.write(table(header, [*rows, ratios]) + "\n")


def _count(path: str) -> int:
    with Path(path).open(newline="") as lines:
        return sum(1 for _ in csv.reader(lines)) - 1


def _row(name: str, runs: list[Run], n_pairs: int, idle: Run) -> tuple[object, ...]:
    peak = statistics.median(each.peak_process for each in runs) / 1e6
    medians = [statistics.median(getattr(each, what) for each in runs) for what in ("wall", "cpu")]
    return (name, n_pairs, *medians, peak, peak - idle.peak_process / 1e6)


if __name__ == "__main__":
    main()
