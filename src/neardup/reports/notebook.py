"""Charts and rows of a result in a notebook, among the output of other cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.reports.charts import Chart, similarity_chart
from neardup.reports.page import source_of
from neardup.reports.text import escape_text

# Letters and lines have the colour of the notebook's text, be it light or dark; the other colours
# differ from both backgrounds.
_COLOURS = (
    "--ink: currentColor; --faint: currentColor; "
    "--line: color-mix(in srgb, currentColor 25%, transparent); "
    "--kept: #3787c0; --gone: #cc6a33; --other: #8a6fc4; --mark: #d6457a;"
)
_CLASS = "neardup-chart"
_WIDTH = "32rem"


def chart_in_notebook(chart: Chart | None) -> str:
    """Return a chart as HTML whose style sheet changes nothing else; empty for None.

    A screen reader sees one picture, so that ids repeated by several charts do no harm.
    """
    if chart is None:
        return ""
    label = escape_text(f"{chart.title}. {chart.description}")
    own = f"margin: 0.5rem 0; max-width: {_WIDTH}; {_COLOURS}"
    return (
        f"<style>.{_CLASS} {{ {own}\n{source_of('charts.css')}}}</style>"
        f'<figure class="{_CLASS}"><figcaption>{escape_text(chart.title)}</figcaption>'
        f'<div role="img" aria-label="{label}">{chart.svg}</div></figure>'
    )


def similarities_in_notebook(
    values: pa.ChunkedArray, threshold: float | None, counted: str, *, none: str = ""
) -> str:
    """Return the chart of similarities as HTML; the sentence ``none`` if there are none."""
    found = np.asarray(values.cast(pa.float64()).fill_null(np.nan), np.float64)
    chart = similarity_chart(found, threshold, counted)
    if chart is None and none:
        return f"<p>{escape_text(none)}</p>"
    return chart_in_notebook(chart)


def rows_in_notebook(table: pa.Table, shown: Callable[[Any], str], label: str) -> str:
    """Return rows as an HTML table that scrolls within the output, also by keyboard."""
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
