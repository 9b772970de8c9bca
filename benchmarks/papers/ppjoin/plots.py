"""Plots of the repeated experiments, arranged as in the paper's Figure 3."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from benchmarks.papers.plots import tidy, write_plots
from benchmarks.papers.ppjoin.joins import ALGORITHMS, THRESHOLDS
from benchmarks.papers.ppjoin.tables import NAMES, best, verified

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.measuring.results import Results

STYLES: dict[str, dict[str, Any]] = {
    "allpairs": {"color": "#b3432b", "marker": "s", "label": NAMES["allpairs"]},
    "ppjoin": {"color": "#d99a2b", "marker": "^", "label": NAMES["ppjoin"]},
    "ppjoin+": {"color": "#2b6cb3", "marker": "o", "label": NAMES["ppjoin+"]},
    "results": {"color": "#555555", "marker": "x", "label": "pairs", "linestyle": ":"},
}


def draw(results: Results, folder: Path) -> None:
    """Write all plots as SVG files."""
    plots = {
        "candidates": lambda: _over_thresholds(results, "candidates"),
        "times": lambda: _over_thresholds(results, "seconds"),
    }
    write_plots("ppjoin", folder, plots)


def _over_thresholds(results: Results, quantity: str) -> Figure:
    """Draw Figures 3a to 3c and 3g to 3h (candidates), or 3d to 3f and 3i to 3j (seconds)."""
    panels = [
        (measure, name, entry["joins"])
        for measure in ("jaccard", "cosine")
        for name, entry in results[measure]["figures"].items()
    ]
    columns = 4
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(2.4 * columns, 2.1 * rows), layout="constrained")
    for number, (measure, name, joins) in enumerate(panels):
        axes = figure.add_subplot(rows, columns, number + 1, title=f"{name}, {measure}")
        thresholds = [float(threshold) for threshold in THRESHOLDS]
        for algorithm in ALGORITHMS:
            read = verified if quantity == "candidates" else best
            values = [read(joins[threshold][algorithm]) for threshold in THRESHOLDS]
            axes.plot(thresholds, values, **STYLES[algorithm])
        if quantity == "candidates":
            pairs = [joins[each]["allpairs"]["counts"]["results"] for each in THRESHOLDS]
            axes.plot(thresholds, pairs, **STYLES["results"])
            axes.set_yscale("log")
            axes.set_ylim(_decades(axes))
        else:
            axes.set_ylim(bottom=0)
        axes.set_xticks(thresholds)
        axes.set_ylabel(quantity if number % columns == 0 else "")
        tidy(axes)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _decades(axes: Axes) -> tuple[float, float]:
    """Return the powers of ten around the values."""
    low, high = axes.get_ylim()
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
