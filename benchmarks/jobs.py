"""What is run and measured: neardup and its peers as whole processes, on prepared files."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from corpora import CORPORA
from installed import environment
from measure import Measurement, Run, measure, run
from packages import cache_folder

HERE = Path(__file__).resolve().parent
PEERS = ("rensa", "gaoya", "datasketch")
MB = 1e6
SMALL_MB = 20


@dataclass(frozen=True)
class Settings:
    """How the sections measure.

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

    @property
    def collection(self) -> Path:
        """The main file of documents."""
        return small_collection() if self.quick else corpus("mixed")


@dataclass(frozen=True)
class Job:
    """A command that reads documents; its output, a folder or file, is removed before each run."""

    command: tuple[str, ...]
    output: Path

    def clear(self) -> None:
        """Remove what an earlier run wrote."""
        if self.output.is_dir():
            shutil.rmtree(self.output)
        self.output.unlink(missing_ok=True)

    def run(self) -> Run:
        """Run once, measured."""
        self.clear()
        return run(self.command, environment=environment())

    def measure(self, repeats: int) -> Measurement:
        """Run once to warm up and then ``repeats`` times; leave no output."""
        try:
            return measure(
                self.command,
                repeats=repeats,
                warm_up=True,
                environment=environment(),
                before=self.clear,
            )
        finally:
            self.clear()


def neardup_job(settings: Settings, source: Path, *options: str) -> Job:
    """Give the job ``neardup dedup SOURCE``; its output is the summary as JSON."""
    folder = cache_folder() / "output-neardup"
    program = settings.python.with_name("neardup")
    command = (str(program), "dedup", str(source), "--output", str(folder), "--json", *options)
    return Job(command, folder)


def peer_job(
    settings: Settings, peer: str, source: Path, bands: int, rows: int, *options: str
) -> Job:
    """Give the job of a peer's script; its output is a report as JSON."""
    folder = cache_folder() / f"output-{peer}"
    script = HERE / "peers" / f"{peer}_dedup.py"
    banding = ("--bands", str(bands), "--rows", str(rows), "--workers", str(settings.cores))
    command = (str(settings.peers), str(script), str(source), str(folder), *banding, *options)
    return Job(command, folder)


def report_of(measured: Run | Measurement) -> dict[str, Any]:
    """Read the JSON that a job printed; of several runs, that of the last.

    Where it has seconds of stages, those of a measurement are their medians.
    """
    outputs = [measured.output] if isinstance(measured, Run) else measured.outputs
    reports = [json.loads(output) for output in outputs]
    report: dict[str, Any] = reports[-1]
    if isinstance(report.get("seconds"), dict):
        report["seconds"] = {
            stage: statistics.median(each["seconds"][stage] for each in reports)
            for stage in report["seconds"]
        }
    return report


def corpus(name: str) -> Path:
    """Return a corpus, built if need be, in a process of its own because that takes memory."""
    path = cache_folder() / f"{name}.jsonl"
    if not path.exists():
        _script("corpora.py" if name in CORPORA else "records.py", name)
    return path


def small_collection() -> Path:
    """Return the first 20 MB of the mixed corpus, a fair sample of it."""
    path = cache_folder() / f"mixed-{SMALL_MB}mb.jsonl"
    if not path.exists():
        _script("corpora.py", "mixed", "--first", str(SMALL_MB))
    return path


def near_copies(count: int) -> Path:
    """Return a file of near-copies of one template, built if need be."""
    path = cache_folder() / f"templates-{count}.jsonl"
    if not path.exists():
        _script("templates.py", str(count))
    return path


def ten_lines() -> Path:
    """Return a file with ten documents."""
    return first_lines(small_collection(), 10)


def first_lines(source: Path, count: int) -> Path:
    """Return a file with the first lines of another."""
    path = source.with_name(f"{source.stem}-{count}-lines.jsonl")
    if not path.exists():
        with source.open("rb") as lines:
            path.write_bytes(b"".join(islice(lines, count)))
    return path


def corpus_facts(script: str, argument: str, *options: str) -> dict[str, Any]:
    """Return the facts of a corpus, without the path of its file."""
    facts: dict[str, Any] = json.loads(_script(script, argument, *options))
    del facts["path"]
    return facts


def _script(name: str, *arguments: str) -> str:
    command = [sys.executable, str(HERE / name), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
