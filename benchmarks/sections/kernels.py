"""Section ``kernels``: text in memory to signatures, one thread."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.corpora.files import corpus
from benchmarks.measuring.jobs import MB, Settings, own_report
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
        figures[name] = own_report(settings, "kernels.py", *arguments)
    return figures


def format_table(figures: dict[str, Any]) -> str:
    """Lay out megabytes of UTF-8 text per second."""
    rows = []
    for name, report in figures.items():
        for work, seconds in report["seconds"].items():
            size = report["text_bytes"] / MB
            median = size / statistics.median(seconds)
            has_target = (name, work) == (TARGET_CORPUS, TARGET_WORK)
            rows.append(
                (
                    name,
                    work,
                    round(median),
                    round(size / min(seconds)),
                    round(TARGET) if has_target else None,
                    median >= TARGET if has_target else None,
                )
            )
    header = ("corpus", "work", "MB/s, median", "MB/s, best pass", "to reach", "reached")
    return table(header, rows)
