"""``neardup pairs`` beside SetSimilaritySearch, whole processes from file to file, in turn.

    python -m benchmarks.joins.whole_beside_peer descriptions.jsonl --peers PYTHON

Both find the pairs of texts whose sets of words, case folded, have the Jaccard similarity, and
write them as CSV. ``PYTHON`` is that of an environment with SetSimilaritySearch and orjson. Prints
medians, how many times what neardup takes the peer does in the same round, and what memory each
takes above a process that has only loaded what it uses. Ends with an error unless both have found
the same pairs with the same similarities.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring.jobs import script_command, script_environment
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
        own = (*own, "--casefold", "--overwrite", "--output", own_output)
        peer_arguments = (str(options.source), options.threshold, peer_output)
        peer = script_command(options.peers, "peers/setsimilaritysearch_pairs.py", *peer_arguments)
        idle_own = run((sys.executable, "-c", OWN_IMPORTS))
        idle_peer = run((str(options.peers), "-c", PEER_IMPORTS))
        rounds = [
            (
                _costs(run(own), idle_own),
                _costs(run(peer, environment=script_environment()), idle_peer),
            )
            for _ in range(options.rounds)
        ]
        # Last, as a process that holds pairs hands its peak on to those that it starts.
        n_pairs = _count_equal(own_output, peer_output)
    ratios = [[theirs / ours for ours, theirs in zip(*each, strict=True)] for each in rounds]
    own_rounds, peer_rounds = zip(*rounds, strict=True)
    rows = [
        (name, *map(statistics.median, zip(*each, strict=True)))
        for name, each in (
            ("neardup", own_rounds),
            ("SetSimilaritySearch", peer_rounds),
            ("times, median of rounds", ratios),
            ("times, least", [[min(column) for column in zip(*ratios, strict=True)]]),
        )
    ]
    header = ("process", "wall s", "CPU s", "peak MB", "MB above its imports")
    sys.stdout.write(f"{table(header, rows)}\n\n{n_pairs:,} pairs, the same of both.\n")


def _costs(measured: Run, idle: Run) -> tuple[float, ...]:
    """Return what a run took, in the order of the table."""
    above = measured.peak_process - idle.peak_process
    return (measured.wall, measured.cpu, measured.peak_process / 1e6, above / 1e6)


def _count_equal(own_path: str, peer_path: str) -> int:
    """Count the pairs of two files that have the same ones."""
    own, peer = _read(own_path), _read(peer_path)
    if own != peer:
        n_different = sum(peer.get(pair) != own.get(pair) for pair in own.keys() | peer.keys())
        sys.exit(f"{n_different:,} of {len(own):,} and {len(peer):,} pairs are not the same")
    return len(own)


def _read(path: str) -> dict[tuple[str, ...], float]:
    """Read the similarities of pairs, whichever of two comes first."""
    with Path(path).open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        return {tuple(sorted((row["id_a"], row["id_b"]))): float(row["similarity"]) for row in rows}


if __name__ == "__main__":
    main()
