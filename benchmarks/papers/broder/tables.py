"""Tables of docs/papers/broder.md."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.markdown import table
from benchmarks.papers.broder.estimates import run_tolerance
from benchmarks.papers.broder.far import far_table
from benchmarks.papers.broder.web_tables import origins_table, pages_table

if TYPE_CHECKING:
    from collections.abc import Iterable

Results = dict[str, Any]
Row = dict[str, Any]

# Shares whose errors are shown, of all that are in the results.
SHOWN = (50, 90)


def lay_out(results: Results) -> dict[str, str]:
    """Make all tables that there are figures for."""
    resemblance = results["resemblance"]
    tables = {
        "resemblance": errors_table(resemblance),
        "containment": errors_table([{"kind": "modulo", **row} for row in results["containment"]]),
        "naive": naive_table(results),
        "tolerance": tolerance_table(run_tolerance(resemblance)),
        "far": far_table(),
        "sizes": sizes_table(results["sizes"]),
        "super-shingles": super_shingles_table(results["super_shingles"]),
        "order": order_table(results["order"]),
        "pages": pages_table(results),
        "origins": origins_table(results["made_pages"]),
    }
    if "greedy" in results:
        tables["greedy"] = greedy_table(results["greedy"])
    return tables


def errors_table(rows: list[Row]) -> str:
    """Lay out a row for each sketch, over all true shares."""
    lines = []
    for key in dict.fromkeys((row["kind"], row["size"]) for row in rows):
        chosen = [row for row in rows if (row["kind"], row["size"]) == key]
        by_share = {row["percent"]: row for row in chosen}
        shown = [by_share[share][name] for share in SHOWN for name in ("deviation", "theory")]
        ratios = [row["deviation"] / row["theory"] for row in chosen]
        lines.append(
            (
                key[0],
                f"{'m' if key[0] == 'modulo' else 's'} = {key[1]}",
                round(statistics.mean(row["samples"] for row in chosen)),
                f"{max((row['bias_in_errors'] for row in chosen), key=abs):+.1f}",
                *(f"{value:.4f}" for value in shown),
                _span(ratios),
                _span(row["held"] for row in chosen),
            )
        )
    header = ["sketch", "size", "samples", "largest bias, in standard errors"]
    header += [f"{name} at {share / 100:g}" for share in SHOWN for name in ("deviation", "theory")]
    return table((*header, "deviation / theory", "intervals held"), lines)


def _span(values: Iterable[float]) -> str:
    listed = list(values)
    return f"{min(listed):.2f} to {max(listed):.2f}"


def naive_table(results: Results) -> str:
    """Lay out means of the right estimator and of the one that takes sketches for sets."""
    lines = []
    for what, rows in (("equally large", results["resemblance"]), ("A in B", results["naive"])):
        keys = [("smallest", 100), ("smallest", 400), ("modulo", 20)]
        for key in keys:
            chosen = {row["percent"]: row for row in rows if (row["kind"], row["size"]) == key}
            if chosen:
                cells = (
                    f"{row['percent'] / 100 + row['bias']:.3f}, {row['naive']:.3f}"
                    for row in chosen.values()
                )
                lines.append((what, f"{key[0]} {key[1]}", *cells))
    shares = dict.fromkeys(row["percent"] for row in results["resemblance"])
    return table(("sets", "sketch", *(f"r = {share / 100:g}" for share in shares)), lines)


def tolerance_table(rows: list[Row]) -> str:
    """Lay out the probability to be within 0.05 of the truth."""
    sizes = [key.partition("_")[2] for key in rows[0] if key.startswith("binomial")]
    ways = ("binomial", "exact", "measured")
    header = ("r", *(f"s = {size}, {way}" for size in sizes for way in ways))
    return table(
        header,
        (
            (f"{row['percent'] / 100:g}", *(f"{row[f'{w}_{s}']:.3f}" for s in sizes for w in ways))
            for row in rows
        ),
    )


def sizes_table(rows: list[Row]) -> str:
    """Lay out resemblances by the size of a shingle, by both of the paper's options."""
    by_size: dict[int, dict[str, Row]] = {}
    for row in rows:
        by_size.setdefault(row["size"], {})[row["occurrences"]] = row
    ways = ("changed", "blocks", "words", "unrelated")
    header = ("w", "1 % of words changed", "blocks of 50 words in other order")
    return table(
        (*header, "words in other order", "another text"),
        (
            (size, *(f"{both['set'][way]:.3f}, {both['numbered'][way]:.3f}" for way in ways))
            for size, both in by_size.items()
        ),
    )


def super_shingles_table(rows: list[Row]) -> str:
    """Lay out how often groups agree, and two of them."""
    header = ("r", "a group agrees", "r^14", "2 of 6 agree", "formula")
    return table(
        (*header, "groups of a sorted sketch, first to last"),
        (
            (
                f"{row['resemblance']:g}",
                f"{row['groups']:.4f}",
                f"{row['groups_expected']:.4f}",
                f"{row['alike']:.4f}",
                f"{row['alike_expected']:.4f}",
                ", ".join(f"{share:.2f}" for share in row["by_place"]),
            )
            for row in rows
        ),
    )


def greedy_table(report: Row) -> str:
    """Lay out clusters by representative, in the file's order and over the shuffled ones."""
    lines = [_cluster_row("exact components", "any", [report["components"]], None)]
    for way in ("first", "popular"):
        own, *others = report[way]["orders"]
        lines.append(_cluster_row(f"greedy, {way}", "of the file", [own], None))
        lines.append(_cluster_row(f"greedy, {way}", "shuffled", others, report[way]["agreement"]))
    own, *others = report["survivors"]
    nothing = (None,) * 6
    lines.append(("survivors", "of the file", f"{own:,}", *nothing))
    lines.append(("survivors", "shuffled", f"{min(others):,} to {max(others):,}", *nothing))
    header = ("clusters by", "order", "clusters", "largest", "pairs together", "of them similar")
    more = ("similar pairs together", "same label", "pairs as in the file's order")
    return table((*header, *more), lines)


def _cluster_row(
    what: str, order: str, rows: list[Row], agreement: list[float] | None
) -> tuple[object, ...]:
    return (
        what,
        order,
        *(_counts(row[name] for row in rows) for name in ("clusters", "largest", "pairs")),
        *(_shares(row[name] for row in rows) for name in ("precision", "recall", "same_label")),
        None if agreement is None else _shares(agreement),
    )


def _counts(values: Iterable[int]) -> str:
    listed = list(values)
    ends = dict.fromkeys((min(listed), max(listed)))
    return " to ".join(f"{value:,}" for value in ends)


def _shares(values: Iterable[float]) -> str:
    listed = list(values)
    ends = dict.fromkeys(f"{value:.3f}" for value in (min(listed), max(listed)))
    return " to ".join(ends)


def order_table(rows: list[Row]) -> str:
    """Lay out what the order of fingerprints does to estimates."""
    return table(
        ("strings", "s", "fingerprints", "true r", "bias", "deviation", "theory"),
        (
            (
                row["strings"],
                row["sample"],
                row["order"],
                f"{row['truth']:.3f}",
                f"{row['bias']:+.4f}",
                f"{row['deviation']:.4f}",
                f"{row['theory']:.4f}",
            )
            for row in rows
        ),
    )
