"""Plots of the repeated experiments with windows, after the paper's Figures 5 to 7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from benchmarks.papers.monoactive.partitions import WEIGHTS
from benchmarks.papers.monoactive.query_tables import frequency_of_queries
from benchmarks.papers.monoactive.tables import frequency_means
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
    """Write ``monoactive-weights.svg`` and its like, one for each entry of ``plots``."""
    plots = {
        "weights": lambda: _weights(results),
        "methods": lambda: _methods(results),
        "frequencies": lambda: _frequencies(results),
        "queries": lambda: _queries(results),
        "latency": lambda: _latency(results),
    }
    write_plots("monoactive", folder, plots)


def _weights(results: Results) -> Figure:
    """Draw Figures 6a to 6d, a word: what is linear lies level."""
    entries = results["lengths"]["figures"]
    words = [entry["words"] for entry in entries]
    figure = Figure(**SIZE)
    left = figure.add_subplot(1, 2, 1, title="windows a word")
    right = figure.add_subplot(1, 2, 2, title="ns a word and function")
    for tf in WEIGHTS:
        found = [entry["weights"][tf] for entry in entries]
        sizes = [each["windows"] / n for each, n in zip(found, words, strict=True)]
        seconds = [each["seconds"] / n * 1e9 for each, n in zip(found, words, strict=True)]
        left.plot(words, sizes, **STYLES[tf])
        right.plot(words, seconds, **STYLES[tf])
    return _finish(figure, "words of the text", is_log_x=True, is_log_y=())


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


def _frequencies(results: Results) -> Figure:
    """Draw Figures 5c, 6g, 6i, 7m and 7n."""
    entries = results["frequencies"]["figures"]
    words = entries[0]["texts"][0]["words"]
    least = [entry["least_frequency"] for entry in entries]
    means = [frequency_means(entry) for entry in entries]
    figure = Figure(**SIZE)
    left = figure.add_subplot(1, 2, 1, title="windows a word")
    right = figure.add_subplot(1, 2, 2, title="ms a function")
    for name in (*WEIGHTS, "allalign", "monoall"):
        if name != "monoall":
            left.plot(least, [each[name][0] / words for each in means], **STYLES[name])
        right.plot(least, [each[name][1] * 1e3 for each in means], **STYLES[name])
    return _finish(figure, "least frequency of the group", is_log_x=False, is_log_y=(right,))


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


def _latency(results: Results) -> Figure:
    """Draw Figures 6k and 7q, and time by the length of the query."""
    figure = Figure(**SIZE)
    left = figure.add_subplot(1, 2, 1, title="mean ms a query of 100 words")
    entries = results["query_frequencies"]["figures"]
    least = [entry["least_frequency"] for entry in entries]
    means = [frequency_of_queries(entry) for entry in entries]
    for name in (*WEIGHTS, "allalign"):
        left.plot(least, [each[name]["mean_ms"] for each in means], **STYLES[name])
    left.set_xlabel("least frequency of the group")
    right = figure.add_subplot(1, 2, 2, title="mean ms a query", xscale="log")
    entries = results["query_lengths"]["figures"]
    words = [entry["words"] for entry in entries]
    for name in ("binary", "raw"):
        right.plot(words, [entry[name]["mean_ms"] for entry in entries], **STYLES[name])
    right.set_xlabel("words of the query")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        tidy(axes)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


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
