"""Tables of the experiment on web pages."""

from __future__ import annotations

from typing import Any

from benchmarks.measuring.markdown import table

Row = dict[str, Any]

# The experiment as published: pages of a walk over the Web, clustered at resemblance 0.5.
PAPER = {
    "pages": 30_000_000,
    "clusters": 3_600_000,
    "in_clusters": 12_300_000,
    "identical_clusters": 2_100_000,
    "identical_pages": 5_300_000,
    "mixed_clusters": 1_500_000,
    "mixed_pages": 7_000_000,
}


def pages_table(results: Row) -> str:
    """Lay out clusters of identical pages alone, and mixed ones, beside the paper's."""
    rows = []
    for name in ("made_pages", "documentation"):
        if name not in results:
            continue
        found = results[name]
        for row in found["clusters"]:
            rows.append(
                (
                    found["collection"],
                    row["by"],
                    found["pages"],
                    row["clusters"],
                    row["pages"],
                    row["identical_clusters"],
                    row["identical_pages"],
                    row["mixed_clusters"],
                    row["mixed_pages"],
                    f"{row['identical_pages'] / max(1, row['pages']):.2f}",
                )
            )
    share = f"{PAPER['identical_pages'] / PAPER['in_clusters']:.2f}"
    rows.append(("paper", "modulo 25", *PAPER.values(), share))
    header = ("collection", "clusters by", "pages", "clusters", "pages in them", "identical only")
    more = ("their pages", "mixed", "their pages", "share of pages in identical ones")
    return table((*header, *more), rows)


def origins_table(found: Row) -> str:
    """Lay out which pages that are made up are found, by what makes them alike."""
    ways = [row["by"] for row in found["clusters"]]
    header = ("how the page is like another", "pages", "same visible text", *ways)
    return table(
        header,
        (
            (
                row["origin"],
                row["pages"],
                f"{row['identical']:.2f}",
                *(f"{row[way]:.2f}" for way in ways),
            )
            for row in found["origins"]
        ),
    )
