"""The page of a cut, with repeated passages and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.documents import as_text
from neardup.outputs.output_tables import TableRows
from neardup.passages.passage_matches import group_overlapping, union_lengths
from neardup.reports.charts import bars_by_file, similarity_chart
from neardup.reports.examples import (
    Document,
    Example,
    choose_rows,
    cite,
    compare_documents,
    with_context,
)
from neardup.reports.page import Cell, Fact, Report, Section, Table, options_section
from neardup.reports.text import excerpt, percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

# Passages that are listed, and shown with their text.
_MOST_LISTED, _MOST_SHOWN = 500, 20
_COLUMNS = (
    *("id", "start", "end", "kept_id", "kept_start", "kept_end", "similarity"),
    *("file", "row", "kept_in"),
)
_OPTIONS = (
    *("unit", "exact", "threshold", "min_tokens", "min_documents", "keep", "replacement"),
    *("predicted_recall", "against_documents", "skipped_rows"),
)

Key = tuple[str, str]
"""A document: its collection, input or against, and its id."""


@dataclass(frozen=True)
class CutTable:
    """The spans of ``removed.parquet``, grouped by repeated passage."""

    table: pa.Table
    summary: Mapping[str, Any]

    @classmethod
    def read(cls, rows: TableRows, summary: Mapping[str, Any]) -> CutTable:
        """Read the table of removed spans."""
        return cls(rows.to_table(*_COLUMNS), summary)

    def __len__(self) -> int:
        return len(self.table)

    def wholes(self, name: str) -> Int64s:
        """Return a column of whole numbers, 0 for null."""
        values: Int64s = pc.fill_null(self.table[name].cast(pa.int64()), 0).to_numpy()
        return values

    @cached_property
    def lengths(self) -> Int64s:
        """Return the characters of each span."""
        return self.wholes("end") - self.wholes("start")

    @cached_property
    def similarities(self) -> Floats:
        """Return span similarities to kept copies, NaN if unknown."""
        values: Floats = self.table["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        return values

    @cached_property
    def documents(self) -> Int64s:
        """Return a number for the document of each span."""
        return _codes(self.table["id"])

    @cached_property
    def groups(self) -> Int64s:
        """Return the group of each span, by overlapping kept copies.

        Groups are numbered by their spans, then by their characters, the most first.
        """
        own, kept = np.split(_codes(self.table["id"], self.table["kept_id"]), 2)
        starts, stops = self.wholes("kept_start"), self.wholes("kept_end")
        if self.summary.get("keep") == "none":
            # The first copy names the second one, and all others name the first.
            own_starts = self.wholes("start")
            is_first = (own < kept) | ((own == kept) & (own_starts < starts))
            kept = np.where(is_first, own, kept)
            starts = np.where(is_first, own_starts, starts)
            stops = np.where(is_first, self.wholes("end"), stops)
        is_own = pc.fill_null(pc.equal(self.table["kept_in"], "input"), False).to_numpy()
        known = self.table["kept_id"].is_valid().to_numpy()
        groups = group_overlapping(np.where(known, 2 * kept + is_own, -1), starts, stops)
        counts = np.bincount(groups)
        firsts = np.unique(groups, return_index=True)[1]
        order = np.lexsort((firsts, -np.bincount(groups, self.lengths), -counts))
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order))
        return numbers[groups]

    @cached_property
    def firsts(self) -> Int64s:
        """Return the first span of each group."""
        return np.unique(self.groups, return_index=True)[1]

    def row(self, number: int) -> dict[str, Any]:
        """Return a row, with its ids as text."""
        row: dict[str, Any] = self.table.slice(number, 1).to_pylist()[0]
        return row | {k: None if row[k] is None else str(row[k]) for k in ("id", "kept_id")}

    def examples(self) -> dict[int, str]:
        """Choose example spans by similarity, then by repetition."""
        if not len(self):
            return {}
        known = np.nan_to_num(self.similarities, nan=1.0)
        chosen = choose_rows(known, [self.groups], 2)
        for rank, row in enumerate(self.firsts[:5].tolist(), 1):
            chosen.setdefault(row, f"Repeated most, number {rank}")
        return chosen

    def wanted(self) -> list[Key]:
        """Return documents with shown texts, the most wanted first."""
        rows = [*self.examples(), *self.firsts[:_MOST_SHOWN].tolist()]
        keys = [key for row in map(self.row, rows) for key in (own_key(row), kept_key(row))]
        return [key for key in dict.fromkeys(keys) if key is not None]


def _codes(*columns: pa.ChunkedArray) -> Int64s:
    """Return a number per id of the columns, -1 for null."""
    chunks = [chunk for column in columns for chunk in as_text(column).chunks]
    ids = pa.chunked_array(chunks, pa.large_string()).combine_chunks()
    codes: Int64s = pc.fill_null(ids.dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    return codes


def own_key(row: Mapping[str, Any]) -> Key:
    """Return the document of a span."""
    return "input", row["id"]


def kept_key(row: Mapping[str, Any]) -> Key | None:
    """Return the document of a kept copy, None if unknown."""
    if row["kept_id"] is None:
        return None
    return "input" if row["kept_in"] == "input" else "against", row["kept_id"]


def cut_report(cut: CutTable, texts: Mapping[Key, str], advice: str) -> Report:
    """Make the page of a cut."""
    summary, n = cut.summary, len(cut)
    documents = f"{summary['documents_cut']:,} of {counted(summary['documents_in'], 'document')}"
    stays = "a removed copy" if summary.get("keep") == "none" else "the copy that stays"
    chart = None
    if n and not (cut.similarities == 1).all():
        chart = similarity_chart(cut.similarities, summary.get("threshold"), "spans")
    sections = [
        Section(
            "repeated",
            "Repeated passages",
            tables=[_list_groups(cut, texts)] if n else [],
            nothing="No text was repeated.",
        ),
        Section(
            "examples",
            "Before and after",
            f"First the removed text, with its context in grey, then {stays}.",
            examples=[_example(cut, texts, *each) for each in cut.examples().items() if texts],
        ),
        _files_section(cut),
        Section("figures", "Similarities", charts=[chart] if chart else []),
        options_section(summary, _OPTIONS),
    ]
    step = (
        "Read the least similar examples: if text went that should stay, raise `--threshold` or "
        "`--min-tokens`. The folder kept has all documents without the repeated text."
    )
    if not n:
        step = "A smaller `--min-tokens` finds shorter passages, a lower `--threshold` edited ones."
    elif not texts:
        step = advice
    facts = [
        Fact(f"{summary['documents_in']:,}", "documents, all of which stay", "kept"),
        Fact(f"{summary['documents_cut']:,}", "documents that lost text", "gone"),
        Fact(f"{n:,}", "spans removed"),
        Fact(f"{len(cut.firsts):,}", "different passages"),
        Fact(f"{summary['characters_removed']:,}", "characters removed"),
    ]
    headline = f"{counted(n, 'span')} cut out of {documents}"
    sentences = ["Each span was verified against the copy that is named for it."] if n else []
    return Report("cut", headline, sentences, facts, sections, next_step=step)


def _list_groups(cut: CutTable, texts: Mapping[Key, str]) -> Table:
    pairs = np.unique(np.stack([cut.groups, cut.documents]), axis=1)
    counts = [np.bincount(cut.groups), np.bincount(pairs[0]), np.bincount(cut.groups, cut.lengths)]
    known = cut.summary.get("most_repeated") or []
    rows: list[Sequence[Cell]] = []
    for group, first in enumerate(cut.firsts[:_MOST_LISTED].tolist()):
        row = cut.row(first)
        # Without the documents, the summary has the beginnings of some.
        text = str(known[group]["text"]) if group < len(known) else ""
        if whole := texts.get(own_key(row)):
            text = whole[row["start"] : row["end"]]
        where = "" if row["kept_id"] is None else f"{shortened(row['kept_id'])}, "
        place = where + cite(row["kept_start"] or 0, row["kept_end"] or 0)
        rows.append((excerpt(text, 160), *(int(each[group]) for each in counts), place))
    copy = "a copy is in" if cut.summary.get("keep") == "none" else "stays in"
    left = len(cut.firsts) - len(rows)
    note = f"Passages with fewer copies: {left:,}, in removed.parquet." if left else ""
    head = ("text", "copies removed", "documents", "characters", copy)
    return Table("Passages, the most repeated first", head, rows, note)


def _files_section(cut: CutTable) -> Section:
    if not len(cut):
        return Section("files", "By file")
    encoded = as_text(cut.table["file"]).combine_chunks().dictionary_encode()
    names, files = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    # A document's spans may overlap. Equal ids are in different files.
    keys, groups = np.unique(cut.documents * len(names) + files, return_inverse=True)
    unions = union_lengths(cut.wholes("start"), cut.wholes("end"), groups, len(keys))
    totals = np.bincount(keys % len(names), unions, len(names)).astype(np.int64)
    order = np.argsort(-totals, kind="stable")
    share = percent(totals[order[0]] / max(1, totals.sum()))
    largest = shortened(names[order[0]], 40)
    description = f"{share} of the removed characters come from {largest}."
    counts = totals[order].tolist(), np.bincount(files)[order].tolist()
    rows = list(zip([names[k] for k in order.tolist()], *counts, strict=True))
    bars = [(name, (n,)) for name, n, _ in rows]
    chart = bars_by_file("Characters removed by file", description, {"characters": "gone"}, bars)
    listed = [(shortened(name), n, n_spans) for name, n, n_spans in rows]
    table = Table("Files, the largest loss first", ("file", "characters", "spans"), listed)
    return Section("files", "By file", charts=[chart], tables=[table])


def _example(cut: CutTable, texts: Mapping[Key, str], number: int, title: str) -> Example:
    row = cut.row(number)
    if row["similarity"] is not None:
        title += f": similarity {row['similarity']:.4f}"
    text, span = texts.get(own_key(row)), (row["start"], row["end"])
    own = Document(row["id"], None, None, text and text[slice(*span)])
    key, kept_span = kept_key(row), (row["kept_start"] or 0, row["kept_end"] or 0)
    kept_text = None if key is None else texts.get(key)
    kept = Document(row["kept_id"] or "?", None, None, kept_text and kept_text[slice(*kept_span)])
    sides = "the removed text", "the other copy"
    example = compare_documents(title, own, kept, roles=("Removed from", "In"), sides=sides)
    example = replace(example, places=(cite(*span), cite(*kept_span)))
    return example if text is None else with_context(example, 0, text, span)
