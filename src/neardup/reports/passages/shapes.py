"""How alike passages are, and how long."""

from __future__ import annotations

import numpy as np

from neardup.reports.charts.chart import Chart
from neardup.reports.charts.histogram import histogram
from neardup.reports.passages.options import About
from neardup.tables import Floats, Int64s


def similarity_chart(
    similarities: Floats, about: About, title: str, description: str, what: str
) -> Chart | None:
    """Draw how many have which similarity; None where there are fewer than two."""
    known = similarities[~np.isnan(similarities)]
    if len(known) < 2:
        return None
    least = about.summary.get("threshold")
    edges = np.linspace(0, 1, 21)
    counts, _ = np.histogram(known, edges)
    return histogram(
        "similarities",
        title,
        description,
        [round(float(edge), 2) for edge in edges],
        counts.tolist(),
        x_title="similarity",
        y_title=what,
        marked=None if least is None else (float(least), f"threshold {least:g}"),
    )


def length_chart(lengths: Int64s) -> Chart | None:
    """Draw how many passages have how many characters; None where there are fewer than two."""
    if len(lengths) < 2:
        return None
    logarithms = np.log2(np.maximum(lengths, 1))
    powers = np.arange(int(logarithms.min()), int(logarithms.max()) + 2)
    counts, _ = np.histogram(logarithms, powers)
    return histogram(
        "lengths",
        "Lengths of passages",
        "How many passages have so many characters in the first text; each bar goes up to twice "
        "where it begins.",
        powers.astype(float).tolist(),
        counts.tolist(),
        x_title="characters, from",
        y_title="passages",
        labels=[f"{2**k:,}" for k in powers[:-1].tolist()],
    )
