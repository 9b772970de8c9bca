"""Section ``kernels``: text in memory to signatures, one thread."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora.files import corpus
from benchmarks.measuring.figures import RATE_HEADER, rate_row
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import table

TARGET = 250.0
TARGET_CORPUS, TARGET_WORK = "prose", "text to signatures"
# At least seven passes; the English prose is short, so more of them.
PASSES = {"prose": 15, "wikipedia": 7, "licences": 7}


def run(settings: Settings) -> dict[str, Any]:
    """Time the passes over each corpus, each in a fresh process."""
    figures = {}
    for name in (TARGET_CORPUS,) if settings.quick else PASSES:
        arguments = (str(corpus(name)), "--passes", str(PASSES[name]))
        figures[name] = own_report(settings, "kernels/passes.py", *arguments)
    return figures


def format_table(figures: dict[str, Any]) -> str:
    """Lay out megabytes of UTF-8 text per second."""
    rows = []
    for name, report in figures.items():
        for work, seconds in report["seconds"].items():
            target = TARGET if (name, work) == (TARGET_CORPUS, TARGET_WORK) else None
            rows.append(rate_row(name, work, report["text_bytes"], seconds, target))
    return table(RATE_HEADER, rows)
