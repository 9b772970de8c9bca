"""Experiments about Broder's sketches (1997) and super-shingles, repeated.

``python -m benchmarks.papers.broder --revisions DIR --edits DIR --licences DIR`` takes some five
minutes and writes results, tables and plots to docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.results import (
    caption,
    machine_facts,
    new_entry,
    read_results,
    write_results,
)
from benchmarks.papers.broder import (
    estimates,
    fingerprints,
    greedy,
    real,
    super_shingles,
    tables,
    texts,
)
from benchmarks.papers.broder.plots import draw
from benchmarks.papers.experiments import DOCUMENTS, make_parser, write_page

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("neardup", "numpy", "numba", "pyarrow")
QUICK_TEXTS = 2_000


def measure(options: argparse.Namespace) -> tables.Results:
    """Run all experiments; those on real texts where these were given."""
    seed, trials = options.seed, 50 if options.quick else options.trials
    pairs = 200 if options.quick else 20 * options.trials
    resemblance = _run("resemblance", estimates.run_resemblance, trials, seed)
    results: tables.Results = {
        "resemblance": resemblance,
        "tolerance": estimates.run_tolerance(resemblance),
        "naive": _run("naive", estimates.run_naive, trials, seed),
        "containment": _run("containment", estimates.run_containment, trials, seed),
        "super_shingles": _run("super_shingles", super_shingles.run_super_shingles, pairs, seed),
        "order": _run("order", fingerprints.run_order, trials // 5 * 2),
        "real": [],
    }
    seeds = 3 if options.quick else real.SEEDS
    for name, folder, read in (
        ("RFCs", options.revisions, texts.read_revisions),
        ("Wikipedia", options.edits, texts.read_edits),
    ):
        if folder is None:
            sys.stderr.write(f"{name}: left out, as no folder is named\n")
        else:
            results["real"] += _run(name, real.run_real, name, *read(folder), seeds)
    text = fingerprints.made_up_text(seed)
    if options.text is not None:
        text = options.text.read_text(encoding="utf-8")[: fingerprints.SPEED_BYTES]
    results["speed"] = _run("speed", fingerprints.run_speed, text)
    if options.licences is None:
        sys.stderr.write("greedy clusters: left out, as no folder of licences is named\n")
    else:
        most = QUICK_TEXTS if options.quick else None
        licences = texts.read_licences(options.licences, most)
        results["greedy"] = _run("greedy", greedy.run_greedy, *licences, options.orders, seed)
    return results


def _run(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    sys.stderr.write(f"{name} ...\n")
    return function(*arguments)


def main() -> None:
    """Measure, and write tables and plots."""
    parser = make_parser("broder", str(__doc__))
    parser.add_argument("--revisions", type=Path, help="folder with docs.jsonl.xz, relations.tsv")
    parser.add_argument("--edits", type=Path, help="folder with edits.jsonl.xz")
    parser.add_argument("--licences", type=Path, help="folder with texts.jsonl.xz")
    parser.add_argument("--text", type=Path, help="text to hash; without it, one is made up")
    parser.add_argument("--trials", type=int, default=1_000, help="pairs of sets for each share")
    parser.add_argument("--orders", type=int, default=10, help="shuffled orders of texts")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--quick", action="store_true", help="few trials: a test of the script")
    parser.add_argument("--report", action="store_true", help="only tables and plots")
    parser.add_argument("--output", type=Path, default=DOCUMENTS, help="folder")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "broder.json"
    if not options.report:
        entry = new_entry(machine_facts(PACKAGES), quick=options.quick)
        write_results(path, entry | {"figures": measure(options)})
    entry = read_results(path)
    laid_out = tables.lay_out(entry["figures"]) | {"measured": caption(entry)}
    write_page(options.output / "broder.md", laid_out)
    draw(entry["figures"], options.output)


if __name__ == "__main__":
    main()
