"""Plots of the repeated experiments, arranged as in the paper's Figures 1 and 3."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from benchmarks.papers.plots import tidy, write_plots
from benchmarks.papers.ppjoin.joins import ALGORITHMS, SHARES, THRESHOLDS
from benchmarks.papers.ppjoin.stages import breakdown
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
STAGES = {
    "walk the postings": "#9aa5b1",
    "positional filter": "#d99a2b",
    "parities": "#2b6cb3",
    "verify": "#b3432b",
}


def draw(results: Results, folder: Path) -> None:
    """Write all plots as SVG files.

    Parameters
    ----------
    results
        Those of all parts.
    folder
        Where ``ppjoin-candidates.svg``, ``-times``, ``-growth`` and ``-stages`` go.
    """
    plots = {
        "candidates": lambda: _over_thresholds(results, "candidates"),
        "times": lambda: _over_thresholds(results, "seconds"),
        "growth": lambda: _growth(results),
        "stages": lambda: _stages(results),
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
    """Give the powers of ten around the values."""
    low, high = axes.get_ylim()
    return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))


def _growth(results: Results) -> Figure:
    """Draw Figures 1, 3k and 3l: square roots, which lie on a line where growth is quadratic."""
    entries = results["growth"]["figures"]
    figure = Figure(figsize=(2.8 * len(entries), 4.4), layout="constrained")
    for column, entry in enumerate(entries):
        title = f"{entry['collection']}, {entry['measure']} 0.9"
        above = figure.add_subplot(2, len(entries), column + 1, title=title)
        below = figure.add_subplot(2, len(entries), len(entries) + column + 1)
        for algorithm in ALGORITHMS:
            joins = [entry["joins"][str(share)][algorithm] for share in SHARES]
            above.plot(SHARES, [best(join) ** 0.5 for join in joins], **STYLES[algorithm])
            below.plot(SHARES, [verified(join) ** 0.5 for join in joins], **STYLES[algorithm])
        pairs = [entry["joins"][str(share)]["allpairs"]["counts"]["results"] for share in SHARES]
        below.plot(SHARES, [count**0.5 for count in pairs], **STYLES["results"])
        below.set_xlabel("share of the records")
        if column == 0:
            above.set_ylabel("√ seconds")
            below.set_ylabel("√ candidates")
            handles = below.get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower center", ncols=4)
        for axes in (above, below):
            axes.set_xticks(SHARES)
            axes.set_ylim(bottom=0)
            tidy(axes)
    return figure


def _stages(results: Results) -> Figure:
    """Draw where the time goes at 0.8, as it is and with whole merges (bars marked *)."""
    found = {name: breakdown(each) for name, each in results["jaccard"]["figures"].items()}
    figure = Figure(figsize=(2.6 * len(found), 2.6), layout="constrained")
    for number, (name, stages) in enumerate(found.items()):
        axes = figure.add_subplot(1, len(found), number + 1, title=f"{name}, jaccard 0.8")
        for row, algorithm in enumerate(ALGORITHMS):
            filters = {"ppjoin": (stages.position, 0.0), "ppjoin+": (0.0, stages.parities)}
            for up, verify in ((0, stages.verify), (1, None)):
                last = stages.whole_verify(algorithm) if verify is None else verify[algorithm]
                lengths = [stages.walk, *filters.get(algorithm, (0.0, 0.0)), last]
                _stack(axes, 2 * row + up, lengths)
        marks = [f"{NAMES[algorithm]}{star}" for algorithm in ALGORITHMS for star in ("", "*")]
        axes.set_yticks(range(len(marks)), marks if number == 0 else [""] * len(marks))
        axes.invert_yaxis()
        axes.set_xlabel("seconds")
        tidy(axes)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _stack(axes: Axes, row: int, lengths: list[float]) -> None:
    left = 0.0
    for (stage, colour), length in zip(STAGES.items(), lengths, strict=True):
        label: Any = stage if row == 0 else None
        axes.barh(row, max(0.0, length), left=left, color=colour, label=label)
        left += max(0.0, length)
