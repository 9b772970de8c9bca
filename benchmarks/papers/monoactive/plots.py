"""Plots of the repeated experiments with windows, after the paper's Figures 5 to 7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from benchmarks.papers.monoactive.partitions import WEIGHTS
from benchmarks.papers.plots import tidy, write_plots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.measuring.results import Results

STYLES: dict[str, dict[str, Any]] = {
    "binary": {"color": "#9aa5b1", "marker": "s", "label": "binary"},
    "log": {"color": "#d99a2b", "marker": "^", "label": "log"},
    "raw": {"color": "#2b6cb3", "marker": "o", "label": "raw (MonoActive)"},
    "squared": {"color": "#b3432b", "marker": "D", "label": "squared"},
    "allalign": {"color": "#555555", "marker": "x", "label": "AllAlign", "linestyle": ":"},
    "monoall": {"color": "#3a8f5c", "marker": "+", "label": "MonoAll", "linestyle": "--"},
}
SIZE = {"figsize": (7.2, 2.6), "layout": "constrained"}


def draw(results: Results, folder: Path) -> None:
    """Write ``monoactive-methods.svg`` and ``monoactive-queries.svg``."""
    plots = {"methods": lambda: _methods(results), "queries": lambda: _queries(results)}
    write_plots("monoactive", folder, plots)


def _methods(results: Results) -> Figure:
    """Draw Figures 5a, 7a and 7c."""
    entries = results["lengths"]["figures"]
    figure = Figure(**SIZE)
    left = figure.add_subplot(1, 2, 1, title="windows a word, raw")
    right = figure.add_subplot(1, 2, 2, title="seconds a function, raw")
    for name in ("raw", "allalign", "monoall"):
        found = [
            (entry["words"], each)
            for entry in entries
            if (each := (entry["weights"] | entry["baselines"]).get(name)) is not None
        ]
        words = [n for n, _ in found]
        if name != "monoall":
            left.plot(words, [each["windows"] / n for n, each in found], **STYLES[name])
        right.plot(words, [each["seconds"] for _, each in found], **STYLES[name])
    return _finish(figure, "words of the text", is_log_x=True, is_log_y=(right,))


def _queries(results: Results) -> Figure:
    """Draw Figures 6e and 7e."""
    entries = results["queries"]["figures"]
    words = [entry["words"] for entry in entries]
    figure = Figure(**SIZE)
    left = figure.add_subplot(1, 2, 1, title="windows with a min-hash of the query")
    right = figure.add_subplot(1, 2, 2, title="mean ms a query")
    for name in (*WEIGHTS, "allalign"):
        left.plot(words, [entry[name]["collided"] for entry in entries], **STYLES[name])
        right.plot(words, [entry[name]["mean_ms"] for entry in entries], **STYLES[name])
    return _finish(figure, "words of the text", is_log_x=True, is_log_y=(left, right))


def _finish(
    figure: Figure, label: str, *, is_log_x: bool, is_log_y: Sequence[Axes] | Iterable[Axes]
) -> Figure:
    logarithmic = list(is_log_y)
    for axes in figure.axes:
        axes.set_xlabel(label)
        if is_log_x:
            axes.set_xscale("log")
        if axes in logarithmic:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        tidy(axes)
    handles = figure.axes[-1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=6)
    return figure
