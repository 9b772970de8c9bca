"""Experiments about Broder's sketches (1997), bands of min-hashes and super-shingles, repeated.

``python -m benchmarks.papers.broder --revisions DIR --edits DIR --licences DIR`` takes some five
minutes and writes results, tables and plots to docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import caption, machine_facts
from benchmarks.papers import broder_bands, broder_real, broder_runs, broder_tables, broder_texts
from benchmarks.papers.broder_plots import draw

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "papers"
PACKAGES = ("neardup", "numpy", "numba", "pyarrow")
QUICK_TEXTS = 2_000


def measure(options: argparse.Namespace) -> broder_tables.Results:
    """Run all experiments; those on real texts where these were given."""
    seed, trials = options.seed, 50 if options.quick else options.trials
    pairs = 200 if options.quick else 20 * options.trials
    resemblance = _run("resemblance", broder_runs.run_resemblance, trials, seed)
    results: broder_tables.Results = {
        "resemblance": resemblance,
        "tolerance": broder_runs.run_tolerance(resemblance),
        "naive": _run("naive", broder_runs.run_naive, trials, seed),
        "containment": _run("containment", broder_runs.run_containment, trials, seed),
        "bands": _run("bands", broder_bands.run_bands, pairs, seed),
        "super_shingles": _run("super_shingles", broder_bands.run_super_shingles, pairs, seed),
        "order": _run("order", broder_texts.run_order, trials // 5 * 2),
        "real": [],
    }
    seeds = 3 if options.quick else broder_real.SEEDS
    for name, folder, read in (
        ("RFCs", options.revisions, broder_real.read_revisions),
        ("Wikipedia", options.edits, broder_real.read_edits),
    ):
        if folder is None:
            sys.stderr.write(f"{name}: left out, as no folder is named\n")
        else:
            results["real"] += _run(name, broder_real.run_real, name, *read(folder), seeds)
    text = broder_texts.made_up_text(seed)
    if options.text is not None:
        text = options.text.read_text(encoding="utf-8")[: broder_texts.SPEED_BYTES]
    results["speed"] = _run("speed", broder_texts.run_speed, text)
    if options.licences is None:
        sys.stderr.write("greedy clusters: left out, as no folder of licences is named\n")
    else:
        most = QUICK_TEXTS if options.quick else None
        licences = broder_texts.read_licences(options.licences, most)
        results["greedy"] = _run("greedy", broder_texts.run_greedy, *licences, options.orders, seed)
    return results


def _run(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    sys.stderr.write(f"{name} ...\n")
    return function(*arguments)


def main() -> None:
    """Measure, and write tables and plots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
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
        entry = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "quick": options.quick,
            "machine": machine_facts(PACKAGES),
            "figures": measure(options),
        }
        path.write_text(json.dumps(entry) + "\n", encoding="utf-8", newline="\n")
    entry = json.loads(path.read_text(encoding="utf-8"))
    laid_out = broder_tables.lay_out(entry["figures"]) | {"measured": fill(caption(entry), 100)}
    page = options.output / "broder.md"
    if not page.exists():
        parts = (f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in laid_out)
        page.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    for name, table in laid_out.items():
        replace_between(page, name, table)
    draw(entry["figures"], options.output)


if __name__ == "__main__":
    main()
