"""Charts in a notebook, among the output of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.reports.charts import Chart, histogram, threshold_mark
from neardup.reports.dedup.model import list_edges
from neardup.reports.page import escape_text, source_of

# Letters and lines have the colour of the notebook's text, be it light or dark; the others can be
# told from both grounds.
_COLOURS = (
    "--ink: currentColor; --faint: currentColor; "
    "--line: color-mix(in srgb, currentColor 25%, transparent); "
    "--kept: #3787c0; --gone: #cc6a33; --other: #8a6fc4; --mark: #d6457a;"
)
_CLASS = "neardup-chart"
_WIDTH = "32rem"


def chart_in_notebook(chart: Chart) -> str:
    """Return a chart as HTML; its style sheet changes nothing else of a notebook.

    It is one picture to those who do not see it, and so the ids within matter to nobody, which come
    again where a notebook shows several charts.
    """
    label = escape_text(f"{chart.title}. {chart.description}")
    title = escape_text(chart.title)
    own = f"margin: 0.5rem 0; max-width: {_WIDTH}; {_COLOURS}"
    return (
        f"<style>.{_CLASS} {{ {own}\n{source_of('charts.css')}}}</style>"
        f'<figure class="{_CLASS}"><figcaption>{title}</figcaption>'
        f'<div role="img" aria-label="{label}">{chart.svg}</div></figure>'
    )


def similarities_in_notebook(
    values: Iterable[pa.Array | pa.ChunkedArray],
    threshold: float | None,
    counted: str,
    *,
    none: str = "there is no similarity to draw.",
) -> str:
    """Return the chart of ``similarity_chart`` as HTML; a sentence where there is nothing to draw.

    ``none`` says why that is so.
    """
    title = f"Similarity of the {counted}"
    chart = similarity_chart(values, threshold, title=title, counted=counted)
    if any(count != "0" for _, count in chart.table.rows):
        return chart_in_notebook(chart)
    return f"<p>{escape_text(f'No chart: {none}')}</p>"


def rows_in_notebook(table: pa.Table, shown: Callable[[Any], str], label: str) -> str:
    """Return rows as an HTML table that scrolls within the output, by the keyboard, too."""
    head = "".join(f'<th scope="col">{escape_text(name)}</th>' for name in table.column_names)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape_text(shown(value))}</td>' for value in row.values())}</tr>"
        for row in table.to_pylist()
    )
    return (
        f'<div role="region" aria-label="{escape_text(label)}" tabindex="0" '
        'style="overflow: auto; max-width: 100%; max-height: 24rem">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def similarity_chart(
    values: Iterable[pa.Array | pa.ChunkedArray],
    threshold: float | None,
    *,
    title: str,
    counted: str,
) -> Chart:
    """Draw how many rows have which similarity.

    Parameters
    ----------
    values
        The similarities, in parts; null where there is none.
    threshold
        Least similarity, which is drawn; None where there was none.
    title
        Of the chart.
    counted
        What has the similarities, such as pairs.
    """
    # Without a threshold as if it were 0; what is empty before the first value is left out then.
    edges = np.array(list_edges(threshold, 0.0 if threshold is None else None))
    counts = np.zeros(len(edges) - 1, np.int64)
    n_below = 0
    for part in values:
        known = part.drop_null().to_numpy(zero_copy_only=False)
        n_below += int((known < edges[0]).sum())
        inside = known[known >= edges[0]]
        places = np.searchsorted(edges[1:-1], inside, side="right")
        counts += np.bincount(places, minlength=len(counts))
    if threshold is None and counts.any():
        first = int(np.flatnonzero(counts)[0])
        edges, counts = edges[first:], counts[first:]
    below = f" {n_below:,} are below {edges[0]:g}." if n_below else ""
    return histogram(
        "similarities",
        title,
        f"{int(counts.sum()):,} {counted} by their similarity.{below}",
        edges.tolist(),
        counts.tolist(),
        x_title="similarity",
        y_title=counted,
        marked=threshold_mark(threshold),
    )


def size_chart(sizes: pa.ChunkedArray, *, title: str, size: str, counted: str) -> Chart:
    """Draw how many there are of which size, in bins that double: 1, 2 to 3, 4 to 7 and so on.

    Parameters
    ----------
    sizes
        Whole numbers above 0, one at least.
    title
        Of the chart.
    size, counted
        What is measured, and of what, such as documents in a cluster, and clusters.
    """
    powers = np.log2(np.maximum(sizes.to_numpy(), 1)).astype(np.int64)
    first = int(powers.min())
    counts = np.bincount(powers - first).tolist()
    labels = [
        str(1 << power) if power == 0 else f"{1 << power:,} to {(2 << power) - 1:,}"
        for power in range(first, first + len(counts))
    ]
    return histogram(
        "sizes",
        title,
        f"{len(powers):,} {counted} by {size}; heights are logarithms of the counts.",
        range(len(counts) + 1),
        counts,
        x_title=size,
        y_title=counted,
        labels=labels,
        is_log=True,
    )
