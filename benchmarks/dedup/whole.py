"""Section ``dedup``: the whole process ``neardup dedup``, from file to folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.corpora.files import corpus, main_collection
from benchmarks.measuring.jobs import Settings, dedup_job, measure_summary
from benchmarks.measuring.markdown import MB, megabytes, table

TARGET = 80.0
TARGET_CASE = ("mixed", "default")
REPEATS = 5
KEPT_COUNTS = ("documents_in", "documents_removed", "exact_copies", "candidates", "seconds")


def memory_limit(input_bytes: int) -> float:
    """Return the most memory that a run may take, in bytes."""
    return 2 * input_bytes + 300 * MB


def run(settings: Settings) -> dict[str, Any]:
    """Measure the main corpus with default options and other cases beside it."""
    collection = main_collection(settings)
    cases: list[tuple[str, str, Path, tuple[str, ...]]] = [
        (*TARGET_CASE, collection, ()),
        ("mixed", "--workers 1", collection, ("--workers", "1")),
    ]
    if not settings.quick:
        cases.append(("mixed", "--threshold 0.5", collection, ("--threshold", "0.5")))
        for name in ("reviews", "instructions", "wikipedia", "licences"):
            cases.append((name, "default", corpus(name), ()))
    return {"cases": [_measure(settings, *case) for case in cases]}


def _measure(
    settings: Settings, name: str, label: str, source: Path, options: tuple[str, ...]
) -> dict[str, Any]:
    job = dedup_job(settings, source, *options)
    measured = measure_summary(job, settings.repeats(REPEATS), KEPT_COUNTS)
    facts = {"corpus": name, "options": label, "input_bytes": source.stat().st_size}
    return {**facts, **measured}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out speed and memory with their targets."""
    rows = []
    for case in figures["cases"]:
        size = case["input_bytes"]
        speed = size / MB / case["wall"]
        is_target = (case["corpus"], case["options"]) == TARGET_CASE
        limit = memory_limit(size)
        rows.append(
            (
                case["corpus"],
                case["options"],
                megabytes(size),
                case["documents_in"],
                case["documents_removed"],
                case["wall"],
                case["cpu"],
                speed,
                round(TARGET) if is_target else None,
                speed >= TARGET if is_target else None,
                megabytes(case["peak_process"]),
                megabytes(limit),
                case["peak_process"] <= limit,
            )
        )
    header = ("corpus", "options", "MB", "documents", "removed", "wall s", "CPU s", "MB/s")
    targets = ("to reach", "reached", "peak MB", "at most", "kept to")
    return table((*header, *targets), rows)
