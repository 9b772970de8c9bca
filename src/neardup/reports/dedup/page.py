"""The page of a deduplication: what went, why, and whether to trust it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import pyarrow as pa

from neardup.reports.charts.chart import shortened
from neardup.reports.dedup import drawings
from neardup.reports.dedup.agreement import Agreement
from neardup.reports.dedup.clusters import Clusters
from neardup.reports.dedup.examples import Document, KeptPairs, Kind, Pair
from neardup.reports.dedup.exchange import Exchange
from neardup.reports.dedup.flows import Flows
from neardup.reports.dedup.lookup import MOST_BYTES, list_removed
from neardup.reports.dedup.recall import curve_of
from neardup.reports.dedup.similarities import count_similarities
from neardup.reports.dedup.trust import answer, say_kept_pairs
from neardup.reports.dedup.wording import (
    counted,
    say_common,
    say_copies,
    say_kept,
    say_title,
    say_weights,
    say_why,
)
from neardup.reports.differences import SideBySide, side_by_side
from neardup.reports.page import MOST_OF_NAME, data_block, render_page

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

_KINDS: dict[Kind, tuple[str, str]] = {
    "least": (
        "Least similar of the removed",
        "Those nearest to the threshold. If these are no duplicates to you, choose a higher one.",
    ),
    "middle": (
        "Between",
        "Those nearest to halfway between the least similar one and an exact copy.",
    ),
    "most": ("Most similar, but no copy", "Those that are most like the one that stays."),
    "copies": ("An exact copy", ""),
}


class _Sides(NamedTuple):
    """What two documents of an example are, as headings and within sentences."""

    first: str
    second: str
    of_first: str
    of_second: str


_REMOVED = _Sides("Removed", "Stays", "the removed one", "the one that stays")
_KEPT = _Sides("Stays", "Stays", "the first", "the second")

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


@dataclass(frozen=True)
class Example:
    """Two texts side by side, as ``parts.html`` shows them."""

    title: str
    note: str
    name_a: str
    name_b: str
    place_a: str
    place_b: str
    differences: SideBySide
    both_stay: bool


@dataclass(frozen=True)
class ExampleGroup:
    """Examples of one kind, and what to make of them."""

    title: str
    lead: str
    examples: Sequence[Example]


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
        flow_charts=[drawings.draw_flows(flows) for flows in data.flows if len(flows.rows) > 1],
        exchange_charts=[
            drawings.draw_exchange(each) for each in data.exchanges if each.is_picture
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
        groups=list(_groups(data)),
        clusters=clusters,
        cluster_chart=drawings.draw_clusters(clusters),
        largest=[
            (each, _excerpt(text), each.n_removed - len(each.members))
            for each, text in zip_longest(clusters.largest, data.excerpts)
        ],
        curve=curve,
        curve_chart=drawings.draw_curve(curve, summary) if curve else None,
        kept_pairs=data.kept_pairs,
        kept_groups=list(_kept_groups(data.kept_pairs, summary)),
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


def _groups(data: DedupData) -> Iterator[ExampleGroup]:
    for kind, (title, lead) in _KINDS.items():
        if kind == "least" and data.summary["clusters"] == "components":
            lead = "Some are connected to the one that stays only by others between the two."
        if pairs := data.examples.get(kind):
            if kind == "copies":
                lead = say_copies(data.summary["scheme"])
            yield ExampleGroup(
                title, lead, [_example(pair, _REMOVED, data.summary) for pair in pairs]
            )


def _kept_groups(found: KeptPairs | str, summary: Mapping[str, Any]) -> Iterator[ExampleGroup]:
    if isinstance(found, str):
        return
    if found.missed:
        yield ExampleGroup(
            "Missed: both stay, and reach the threshold",
            "The later one of each pair would have been removed, had the two been compared. "
            "--method exact misses none, a higher --recall fewer.",
            [_example(pair, _KEPT, summary) for pair in found.missed],
        )
    if found.below:
        yield ExampleGroup(
            "Both stay: just below the threshold",
            "If these are duplicates to you, choose a lower threshold.",
            [_example(pair, _KEPT, summary) for pair in found.below],
        )


def _example(pair: Pair, sides: _Sides, summary: Mapping[str, Any]) -> Example:
    first, second = pair.first, pair.second
    known = [text for text in (first.text, second.text) if text is not None]
    if len(known) == 2:
        differences = side_by_side(*known)
        n_a, n_b = differences.n_only
        note = say_common(pair.common, summary) + (
            f"{counted(differences.n_common, 'word')} in both; {n_a:,} only in {sides.of_first}, "
            f"{n_b:,} only in {sides.of_second}."
        )
    else:
        differences = _one_sided(first.text, second.text)
        note = (
            "Only one text is shown: the texts of the other collection are not in the output, and "
            "--against names where they are."
        )
    known_or_not = "not known" if pair.similarity is None else f"{pair.similarity:.4f}"
    return Example(
        f"similarity {known_or_not}",
        note,
        f"{sides.first}: {shortened(first.id, MOST_OF_NAME)}",
        f"{sides.second}: {shortened(second.id, MOST_OF_NAME)}",
        place_of(first),
        place_of(second),
        differences,
        sides is _KEPT,
    )


def _one_sided(first: str | None, second: str | None) -> SideBySide:
    """Show what is there, with nothing marked, as the other one is not known."""
    a, b = (side_by_side(text, text).a if text is not None else [] for text in (first, second))
    return SideBySide(a, b, 0, (0, 0), True)


def place_of(document: Document) -> str:
    """Return where a document is."""
    if document.file is None:
        return "in the index"
    return f"{shortened(document.file, MOST_OF_NAME)}, row {document.row:,}"


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
