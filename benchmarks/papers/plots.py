"""Style and files of the papers' plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One font, because a list of ten is written with every label.
STYLE: dict[Any, Any] = {"font.size": 8, "font.sans-serif": ["DejaVu Sans"], "lines.markersize": 4}
# The same figures give the same bytes, so no date is written.
METADATA: dict[str, Any] = {"Date": None}


def write_plots(paper: str, folder: Path, plots: Mapping[str, Callable[[], Figure]]) -> None:
    """Draw figures and write each as ``<paper>-<name>.svg``."""
    # Letters stay letters.
    exact = {"svg.fonttype": "none", "svg.hashsalt": paper}
    with mpl.rc_context(STYLE | exact):
        for name, draw in plots.items():
            draw().savefig(folder / f"{paper}-{name}.svg", metadata=METADATA)


def tidy(axes: Axes) -> None:
    """Leave out what is no figure, and keep the title small."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.title.set_fontsize(8)
    axes.minorticks_off()
