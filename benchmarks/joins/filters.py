"""Section ``join_filters``: All-Pairs, PPJoin and PPJoin+ against each other."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.joins.shapes import (
    ALL_TITLES,
    DESCRIPTIONS,
    SET_JOIN,
    at_hand,
    prepare_sets,
    together,
)
from benchmarks.measuring.jobs import Settings, own_report
from benchmarks.measuring.markdown import table

ALGORITHMS = {"allpairs": "All-Pairs", "ppjoin": "PPJoin", "ppjoin+": "PPJoin+"}
THRESHOLDS = ("0.8", "0.9")
REPEATS = 3


def run(settings: Settings) -> dict[str, Any]:
    """Join all records with each algorithm in turn, in one thread."""
    shapes, remarks = at_hand(ALL_TITLES, *DESCRIPTIONS)
    cases = []
    for shape in shapes:
        sets, _ = prepare_sets(settings, shape)
        for threshold in THRESHOLDS[: 1 if settings.quick else None]:
            how = (str(sets), threshold, "--passes", "1", "--algorithm")
            rounds = [
                {name: own_report(settings, SET_JOIN, *how, name) for name in ALGORITHMS}
                for _ in range(settings.repeats(REPEATS))
            ]
            reports = {name: together([each[name] for each in rounds]) for name in ALGORITHMS}
            cases.append({**shape.facts(), "threshold": threshold, "algorithms": reports})
    return {"cases": cases, "remarks": remarks}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out times, what is verified, and both beside All-Pairs."""
    rows = []
    for case in figures["cases"]:
        least = case["algorithms"]["allpairs"]
        least_time = statistics.median(least["seconds"])
        for name, report in case["algorithms"].items():
            seconds = statistics.median(report["seconds"])
            verified = report["filters"]["verified"]
            rows.append(
                (
                    case["corpus"],
                    case["elements"],
                    report["records"],
                    case["threshold"],
                    ALGORITHMS[name],
                    report["pairs"],
                    seconds,
                    least_time / seconds,
                    report["filters"]["after_size"],
                    verified,
                    f"{verified / max(1, least['filters']['verified']):.1%}",
                    report["digest"] == least["digest"],
                )
            )
    header = ("corpus", "sets of", "records", "threshold", "algorithm", "pairs", "seconds")
    counts = ("times as fast", "postings of fitting size", "verified", "of All-Pairs'")
    text = table((*header, *counts, "same pairs"), rows)
    return "\n\n".join([text, *figures["remarks"]])
