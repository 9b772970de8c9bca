"""Figures measured part by part: which parts the command line names, and the results file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from benchmarks.measuring.results import read_results, write_results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.measuring.results import Entry


def add_options(
    parser: argparse.ArgumentParser, parts: Sequence[str], *, quick: str, report: str
) -> None:
    """Let a command line name parts, ask for a quick run, or for the report alone."""
    parser.add_argument("--only", nargs="+", metavar="PART", choices=parts, default=parts)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--report", action="store_true", help=report)


def measure_parts(
    parts: Sequence[str], names: Sequence[str], path: Path, measure: Callable[[str], Entry]
) -> Iterator[tuple[str, Entry]]:
    """Measure parts one after another; each is in the results file as soon as it is done."""
    for name in (part for part in parts if part in names):
        sys.stderr.write(f"{name} ...\n")
        start = time.perf_counter()
        entry = measure(name)
        entry["seconds"] = round(time.perf_counter() - start)
        merged = {**read_results(path), name: entry}
        in_order = {part: merged[part] for part in parts if part in merged}
        write_results(path, in_order)
        yield name, entry
