"""Tables of queries in windows of one text."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import table
from benchmarks.papers.monoactive.partitions import WEIGHTS
from benchmarks.papers.monoactive.tables import PAPER_FUNCTIONS

if TYPE_CHECKING:
    from benchmarks.measuring.results import Results


def queries_table(results: Results, part: str = "queries") -> str:
    """Lay out windows with a query's min-hashes, and times of sweeps over them."""
    rows = []
    for entry in results[part]["figures"]:
        for name in (*WEIGHTS, "allalign"):
            found = entry[name]
            label = "raw, AllAlign" if name == "allalign" else name
            ratio = found["mean_ms"] / entry["raw"]["mean_ms"] if name == "allalign" else None
            rows.append(
                (
                    entry["words"],
                    label,
                    found["windows"] / PAPER_FUNCTIONS,
                    found["collided"],
                    found["mean_ms"],
                    found["median_ms"],
                    ratio,
                )
            )
    header = ("words", "partition", "windows a function", "windows of a query", "mean ms")
    return table((*header, "median ms", "of MonoActive's, times"), rows)


def frequency_of_queries(entry: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return means over the texts of a group, by weights and for AllAlign."""
    return {
        name: {
            key: statistics.fmean(text[name][key] for text in entry["texts"])
            for key in ("mean_ms", "collided", "windows")
        }
        for name in (*WEIGHTS, "allalign")
    }


def frequencies_table(results: Results) -> str:
    """Lay out times and windows of queries by the frequency of the commonest word."""
    rows = []
    for entry in results["query_frequencies"]["figures"]:
        means = frequency_of_queries(entry)
        raw, allalign = means["raw"], means["allalign"]
        rows.append(
            (
                f"{entry['least_frequency']:,} and more",
                len(entry["texts"]),
                *(means[name]["collided"] for name in ("binary", "raw", "squared", "allalign")),
                *(means[name]["mean_ms"] for name in (*WEIGHTS, "allalign")),
                allalign["mean_ms"] / raw["mean_ms"],
            )
        )
    header = ("commonest word", "texts", "windows of a query, binary", "raw", "squared")
    times = ("binary, ms", "log, ms", "raw, ms", "squared, ms", "AllAlign, ms")
    return table((*header, "AllAlign", *times, "AllAlign takes, times"), rows)
