"""The charts of a deduplication."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from neardup.reports.charts.bars import bars
from neardup.reports.charts.chart import Chart
from neardup.reports.charts.curves import Curve, Measured, curves
from neardup.reports.charts.histogram import histogram
from neardup.reports.charts.matrix import matrix
from neardup.reports.dedup.clusters import Clusters
from neardup.reports.dedup.exchange import Exchange
from neardup.reports.dedup.flows import Flows, shorten_flows
from neardup.reports.dedup.recall import RecallCurve
from neardup.reports.dedup.similarities import Similarities
from neardup.reports.dedup.wording import counted
from neardup.reports.page import percent

# Bars that are drawn of a table.
_MOST_BARS = 12


def draw_similarities(found: Similarities) -> Chart:
    """Draw how many removed documents are how similar to the one that stays."""
    apart = ""
    if found.n_copies:
        apart = f", without {counted(found.n_copies, 'exact copy', 'exact copies')}"
    marked = None
    if found.threshold is not None:
        marked = (found.threshold, f"threshold {found.threshold:g}")
    return histogram(
        "similarity-chart",
        "Similarity of removed documents to the one that stays",
        f"{counted(found.n_counted, 'removed document')} by similarity{apart}.",
        found.edges,
        found.counts,
        x_title="similarity",
        y_title="removed documents",
        marked=marked,
    )


def draw_clusters(found: Clusters) -> Chart:
    """Draw how many groups of documents have which size."""
    return histogram(
        "cluster-chart",
        "Sizes of groups",
        "How many documents there were of one content; heights are logarithms of the counts.",
        list(accumulate([1] * len(found.bins), initial=0)),
        [each.n_clusters for each in found.bins],
        x_title="documents in a group",
        y_title="groups",
        labels=[each.label for each in found.bins],
        is_log=True,
    )


def draw_curve(curve: RecallCurve, summary: Mapping[str, Any]) -> Chart:
    """Draw the chance of a pair to be found over its similarity."""
    measured = []
    description = (
        f"{curve.bands} bands of {curve.rows} rows: a pair at the threshold is found with "
        f"probability {curve.promised:.4f}."
    )
    if audit := curve.audit:
        middle = (curve.at + 1) / 2
        name = "seen by the audit, of all pairs from the threshold on"
        measured.append(Measured(name, middle, audit.recall, audit.low, audit.high))
        description += (
            f" The audit saw {audit.recall:.4f}, with 95 % confidence {percent(audit.low)} to "
            f"{percent(audit.high)}."
        )
    kind = "weighted Jaccard" if summary["measure"] == "weighted-jaccard" else "Jaccard"
    return curves(
        "recall-chart",
        "The chance to be found",
        description,
        [Curve("a pair of this similarity is found", curve.points)],
        x_title=f"{kind} similarity of a pair",
        y_title="probability",
        marked=(curve.at, f"threshold {curve.at:.4g}"),
        measured=measured,
    )


def draw_flows(flows: Flows, place: int = 0) -> Chart:
    """Draw what stayed and what went of each name; ``place`` tells charts of a page apart."""
    shown = shorten_flows(flows, _MOST_BARS)
    rows, left_out = shown.rows, ""
    if shown.n_others:
        # All others together would be so long that no other bar could be read.
        *rows, others = rows
        left_out = f" {shown.n_others:,} others, {others.n_in:,} documents, are left out."
    are_known = all(row.n_copies is not None for row in rows)
    parts, kinds = ["stay", "removed"], ["kept", "gone"]
    counts: list[tuple[int, ...]] = [(row.n_kept, row.n_removed) for row in rows]
    if are_known:
        parts, kinds = ["stay", "near-duplicates", "exact copies"], ["kept", "gone", "other"]
        counts = [(row.n_kept, row.n_near, row.n_copies or 0) for row in rows]
    return bars(
        f"flow-chart-{place}",
        f"Documents by {flows.what}",
        f"How many stay, and how many went.{left_out}",
        parts,
        [(row.name, each) for row, each in zip(rows, counts, strict=True)],
        kinds=kinds,
        head=flows.what,
    )


def draw_exchange(exchange: Exchange, place: int = 0) -> Chart:
    """Draw whose documents went for whose; ``place`` tells charts of a page apart."""
    left_out = ""
    if exchange.n_left_out:
        left_out = f" Rarer pairs, {exchange.n_left_out:,} documents, are left out."
    return matrix(
        f"exchange-chart-{place}",
        f"Removed documents by their {exchange.what}, and by that of the one that stays",
        f"How many of each {exchange.what} went for one of which.{left_out}",
        exchange.removed_from,
        exchange.kept_in,
        exchange.counts,
        row_title="removed",
        column_title="stays",
    )
