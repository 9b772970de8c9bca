"""An index of documents: ``python -m benchmarks.documents`` measures; see documents/results.json.

``--report`` measures nothing and puts the tables of results.json into README.md beside it. All
parts take an hour, 25 GB of disk and 12 GB of memory; see ``--quick`` and ``--most``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.documents.parts import PARTS, Bench
from benchmarks.documents.shelf import Shelf
from benchmarks.documents.tables import TABLES
from benchmarks.measuring.environments import NEARDUP, cache_folder, prepare_neardup
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.parts import add_options, measure_parts
from benchmarks.measuring.results import caption, machine_facts, new_entry, read_results

if TYPE_CHECKING:
    from benchmarks.measuring.results import Entry, Results

HERE = Path(__file__).parent
README, RESULTS = HERE / "README.md", HERE / "results.json"
QUICK_SHRINK = 100


def lay_out(results: Results) -> str:
    """Return the tables of parts and, below them, when and where they were measured."""
    tables = []
    for name, entry in results.items():
        title = (PARTS[name].__doc__ or "").strip()
        tables.append(
            f"**{title}** Load before it: {entry['load']}.\n\n{TABLES[name](entry['figures'])}"
        )
    captions = dict.fromkeys(caption(entry) for entry in results.values())
    return "\n\n".join([*tables, *captions])


def main() -> None:
    """Measure parts, or write the report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.documents", description=__doc__.partition("\n")[0]
    )
    add_options(
        parser,
        list(PARTS),
        quick="a hundredth of all sizes, results in the cache folder: a test of the benchmarks",
        report="rewrite README.md from the results",
    )
    parser.add_argument(
        "--most", type=int, metavar="DOCUMENTS", help="leave out larger collections"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave collections and indexes for another run"
    )
    parser.add_argument(
        "--python", type=Path, help="one that has neardup (default: an environment made for it)"
    )
    parser.add_argument(
        "--results", type=Path, help="results file (default: documents/results.json)"
    )
    options = parser.parse_args()
    quick_path = cache_folder() / "documents-quick.json"
    path = options.results or (quick_path if options.quick else RESULTS)
    if options.report:
        replace_between(README, "documents", lay_out(read_results(path)))
        return
    python = options.python or prepare_neardup()
    shelf = Shelf(cache_folder() / "documents", python)
    bench = Bench(python, shelf, QUICK_SHRINK if options.quick else 1, options.most)
    machine = machine_facts()
    machine["packages"], machine["python"] = NEARDUP.versions(python)

    def measure(name: str) -> Entry:
        load = round(os.getloadavg()[0], 1)
        figures = PARTS[name](bench)
        entry = new_entry(machine, quick=options.quick) | {"load": load, "figures": figures}
        # The caption has them.
        return entry | ({"peers": figures.pop("peers")} if "peers" in figures else {})

    try:
        for name, entry in measure_parts(list(PARTS), options.only, path, measure):
            sys.stdout.write(f"{lay_out({name: entry})}\n\n")
            sys.stdout.flush()
    finally:
        if not options.keep:
            shutil.rmtree(shelf.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
