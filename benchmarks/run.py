"""All benchmarks: ``python benchmarks/run.py`` measures, prints tables and stores results.json.

The results, with versions and machine, go to the cache folder; ``--report`` prints them again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

# Run as a file, Python looks for modules beside it, not where the folder itself is.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.alignment import section as alignment
from benchmarks.cut import section as repeats
from benchmarks.dedup import limits
from benchmarks.dedup import whole as dedup
from benchmarks.documents import section as documents
from benchmarks.joins import beside_peers as joins
from benchmarks.joins import edits as edit_joins
from benchmarks.linkage import section as linkage
from benchmarks.measuring.environments import NEARDUP, cache_folder, prepare_neardup
from benchmarks.measuring.jobs import Settings
from benchmarks.measuring.results import (
    Entry,
    format_entry,
    machine_facts,
    new_entry,
    read_results,
    write_results,
)
from benchmarks.peers import section as peers
from benchmarks.peers import weighted
from benchmarks.peers.environments import PEERS, peer_versions
from benchmarks.presets import section as presets
from benchmarks.recall import section as recall

# Modules with a function ``run(settings)`` that returns tables, in the order in which they run:
# recall last, see there.
SECTIONS = {
    "dedup": dedup,
    "peers": peers,
    "weighted": weighted,
    "limits": limits,
    "joins": joins,
    "edit_joins": edit_joins,
    "documents": documents,
    "linkage": linkage,
    "alignment": alignment,
    "presets": presets,
    "repeats": repeats,
    "recall": recall,
}


def measure_sections(names: Sequence[str], path: Path, *, quick: bool) -> None:
    """Run sections one after another, store and print their tables."""
    # A benchmark with kernels of its own sets this; neardup is measured as installed, compiled
    # ahead.
    os.environ.pop("NEARDUP_JIT", None)
    python, peers_python = prepare_neardup(), PEERS.prepare()
    machine = machine_facts()
    settings = Settings(python, peers_python, int(str(machine["cores"])), quick)
    machine["packages"], machine["python"] = NEARDUP.versions(python)
    machine["peers"] = peer_versions(peers_python)
    for name in names:
        sys.stderr.write(f"{name} ...\n")
        entry: Entry = new_entry(machine, quick=quick) | {"tables": SECTIONS[name].run(settings)}
        write_results(path, read_results(path) | {name: entry})
        print(f"{format_entry(name, entry)}\n", flush=True)


def main() -> None:
    """Measure sections, or print their tables again."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="small files, two repeats: a trial")
    parser.add_argument("--report", action="store_true", help="print the tables of the last runs")
    options = parser.parse_args()
    path = cache_folder() / ("results-quick.json" if options.quick else "results.json")
    if options.report:
        for name, entry in read_results(path).items():
            print(f"{format_entry(name, entry)}\n")
    else:
        measure_sections(options.only, path, quick=options.quick)


if __name__ == "__main__":
    main()
