"""Experiments about Broder's sketches (1997) and super-shingles, repeated.

``python -m benchmarks.papers.broder --licences DIR --pages DIR`` takes some five minutes and writes
results and tables to docs/papers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.results import (
    add_options,
    caption,
    machine_facts,
    measure_parts,
    new_entry,
    read_results,
)
from benchmarks.papers.broder import (
    estimates,
    fingerprints,
    greedy,
    sizes,
    super_shingles,
    tables,
    texts,
    web,
)
from benchmarks.papers.experiments import DOCUMENTS, make_parser, write_page

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = ("neardup", "numpy", "numba", "pyarrow")
QUICK_TEXTS = 2_000


# Where real texts come from; an experiment on those that are not named is left out.
FOLDERS = {"greedy": "licences", "documentation": "pages"}
QUICK_PAGES = 30


def _trials(options: argparse.Namespace) -> int:
    return 50 if options.quick else int(options.trials)


def _pairs(options: argparse.Namespace) -> int:
    return 200 if options.quick else 20 * int(options.trials)


def _text(options: argparse.Namespace) -> str:
    if options.text is None:
        return fingerprints.made_up_text(options.seed)
    return str(options.text.read_text(encoding="utf-8")[: fingerprints.TEXT_BYTES])


def _greedy(options: argparse.Namespace) -> Any:
    licences = texts.read_licences(options.licences, QUICK_TEXTS if options.quick else None)
    return greedy.run_greedy(*licences, options.orders, options.seed)


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "resemblance": lambda o: estimates.run_resemblance(_trials(o), o.seed),
    "naive": lambda o: estimates.run_naive(_trials(o), o.seed),
    "containment": lambda o: estimates.run_containment(_trials(o), o.seed),
    "super_shingles": lambda o: super_shingles.run_super_shingles(_pairs(o), o.seed),
    "order": lambda o: fingerprints.run_order(_trials(o) // 5 * 2),
    "sizes": lambda o: sizes.run_sizes(_text(o), o.seed),
    "greedy": _greedy,
    "made_pages": lambda o: web.run_made(web.QUICK_ARTICLES if o.quick else web.ARTICLES, o.seed),
    "documentation": lambda o: web.run_folders(o.pages, QUICK_PAGES if o.quick else None),
}


def measure(options: argparse.Namespace, path: Path) -> None:
    """Run experiments; skip experiments on texts that are not given."""
    machine = machine_facts(PACKAGES)

    def measure_part(name: str) -> dict[str, Any]:
        return new_entry(machine, quick=options.quick) | {"figures": PARTS[name](options)}

    names = []
    for name in options.only:
        folder = FOLDERS.get(name)
        if folder is not None and getattr(options, folder) is None:
            sys.stderr.write(f"{name}: left out, as there is no --{folder}\n")
        else:
            names.append(name)
    for _ in measure_parts(list(PARTS), names, path, measure_part):
        pass


def main() -> None:
    """Measure, and write tables."""
    parser = make_parser("broder", str(__doc__))
    parser.add_argument("--licences", type=Path, help="folder with texts.jsonl.xz")
    parser.add_argument("--pages", type=Path, nargs="+", help="folders of HTML pages")
    parser.add_argument("--text", type=Path, help="text to cut; without it, one is made up")
    parser.add_argument("--trials", type=int, default=1_000, help="pairs of sets for each share")
    parser.add_argument("--orders", type=int, default=10, help="shuffled orders of texts")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, default=DOCUMENTS, help="folder")
    quick, report = "few trials: a test of the script", "only tables"
    add_options(parser, list(PARTS), quick=quick, report=report)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "broder.json.xz"
    if not options.report:
        measure(options, path)
    results = read_results(path)
    figures = {name: entry["figures"] for name, entry in results.items()}
    captions = dict.fromkeys(caption(entry) for entry in results.values())
    laid_out = tables.lay_out(figures) | {"measured": "\n".join(captions)}
    write_page(options.output / "broder.md", laid_out)


if __name__ == "__main__":
    main()
