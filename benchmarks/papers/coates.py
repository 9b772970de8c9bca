"""Experiments of "A fast metric of document similarity" (Coates 2011), repeated.

``python -m benchmarks.papers.coates --text TEXT --edits EDITS`` takes about half a minute and
writes tables and plots to docs/papers. It needs neardup and matplotlib.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring.markdown import replace_between
from benchmarks.measuring.results import caption, machine_facts
from benchmarks.papers import coates_runs, coates_tables
from benchmarks.papers.coates_plots import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "papers"
PACKAGES = ("neardup", "numpy", "numba", "rapidfuzz")
HASHES = ("sum", "mixed")


def measure(
    text: str, edits: Path | None, hashes: Sequence[str], trials: int, seed: int
) -> coates_tables.Results:
    """Run all experiments.

    Parameters
    ----------
    text
        The text that is edited.
    edits
        JSON lines with ``before`` and ``after``, perhaps packed by xz; None leaves them out.
    hashes
        Which ways to sign to run: ``sum`` as the paper has it, ``mixed`` as neardup.
    trials
        Random changes for each row.
    seed
        Selects them.
    """
    results: coates_tables.Results = {
        "text": {"characters": len(text)},
        "rates": coates_runs.run_rates(text),
        "speed": coates_runs.run_speed(text, hashes, seed),
        "scattered": coates_runs.run_scattered(text, hashes, trials, seed),
        "blocks": coates_runs.run_blocks(text, hashes, trials, seed),
        "places": coates_runs.run_places(text, trials, seed),
    }
    if edits is not None:
        results["edits"] = coates_runs.run_edits(edits)
    return results


def main() -> None:
    """Measure, and write tables and plots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text", type=Path, help="text to edit; without it, one is made up")
    parser.add_argument("--edits", type=Path, help="JSON lines (.xz) with before and after")
    parser.add_argument("--hash", choices=(*HASHES, "both"), default="both")
    parser.add_argument("--trials", type=int, default=20, help="random changes for each row")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, default=DOCUMENTS, help="folder")
    options = parser.parse_args()
    text = coates_runs.read_text(options.text, options.seed)
    hashes = HASHES if options.hash == "both" else (options.hash,)
    results = measure(text, options.edits, hashes, options.trials, options.seed)
    options.output.mkdir(parents=True, exist_ok=True)
    measured = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "quick": False,
        "machine": machine_facts(PACKAGES),
    }
    laid_out = coates_tables.lay_out(results) | {"measured": caption(measured)}
    page = options.output / "coates.md"
    if not page.exists():
        parts = (f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in laid_out)
        page.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    for name, table in laid_out.items():
        replace_between(page, name, table)
    draw(results, options.output)


if __name__ == "__main__":
    main()
