"""Plots of docs/papers/broder.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from benchmarks.papers.plots import write_plots

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.papers.broder.tables import Results

SIZE = {"figsize": (7.2, 2.8), "layout": "constrained"}
KINDS = {"smallest": ("#2b6cb3", "o"), "modulo": ("#d99a2b", "s"), "minhash": ("#9aa5b1", "^")}
SHARE = 90


def draw(results: Results, folder: Path) -> None:
    """Write ``broder-errors.svg``."""
    write_plots("broder", folder, {"errors": lambda: _errors(results)})


def _errors(results: Results) -> Figure:
    """Draw deviations by number of samples, and how often intervals hold."""
    figure = Figure(**SIZE)
    title = f"standard deviation, r = {SHARE / 100:g}"
    left = figure.add_subplot(1, 2, 1, title=title, xscale="log", yscale="log")
    right = figure.add_subplot(1, 2, 2, title="intervals that hold, all r", xscale="log")
    for kind, (colour, marker) in KINDS.items():
        rows = [row for row in results["resemblance"] if row["kind"] == kind]
        chosen = sorted(
            (row["samples"], row["deviation"], row["theory"])
            for row in rows
            if row["percent"] == SHARE
        )
        samples, deviations, theory = zip(*chosen, strict=True)
        left.plot(samples, deviations, marker, color=colour, label=kind)
        left.plot(samples, theory, color=colour, linewidth=0.8)
        held = [(row["samples"], row["held"]) for row in rows]
        right.plot(*zip(*held, strict=True), marker, color=colour)
    right.axhline(0.95, color="black", linewidth=0.8)
    for axes in (left, right):
        axes.set_xlabel("samples")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
