"""Plots of docs/papers/minhash.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers.plots import tidy, write_plots
from neardup.matching.bands import Banding

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.results import Results

SIZE = {"figsize": (7.2, 2.8), "layout": "constrained"}
COLOURS = ("#9aa5b1", "#d99a2b", "#2b6cb3", "#b3432b", "#3a8f5c", "#555555")


def draw(results: Results, folder: Path) -> None:
    """Write ``minhash-bands.svg`` and ``minhash-lengths.svg``."""
    plots = {
        "bands": lambda: _bands(results["bands"]["figures"]),
        "lengths": lambda: _lengths(results["lengths"]["figures"]),
    }
    write_plots("minhash", folder, plots)


def _lengths(rows: list[dict[str, Any]]) -> Figure:
    """Draw how often shingles recur by chance, measured and by the rule."""
    figure = Figure(**SIZE)
    axes = figure.add_subplot(1, 1, 1, title="a shingle is also in another text", yscale="log")
    for unit, colour in (("characters", COLOURS[2]), ("words", COLOURS[1])):
        found = [(row["ngram"], row["chance"]) for row in rows if row["unit"] == unit]
        found = [point for point in found if point[1] > 0]
        axes.plot(*zip(*found, strict=True), "o-", color=colour, label=f"k {unit}")
    ruled = [(row["ngram"], row["rule"]) for row in rows if "rule" in row and row["rule"] > 1e-7]
    axes.plot(*zip(*ruled, strict=True), "--", color=COLOURS[0], label="characters, by 20^k")
    axes.set_xlabel("k")
    tidy(axes)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right")
    return figure


def _bands(rows: list[dict[str, Any]]) -> Figure:
    """Draw the S-curves, what was measured on them, and where each is steepest."""
    figure = Figure(**SIZE)
    axes = figure.add_subplot(1, 1, 1, title="candidates by bands x rows")
    curve = np.linspace(0, 1, 201)
    for row, colour in zip(rows, COLOURS, strict=True):
        banding = Banding(row["bands"], row["rows"])
        axes.plot(
            curve,
            [banding.candidate_probability(float(s)) for s in curve],
            color=colour,
            linewidth=0.8,
            label=f"{banding.bands} x {banding.rows}",
        )
        axes.plot(row["similarities"], row["measured"], "o", color=colour, markersize=2.5)
        axes.plot(row["steepest"], row["at_steepest"], "|", color=colour, markersize=12)
    axes.set_xlabel("similarity")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right")
    return figure
