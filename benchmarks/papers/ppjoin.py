"""Experiments of "Efficient similarity joins for near duplicate detection", repeated.

``python -m benchmarks.papers.ppjoin`` measures some 15 minutes on one core, and rewrites the
results, tables and plots of docs/papers. It needs neardup and matplotlib. Files named by
NEARDUP_REAL_TEXTS are joined as well.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import caption, machine_facts
from benchmarks.papers import near_duplicates, ppjoin_joins, ppjoin_stages, ppjoin_tables
from benchmarks.papers.ppjoin_plots import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "papers"
PACKAGES = ("neardup", "numpy", "numba", "llvmlite", "pyarrow")

PARTS: dict[str, Callable[..., Any]] = {
    "jaccard": ppjoin_stages.run_jaccard,
    "cosine": ppjoin_joins.run_cosine,
    "growth": ppjoin_joins.run_growth,
    "pages": near_duplicates.run,
}
TABLES: dict[str, Callable[[ppjoin_tables.Results], str]] = {
    "statistics": ppjoin_tables.statistics_table,
    "candidates": ppjoin_tables.candidates_table,
    "jaccard": partial(ppjoin_tables.joins_table, measure="jaccard"),
    "cosine": partial(ppjoin_tables.joins_table, measure="cosine"),
    "faster": ppjoin_tables.faster_table,
    "stages": ppjoin_tables.stages_table,
    "whole": ppjoin_tables.whole_table,
    "growth": ppjoin_tables.growth_table,
    "pages": ppjoin_tables.pages_table,
    "recall": ppjoin_tables.recall_table,
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
        Whether to use few records and run everything once.
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


def read_results(path: Path) -> ppjoin_tables.Results:
    """Read a results file; nothing if there is none."""
    if not path.exists():
        return {}
    results: ppjoin_tables.Results = json.loads(path.read_text(encoding="utf-8"))
    return results


def lay_out(results: ppjoin_tables.Results) -> dict[str, str]:
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
        help="few records, one run each, everything into the cache folder: a test of the script",
    )
    parser.add_argument("--report", action="store_true", help="only tables and plots")
    options = parser.parse_args()
    folder = cache_folder() / "papers-quick" if options.quick else DOCUMENTS
    folder.mkdir(exist_ok=True)
    path = folder / "ppjoin.json"
    if not options.report:
        measure_parts(options.only, path, quick=options.quick)
    results = read_results(path)
    if missing := [name for name in PARTS if name not in results]:
        sys.exit(f"no tables and plots yet: not measured are {', '.join(missing)}")
    for name, text in lay_out(results).items():
        if options.quick:
            sys.stdout.write(f"## {name}\n\n{text}\n\n")
        else:
            replace_between(folder / "ppjoin.md", name, text)
    draw(results, folder)


if __name__ == "__main__":
    main()
