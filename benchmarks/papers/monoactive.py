"""Experiments of "Near-duplicate text alignment under weighted Jaccard similarity", repeated.

``python -m benchmarks.papers.monoactive`` measures some 10 minutes on one core, and rewrites the
results, tables and plots of docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import caption, machine_facts
from benchmarks.papers import monoactive_runs, monoactive_tables
from benchmarks.papers.monoactive_plots import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "papers"
PACKAGES = ("neardup", "numpy", "numba", "llvmlite", "pyarrow")

PARTS: dict[str, Callable[..., Any]] = {
    "lengths": monoactive_runs.run_lengths,
    "frequencies": monoactive_runs.run_frequencies,
    "functions": monoactive_runs.run_functions,
    "queries": monoactive_runs.run_queries,
}
TABLES: dict[str, Callable[[monoactive_tables.Results], str]] = {
    "lengths": monoactive_tables.lengths_table,
    "methods": monoactive_tables.methods_table,
    "frequencies": monoactive_tables.frequencies_table,
    "functions": monoactive_tables.functions_table,
    "queries": monoactive_tables.queries_table,
}


def measure_parts(names: Sequence[str], results: Path, *, quick: bool) -> None:
    """Run parts one after another; each is in the results file as soon as it is done.

    Parameters
    ----------
    names
        Keys of ``PARTS``.
    results
        File to merge the figures into.
    quick
        Whether to use short texts and few hash functions.
    """
    machine = machine_facts(PACKAGES)
    for name in (name for name in PARTS if name in names):
        sys.stderr.write(f"{name} ...\n")
        entry = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "quick": quick,
            "machine": machine,
            "figures": PARTS[name](quick=quick),
        }
        text = json.dumps({**read_results(results), name: entry})
        results.write_text(text + "\n", encoding="utf-8", newline="\n")


def read_results(path: Path) -> monoactive_tables.Results:
    """Read a results file; nothing if there is none."""
    if not path.exists():
        return {}
    results: monoactive_tables.Results = json.loads(path.read_text(encoding="utf-8"))
    return results


def lay_out(results: monoactive_tables.Results) -> dict[str, str]:
    """Make all tables, and say when and on what was measured."""
    captions = dict.fromkeys(caption(entry) for entry in results.values())
    return {name: make(results) for name, make in TABLES.items()} | {
        "measured": "\n".join(captions)
    }


def main() -> None:
    """Measure, and write tables and plots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="PART", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--quick",
        action="store_true",
        help="short texts, all into the cache folder: a test of the script",
    )
    parser.add_argument("--report", action="store_true", help="only tables and plots")
    options = parser.parse_args()
    folder = cache_folder() / "papers-quick" if options.quick else DOCUMENTS
    folder.mkdir(exist_ok=True)
    path = folder / "monoactive.json"
    if not options.report:
        measure_parts(options.only, path, quick=options.quick)
    results = read_results(path)
    if missing := [name for name in PARTS if name not in results]:
        sys.exit(f"no tables and plots yet: not measured are {', '.join(missing)}")
    for name, text in lay_out(results).items():
        if options.quick:
            sys.stdout.write(f"## {name}\n\n{text}\n\n")
        else:
            replace_between(folder / "monoactive.md", name, text)
    draw(results, folder)


if __name__ == "__main__":
    main()
