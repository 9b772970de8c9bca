"""Section ``start``: what a short command waits for."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora.files import ten_lines
from benchmarks.measuring.jobs import Settings, dedup_job
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import Run, combine
from benchmarks.measuring.processes import run as run_process

REPEATS = 15
PYTHON, LIBRARIES = "Python alone", "Python, NumPy and PyArrow"
DEDUP = "`neardup dedup`, ten lines"
# For each command what it is measured by, and how many times the CPU of that it may take.
TARGETS = {
    "`import neardup`": (PYTHON, 4.0),
    "`neardup --version`": (PYTHON, 4.0),
    "`neardup --help`": (PYTHON, 4.0),
    DEDUP: (LIBRARIES, 1.8),
}


def run(settings: Settings) -> dict[str, Any]:
    """Measure starts."""
    python, neardup = str(settings.python), str(settings.python.with_name("neardup"))
    ten = dedup_job(settings, ten_lines())
    commands = {
        PYTHON: [python, "-c", "pass"],
        LIBRARIES: [python, "-c", "import numpy, pyarrow"],
        "`import neardup`": [python, "-c", "import neardup"],
        "`neardup --version`": [neardup, "--version"],
        "`neardup --help`": [neardup, "--help"],
    }
    commands[DEDUP] = ten.command
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    # In turns, so that what else the machine does falls on all alike; the first fills caches.
    for _ in range(1 + settings.repeats(REPEATS)):
        for name, command in commands.items():
            ten.clear()
            runs[name].append(run_process(command))
    return {name: combine(found[1:]).as_dict() for name, found in runs.items()}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out medians, and CPU as times that of what it is measured by."""
    rows = []
    for name, measured in figures.items():
        base, target = TARGETS.get(name, (name, None))
        times = measured["cpu"] / figures[base]["cpu"]
        reached = None if target is None else times <= target
        runs = len(measured["walls"])
        rows.append((name, measured["cpu"], measured["wall"], runs, base, times, target, reached))
    header = ("command", "CPU s", "seconds", "runs", "measured by", "times", "at most", "reached")
    return table(header, rows)
