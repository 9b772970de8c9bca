"""How the papers' plots look and are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from PIL import Image

from benchmarks.papers.short_svg import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One font, because a list of ten is written with every label.
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "font.sans-serif": ["DejaVu Sans"],
    "lines.markersize": 4,
}
# The same figures give the same bytes, so nothing is written of when and with what.
METADATA: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "png": {"Software": None}}


def write_plots(
    paper: str, folder: Path, plots: Mapping[str, Callable[[], Figure]], kind: str = "svg"
) -> None:
    """Draw figures and write each as ``<paper>-<name>.<kind>``."""
    # Letters stay letters.
    exact = {"svg.fonttype": "none", "svg.hashsalt": paper}
    with mpl.rc_context(STYLE | exact):
        for name, draw in plots.items():
            path = folder / f"{paper}-{name}.{kind}"
            draw().savefig(path, metadata=METADATA[kind])
            if kind == "svg":
                path.write_text(shorten(path.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                few_colours(path)


def few_colours(path: Path) -> None:
    """Store a picture with a palette of 256 colours, which is as many as a plot shows."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def tidy(axes: Axes) -> None:
    """Leave out what is no figure, and keep the title small."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.title.set_fontsize(8)
    axes.minorticks_off()
