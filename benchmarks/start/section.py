"""Section ``start``: what a short command waits for."""

from __future__ import annotations

import tempfile
from typing import Any

from benchmarks.corpora.files import ten_lines
from benchmarks.measuring.environments import cache_folder, environment
from benchmarks.measuring.jobs import Job, Settings, dedup_job
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import combine, measure
from benchmarks.measuring.processes import run as run_process

REPEATS = 11
FIRST_REPEATS = 3
TARGETS = {
    "`import neardup`": 0.1,
    "`neardup --version`": 0.3,
    "`neardup dedup`, ten lines": 2.0,
    "the same, very first run": 25.0,
}


def run(settings: Settings) -> dict[str, Any]:
    """Measure starts with compiled kernels, then with an empty cache of kernels."""
    python = str(settings.python)
    ten = dedup_job(settings, ten_lines())
    names = list(TARGETS)
    commands = {
        "Python alone": [python, "-c", "pass"],
        names[0]: [python, "-c", "import neardup"],
        names[1]: [str(settings.python.with_name("neardup")), "--version"],
    }
    figures: dict[str, Any] = {}
    for name, command in commands.items():
        repeats = settings.repeats(REPEATS)
        measured = measure(command, repeats=repeats, warm_up=True, environment=environment())
        figures[name] = measured.as_dict()
    figures[names[2]] = ten.measure(settings.repeats(REPEATS)).as_dict()
    figures[names[3]] = _measure_first(ten, settings.repeats(FIRST_REPEATS))
    return figures


def _measure_first(job: Job, repeats: int) -> dict[str, Any]:
    """Measure runs that find no compiled kernels and so compile them all."""
    runs = []
    for _ in range(repeats):
        job.clear()
        with tempfile.TemporaryDirectory(dir=cache_folder()) as empty:
            runs.append(run_process(job.command, environment={"NEARDUP_CACHE_DIR": empty}))
    job.clear()
    return combine(runs).as_dict()


def format_table(figures: dict[str, Any]) -> str:
    """Lay out medians, extremes and targets."""
    rows = []
    for name, measured in figures.items():
        target = TARGETS.get(name)
        reached = None if target is None else measured["wall"] <= target
        walls = measured["walls"]
        rows.append((name, measured["wall"], min(walls), max(walls), len(walls), target, reached))
    header = ("command", "seconds, median", "least", "most", "runs", "at most", "reached")
    return table(header, rows)
