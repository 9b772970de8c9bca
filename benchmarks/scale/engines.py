"""Jobs in threads and on Spark: whether their files are the same, and what each process takes.

``python -m benchmarks.scale.engines --sizes 10MB 200MB`` makes texts, runs each job by both engines
and prints a table of processor seconds. Spark is two executors of one core on this machine, unless
``PYSPARK_SUBMIT_ARGS`` says another; ``SPARK_HOME`` has to be set.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measuring.environments import cache_folder
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import run
from benchmarks.scale.collections import Made
from benchmarks.scale.generate import parse_size
from benchmarks.scale.measure import Watch

# Seconds of processor time that a start of Spark takes.
START = 15
# Whose processor time it is, by what the command line of a process has; the first that is found.
_ROLES = (
    ("CoarseGrainedExecutorBackend", "Java of executors"),
    ("org.apache.spark", "Java of the driver"),
    ("pyspark.daemon", "Python of executors"),
    ("neardup", "driver"),
)
_OTHER = "other"
ROLES = (*(name for _, name in _ROLES), _OTHER)
MASTER = "local-cluster[2,1,1024]"
_RECORD_BYTES = 60
_QUERY_SHARE = 100


@dataclass(frozen=True)
class Job:
    """A command of neardup, its inputs by name, and what its output is called."""

    command: tuple[str, ...]
    inputs: tuple[str, ...]
    output: str


JOBS = {
    "dedup": Job(("dedup",), ("texts",), "out"),
    "cut lines": Job(("cut", "--exact", "--unit", "lines"), ("texts",), "out"),
    "cut exact": Job(("cut", "--exact"), ("texts",), "out"),
    "pairs": Job(("pairs", "--threshold", "0.8", "--ngram", "1"), ("records",), "out.csv"),
    "align": Job(("align", "--id-column", ""), ("some", "texts"), "out.csv"),
    "search": Job(("search",), ("index", "texts"), "out.csv"),
}


@dataclass(frozen=True)
class Case:
    """A job on so much text, by processor seconds of threads, and of Spark by role."""

    job: str
    n_bytes: int
    threads: float
    spark: dict[str, float]
    wall: float
    are_same: bool

    @property
    def row(self) -> tuple[object, ...]:
        """Its row of the table."""
        total = sum(self.spark.values())
        roles = [self.spark.get(role, 0.0) for role in ROLES]
        size = f"{self.n_bytes / 1e6:,.0f}"
        checked = (total - START) / self.threads, self.are_same
        return (self.job, size, self.threads, total, *roles, self.wall, *checked)


HEADER = (
    *("job", "MB", "threads", "Spark", *ROLES, "wall"),
    *(f"times threads, beyond {START} s", "same"),
)


def measure_engines(python: Path, n_bytes: int, names: Sequence[str]) -> Iterator[Case]:
    """Run jobs on so much text, by both engines."""
    with TemporaryDirectory(dir=cache_folder()) as scratch:
        folder = Path(scratch)
        for name in names:
            with _inputs(python, n_bytes, JOBS[name], folder) as inputs:
                threads, _ = _run(python, JOBS[name], inputs, folder / "threads")
                spark, wall = _run(python, JOBS[name], inputs, folder / "spark", "spark")
            are_same = files_of(folder / "threads") == files_of(folder / "spark")
            yield Case(name, n_bytes, sum(threads.values()), spark, wall, are_same)


@contextmanager
def _inputs(python: Path, n_bytes: int, job: Job, folder: Path) -> Iterator[list[Path]]:
    """Make what a job reads, of so many bytes."""
    index = folder / "index"
    made = {
        "texts": Made("ordinary", n_bytes),
        "some": Made("ordinary", max(1, n_bytes // _QUERY_SHARE)),
        "records": Made("short", n_bytes, document_bytes=_RECORD_BYTES),
    }
    with ExitStack() as stack:
        found = {
            name: stack.enter_context(made[name].file()) for name in made if name in job.inputs
        }
        if "index" in job.inputs:
            build = ("index", "build", str(index), "--kind", "documents", str(found["texts"]))
            run((str(python), "-m", "neardup", *build))
        yield [found.get(name, index) for name in job.inputs]


def _run(
    python: Path, job: Job, inputs: Sequence[Path], folder: Path, engine: str = "threads"
) -> tuple[dict[str, float], float]:
    """Run a job, and return processor seconds by role, and wall seconds."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    output = folder / job.output
    command = [str(python), "-m", "neardup", *job.command, *map(str, inputs)]
    command += ["-o", str(output), "--engine", engine]
    with Watch({}) as watch:
        done = run(command, environment=session_variables())
    by_role = watch.cpu_by(role_of)
    # The system has counted all of what was waited for, and the watch looks now and then.
    by_role["driver"] = max(by_role.get("driver", 0.0), done.cpu)
    return by_role, done.wall


def role_of(command: str) -> str:
    """Return what a process is, by its command line."""
    return next((role for part, role in _ROLES if part in command), _OTHER)


def session_variables() -> dict[str, str]:
    """Return the environment variables of the measured Spark session."""
    variables = {"SPARK_LOCAL_IP": "127.0.0.1"}
    if "PYSPARK_SUBMIT_ARGS" not in os.environ:
        variables["PYSPARK_SUBMIT_ARGS"] = f"--master {MASTER} pyspark-shell"
    return variables


def _paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def files_of(folder: Path) -> dict[str, Any]:
    """Return what is in the files of an output, but for what the run took."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in _paths(folder)
        if path.name != "summary.json"
    }


def main() -> None:
    """Measure jobs, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.engines", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--sizes", nargs="+", type=parse_size, default=[10**7])
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    options = parser.parse_args()
    rows = []
    for n_bytes in options.sizes:
        for case in measure_engines(options.python, n_bytes, options.jobs):
            rows.append(case.row)
            sys.stderr.write(json.dumps(dict(zip(HEADER, case.row, strict=True))) + "\n")
    sys.stdout.write(f"{table(HEADER, rows)}\n")


if __name__ == "__main__":
    main()
