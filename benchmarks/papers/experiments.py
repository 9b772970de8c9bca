"""Command line of a paper: parts measured one by one, tables on the paper's page."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.environments import REPOSITORY, cache_folder
from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import (
    add_options,
    caption,
    machine_facts,
    measure_parts,
    new_entry,
    read_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.measuring.results import Entry, Results

DOCUMENTS = REPOSITORY / "docs" / "papers"
PACKAGES = ("neardup", "numpy", "numba", "llvmlite", "pyarrow")


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are measured in parts.

    ``parts`` return figures, ``tables`` lay them out for the places of that name on the page, and
    ``draw`` writes plots into a folder.
    """

    name: str
    parts: Mapping[str, Callable[..., Any]]
    tables: Mapping[str, Callable[[Results], str]]
    draw: Callable[[Results, Path], None]

    def main(self, description: str) -> None:
        """Measure, and write tables and plots."""
        parser = make_parser(self.name, description)
        add_options(
            parser,
            list(self.parts),
            quick="few records or short texts, all into the cache folder: a test of the script",
            report="only tables and plots",
        )
        options = parser.parse_args()
        folder = cache_folder() / "papers-quick" if options.quick else DOCUMENTS
        folder.mkdir(exist_ok=True)
        path = folder / f"{self.name}.json.xz"
        if not options.report:
            self.measure(options.only, path, quick=options.quick)
        results = read_results(path)
        if missing := [name for name in self.parts if name not in results]:
            sys.exit(f"no tables and plots yet: not measured are {', '.join(missing)}")
        for name, text in self.lay_out(results).items():
            if options.quick:
                sys.stdout.write(f"## {name}\n\n{text}\n\n")
            else:
                replace_between(folder / f"{self.name}.md", name, text)
        self.draw(results, folder)

    def measure(self, names: Sequence[str], path: Path, *, quick: bool) -> None:
        """Run parts one after another."""
        machine = machine_facts(PACKAGES)

        def measure(name: str) -> Entry:
            return new_entry(machine, quick=quick) | {"figures": self.parts[name](quick=quick)}

        for _ in measure_parts(list(self.parts), names, path, measure):
            pass

    def lay_out(self, results: Results) -> dict[str, str]:
        """Make all tables and the caption."""
        captions = dict.fromkeys(caption(entry) for entry in results.values())
        made = {name: make(results) for name, make in self.tables.items()}
        return made | {"measured": "\n".join(captions)}


def make_parser(name: str, description: str) -> argparse.ArgumentParser:
    """Make the parser of a paper's command."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.papers.{name}", description=description.partition("\n")[0]
    )


def write_page(page: Path, laid_out: Mapping[str, str]) -> None:
    """Put the tables that a page has a place for into it, or all into a new page."""
    if not page.exists():
        parts = (f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in laid_out)
        page.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    text = page.read_text(encoding="utf-8")
    for name, table in laid_out.items():
        if f"<!-- begin {name} -->" in text:
            replace_between(page, name, table)
