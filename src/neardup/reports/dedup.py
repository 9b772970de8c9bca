"""The page of a deduplication with removals and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.documents import as_text
from neardup.outputs.tables import TableRows
from neardup.reports.charts import Caption, Chart, banding_chart, bars, similarity_chart
from neardup.reports.examples import Document, choose_rows, compare_documents
from neardup.reports.page import Cell, Fact, Report, Section, Table, is_code, options_section
from neardup.reports.text import excerpt, percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

# Rows of the list of removed documents, and clusters that are listed and shown with their text.
_MOST_REMOVED, _MOST_CLUSTERS, _MOST_OPENINGS = 20_000, 500, 12
# Files of the chart.
_MOST_BARS = 12
_COLUMNS = ("id", "file", "row", "similarity", "exact_copy", "kept_in", "kept_id", "kept_file")

_OPTIONS = (
    *("measure", "threshold", "keep", "clusters", "method", "recall", "predicted_recall"),
    *("bands", "rows", "skipped_rows", "filtered_rows"),
)


@dataclass(frozen=True)
class Removal:
    """A removed document and the document that stays for it.

    ``similarity`` is None if unknown; ``no_text`` is the reason if the second has no text.
    """

    first: Document
    second: Document
    similarity: float | None
    no_text: str = ""


@dataclass(frozen=True)
class RemovedTable:
    """The removed documents of a deduplication, without texts.

    ``table`` is that of ``removed.parquet``. ``similarities`` are NaN if unknown, 1 for copies.
    """

    table: pa.Table
    similarities: Floats
    is_copy: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def read(cls, rows: TableRows) -> RemovedTable:
        """Read the table of removed documents."""
        table = rows.to_table(*_COLUMNS)
        similarities = table["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        is_copy = pc.fill_null(table["exact_copy"], False).to_numpy()
        return cls(table, similarities, is_copy)

    def examples(self) -> dict[int, str]:
        """Choose titled rows from the threshold to exact copies."""
        values = np.where(self.is_copy, 2.0, self.similarities)
        keepers = self.table["kept_id"].combine_chunks().dictionary_encode().indices
        chosen = choose_rows(values, [keepers.to_numpy().astype(np.int64)], exact=2.0)
        return {row: "Exact copy" if self.is_copy[row] else t for row, t in chosen.items()}

    def clusters(self) -> pa.Table:
        """Return keepers by number of removed documents, largest first.

        ``row_min`` is the first row of each keeper.
        """
        places = pa.array(np.arange(len(self.table)))
        table = self.table.select(["kept_in", "kept_id", "similarity"])
        grouped = table.append_column("row", places).group_by(
            ["kept_in", "kept_id"], use_threads=False
        )
        wanted = [("row", "min"), ("row", "count"), ("similarity", "min")]
        order = [("row_count", "descending"), ("row_min", "ascending")]
        return grouped.aggregate(wanted).sort_by(order).slice(0, _MOST_CLUSTERS)

    def keepers(self) -> list[int]:
        """Return one row of each keeper with a shown beginning."""
        rows: list[int] = self.clusters()["row_min"].slice(0, _MOST_OPENINGS).to_pylist()
        return rows


def cluster_sizes(clusters: TableRows) -> Int64s:
    """Count the documents of each cluster of ``clusters.parquet``."""
    numbers = clusters.to_table("cluster_id")["cluster_id"]
    sizes: Int64s = pc.value_counts(numbers).field("counts").to_numpy()
    return sizes


def dedup_report(
    summary: Mapping[str, Any],
    removed: RemovedTable,
    sizes: Int64s,
    removals: Mapping[int, Removal],
    openings: Mapping[int, str | None],
) -> Report:
    """Make the page of a deduplication.

    ``sizes`` are the numbers of documents per cluster. By row, ``removals`` has examples with
    texts, and ``openings`` texts of keepers of the largest clusters.
    """
    n_removed, n_in = summary["documents_removed"], summary["documents_in"]
    headline = f"{n_removed:,} of {counted(n_in, 'document')} removed"
    if not n_in:
        headline = "No document read"
    chosen = removed.examples()
    examples = []
    roles = ("Removed", "Stays")
    for row, removal in removals.items():
        known = removal.similarity is not None
        title = f"{chosen[row]}: similarity " + (
            f"{removal.similarity:.4f}" if known else "unknown"
        )
        a, b = removal.first, removal.second
        note = ""
        if b.text is None and a.text is not None:
            note = removal.no_text or "the text is in the other collection, which --against names"
        example = compare_documents(title, a, b, roles=roles, note=note, is_code=is_code(summary))
        examples.append(example)
    lacks = bool(examples) and not any(each.differences.a for each in examples)
    similarities = similarity_chart(
        removed.similarities[~removed.is_copy], summary["threshold"], "near-duplicates"
    )
    clusters = removed.clusters()
    n_clusters = int((sizes > 1).sum())
    sections = [
        Section("files", "By file", charts=_by_file_chart(summary), tables=[_by_file(summary)]),
        Section(
            "examples",
            "Examples, from the least similar to certain",
            "Words that only one of the two texts has are marked.",
            examples=[] if lacks else examples,
            nothing="No text is shown: only ids of the documents are known."
            if lacks
            else "No document was removed.",
        ),
        Section(
            "similarities",
            "Similarities and recall",
            _recall(summary),
            charts=[each for each in (similarities, banding_chart(summary)) if each],
        ),
        Section(
            "clusters",
            "Clusters",
            f"{counted(n_clusters, 'cluster')} of two or more documents; the other "
            f"{len(sizes) - n_clusters:,} documents have no duplicate.",
            tables=[_list_clusters(clusters, n_clusters, openings)] if len(clusters) else [],
        ),
        Section(
            "removed",
            "Removed documents",
            tables=[_list_removed(removed)] if n_removed else [],
            nothing="No document was removed.",
        ),
        options_section(summary, _OPTIONS),
    ]
    step = (
        "Read the least similar examples: if they are not duplicates, raise `--threshold`; if they "
        "are, a lower one finds more. `neardup explain FOLDER ID` answers for one document."
    )
    if not n_removed:
        step = "A lower `--threshold` finds less similar documents."
    sentences = [f"{_rule(summary)} {_kept(summary)}", *_left_out(summary)]
    facts = _facts(summary)
    return Report("deduplication", headline, sentences, facts, sections, next_step=step)


def _facts(summary: Mapping[str, Any]) -> list[Fact]:
    n_removed, copies = summary["documents_removed"], summary["exact_copies"]
    facts = [
        Fact(f"{summary['documents_in']:,}", "documents read"),
        Fact(f"{summary['documents_kept']:,}", "stay", "kept"),
    ]
    facts.append(Fact(f"{copies:,}", "removed as exact copies", "gone"))
    facts.append(Fact(f"{n_removed - copies:,}", "removed as near-duplicates", "gone"))
    if summary.get("against_documents"):
        n = summary["removed_for_against"]
        facts.append(Fact(f"{n:,}", "of these for the other collection", "gone"))
    return facts


def _by_file(summary: Mapping[str, Any]) -> Table:
    """List documents read and removed per file, most removed first."""
    counts, others = summary["by_file"]["counts"], summary["by_file"]["others"]
    rows: list[Sequence[Cell]] = []
    for each in sorted(counts, key=lambda row: -row["documents_removed"]):
        n_in, n = each["documents_in"], each["documents_removed"]
        name = shortened(str(each["file"] or "(no file)"))
        share = percent(n / n_in if n_in else 0.0)
        rows.append((name, n_in, n_in - n, n, each["exact_copies"], share))
    note = ""
    if others:
        note = (
            f"{counted(others['groups'], 'more file')}: {others['documents_removed']:,} of "
            f"{counted(others['documents_in'], 'document')} removed."
        )
    head = ("file", "read", "stay", "removed", "exact copies", "share removed")
    return Table("Documents by file, most removed first", head, rows, note)


def _by_file_chart(summary: Mapping[str, Any]) -> list[Chart]:
    rows = sorted(summary["by_file"]["counts"], key=lambda row: -row["documents_removed"])
    if len(rows) < 2:
        return []
    parts = {"stay": "kept", "near-duplicates": "gone", "exact copies": "other"}
    drawn = []
    for each in rows[:_MOST_BARS]:
        copies = each["exact_copies"]
        n = each["documents_removed"]
        drawn.append((str(each["file"]), (each["documents_in"] - n, n - copies, copies)))
    description = "Documents that stay and that were removed."
    if len(rows) > _MOST_BARS:
        description += f" The {_MOST_BARS} files with most removed are drawn."
    return [bars(Caption("files-chart", "Documents by file", description), parts, drawn)]


def _list_clusters(
    clusters: pa.Table, n_clusters: int, openings: Mapping[int, str | None]
) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in clusters.to_pylist():
        where = "" if each["kept_in"] == "input" else f" ({each['kept_in']})"
        rows.append(
            (
                shortened(str(each["kept_id"])) + where,
                each["row_count"] + 1,
                each["similarity_min"],
                excerpt(openings.get(each["row_min"]) or "", 160),
            )
        )
    head = ("stays", "documents", "least similarity", "beginning of the text")
    left = n_clusters - len(rows)
    note = f"{counted(left, 'smaller cluster')} are in clusters.parquet." if left > 0 else ""
    return Table("Clusters, the largest first", head, rows, note)


def _list_removed(removed: RemovedTable) -> Table:
    order = np.lexsort((removed.similarities, removed.is_copy))[:_MOST_REMOVED]
    some = removed.table.take(pa.array(order))
    columns = [
        *(as_text(some[name]).to_pylist() for name in ("id", "file")),
        some["row"].to_pylist(),
        [None if np.isnan(s) else float(s) for s in removed.similarities[order].tolist()],
        ["exact copy" if copy else "" for copy in removed.is_copy[order].tolist()],
        *(as_text(some[name]).to_pylist() for name in ("kept_id", "kept_file")),
    ]
    rows = [
        tuple(shortened(cell) if isinstance(cell, str) else cell for cell in row)
        for row in zip(*columns, strict=True)
    ]
    head = ("removed", "file", "row", "similarity", "copy", "stays", "file of it")
    left = len(removed.table) - len(rows)
    note = f"{left:,} more are in removed.parquet." if left else ""
    return Table("Removed documents, the least similar first", head, rows, note)


_UNITS = {name: name for name in ("words", "characters", "bytes")} | {"whitespace": "words"}

_SHARED = {
    "jaccard": "of all {many} in either text, at least {share} are in both",
    "dice": "of the {many} of both texts, at least {share} are common",
    "containment": "at least {share} of the {many} of the removed document are in the other",
    "max-containment": "at least {share} of the {many} of the shorter text are in the other",
    "weighted-jaccard": "at least {share} of the weight of all {many} is in both",
}


def _rule(summary: Mapping[str, Any]) -> str:
    threshold, measure = summary["threshold"], summary["measure"]
    scheme = summary["scheme"]
    many = _UNITS.get(scheme["tokenizer"], "tokens")
    if scheme["ngram"] > 1:
        many = f"runs of {scheme['ngram']} {many}"
    shared = _SHARED.get(measure, "{many} are compared by {measure}")
    shared = shared.format(many=many, share=f"{100 * threshold:.10g} %", measure=measure)
    how = "A document was removed if it is similar to one that stays"
    if summary["clusters"] == "components":
        how = "Of documents that similar ones connect, one stays"
    return f"{how}: {shared} ({measure} of at least {threshold:g})."


def _kept(summary: Mapping[str, Any]) -> str:
    keep = summary["keep"]
    rule = "the first one" if keep == "first" else f"the {keep} one"
    if ":" in keep or "," in keep:
        rule = f"the one by {keep}"
    against = " Documents of the other collection always stay."
    return f"Of similar documents {rule} stays." + against * bool(summary.get("against_documents"))


def _recall(summary: Mapping[str, Any]) -> str:
    if summary["method"] == "exact":
        return "All documents were compared exactly, so no pair at the threshold was missed."
    if summary.get("predicted_recall") is None:
        return ""
    share = percent(summary["predicted_recall"])
    found = f"A pair at the threshold was found with probability {share}."
    audit = summary.get("audit")
    if audit and audit["recall"] is not None:
        low, high = (percent(each) for each in audit["interval"])
        found += f" The audit found {percent(audit['recall'])} of all pairs ({low} to {high})."
    return found


def _left_out(summary: Mapping[str, Any]) -> list[str]:
    found = []
    if n := summary.get("filtered_rows"):
        found.append(f"{counted(n, 'row')} did not meet `--where` and are not counted.")
    if n := summary.get("empty_documents"):
        found.append(f"{counted(n, 'document')} without text stayed.")
    if n := summary.get("short_documents"):
        found.append(f"{counted(n, 'document')} shorter than a shingle match equal texts only.")
    if n := summary.get("skipped_rows", 0) + summary.get("against_skipped_rows", 0):
        found.append(f"{counted(n, 'bad row')} were skipped; the summary lists them.")
    return found
