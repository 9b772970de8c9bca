"""Section ``edit_joins``: names within two edits, beside all distances with RapidFuzz."""

from __future__ import annotations

import statistics
from textwrap import fill
from typing import Any

from benchmarks.joins.shapes import EDIT_JOIN, pairs_job, source_of, together
from benchmarks.measuring.jobs import Settings, own_report, report_of, report_of_script
from benchmarks.measuring.markdown import beside, megabytes, table

DISTANCE = "2"
TARGET = 100
# The distances of these rows to all names are worked out, and the time scaled up.
ROWS = 5_000
PASSES, REPEATS = 3, 3


def run(settings: Settings) -> dict[str, Any]:
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
    return {
        "neardup": together(ours),
        "rapidfuzz": together(others),
        "whole": {**whole.as_dict(), "pairs": report_of(whole)["pairs"]},
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out both, RapidFuzz's time scaled to every pair once."""
    ours, other, whole = (figures[name] for name in ("neardup", "rapidfuzz", "whole"))
    records = ours["records"]
    every_pair = records * (records - 1) // 2
    scale = every_pair / other["distances"]
    measured = statistics.median(other["seconds"])
    scaled = measured * scale
    seconds, verified = statistics.median(ours["seconds"]), ours["filters"]["verified"]
    cpu = statistics.median(ours["cpu"])
    whole_peak = megabytes(whole["peak_process"])
    rows = [
        (
            "neardup, join",
            seconds,
            cpu,
            verified,
            *beside(scaled, seconds, TARGET),
            megabytes(ours["memory"]["peak"]),
        ),
        (
            "neardup, whole process",
            whole["wall"],
            whole["cpu"],
            verified,
            *beside(scaled, whole["wall"], TARGET),
            whole_peak,
        ),
        (
            "RapidFuzz, `cdist`, scaled",
            scaled,
            statistics.median(other["cpu"]) * scale,
            every_pair,
            *(None, None, None),
            megabytes(other["memory"]["peak"]),
        ),
    ]
    header = ("work", "seconds", "CPU s", "distances", "RapidFuzz takes, times", "to reach")
    same = "the same" if ours["digest"] == other["digest"] else "**not the same**"
    text = (
        f"{records:,} names, {ours['all_pairs']:,} pairs within {DISTANCE} edits. RapidFuzz worked "
        f"out {other['distances']:,} distances in {measured:.2f} s; scaled up to those of every "
        f"pair once. Both found {ours['pairs']:,} and {other['pairs']:,} pairs of which the first "
        f"is in these rows: {same}."
    )
    return f"{table((*header, 'reached', 'peak MB'), rows)}\n\n{fill(text, 100)}"
