"""Command line of a paper's experiments: parts measure, and print their rows as tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.measuring.markdown import row_table

Row = dict[str, Any]


def make_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Make the parser of a paper's command."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}", description=(description or "").partition("\n")[0]
    )


def run_parts(
    parser: argparse.ArgumentParser,
    parts: Mapping[str, Callable[[argparse.Namespace], list[Row] | None]],
) -> None:
    """Measure the chosen parts; a part returns None if its texts were not given."""
    parser.add_argument("--only", nargs="+", metavar="PART", choices=parts, default=list(parts))
    parser.add_argument("--quick", action="store_true", help="few or short texts: a trial")
    options = parser.parse_args()
    for name in options.only:
        sys.stderr.write(f"{name} ...\n")
        rows = parts[name](options)
        if rows is None:
            sys.stderr.write(f"{name}: left out, as its texts are not given (--help)\n")
            continue
        print(f"## {name}\n\n{row_table(rows)}\n")
        sys.stdout.flush()
