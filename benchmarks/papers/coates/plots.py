"""Plots of docs/papers/coates.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.papers.plots import write_plots

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.papers.coates.tables import Results

SIZE = {"figsize": (7.2, 2.8), "layout": "constrained", "dpi": 120}
GREY, ORANGE, BLUE = "#9aa5b1", "#d99a2b", "#2b6cb3"


def draw(results: Results, folder: Path) -> None:
    """Write ``coates-changes.png`` and, if edits were given, ``coates-edits.png``."""
    plots = {"changes": lambda: _changes(results)}
    if "edits" in results:
        plots["edits"] = lambda: _edits(results["edits"])
    write_plots("coates", folder, plots, "png")


def _changes(results: Results) -> Figure:
    """Draw estimates against true distances for scattered edits and for blocks, c = 100."""
    figure = Figure(**SIZE)
    for place, name in enumerate(("scattered", "blocks"), 1):
        axes = figure.add_subplot(1, 2, place, title=f"{name}, c = 100")
        rows = [row for row in results[name] if row["compression"] == 100]
        true = sorted({row["true"] for row in rows})
        axes.plot(true, true, color="black", linewidth=0.8, label="true")
        for kind, colour in (("sum", GREY), ("mixed", ORANGE)):
            chosen = [row for row in rows if row["hash"] == kind]
            if chosen:
                label = f"{kind}, c LD"
                _plot(axes, chosen, "scaled", color=colour, marker="s", label=label)
        if chosen := [row for row in rows if "estimate" in row]:
            _plot(axes, chosen, "estimate", color=BLUE, marker="o", label="ours")
            axes.fill_between(
                [row["true"] for row in chosen],
                [row["low"] for row in chosen],
                [row["high"] for row in chosen],
                color=BLUE,
                alpha=0.15,
                linewidth=0,
                label="interval",
            )
        axes.set_xlabel("true distance")
        axes.set_ylabel("estimate")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _plot(axes: Any, rows: list[dict[str, Any]], key: str, **style: Any) -> None:
    axes.plot([row["true"] for row in rows], [row[key] for row in rows], **style)


def _edits(edits: dict[str, Any]) -> Figure:
    """Draw estimates of real edits against their true distances, one more on both axes."""
    figure = Figure(**SIZE)
    true = np.array(edits["true"]) + 1.0
    for place, (key, title) in enumerate((("scaled", "c LD"), ("estimate", "ours")), 1):
        axes = figure.add_subplot(
            1, 2, place, title=f"{title}, c = {edits['compression']}", xscale="log", yscale="log"
        )
        values = np.array(edits[key]) + 1.0
        axes.plot(true, values, ".", color=(GREY, BLUE)[place - 1], markersize=3)
        ends = [1, true.max()]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        axes.set_xlabel("true distance + 1")
        axes.set_ylabel("estimate + 1")
        axes.spines[["top", "right"]].set_visible(False)
    return figure
