"""Section ``edit_joins``: names within two edits, beside all distances with RapidFuzz."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from benchmarks.joins.shapes import EDIT_JOIN, pairs_job, source_of, together
from benchmarks.measuring.jobs import Settings, own_report, report_of_script
from benchmarks.measuring.markdown import megabytes

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables

DISTANCE = "2"
# The distances of these rows to all names are worked out, and the time scaled up.
ROWS = 5_000
PASSES, REPEATS = 3, 3


def run(settings: Settings) -> Tables:
    """Measure both on all cores, in turn, and compare the pairs of the first rows."""
    source = source_of(settings, "authors")
    cores = ("--workers", str(settings.cores))
    arguments = (str(source), DISTANCE, "--rows", str(ROWS), *cores)
    passes = ("--passes", str(settings.repeats(PASSES)))
    ours, others = [], []
    for _ in range(settings.repeats(REPEATS)):
        script = "peers/rapidfuzz_distances.py"
        others.append(report_of_script(settings.peers, script, *arguments))
        ours.append(own_report(settings, EDIT_JOIN, *arguments, *passes))
    job = pairs_job(settings, source, "--max-distance", DISTANCE)
    whole = job.measure(settings.repeats(REPEATS))
    own, other = together(ours), together(others)
    every_pair = own["records"] * (own["records"] - 1) // 2
    scale = every_pair / other["distances"]
    scaled = statistics.median(other["seconds"]) * scale
    seconds, verified = statistics.median(own["seconds"]), own["filters"]["verified"]
    rows = [
        _row(
            "neardup, join", seconds, statistics.median(own["cpu"]), verified, own["memory"]["peak"]
        ),
        _row("neardup, whole process", whole.wall, whole.cpu, verified, whole.peak_process),
        _row(
            "RapidFuzz, `cdist`, scaled to every pair once",
            scaled,
            statistics.median(other["cpu"]) * scale,
            every_pair,
            other["memory"]["peak"],
        ),
    ]
    for row in rows:
        row["RapidFuzz takes, times"] = scaled / row["seconds"]
        row["same pairs"] = own["digest"] == other["digest"]
    return {f"{own['records']:,} names within {DISTANCE} edits": rows}


def _row(work: str, seconds: float, cpu: float, distances: int, peak: int | None) -> Row:
    row: Row = {"work": work, "seconds": seconds, "CPU s": cpu, "distances": distances}
    return row | {"peak MB": megabytes(peak)}
