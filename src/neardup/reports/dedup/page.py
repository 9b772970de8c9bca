"""The page of a deduplication: what went, why, and whether to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from neardup.reports.dedup import drawings
from neardup.reports.dedup.agreement import Agreement
from neardup.reports.dedup.clusters import Clusters
from neardup.reports.dedup.examples import KeptPairs, Kind, Pair
from neardup.reports.dedup.exchange import Exchange
from neardup.reports.dedup.flows import Flows
from neardup.reports.dedup.lookup import MOST_BYTES, list_removed
from neardup.reports.dedup.recall import curve_of
from neardup.reports.dedup.side_by_side import group_kept_pairs, group_removals
from neardup.reports.dedup.similarities import count_similarities
from neardup.reports.dedup.trust import answer, say_kept_pairs
from neardup.reports.dedup.wording import (
    say_kept,
    say_title,
    say_weights,
    say_why,
)
from neardup.reports.page import data_block, render_page

_CONTENTS = [
    ("trust", "Can this be trusted?"),
    ("flows", "What was removed"),
    ("similarities", "How similar"),
    ("examples", "Examples"),
    ("clusters", "Groups of documents that are alike"),
    ("missed", "What may have been missed"),
    ("lookup", "Look up a document"),
    ("options", "How it was done"),
]

# Characters of an excerpt of a text.
_EXCERPT = 280


@dataclass(frozen=True)
class DedupData:
    """All that a page of a deduplication shows, as plain data.

    Parameters
    ----------
    summary
        What ``summary.json`` says.
    removed
        The table of removed documents.
    clusters
        Counted from it.
    flows
        What came in and went, by file and by columns of choice.
    exchanges
        Whose documents went for whose, likewise.
    examples
        Removed documents and those that stay for them, by kind.
    kept_pairs
        Documents that stay and are nearly similar enough; or why none were looked for.
    excerpts
        Texts of those that stay in the largest clusters, as far as they are at hand.
    agreement
        Whether removed documents had the same value of a column of choice.
    is_written
        Whether the rows are in a folder, and not only in memory.
    """

    summary: Mapping[str, Any]
    removed: pa.Table
    clusters: Clusters
    flows: Sequence[Flows]
    exchanges: Sequence[Exchange]
    examples: Mapping[Kind, Sequence[Pair]]
    kept_pairs: KeptPairs | str
    excerpts: Sequence[str | None] = ()
    agreement: Agreement | None = None
    is_written: bool = True


def render_dedup(data: DedupData, *, most_lookup_bytes: int = MOST_BYTES) -> str:
    """Write the page of a deduplication.

    Parameters
    ----------
    data
        What it shows.
    most_lookup_bytes
        Bytes of data by which documents are looked up; beyond that it has a sample.
    """
    summary, removed = data.summary, data.removed
    clusters = data.clusters
    similarities = count_similarities(removed, summary["threshold"])
    curve = curve_of(summary)
    lookup = list_removed(removed, most_bytes=most_lookup_bytes)
    title = say_title(summary)
    return render_page(
        "dedup.html",
        title=f"Deduplication: {title}",
        contents=_CONTENTS,
        styles=["dedup.css"],
        scripts=["dedup.js"],
        heading=title,
        leads=list(_lead(summary)),
        facts=_facts(summary),
        answers=list(
            answer(
                summary, similarities, data.kept_pairs, data.agreement, is_written=data.is_written
            )
        ),
        flows=data.flows,
        flow_charts=[
            drawings.draw_flows(flows, place)
            for place, flows in enumerate(data.flows)
            if len(flows.rows) > 1
        ],
        exchange_charts=[
            drawings.draw_exchange(each, place)
            for place, each in enumerate(data.exchanges)
            if each.is_picture
        ],
        exchange_sentences=[
            each.sentence
            for each, flows in zip(data.exchanges, data.flows, strict=True)
            if len(flows.rows) > 1 or not each.is_within
        ],
        similarities=similarities,
        similarity_chart=(
            drawings.draw_similarities(similarities) if similarities.n_counted else None
        ),
        groups=list(group_removals(data.examples, summary)),
        clusters=clusters,
        cluster_chart=drawings.draw_clusters(clusters),
        largest=[
            (each, _excerpt(text), each.n_removed - len(each.members))
            for each, text in zip_longest(clusters.largest, data.excerpts)
        ],
        curve=curve,
        curve_chart=drawings.draw_curve(curve, summary) if curve else None,
        kept_pairs=data.kept_pairs,
        kept_groups=list(group_kept_pairs(data.kept_pairs, summary)),
        kept_sentence=(
            data.kept_pairs
            if isinstance(data.kept_pairs, str)
            else say_kept_pairs(data.kept_pairs, summary)
        ),
        lookup=lookup,
        method=summary["method"],
        lookup_data=data_block("removed-documents", lookup.columns),
        options=list(_options(summary)),
        is_written=data.is_written,
        has_texts=bool(summary["input_files"]),
    )


def _lead(summary: Mapping[str, Any]) -> Iterator[str]:
    if not summary["documents_in"]:
        yield "The input has no documents, so there was nothing to compare."
        return
    yield f"{say_why(summary)} {say_weights(summary['scheme'])}".strip()
    yield say_kept(summary)


def _facts(summary: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    n_removed, copies = summary["documents_removed"], summary["exact_copies"]
    yield f"{summary['documents_in']:,}", "documents came in"
    yield f"{summary['documents_kept']:,}", "stay", "kept"
    if copies is None:
        yield f"{n_removed:,}", "removed as duplicates", "gone"
    else:
        yield f"{copies:,}", "removed as exact copies", "gone"
        yield f"{n_removed - copies:,}", "removed as near-duplicates", "gone"
    if summary.get("against_documents"):
        yield f"{summary['removed_for_against']:,}", "of those for the other collection", "gone"


def _excerpt(text: str | None) -> str:
    if text is None:
        return ""
    text = " ".join(text[: 4 * _EXCERPT].split())
    return text if len(text) <= _EXCERPT else text[:_EXCERPT] + " …"


def _options(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return what decides the result, as the options are called."""
    scheme = summary["scheme"] or {}
    for name in ("measure", "threshold", "keep", "clusters", "method", "bands", "rows"):
        if summary.get(name) is not None:
            yield name, str(summary[name])
    if "recall" in summary:
        yield "recall asked for", f"{summary['recall']:g}"
        yield "recall promised", f"{summary['predicted_recall']:.4f}"
    for name, value in scheme.items():
        yield name.replace("_", "-"), "none" if value is None else str(value)
    for listed, what in (("inputs", "input"), ("against", "against")):
        for each in summary.get(listed, ()):
            yield what, each["name"]
    yield "neardup", summary["versions"]["neardup"]
