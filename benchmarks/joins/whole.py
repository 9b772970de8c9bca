"""Section ``whole_joins``: the whole process ``neardup pairs``, from file to file."""

from __future__ import annotations

from typing import Any

from benchmarks.joins.shapes import (
    ALL_TITLES,
    DESCRIPTIONS,
    LICENCES,
    SENTENCES,
    TITLES,
    Shape,
    at_hand,
    pairs_job,
    source_of,
    thresholds,
)
from benchmarks.measuring.figures import MB, megabytes
from benchmarks.measuring.jobs import Settings, measure_summary
from benchmarks.measuring.markdown import table

# In bytes, for a million short records.
MEMORY_LIMITS = {SENTENCES.corpus: 4_000 * MB}
SHAPES = (TITLES, *DESCRIPTIONS, LICENCES)
REPEATS = 3
KEPT_COUNTS = ("documents", "pairs", "filters", "seconds")


def run(settings: Settings) -> dict[str, Any]:
    """Measure a million records at one threshold and smaller collections at several."""
    shapes, remarks = at_hand(*SHAPES)
    cases = [_measure(settings, SENTENCES, "0.8"), _measure(settings, ALL_TITLES, "0.8")]
    for shape in shapes:
        for threshold in thresholds(settings):
            cases.append(_measure(settings, shape, threshold))
    return {"cases": cases, "remarks": remarks}


def _measure(settings: Settings, shape: Shape, threshold: str) -> dict[str, Any]:
    source = source_of(settings, shape.corpus, shape.most)
    job = pairs_job(settings, source, "--threshold", threshold, *shape.options)
    measured = measure_summary(job, settings.repeats(REPEATS), KEPT_COUNTS)
    facts = {"threshold": threshold, "input_bytes": source.stat().st_size}
    return {**shape.facts(), **facts, **measured}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out counts, times and memory."""
    rows = []
    for case in figures["cases"]:
        limit = MEMORY_LIMITS.get(case["corpus"])
        rows.append(
            (
                case["corpus"],
                case["elements"],
                case["threshold"],
                sum(case["documents"]),
                case["pairs"],
                case["filters"]["verified"],
                case["seconds"]["join"],
                case["wall"],
                case["cpu"],
                megabytes(case["peak_process"]),
                megabytes(limit),
                None if limit is None else case["peak_process"] <= limit,
            )
        )
    header = ("corpus", "sets of", "threshold", "records", "pairs", "verified", "join s")
    text = table((*header, "wall s", "CPU s", "peak MB", "at most", "kept to"), rows)
    return "\n\n".join([text, *figures["remarks"]])
