"""The page of a deduplication: which documents were removed, and for which."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.outputs.table_rows import TableRows
from neardup.reports.charts import (
    Chart,
    Curve,
    Measured,
    bars,
    curves,
    histogram,
    threshold_mark,
)
from neardup.reports.dedup.examples import Document, KeptPairs, Kind, Pair
from neardup.reports.dedup.model import (
    Clusters,
    Flows,
    RecallCurve,
    Similarities,
    count_similarities,
    curve_of,
    shorten_flows,
)
from neardup.reports.dedup.wording import (
    describe_kept_pairs,
    describe_rest,
    say_common,
    say_copies,
    say_kept,
    say_title,
    say_weights,
    say_why,
)
from neardup.reports.differences import Example, SideBySide, side_by_side
from neardup.reports.page import (
    SCRIPTS,
    STYLES,
    Report,
    data_block,
    percent,
    render_page,
    shortened,
)
from neardup.runs.progress import counted
from neardup.tables import Int64s

# The charts of a deduplication.

# Bars that are drawn of a table.
_MOST_BARS = 12


def draw_similarities(found: Similarities) -> Chart:
    """Draw how many removed documents are how similar to the one that stays."""
    apart = ""
    if found.n_copies:
        apart = f", without {counted(found.n_copies, 'exact copy', 'exact copies')}"
    return histogram(
        "similarity-chart",
        "Similarity of removed documents to the one that stays",
        f"{counted(found.n_counted, 'removed document')} by similarity{apart}.",
        found.edges,
        found.counts,
        x_title="similarity",
        y_title="removed documents",
        marked=threshold_mark(found.threshold),
    )


def draw_clusters(found: Clusters) -> Chart:
    """Draw how many groups of documents have which size."""
    return histogram(
        "cluster-chart",
        "Sizes of groups",
        "How many documents there were of one content; heights are logarithms of the counts.",
        range(len(found.bins) + 1),
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


def draw_flows(flows: Flows) -> Chart:
    """Draw how many documents of each file stayed and went."""
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
        "flow-chart",
        "Documents by file",
        f"How many stay, and how many went.{left_out}",
        parts,
        [(row.name, each) for row, each in zip(rows, counts, strict=True)],
        kinds=kinds,
        head="file",
    )


# Removed documents as a block of data in the page, to be looked up by id.

# Bytes of data in a page. Browsers read them in a few hundredths of a second.
MOST_BYTES = 3_000_000

# Characters of an id or name that are listed.
MOST_CHARACTERS = 200

# Rows that show how much one needs; and how far below the limit another attempt aims.
_PILOT = 2_000
_MARGIN = 0.98

_KEEPER = ["kept_in", "kept_id", "kept_file", "kept_row"]
_LISTED = ["id", "file", "row", "similarity", "exact_copy", *_KEEPER]


@dataclass(frozen=True)
class Lookup:
    """Columns of ``n_listed`` of all ``n_removed`` documents, as plain values for JSON.

    ``n_cut`` of those listed have an id that was cut to ``MOST_CHARACTERS``.
    """

    columns: Mapping[str, Any]
    n_listed: int
    n_removed: int
    n_cut: int

    @property
    def is_sample(self) -> bool:
        """Whether some removed documents are not listed."""
        return self.n_listed < self.n_removed


def list_removed(removed: TableRows, *, most_bytes: int = MOST_BYTES) -> Lookup:
    """List removed documents, and those that stay for them, as columns.

    All of them, if they need at most so many bytes as JSON; else as many as fit, evenly spread over
    the table: every seventh, say.

    Notes
    -----
    Similarities are whole numbers of ten-thousandths, rounded, but below 10,000 if they are below
    1; null where none is known. Keepers stand once each: ``kept`` has their places.
    """
    n_removed = len(removed)
    _, n_bytes, _ = _list_some(removed, min(n_removed, _PILOT))
    per_row = max(n_bytes, 1) / max(min(n_removed, _PILOT), 1)
    n_listed = min(n_removed, int(most_bytes / per_row))
    while True:
        columns, n_bytes, n_cut = _list_some(removed, n_listed)
        if n_bytes <= most_bytes or not n_listed:
            return Lookup(columns, n_listed, n_removed, n_cut)
        n_listed = min(n_listed - 1, int(n_listed * most_bytes / n_bytes * _MARGIN))


def _list_some(removed: TableRows, n: int) -> tuple[dict[str, Any], int, int]:
    """List so many documents, evenly spread; return also the bytes of JSON and the ids cut."""
    places: Int64s = np.linspace(0, max(len(removed) - 1, 0), n).astype(np.int64)
    columns, n_cut = _list_columns(removed.take(places, *_LISTED))
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"))
    return columns, len(text.encode()), n_cut


def _list_columns(removed: pa.Table) -> tuple[dict[str, Any], int]:
    """Return the object that the page reads, and how many of its ids were cut."""
    keepers = removed.select(_KEEPER).group_by(_KEEPER, use_threads=False).aggregate([])
    # Arrow joins nothing on null, which the places of keepers of an index are.
    key_of = {tuple(row.values()): place for place, row in enumerate(keepers.to_pylist())}
    files: dict[str | None, int] = {}
    n_cut = 0

    def cut(ids: pa.ChunkedArray) -> list[str]:
        nonlocal n_cut
        texts = pc.cast(ids, pa.large_string())
        n_cut += pc.sum(pc.greater(pc.utf8_length(texts), MOST_CHARACTERS)).as_py() or 0
        return list(pc.utf8_slice_codeunits(texts, 0, MOST_CHARACTERS).to_pylist())

    def number(names: pa.ChunkedArray) -> list[int]:
        return [files.setdefault(name, len(files)) for name in names.to_pylist()]

    similarities = removed["similarity"]
    rounded = pc.cast(pc.round(pc.multiply(similarities, 10_000)), pa.int32())
    ten_thousandths = pc.if_else(
        pc.less(similarities, 1),
        pc.min_element_wise(rounded, pa.scalar(9_999, pa.int32())),
        rounded,
    )
    columns = {
        "id": cut(removed["id"]),
        "file": number(removed["file"]),
        "row": removed["row"].to_pylist(),
        "similarity": ten_thousandths.to_pylist(),
        "copy": [int(bool(copy)) for copy in removed["exact_copy"].to_pylist()],
        "kept": [key_of[tuple(row.values())] for row in removed.select(_KEEPER).to_pylist()],
        "keeper": {
            "id": cut(keepers["kept_id"]),
            "file": number(keepers["kept_file"]),
            "row": keepers["kept_row"].to_pylist(),
            "against": [int(where != "input") for where in keepers["kept_in"].to_pylist()],
        },
    }
    columns["files"] = [None if name is None else name[:MOST_CHARACTERS] for name in files]
    return columns, n_cut


# Examples of a deduplication as they are shown: two texts side by side, and what they say.

_KINDS: dict[Kind, tuple[str, str]] = {
    "least": (
        "Least similar of the removed",
        "Those nearest to the threshold. If these are no duplicates to you, choose a higher one.",
    ),
    "middle": (
        "In between",
        "Those nearest to halfway between the least similar one and an exact copy.",
    ),
    "most": ("Most similar, but no copy", "Those that are most like the one that stays."),
    "copies": ("An exact copy", ""),
}

_NO_TEXT = "No text is shown: only ids of the documents are known."
_OF_OTHER = (
    "the texts of the other collection are not in the output, and --against names where they are"
)


class _Sides(NamedTuple):
    """What two documents of an example are, as headings and within sentences."""

    first: str
    second: str
    of_first: str
    of_second: str


_REMOVED = _Sides("Removed", "Stays", "the removed one", "the one that stays")
_COPIES = _Sides("Removed", "Copy", "the first", "its copy")
_KEPT = _Sides("Stays", "Stays", "the first", "the second")


@dataclass(frozen=True)
class ExampleGroup:
    """Examples of one kind, and what to make of them."""

    title: str
    lead: str
    examples: Sequence[Example]


def group_removals(
    examples: Mapping[Kind, Sequence[Pair]], summary: Mapping[str, Any]
) -> Iterator[ExampleGroup]:
    """Return removed documents with those that stay for them, by kind."""
    sides = _COPIES if summary["keep"] == "none" else _REMOVED
    for kind, (title, lead) in _KINDS.items():
        if kind == "least" and summary["clusters"] == "components":
            lead = "Some are connected to the one that stays only by others between the two."
            if summary["measure"] == "containment":
                lead = "In some lies the one that stays; to some others between the two connect it."
        if pairs := examples.get(kind):
            if kind == "copies":
                lead = say_copies(summary["scheme"])
            yield ExampleGroup(title, lead, [_example(pair, sides, summary) for pair in pairs])


def group_kept_pairs(found: KeptPairs | str, summary: Mapping[str, Any]) -> Iterator[ExampleGroup]:
    """Return pairs of documents that both stay: missed ones, and those below the threshold."""
    if isinstance(found, str):
        return
    if found.missed:
        which = "The later one" if summary["keep"] == "first" else "One"
        lead = (
            f"{which} of each pair would have been removed, had the two been compared. --method "
            "exact misses none, a higher --recall fewer."
        )
        if summary["method"] == "pairs":
            lead = (
                "One of each pair would have been removed, had the table of pairs named it; pairs "
                "that are found with --method exact lack none."
            )
        yield ExampleGroup(
            "Missed: both stay, and reach the threshold",
            lead,
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
        # What is there, with nothing marked, as the other one is not known.
        texts = (first.text, second.text)
        a, b = (side_by_side(text, text).a if text is not None else [] for text in texts)
        differences = SideBySide(a, b, 0, (0, 0), True)
        note = f"Only one text is shown: {pair.no_text or _OF_OTHER}." if known else _NO_TEXT
    known_or_not = "not known" if pair.similarity is None else f"{pair.similarity:.4f}"
    return Example(
        f"similarity {known_or_not}",
        note,
        f"{sides.first}: {shortened(first.id)}",
        f"{sides.second}: {shortened(second.id)}",
        _place_of(first),
        _place_of(second),
        differences,
        sides is _KEPT,
    )


def _place_of(document: Document) -> str:
    """Return where a document is."""
    if document.file is None:
        return "in the index"
    return f"{shortened(document.file)}, row {document.row:,}"


_CONTENTS = [
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
        What came in and went by file.
    examples
        Removed documents and those that stay for them, by kind.
    kept_pairs
        Documents that stay and are nearly similar enough; or why none were looked for.
    excerpts
        Texts of those that stay in the largest clusters, as far as they are at hand.
    is_written
        Whether the rows are in a folder, and not only in memory.
    """

    summary: Mapping[str, Any]
    removed: TableRows
    clusters: Clusters
    flows: Flows
    examples: Mapping[Kind, Sequence[Pair]]
    kept_pairs: KeptPairs | str
    excerpts: Sequence[str | None] = ()
    is_written: bool = True


def render_dedup(data: DedupData, *, most_lookup_bytes: int = MOST_BYTES) -> Report:
    """Make the page; documents are looked up in so many bytes of data, or in a sample of them."""
    summary, removed, clusters = data.summary, data.removed, data.clusters
    similarities = count_similarities(removed, summary["threshold"])
    curve = curve_of(summary)
    lookup = list_removed(removed, most_bytes=most_lookup_bytes)
    title = say_title(summary)
    flows = data.flows
    has_files = len(flows.rows) > 1
    groups = list(group_removals(data.examples, summary))
    kept_groups = list(group_kept_pairs(data.kept_pairs, summary))
    html = render_page(
        "dedup.html",
        title=f"Deduplication: {title}",
        contents=_CONTENTS,
        styles=[*STYLES, "dedup.css"],
        scripts=[*SCRIPTS, "dedup.js"],
        heading=title,
        leads=[f"{say_why(summary)} {say_weights(summary['scheme'])}".strip(), say_kept(summary)]
        if summary["documents_in"]
        else ["The input has no documents, so there was nothing to compare."],
        facts=_facts(summary),
        notes=list(describe_rest(summary, is_written=data.is_written)),
        flows=flows,
        flow_chart=draw_flows(flows) if has_files else None,
        similarities=similarities,
        similarity_chart=(draw_similarities(similarities) if similarities.n_counted else None),
        groups=groups,
        clusters=clusters,
        cluster_chart=draw_clusters(clusters),
        largest=[
            (each, _excerpt(text), each.n_removed - len(each.members))
            for each, text in zip_longest(clusters.largest, data.excerpts)
        ],
        curve=curve,
        curve_chart=draw_curve(curve, summary) if curve else None,
        kept_pairs=data.kept_pairs,
        kept_groups=kept_groups,
        kept_sentence=(
            data.kept_pairs
            if isinstance(data.kept_pairs, str)
            else describe_kept_pairs(data.kept_pairs, summary)
        ),
        lookup=lookup,
        method=summary["method"],
        lookup_data=data_block("removed-documents", lookup.columns),
        options=list(_options(summary)),
        is_written=data.is_written,
        has_texts=bool(summary["input_files"]),
    )
    examples = [
        replace(each, title=f"{group.title}: {each.title}")
        for group in (*groups, *kept_groups)
        for each in group.examples
    ]
    return Report(html, title, examples=examples)


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
