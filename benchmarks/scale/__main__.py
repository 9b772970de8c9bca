"""How cost grows with size: ``python -m benchmarks.scale`` measures and writes scale/results.json.

``--report`` measures nothing and puts the tables of results.json into README.md beside it. All
parts take some hours, 60 GB of disk and 24 GB of memory; see ``--quick`` and ``--most``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring.environments import NEARDUP, cache_folder, prepare_neardup
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.parts import add_options, measure_parts
from benchmarks.measuring.results import caption, machine_facts, new_entry, read_results
from benchmarks.scale.generate import parse_size
from benchmarks.scale.parts import PARTS, Bench
from benchmarks.scale.tables import TABLES

if TYPE_CHECKING:
    from benchmarks.measuring.results import Entry, Results

HERE = Path(__file__).parent
README, RESULTS = HERE / "README.md", HERE / "results.json"
QUICK_SHRINK = 100


def lay_out(results: Results) -> str:
    """Give the tables of parts and, below them, when and where they were measured."""
    tables = []
    for name, entry in results.items():
        title = (PARTS[name].__doc__ or "").strip()
        tables.append(f"**{title}**\n\n{TABLES[name](entry['figures']['cases'])}")
    captions = dict.fromkeys(caption(entry) for entry in results.values())
    return "\n\n".join([*tables, *captions])


def main() -> None:
    """Measure parts, or write the report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__.partition("\n")[0]
    )
    add_options(
        parser,
        list(PARTS),
        quick="a hundredth of all sizes, results in the cache folder: a test of the benchmarks",
        report="rewrite README.md from the results",
    )
    parser.add_argument(
        "--most", type=parse_size, metavar="BYTES", help="leave out larger collections"
    )
    parser.add_argument(
        "--python", type=Path, help="one that has neardup (default: an environment made for it)"
    )
    parser.add_argument("--results", type=Path, help="results file (default: scale/results.json)")
    options = parser.parse_args()
    path = options.results or (cache_folder() / "scale-quick.json" if options.quick else RESULTS)
    if options.report:
        replace_between(README, "scale", lay_out(read_results(path)))
        return
    python = options.python or prepare_neardup()
    bench = Bench(python, QUICK_SHRINK if options.quick else 1, options.most)
    machine = machine_facts()
    machine["packages"], machine["python"] = NEARDUP.versions(python)

    def measure(name: str) -> Entry:
        return new_entry(machine, quick=options.quick) | {"figures": PARTS[name](bench)}

    for name, entry in measure_parts(list(PARTS), options.only, path, measure):
        sys.stdout.write(f"{lay_out({name: entry})}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
