"""How similar the pairs are: a histogram, and of estimates how sure they are."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import Any

import numpy as np

from neardup.reports.charts.chart import Chart
from neardup.reports.charts.histogram import histogram
from neardup.reports.pairs.table import PairsTable
from neardup.tables import Floats

# Bars of a histogram at most, and widths of them that are easily read.
_MOST_BARS = 40
_WIDTHS = (0.005, 0.01, 0.02, 0.05)


def similarity_chart(pairs: PairsTable) -> Chart:
    """Draw how many pairs are how similar; of pairs limited by a distance, how many how far."""
    if pairs.by_distance and pairs.scores is not None:
        return _distances(pairs)
    if pairs.is_count:
        return _counts(pairs)
    values = pairs.similarities
    threshold = pairs.summary.get("threshold")
    least = float(values.min()) if threshold is None else min(float(values.min()), threshold)
    edges = _edges(least)
    counts, _ = np.histogram(values, edges)
    n_equal = int((values == 1).sum())
    kind = "estimated similarity" if pairs.intervals is not None else "similarity"
    description = f"{len(values):,} pairs; their median is {np.median(values):.3f}"
    description += f", and {n_equal:,} are at 1 exactly." if n_equal else "."
    marked = None if threshold is None else (float(threshold), f"threshold {threshold:g}")
    return histogram(
        "similarities",
        "Pairs by similarity",
        description,
        edges.tolist(),
        counts.tolist(),
        x_title=kind,
        y_title="pairs",
        marked=marked,
    )


def _edges(least: float) -> Floats:
    """Return round edges up to 1, from the least similarity on or a little below."""
    width = next((w for w in _WIDTHS if (1 - least) / w <= _MOST_BARS), _WIDTHS[-1])
    first = floor(round(least / width, 9)) * width
    n_bars = max(1, round((1 - first) / width))
    edges: Floats = np.round(1 - width * np.arange(n_bars, -1, -1), 6)
    return edges


def _distances(pairs: PairsTable) -> Chart:
    assert pairs.scores is not None
    most = int(max(pairs.scores.max(initial=0), pairs.summary.get("max_distance") or 0))
    what = "edits" if pairs.summary.get("measure") != "hamming" else "shingles that one lacks"
    edges, labels = _whole_bars(0, most)
    counts, _ = np.histogram(pairs.scores, edges)
    return histogram(
        "similarities",
        "Pairs by distance",
        f"{len(pairs):,} pairs; the median distance is {np.median(pairs.scores):g}.",
        edges.tolist(),
        counts.tolist(),
        x_title=what,
        y_title="pairs",
        labels=labels,
    )


def _counts(pairs: PairsTable) -> Chart:
    values = pairs.similarities
    edges, labels = _whole_bars(int(values.min()), int(values.max()))
    counts, _ = np.histogram(values, edges)
    return histogram(
        "similarities",
        "Pairs by common shingles",
        f"{len(values):,} pairs; the median has {np.median(values):g} shingles in common.",
        edges.tolist(),
        counts.tolist(),
        x_title="shingles in common",
        y_title="pairs",
        labels=labels,
    )


def _whole_bars(least: int, most: int) -> tuple[Floats, list[str] | None]:
    """Return edges of bars for whole numbers, and labels where each has a bar of its own."""
    width = max(1, ceil((most - least + 1) / _MOST_BARS))
    starts = np.arange(least, most + 1, width)
    edges: Floats = np.append(starts, starts[-1] + width).astype(np.float64)
    return edges, list(map(str, starts.tolist())) if width == 1 else None


def describe_intervals(pairs: PairsTable) -> Mapping[str, Any] | None:
    """Say how far estimates may be off, None where pairs were compared exactly."""
    if pairs.intervals is None or not len(pairs):
        return None
    low, high = pairs.intervals
    threshold = pairs.summary.get("threshold")
    half = (high - low) / 2
    return {
        "median": float(np.nanmedian(half)),
        "most": float(np.nanmax(half)),
        "threshold": threshold,
        "n_sure": None if threshold is None else int((low >= threshold).sum()),
    }
