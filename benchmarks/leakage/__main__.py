"""Search for test items planted in training text: the tables of docs/leakage.md.

``python -m benchmarks.leakage FOLDER RFCS`` reads ``gsm8k-test.jsonl.xz`` and
``gsm8k-train.jsonl.xz`` of FOLDER (GSM8K; ``id``, ``question``, ``answer``; those for testing also
``answer_socratic`` and ``model_solutions``) and long documents from RFCS (``id``, ``text``), plants
every test item in one of the ``WAYS`` of planting.py, runs neardup's commands, and prints Markdown.
Nothing is drawn twice alike unless ``SEED`` is the same.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.corpora.lines import read_rows
from benchmarks.leakage.planting import WAYS, plant
from benchmarks.measuring.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpora.lines import Row
    from benchmarks.leakage.planting import Places, Ways

SIZES = (15, 25)
THRESHOLDS = {25: ("0.6",), 15: ("0.8", "0.7", "0.6", "0.5")}
ALIGNED = ("0.7",)
Pairs = set[tuple[str, str]]
Run = tuple[str, str, Pairs, float]


def neardup(*arguments: object) -> Row:
    """Run a command; return its JSON, with the seconds of the whole process."""
    command = [sys.executable, "-m", "neardup", *map(str, arguments), "--id-column", "id", "--json"]
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    summary = {**json.loads(result.stdout), "process": time.perf_counter() - start}
    sys.stderr.write(f"{' '.join(command[3:])}: {summary['process']:.1f} s\n")
    return summary


def pairs_of(path: Path, item: str, document: str) -> Pairs:
    """Read pairs of item and document from a table."""
    return {(row[item], row[document]) for row in read_rows(path)}


def run_all(here: Path) -> Iterator[tuple[str, str, Pairs, float]]:
    """Look for items in the corpus; return name, part looked for, pairs found, and seconds."""
    train, test, out = here / "train.jsonl", here / "test.jsonl", here / "found.jsonl"
    questions = here / "questions.jsonl"
    to = ("-o", out, "--overwrite")
    for threshold, measure in (("0.8", "jaccard"), ("0.8", "containment")):
        options = ("--threshold", threshold, "--measure", measure)
        found = neardup("pairs", questions, "--against", train, *options, *to)
        name = f"`pairs`, {measure} {threshold}"
        yield name, "question", pairs_of(out, "id_a", "id_b"), found["process"]
    for least, thresholds in THRESHOLDS.items():
        for threshold in thresholds:
            for part in ("question", "answer")[: 2 if (least, threshold) == (15, "0.6") else 1]:
                where = (here / f"idx{least}", test, "--text-column", part)
                found = neardup("search", *where, "--threshold", threshold, *to)
                name = f"`search`, {threshold}, min-tokens {least}"
                yield name, part, pairs_of(out, "query_id", "doc_id"), found["process"]
    for threshold in ALIGNED:
        against = ("--against", questions, "--min-tokens", 25, "--threshold", threshold)
        found = neardup("align", train, *against, *to)
        name = f"`align`, {threshold}, min-tokens 25"
        yield name, "question", pairs_of(out, "doc_id", "query_id"), found["process"]


def report(runs: Sequence[Run], part: str, ways: Ways, places: Places, show: int) -> None:
    """Print, for each way, how many items were found where they were planted."""
    totals = Counter(way.name for way in ways.values())
    right = {(item, place) for item, place in places.items() if part in ways[item].of}
    rows = []
    for name, looked_for, found, _ in runs:
        if looked_for != part:
            continue
        planted = Counter(ways[i].name for i, place in places.items() if (i, place) in found)
        hits, wrong = found & right, found - right
        rows.append(
            (
                name,
                *(f"{planted[way.name]} of {totals[way.name]}" for way in WAYS[:-1]),
                f"{len(hits) / len(right):.3f}",
                f"{len(hits) / max(len(found), 1):.3f}",
                str(len(wrong)),
            )
        )
        for item, document in sorted(wrong)[:show]:
            sys.stderr.write(f"{name}: {item} in {document}, {ways[item].name}\n")
    if rows:
        names = ("", *(way.name for way in WAYS[:-1]), "recall", "precision", "wrong pairs")
        columns = list(zip(names, *rows, strict=True))
        print(table(columns[0], columns[1:]), end="\n\n", flush=True)


def main() -> None:
    """Plant, look, and print tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.leakage", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("rfcs", type=Path)
    parser.add_argument("--work", type=Path, help="folder for files and indexes, used again")
    parser.add_argument("--show", type=int, default=0, help="wrong pairs to print per run")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        here = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        here.mkdir(parents=True, exist_ok=True)
        ways, places = plant(options.folder, options.rfcs, here)
        costs: list[tuple[str, float | None, float | None]] = []
        for least in SIZES:
            index = here / f"idx{least}"
            size = ("--min-tokens", least)
            took = None
            if not index.exists():
                took = neardup("index", "build", index, here / "train.jsonl", *size)["process"]
            n_bytes = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
            costs.append((f"`index build`, min-tokens {least}", took, n_bytes / 1e6))
        runs = []
        for run in run_all(here):
            runs.append(run)
            costs.append((f"{run[0]}, {run[1]}s", run[3], None))
        for part in ("question", "answer"):
            report(runs, part, ways, places, options.show)
        print(table(("step", "seconds", "MB"), costs))


if __name__ == "__main__":
    main()
