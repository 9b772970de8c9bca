"""Plots of docs/papers/minhash.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers.plots import write_plots
from neardup.matching.bands import Banding

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measuring.results import Results

SIZE = {"figsize": (7.2, 2.8), "layout": "constrained"}
COLOURS = ("#9aa5b1", "#d99a2b", "#2b6cb3", "#b3432b", "#3a8f5c", "#555555")


def draw(results: Results, folder: Path) -> None:
    """Write ``minhash-bands.svg``."""
    write_plots("minhash", folder, {"bands": lambda: _bands(results["bands"]["figures"])})


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
