"""Holds what plans tell of jobs to what these take: ``python -m benchmarks.plans FILE ...``.

Each plan and each job is a process of its own. For every job and collection a line tells memory,
temporary files, output and time, as they were told and as they were taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring.figures import MB
from benchmarks.measuring.markdown import NOTHING, table
from benchmarks.measuring.processes import CommandFailedError, TimeLimitError, run
from benchmarks.scale.collections import Made
from benchmarks.scale.generate import DOCUMENT_BYTES, parse_size
from benchmarks.scale.kinds import DEFAULT_BYTES, KINDS
from benchmarks.scale.measure import watch_job

Row = dict[str, Any]

MOST_OFF = 0.25
# What is smaller is lost in what files and clocks are rounded to.
_LEAST_BYTES, _LEAST_SECONDS = 100_000, 1.0
AMPLE, LEAST_MEMORY, SHARE_OF_INPUT = 2 * 10**9, 16 * 10**6, 10


@dataclass(frozen=True)
class Job:
    """A command and its output; ``neardup plan`` tells what it takes, or its own ``--plan``.

    Of some jobs ``neardup plan`` tells the memory alone, by the name that they have there. What
    else is ``untold`` it tells of another job.
    """

    command: tuple[str, ...]
    output: str = "out"
    has_plan: bool = True
    among: str | None = None
    untold: frozenset[str] = frozenset()

    def tell(self, neardup: Sequence[str], arguments: Sequence[str]) -> Row:
        """Return what the plan tells."""
        command = (*self.command, "--plan") if self.has_plan else ("plan",)
        told: Row = json.loads(run([*neardup, *command, *arguments, "--json"]).output)
        if self.has_plan:
            return told
        estimate: Row = told["estimate"]
        if self.among is not None:
            return {"memory_bytes": estimate["other_jobs"][self.among]}
        return {name: value for name, value in estimate.items() if name not in self.untold}


_PAIRS = "out.parquet"
JOBS = {
    "dedup": Job(("dedup",), has_plan=False),
    "dedup --method exact": Job(
        ("dedup", "--method", "exact"), has_plan=False, among="dedup --method exact"
    ),
    "pairs": Job(("pairs",), _PAIRS),
    "pairs --measure edit": Job(("pairs", "--measure", "edit", "--threshold", "0.9"), _PAIRS),
    "pairs --method minhash": Job(
        ("pairs", "--method", "minhash"), _PAIRS, has_plan=False, untold=frozenset({"disk_bytes"})
    ),
    "cut --exact --unit lines": Job(("cut", "--exact", "--unit", "lines")),
    "cut --exact": Job(("cut", "--exact")),
    "cut --unit lines": Job(("cut", "--unit", "lines")),
    "cut": Job(("cut",)),
    "align": Job(("align",), _PAIRS),
}


@dataclass(frozen=True)
class Figure:
    """A figure: what the plan calls it, what is measured, and when it is too small to be judged."""

    told: str
    taken: str
    least: float
    unit: float = MB


FIGURES = {
    "memory": Figure("memory_bytes", "peak_process", 0),
    "files": Figure("temporary_bytes", "peak_work", _LEAST_BYTES),
    "output": Figure("disk_bytes", "output", _LEAST_BYTES),
    "seconds": Figure("seconds", "seconds", _LEAST_SECONDS, 1.0),
}


def compare(
    job: Job,
    source: Path,
    memory: int,
    *,
    neardup: Sequence[str],
    workers: int,
    limit: float | None = None,
) -> Row:
    """Return what the plan of a job tells of a collection, and what the job takes."""
    arguments = [str(source), "--memory", str(memory), "--workers", str(workers)]
    told = job.tell(neardup, arguments)
    with tempfile.TemporaryDirectory() as folder:
        taken, summary = watch_job(
            [*neardup, *job.command, *arguments], Path(folder), output=job.output, limit=limit
        )
    seconds = summary["seconds"]
    taken["seconds"] = sum(seconds.values()) if isinstance(seconds, dict) else seconds
    return {
        "input_bytes": source.stat().st_size,
        "memory": memory,
        "cpu": taken["cpu"],
        "told": {name: told.get(each.told) for name, each in FIGURES.items()},
        "taken": {name: taken[each.taken] for name, each in FIGURES.items()},
    }


def is_off(name: str, row: Row) -> bool:
    """Return whether a figure that is not too small was told more than a quarter wrong."""
    told, taken = row["told"][name], row["taken"][name]
    if told is None:
        return False
    return max(told, taken) > FIGURES[name].least and abs(told - taken) > MOST_OFF * taken


def lay_out(rows: Sequence[Row]) -> str:
    """Give a table of all rows; what is more than a quarter off is bold."""
    header = ["job", "collection", "MB", "--memory, MB"]
    for name in FIGURES:
        header += [f"{name} told", "taken"]
    lines = []
    for row in rows:
        line = [f"`{row['job']}`", row["collection"]]
        line += [_digits(row["input_bytes"]), _digits(row["memory"])]
        for name, figure in FIGURES.items():
            told, taken = (_digits(row[side][name], figure.unit) for side in ("told", "taken"))
            line += [f"**{told}**" if is_off(name, row) else told, taken]
        lines.append(line)
    return table(header, lines)


def _digits(value: float | None, unit: float = MB) -> str:
    """Write two digits, and all before the point."""
    if not value:
        return NOTHING
    value /= unit
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _made(text: str) -> Made:
    """Read a collection to be made up, such as ``ordinary:30MB``."""
    kind, _, size = text.partition(":")
    if kind not in KINDS:
        message = f"expected a kind of {', '.join(KINDS)} and bytes, as ordinary:30MB, got {text!r}"
        raise argparse.ArgumentTypeError(message)
    return Made(kind, parse_size(size), document_bytes=int(DEFAULT_BYTES.get(kind, DOCUMENT_BYTES)))


def _budgets(source: Path, given: Sequence[int]) -> Sequence[int]:
    """Return the memory that jobs may take: as given, else more than enough, and too little."""
    return given or (AMPLE, max(LEAST_MEMORY, source.stat().st_size // SHARE_OF_INPUT))


def measure(options: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each job, collection and amount of memory."""
    neardup = (str(options.python), "-m", "neardup")
    named = [(path.stem, path) for path in options.files]
    with ExitStack() as stack:
        for made in options.made:
            named.append((made.kind, stack.enter_context(made.file())))
        for name in options.only or JOBS:
            for collection, path in named:
                for memory in _budgets(path, options.memory):
                    yield _row(name, collection, path, memory, neardup, options)


def _row(
    name: str,
    collection: str,
    path: Path,
    memory: int,
    neardup: Sequence[str],
    options: argparse.Namespace,
) -> Row:
    about = {"job": name, "collection": collection}
    try:
        workers, limit = options.workers, options.limit
        return about | compare(
            JOBS[name], path, memory, neardup=neardup, workers=workers, limit=limit
        )
    except (CommandFailedError, TimeLimitError) as error:
        return about | {"error": str(error)}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.plans", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument(
        "--made",
        nargs="+",
        default=[],
        type=_made,
        metavar="KIND:BYTES",
        help=f"collections to be made up, as ordinary:30MB; kinds are {', '.join(KINDS)}",
    )
    parser.add_argument("--only", nargs="+", choices=JOBS, metavar="JOB", help=", ".join(JOBS))
    parser.add_argument(
        "--memory",
        nargs="+",
        type=parse_size,
        default=[],
        metavar="BYTES",
        help="budgets of the jobs (default: 2 GB, and a tenth of the input, at least 16 MB)",
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, metavar="SECONDS", help="leave out jobs that take longer"
    )
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--results", type=Path, help="a file for all figures, as JSON lines")
    options = parser.parse_args()
    rows = []
    for row in measure(options):
        if options.results:
            with options.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if "error" in row:
            sys.stderr.write(f"{row['job']} of {row['collection']}: {row['error']}\n")
        else:
            rows.append(row)
    sys.stdout.write(f"{lay_out(rows)}\n")


if __name__ == "__main__":
    main()
