"""All benchmarks: ``python benchmarks/run.py`` measures, prints tables, writes results.json.xz.

``--report`` measures nothing and puts the tables of results.json.xz into the README.md of their
folders; ``linkage``, ``alignment`` and ``presets`` have their tables in docs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

# Run as a file, Python looks for modules beside it, not where the folder itself is.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.alignment import section as alignment
from benchmarks.corpora import section as corpora
from benchmarks.cut import section as repeats
from benchmarks.dedup import limits
from benchmarks.dedup import whole as dedup
from benchmarks.documents import section as documents
from benchmarks.joins import beside_peers as joins
from benchmarks.joins import edits as edit_joins
from benchmarks.linkage import section as linkage
from benchmarks.measuring.environments import NEARDUP, REPOSITORY, cache_folder, prepare_neardup
from benchmarks.measuring.jobs import Settings
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import (
    Entry,
    Results,
    add_options,
    caption,
    machine_facts,
    measure_parts,
    new_entry,
    read_results,
)
from benchmarks.overview import format_overview
from benchmarks.peers import section as peers
from benchmarks.peers import weighted
from benchmarks.peers.environments import PEERS, peer_versions
from benchmarks.presets import section as presets
from benchmarks.recall import section as recall

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = REPOSITORY / "benchmarks"
# These sections have their tables in docs, the others in the README.md of their folder.
PAGES = {
    "linkage": REPOSITORY / "docs" / "linkage.md",
    "alignment": REPOSITORY / "docs" / "alignment.md",
    "presets": REPOSITORY / "docs" / "presets.md",
}


class Section(Protocol):
    """A module that measures a section and lays it out."""

    __name__: str

    def run(self, settings: Settings) -> dict[str, Any]:
        """Measure; the figures are plain values for a JSON file."""

    def format_table(self, figures: dict[str, Any]) -> str:
        """Lay out the figures."""


# In the order in which they run: recall last, see there.
SECTIONS: dict[str, Section] = {
    "corpora": corpora,
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
WITH_PEERS = {
    *("peers", "weighted", "limits", "joins", "edit_joins", "documents", "repeats", "recall")
}


def measure_sections(names: Sequence[str], path: Path, *, quick: bool) -> None:
    """Run sections one after another, and print their tables."""
    # A benchmark with kernels of its own sets this; neardup is measured as installed, compiled
    # ahead.
    os.environ.pop("NEARDUP_JIT", None)
    python, peers_python = prepare_neardup(), PEERS.prepare()
    machine = machine_facts()
    settings = Settings(python, peers_python, int(str(machine["cores"])), quick)
    machine["packages"], machine["python"] = NEARDUP.versions(python)
    peers_found = peer_versions(peers_python)

    def measure(name: str) -> Entry:
        entry = new_entry(machine, quick=quick)
        if name in WITH_PEERS:
            entry["peers"] = peers_found
        return entry | {"figures": SECTIONS[name].run(settings)}

    for name, entry in measure_parts(list(SECTIONS), names, path, measure):
        sys.stdout.write(f"## {name}\n\n{format_section(name, entry)}\n\n")
        sys.stdout.flush()


def format_section(name: str, entry: Entry) -> str:
    """Return a section's table and, below it, when and where it was measured."""
    return f"{SECTIONS[name].format_table(entry['figures'])}\n\n{caption(entry)}"


def page_of(name: str) -> Path:
    """Return the page of a section's table, in docs or beside its module."""
    folder = SECTIONS[name].__name__.split(".")[1]
    return PAGES.get(name, HERE / folder / "README.md")


def report(results: Results) -> None:
    """Put the tables of all sections in the results into their pages, and one of all jobs."""
    for name, entry in results.items():
        replace_between(page_of(name), name, format_section(name, entry))
    replace_between(HERE / "README.md", "overview", format_overview(results))


def main() -> None:
    """Measure sections, or write the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_options(
        parser,
        list(SECTIONS),
        quick="small files, two repeats, results in the cache folder: a test of the benchmarks",
        report="rewrite the tables of all pages from the results",
    )
    options = parser.parse_args()
    path = cache_folder() / "results-quick.json" if options.quick else HERE / "results.json.xz"
    if options.report:
        report(read_results(path))
    else:
        measure_sections(options.only, path, quick=options.quick)


if __name__ == "__main__":
    main()
