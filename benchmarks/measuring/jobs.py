"""Measured commands: neardup, its peers and scripts of this folder."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measuring.environments import REPOSITORY, cache_folder
from benchmarks.measuring.processes import Measurement, Run, measure, run

PEERS = ("rensa", "gaoya", "datasketch")

Report = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """Settings of all sections.

    ``python`` is that of the environment with neardup alone, ``peers`` that of the peers'.
    ``quick`` means small files and few repeats: a test of the benchmarks, not of speed.
    """

    python: Path
    peers: Path
    cores: int
    quick: bool

    def repeats(self, usual: int) -> int:
        """Return how often to run what is usually run so many times."""
        return 2 if self.quick else usual


@dataclass(frozen=True)
class Job:
    """A command that reads documents; its output, a folder or file, is removed before each run."""

    command: tuple[str, ...]
    output: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def clear(self) -> None:
        """Remove what an earlier run wrote."""
        if self.output.is_dir():
            shutil.rmtree(self.output)
        self.output.unlink(missing_ok=True)

    def run(self) -> Run:
        """Run once, measured."""
        self.clear()
        return run(self.command, environment=self.variables)

    def measure(self, repeats: int) -> Measurement:
        """Run once to warm up and then ``repeats`` times; leave no output."""
        try:
            return measure(
                self.command,
                repeats=repeats,
                warm_up=True,
                environment=self.variables,
                before=self.clear,
            )
        finally:
            self.clear()


def neardup_job(settings: Settings, command: str, output: str, *arguments: str) -> Job:
    """Return a job of neardup with an output of that name; it prints the summary as JSON."""
    target = cache_folder() / f"output-{output}"
    program = str(settings.python.with_name("neardup"))
    return Job((program, command, *arguments, "--output", str(target), "--json"), target)


def dedup_job(settings: Settings, source: Path, *options: str) -> Job:
    """Return the job ``neardup dedup SOURCE``."""
    return neardup_job(settings, "dedup", "neardup", str(source), *options)


def peer_job(
    settings: Settings, peer: str, source: Path, bands: int, rows: int, *options: str
) -> Job:
    """Return the job of a peer's script; its output is a report as JSON."""
    folder = cache_folder() / f"output-{peer}"
    banding = ("--bands", str(bands), "--rows", str(rows), "--workers", str(settings.cores))
    arguments = (str(source), str(folder), *banding, *options)
    command = script_command(settings.peers, f"peers/{peer}_dedup.py", *arguments)
    return Job(command, folder, script_environment())


def report_of(measured: Run | Measurement) -> Report:
    """Read the JSON that a job printed; of several runs, that of the last.

    Seconds of stages are medians over the runs.
    """
    outputs = [measured.output] if isinstance(measured, Run) else measured.outputs
    reports = [json.loads(output) for output in outputs]
    report: Report = reports[-1]
    if isinstance(report.get("seconds"), dict):
        report["seconds"] = {
            stage: statistics.median(each["seconds"][stage] for each in reports)
            for stage in report["seconds"]
        }
    return report


def measure_summary(job: Job, repeats: int, names: Sequence[str]) -> Report:
    """Measure a job; report that and what its summary has under some names."""
    measured = job.measure(repeats)
    summary = report_of(measured)
    return {**measured.as_dict(), **{name: summary[name] for name in names}}


def script_command(python: Path, script: str, *arguments: str) -> tuple[str, ...]:
    """Return the command of a script, to run with ``script_environment``."""
    # Modules beside the script must not hide modules of the same name in the environment.
    return (str(python), "-P", str(REPOSITORY / "benchmarks" / script), *arguments)


def script_environment() -> dict[str, str]:
    """Return variables for scripts of this folder, so that they find its modules."""
    return {"PYTHONPATH": str(REPOSITORY)}


def own_report(settings: Settings, script: str, *arguments: str) -> Report:
    """Run one of our scripts with neardup; return what it reports."""
    return report_of_script(settings.python, script, *arguments)


def report_of_script(
    python: Path, script: str, *arguments: str, limit: float | None = None
) -> Report:
    """Run a script of this folder in a process of its own; return what it reports."""
    command = script_command(python, script, *arguments)
    output = run(command, environment=script_environment(), limit=limit).output
    report: Report = json.loads(output)
    return report


def run_script(script: str, *arguments: str) -> str:
    """Run a script of this folder with this Python, unmeasured; return its output."""
    command = script_command(Path(sys.executable), script, *arguments)
    variables = {**os.environ, **script_environment()}
    done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout
