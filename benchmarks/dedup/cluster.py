"""Section ``cluster``: many near-copies of one text, all similar to each other."""

from __future__ import annotations

import math
from typing import Any

from benchmarks.corpora.files import near_copies
from benchmarks.measuring.figures import MB
from benchmarks.measuring.jobs import Settings, dedup_job, measure_summary
from benchmarks.measuring.markdown import table

# Times grow with this power of the number of documents; 1 is linear, the rest is for noise.
TARGET = 1.1
REPEATS = 5
KEPT_COUNTS = ("documents_in", "documents_removed", "candidates", "seconds")


def run(settings: Settings) -> dict[str, Any]:
    """Measure two sizes."""
    cases = []
    for count in (2_000, 10_000) if settings.quick else (10_000, 50_000):
        source = near_copies(count)
        job = dedup_job(settings, source)
        measured = measure_summary(job, settings.repeats(REPEATS), KEPT_COUNTS)
        cases.append({"input_bytes": source.stat().st_size, **measured})
    return {"cases": cases}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out times, times per document, and the exponent of growth."""
    small, large = figures["cases"]
    growth = math.log(large["documents_in"] / small["documents_in"])
    large_times = _times(large)
    rows = []
    for name, small_time in _times(small).items():
        times = (small_time, large_times[name])
        each = (1e6 * times[0] / small["documents_in"], 1e6 * times[1] / large["documents_in"])
        # The summary has milliseconds.
        exponent = math.log(max(times[1], 1e-3) / max(times[0], 1e-3)) / growth
        rows.append((name, *times, *each, exponent, TARGET, exponent <= TARGET))
    sizes = [f"{case['documents_in']:,}" for case in (small, large)]
    header = ["seconds of", *(f"{size} copies, s" for size in sizes)]
    header += [*(f"{size}: µs each" for size in sizes), "exponent", "at most", "reached"]
    memory = ", ".join(
        f"{case['peak_process'] / MB:,.0f} MB for {case['input_bytes'] / MB:,.0f} MB of input"
        for case in (small, large)
    )
    return f"{table(header, rows)}\n\nPeak memory: {memory}."


def _times(case: dict[str, Any]) -> dict[str, float]:
    stages: dict[str, float] = case["seconds"]
    return {
        "`choose` stage": stages["choose"],
        "all stages": sum(stages.values()),
        "whole process, wall": case["wall"],
        "whole process, CPU": case["cpu"],
    }
