"""Experiments of "A fast metric of document similarity" (Coates 2011), repeated.

``python -m benchmarks.papers.coates --text TEXT --texts TEXTS`` takes about a minute and writes
tables to docs/papers/coates.md. It needs neardup.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring.results import caption, machine_facts, new_entry
from benchmarks.papers.coates import claims, runs, tables
from benchmarks.papers.experiments import DOCUMENTS, make_parser, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGES = ("neardup", "numpy", "numba", "rapidfuzz")
HASHES = ("sum", "mixed")


def measure(
    text: str, texts: Path | None, hashes: Sequence[str], trials: int, seed: int
) -> tables.Results:
    """Run all experiments."""
    results: tables.Results = {
        "text": {"characters": len(text)},
        "rates": runs.run_rates(text),
        "speed": runs.run_speed(text, hashes, seed),
        "scattered": runs.run_scattered(text, hashes, trials, seed),
        "blocks": runs.run_blocks(text, hashes, trials, seed),
        "lengths": claims.run_lengths(text, seed),
        "single": claims.run_single(text, hashes, trials, seed),
    }
    if texts is not None:
        results["verify"] = claims.run_verify(texts)
    return results


def main() -> None:
    """Measure, and write tables."""
    parser = make_parser("coates", str(__doc__))
    parser.add_argument("--text", type=Path, help="text to edit; without it, one is made up")
    parser.add_argument("--texts", type=Path, help="JSON lines (.xz) with text, many of them alike")
    parser.add_argument("--hash", choices=(*HASHES, "both"), default="both")
    parser.add_argument("--trials", type=int, default=20, help="random changes for each row")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--output", type=Path, default=DOCUMENTS, help="folder")
    options = parser.parse_args()
    text = runs.read_text(options.text, options.seed)
    hashes = HASHES if options.hash == "both" else (options.hash,)
    results = measure(text, options.texts, hashes, options.trials, options.seed)
    options.output.mkdir(parents=True, exist_ok=True)
    measured = caption(new_entry(machine_facts(PACKAGES), quick=False))
    laid_out = tables.lay_out(results) | {"measured": measured}
    write_page(options.output / "coates.md", laid_out)


if __name__ == "__main__":
    main()
