"""The page of a deduplication with removals and clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.documents import as_text
from neardup.outputs.output_tables import TableRows
from neardup.reports.charts import Chart, banding_chart, bars_by_file, similarity_chart
from neardup.reports.examples import Document, Example, choose_rows, compare_documents
from neardup.reports.page import Cell, Fact, Report, Section, Table, is_code, options_section
from neardup.reports.text import excerpt, percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Bools, Floats, Int64s

# Rows of the list of removed documents, and clusters that are listed and shown with their text.
_MOST_REMOVED, _MOST_CLUSTERS, _MOST_OPENINGS = 20_000, 500, 12
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
    is_copy: Bools

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
        for row in chosen:
            if self.is_copy[row]:
                chosen[row] = "Exact copy"
            elif self.similarities[row] == 1:
                chosen[row] = "Similarity 1, not an exact copy"
        return chosen

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
    titles = removed.examples()
    examples = [_example(titles[row], each, summary) for row, each in removals.items()]
    lacks = bool(examples) and not any(each.differences.a for each in examples)
    similarities = similarity_chart(
        removed.similarities[~removed.is_copy], summary["threshold"], "near-duplicates"
    )
    n_clusters = int((sizes > 1).sum())
    nothing = "No document was removed."
    sections = [
        _by_file(summary),
        Section(
            "examples",
            "Examples, least similar first",
            "Words that only one of the two texts has are marked. An exact copy has the same "
            "tokens: with the default options, case, punctuation and white space may differ.",
            examples=[] if lacks else examples,
            nothing="No text is shown: only ids of the documents are known." if lacks else nothing,
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
            f"{counted(n_clusters, 'cluster')} of two or more documents, and "
            f"{counted(len(sizes) - n_clusters, 'document')} without a duplicate.",
            tables=[_list_clusters(removed, n_clusters, openings)] if n_removed else [],
        ),
        Section(
            "removed",
            "Removed documents",
            tables=[_list_removed(removed)] if n_removed else [],
            nothing=nothing,
        ),
        options_section(summary, _OPTIONS),
    ]
    step = (
        "Read the least similar examples: if they are not duplicates, raise `--threshold`; if they "
        "are, a lower one finds more. `neardup explain FOLDER ID` answers for one document."
    )
    return Report(
        "deduplication",
        headline if n_in else "No document read",
        list(_sentences(summary)),
        _facts(summary),
        sections,
        next_step=step if n_removed else "A lower `--threshold` finds less similar documents.",
    )


def _example(title: str, removal: Removal, summary: Mapping[str, Any]) -> Example:
    known = "unknown" if removal.similarity is None else f"{removal.similarity:.4f}"
    a, b, note = removal.first, removal.second, ""
    if b.text is None and a.text is not None:
        note = removal.no_text or "the text is in the other collection, which --against names"
    title, roles = f"{title}: similarity {known}", ("Removed", "Stays")
    sides = "the removed text", "the kept text"
    has_lines = is_code(summary)
    return compare_documents(title, a, b, roles=roles, sides=sides, note=note, is_code=has_lines)


def _facts(summary: Mapping[str, Any]) -> list[Fact]:
    n_removed, copies = summary["documents_removed"], summary["exact_copies"]
    facts = [
        Fact(f"{summary['documents_in']:,}", "documents read"),
        Fact(f"{summary['documents_kept']:,}", "stay", "kept"),
        Fact(f"{copies:,}", "removed as exact copies", "gone"),
        Fact(f"{n_removed - copies:,}", "removed as near-duplicates", "gone"),
    ]
    if summary.get("against_documents"):
        n = summary["removed_for_against"]
        facts.append(Fact(f"{n:,}", "of these for the other collection", "gone"))
    return facts


def _by_file(summary: Mapping[str, Any]) -> Section:
    """List documents read and removed per file, most removed first."""
    counts, others = summary["by_file"]["counts"], summary["by_file"]["others"]
    rows: list[Sequence[Cell]] = []
    drawn: list[tuple[str, Sequence[int]]] = []
    for each in sorted(counts, key=lambda row: -row["documents_removed"]):
        n_in, n, copies = each["documents_in"], each["documents_removed"], each["exact_copies"]
        name = str(each["file"] or "(no file)")
        share = percent(n / n_in if n_in else 0.0)
        rows.append((shortened(name), n_in, n_in - n, n, copies, share))
        drawn.append((name, (n_in - n, n - copies, copies)))
    note = ""
    if others:
        note = (
            f"{counted(others['groups'], 'more file')}: {others['documents_removed']:,} of "
            f"{counted(others['documents_in'], 'document')} removed."
        )
    charts: list[Chart] = []
    if len(rows) > 1:
        parts = {"stay": "kept", "near-duplicates": "gone", "exact copies": "other"}
        description = "Documents that stay and that were removed."
        charts = [bars_by_file("Documents by file", description, parts, drawn)]
    head = ("file", "read", "stay", "removed", "exact copies", "share removed")
    table = Table("Documents by file, most removed first", head, rows, note)
    return Section("files", "By file", charts=charts, tables=[table])


def _list_clusters(
    removed: RemovedTable, n_clusters: int, openings: Mapping[int, str | None]
) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in removed.clusters().to_pylist():
        where = "" if each["kept_in"] == "input" else f" ({each['kept_in']})"
        name = shortened(str(each["kept_id"])) + where
        opening = excerpt(openings.get(each["row_min"]) or "", 160)
        rows.append((name, each["row_count"] + 1, each["similarity_min"], opening))
    head = ("stays", "documents", "least similarity", "beginning of the text")
    left = n_clusters - len(rows)
    note = f"{counted(left, 'smaller cluster')} are in clusters.parquet." if left > 0 else ""
    return Table("Clusters, the largest first", head, rows, note)


def _list_removed(removed: RemovedTable) -> Table:
    order = np.lexsort((removed.similarities, removed.is_copy))[:_MOST_REMOVED]
    some = removed.table.take(pa.array(order))
    own, file, kept, kept_file = (
        [name and shortened(name) for name in as_text(some[column]).to_pylist()]
        for column in ("id", "file", "kept_id", "kept_file")
    )
    similarities = [None if np.isnan(s) else s for s in removed.similarities[order].tolist()]
    copies = ["exact copy" if copy else "" for copy in removed.is_copy[order].tolist()]
    columns = own, file, some["row"].to_pylist(), similarities, copies, kept, kept_file
    head = ("removed", "file", "row", "similarity", "copy", "stays", "file of it")
    left = len(removed.table) - len(order)
    note = f"{left:,} more are in removed.parquet." if left else ""
    rows = list(zip(*columns, strict=True))
    return Table("Removed documents, the least similar first", head, rows, note)


def _sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Describe the rule, and documents that it does not remove."""
    scheme, keep = summary["scheme"], summary["keep"]
    how = "A document was removed if it is similar to one that stays"
    if summary["clusters"] == "components":
        how = "Of documents that similar ones connect, one stays"
    kept = f"the {keep} one" if keep in ("longest", "shortest") else f"the one by {keep}"
    yield (
        f"{how}: {summary['measure']} of at least {summary['threshold']:g} over "
        f"{scheme['tokenizer']} {scheme['ngram']}-grams. Of similar documents "
        f"{'the first one' if keep == 'first' else kept} stays."
        + " Documents of the other collection always stay."
        * bool(summary.get("against_documents"))
    )
    if n := summary.get("filtered_rows"):
        yield f"{counted(n, 'row')} did not meet `--where` and are not counted."
    if n := summary.get("empty_documents"):
        yield f"{counted(n, 'document')} without text stayed."
    if n := summary.get("short_documents"):
        yield f"{counted(n, 'document')} shorter than a shingle match equal texts only."
    if n := summary.get("skipped_rows", 0) + summary.get("against_skipped_rows", 0):
        yield f"{counted(n, 'bad row')} were skipped; the summary lists them."


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
