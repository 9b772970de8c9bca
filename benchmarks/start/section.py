"""Section ``start``: what a short command waits for."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora.files import ten_lines
from benchmarks.measuring.jobs import Settings, dedup_job
from benchmarks.measuring.markdown import table
from benchmarks.measuring.processes import measure

REPEATS = 11
TARGETS = {
    "`import neardup`": 0.1,
    "`neardup --version`": 0.3,
    "`neardup dedup`, ten lines": 2.0,
}


def run(settings: Settings) -> dict[str, Any]:
    """Measure starts."""
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
        measured = measure(command, repeats=repeats, warm_up=True)
        figures[name] = measured.as_dict()
    figures[names[2]] = ten.measure(settings.repeats(REPEATS)).as_dict()
    return figures


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
