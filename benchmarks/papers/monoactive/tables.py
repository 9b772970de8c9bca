"""Tables of the repeated experiments with windows, with the paper's figures beside ours."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import table
from benchmarks.papers.monoactive.partitions import WEIGHTS

if TYPE_CHECKING:
    from benchmarks.measuring.results import Results

# Windows of 64 hash functions on PAN in thousands (section 6.2), by words and weights.
PAPER_WINDOWS = {
    1_000: {"binary": 64, "log": 67, "raw": 71, "squared": 89},
    1_000_000: {"binary": 64_000, "log": 68_000, "raw": 82_000, "squared": 158_000},
}
# Seconds for 64 functions on PAN, a million words (section 6.2).
PAPER_SECONDS = {"binary": 60.96, "log": 110.99, "raw": 143.43, "squared": 229.02}
# Windows that MonoActive has fewer than AllAlign, and how many times as long AllAlign takes.
PAPER_FEWER = {1_000: 0.1086, 1_000_000: 0.3082}
PAPER_FASTER = {1_000: 1.46, 1_000_000: 26.7}
PAPER_FUNCTIONS = 64


def lengths_table(results: Results) -> str:
    """Lay out windows, active keys and times by length and weights."""
    rows = []
    for entry in results["lengths"]["figures"]:
        words = entry["words"]
        for tf in WEIGHTS:
            found = entry["weights"][tf]
            paper = PAPER_WINDOWS.get(words, {}).get(tf)
            seconds = PAPER_SECONDS[tf] if words == 1_000_000 else None
            rows.append(
                (
                    words,
                    tf,
                    found["windows"] / words,
                    None if paper is None else paper * 1000 / PAPER_FUNCTIONS / words,
                    found["active_keys"] / words,
                    found["expected_keys"] / words,
                    found["seconds"] / words * 1e9,
                    None if seconds is None else seconds / PAPER_FUNCTIONS / words * 1e9,
                )
            )
    header = ("words", "tf", "windows a word", "paper's", "active keys a word", "expected")
    return table((*header, "ns a word", "paper's"), rows)


def varied_table(results: Results) -> str:
    """Lay out windows and times of the second collection, for all weights and algorithms."""
    rows = []
    for entry in results["lengths_varied"]["figures"]:
        words, weights = entry["words"], entry["weights"]
        own, others = weights["raw"], entry["baselines"]
        allalign, every = others["allalign"], others.get("monoall")
        rows.append(
            (
                words,
                entry["greatest_frequency"],
                *(weights[tf]["windows"] / words for tf in WEIGHTS),
                *(weights[tf]["seconds"] / words * 1e9 for tf in WEIGHTS),
                1 - own["windows"] / allalign["windows"],
                allalign["seconds"] / own["seconds"],
                None if every is None else every["seconds"] / own["seconds"],
            )
        )
    header = ("words", "commonest word", *(f"windows a word, {tf}" for tf in WEIGHTS))
    times = (*(f"{tf}, ns a word" for tf in WEIGHTS), "fewer than AllAlign")
    return table((*header, *times, "AllAlign takes, times", "MonoAll takes, times"), rows)


def methods_table(results: Results) -> str:
    """Lay out MonoActive, AllAlign and MonoAll by length, raw counts."""
    rows = []
    for entry in results["lengths"]["figures"]:
        words = entry["words"]
        own, others = entry["weights"]["raw"], entry["baselines"]
        allalign, every = others["allalign"], others.get("monoall")
        rows.append(
            (
                words,
                entry["greatest_frequency"],
                1 - own["windows"] / allalign["windows"],
                PAPER_FEWER.get(words),
                own["seconds"] * 1e3,
                others["one by one"]["seconds"] * 1e3,
                allalign["seconds"] * 1e3,
                None if every is None else every["seconds"] * 1e3,
                allalign["seconds"] / own["seconds"],
                PAPER_FASTER.get(words),
                None if every is None else every["seconds"] / own["seconds"],
            )
        )
    header = ("words", "commonest word", "fewer than AllAlign", "paper's", "ours, ms")
    more = ("key by key, ms", "AllAlign, ms", "MonoAll, ms")
    times = ("AllAlign takes, times", "paper's", "MonoAll takes, times")
    return table((*header, *more, *times), rows)


def frequencies_table(results: Results) -> str:
    """Lay out windows and times by the frequency of the commonest word."""
    rows = []
    for entry in results["frequencies"]["figures"]:
        texts = entry["texts"]
        words = texts[0]["words"]
        means = frequency_means(entry)
        rows.append(
            (
                f"{entry['least_frequency']:,} and more",
                len(texts),
                *(means[name][0] / words for name in (*WEIGHTS, "allalign")),
                *(means[name][1] * 1e3 for name in (*WEIGHTS, "allalign", "monoall")),
            )
        )
    names = (*WEIGHTS, "AllAlign")
    header = ("commonest word", "texts", *(f"windows a word, {name}" for name in names))
    return table((*header, *(f"{name}, ms" for name in (*names, "MonoAll"))), rows)


def frequency_means(entry: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Return mean windows and mean seconds of a group of texts by weights and algorithm."""
    found = [text["found"] for text in entry["texts"]]
    return {
        name: (
            statistics.fmean(each[name]["windows"] for each in found),
            statistics.fmean(each[name]["seconds"] for each in found),
        )
        for name in found[0]
    }


def functions_table(results: Results) -> str:
    """Lay out times by the number of hash functions."""
    rows = [
        (
            entry["functions"],
            entry["monoactive"],
            entry["monoactive"] / entry["functions"] * 1e3,
            entry["monoall"],
            entry["monoall"] / entry["functions"] * 1e3,
        )
        for entry in results["functions"]["figures"]
    ]
    header = ("functions", "MonoActive, s", "ms each", "MonoAll, s", "ms each")
    return table(header, rows)


def worst_table(results: Results) -> str:
    """Lay out windows of texts of repeated words beside the lower bound."""
    rows = [
        (
            entry["tokens"],
            entry["frequency"],
            entry["bound"],
            entry["monoactive"],
            entry["monoactive"] / entry["bound"],
            entry["allalign"],
            entry["allalign"] / entry["bound"],
        )
        for entry in results["worst"]["figures"]
    ]
    header = ("tokens", "each word, times", "lower bound", "MonoActive", "of it", "AllAlign")
    return table((*header, "of it"), rows)


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


def query_frequencies_table(results: Results) -> str:
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
