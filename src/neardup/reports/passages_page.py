"""The page of shared passages of an alignment or search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.documents import as_text
from neardup.outputs.output_tables import TableRows
from neardup.passages.passage_matches import union_lengths
from neardup.reading.texts import FoundText
from neardup.reports.charts import matrix_of_pairs, similarity_chart
from neardup.reports.examples import (
    Document,
    Example,
    choose_rows,
    cite,
    compare_documents,
    with_context,
)
from neardup.reports.page import Cell, Fact, Report, Section, Table, options_section
from neardup.reports.text import percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s

COLUMNS = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
"""Columns of every table of passages."""

_MORE = ("similarity", "query_text", "doc_text", "query_place", "doc_place")
# Pairs of documents and passages that are listed; characters of all their texts, and of one.
_MOST_PAIRS, _MOST_PASSAGES = 1_000, 20_000
_MOST_CHARACTERS, _MOST_OF_ONE, _LEAST_OF_ONE = 5_000_000, 300, 80
# Pairs whose documents have their texts read.
_MOST_WITH_TEXT = 100
_OPTIONS = (
    *("threshold", "min_tokens", "gap", "max_documents", "window_tokens", "window_threshold"),
    *("predicted_recall", "ignored_tokens", "frequent_windows", "empty_documents"),
    *("short_documents", "empty_queries", "short_queries"),
)


@dataclass(frozen=True)
class PassageTable:
    """Passages in memory, with numbers for their documents.

    ``table`` has a row per passage, and ``queries`` and ``docs`` the numbers of its documents in
    ``ids``. The first collection has ``n_first`` documents, all if it is the only one; the second
    collection's follow. ``summary``, that of the job, may be empty.
    """

    table: pa.Table
    ids: pa.Array
    queries: Int64s
    docs: Int64s
    n_first: int
    summary: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def is_one(self) -> bool:
        """Return whether both sides are one collection."""
        return self.n_first == len(self.ids)

    def places(self, side: str) -> tuple[Int64s, Int64s]:
        """Return passage starts and ends on side ``query`` or ``doc``."""
        return self.table[f"{side}_start"].to_numpy(), self.table[f"{side}_end"].to_numpy()

    @cached_property
    def lengths(self) -> Int64s:
        """Return the characters of each passage in its query."""
        starts, ends = self.places("query")
        return ends - starts

    @cached_property
    def similarities(self) -> Floats:
        """Return the similarity of each passage, NaN if unknown."""
        if "similarity" not in self.table.column_names:
            return np.full(len(self), np.nan)
        values: Floats = self.table["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        return values

    @cached_property
    def pairs(self) -> DocumentPairs:
        """Return document pairs, most shared text first."""
        width = max(len(self.ids), 1)
        keys, groups = np.unique(self.queries * width + self.docs, return_inverse=True)
        n = len(keys)
        shared = np.maximum(
            *(union_lengths(*self.places(side), groups, n) for side in ("query", "doc"))
        )
        best = np.zeros(n)
        np.maximum.at(best, groups, np.nan_to_num(self.similarities))
        order = np.argsort(-shared, kind="stable")
        counts = np.bincount(groups, minlength=n)
        numbers = np.argsort(order)
        queries, docs = keys[order] // width, keys[order] % width
        return DocumentPairs(
            queries, docs, shared[order], counts[order], best[order], numbers[groups]
        )

    def wanted(self) -> Int64s:
        """Return the documents with texts on the page."""
        rows, pairs = list(self.examples()), self.pairs
        some = pairs.queries[:_MOST_WITH_TEXT], pairs.docs[:_MOST_WITH_TEXT]
        return np.unique(np.concatenate([self.queries[rows], self.docs[rows], *some]))

    def examples(self) -> dict[int, str]:
        """Choose passages by similarity, and the longest passage."""
        if not len(self):
            return {}
        chosen = choose_rows(np.nan_to_num(self.similarities, nan=1.0), [self.queries], 2)
        chosen.setdefault(int(np.argmax(self.lengths)), "The longest")
        return chosen

    def shares(self, texts: Mapping[int, FoundText]) -> list[Floats]:
        """Return the shares of documents' characters in passages, NaN if unknown."""
        pairs, lengths = self.pairs, np.full(len(self.ids), np.nan)
        lengths[list(texts)] = [max(len(each.text), 1) for each in texts.values()]
        return [
            union_lengths(*self.places(side), pairs.groups, len(pairs)) / lengths[documents]
            for side, documents in (("query", pairs.queries), ("doc", pairs.docs))
        ]


@dataclass(frozen=True)
class DocumentPairs:
    """Pairs of documents, with shared characters and best similarity."""

    queries: Int64s
    docs: Int64s
    shared: Int64s
    n_passages: Int64s
    best: Floats
    groups: Int64s

    def __len__(self) -> int:
        return len(self.queries)


def read_passages(
    rows: TableRows, summary: Mapping[str, Any] | None, *, has_other: bool
) -> PassageTable:
    """Read a table of ``align`` or ``search``.

    Both sides are of one collection if they share an id, and there is no other one (``has_other``).
    """
    names, summary = rows.schema.names, summary or {}
    table = rows.to_table(*COLUMNS, *(name for name in _MORE if name in names))
    sides = [as_text(table[name]).combine_chunks() for name in ("query_id", "doc_id")]
    sides = [pa.array(side, pa.large_string()) for side in sides]
    is_one = not has_other and "queries" not in summary
    if is_one and pc.any(pc.is_in(sides[1].unique(), sides[0])).as_py():
        both = pa.concat_arrays(sides).dictionary_encode()
        queries, docs = np.split(both.indices.to_numpy().astype(np.int64), 2)
        return PassageTable(table, both.dictionary, queries, docs, len(both.dictionary), summary)
    first, second = (side.dictionary_encode() for side in sides)
    n_first = len(first.dictionary)
    queries, docs = (each.indices.to_numpy().astype(np.int64) for each in (first, second))
    ids = pa.concat_arrays([first.dictionary, second.dictionary])
    return PassageTable(table, ids, queries, docs + n_first, n_first, summary)


def passage_report(passages: PassageTable, texts: Mapping[int, FoundText], advice: str) -> Report:
    """Make the page of shared passages."""
    pairs, n, summary = passages.pairs, len(passages), passages.summary
    chosen = passages.examples()
    examples = [
        _example(passages, row, title, sides)
        for (row, title), sides in zip(
            chosen.items(), _show(passages, texts, list(chosen)), strict=True
        )
    ]
    examples = [each for each in examples if each.differences.a]
    chart = similarity_chart(passages.similarities, summary.get("threshold"), "passages")
    sections = [
        _pairs(passages, _names_of(passages, texts), passages.shares(texts) if texts else []),
        Section(
            "examples",
            "Examples, least similar first",
            "Words that only one text has are marked.",
            examples=examples,
            nothing=advice if n else "",
        ),
        Section("passages", "All passages", tables=[_list_passages(passages, texts)] if n else []),
        Section("figures", "Similarities", charts=[chart] if chart else []),
        options_section(summary, _OPTIONS),
    ]
    headline = f"{counted(n, 'shared passage')} in {counted(len(pairs), 'pair')} of documents"
    step = "Read the least similar examples: if they match by chance, raise `--threshold`."
    if "queries" in summary:
        n_queries = counted(summary["queries"], "query", "queries")
        headline = f"{len(np.unique(passages.queries)):,} of {n_queries} found"
        step += " `neardup drop --named-in TABLE` removes documents with a passage."
    elif not n:
        headline = "No shared passages"
    if not n:
        step = "A smaller `--min-tokens` finds shorter passages, a lower `--threshold` edited ones."
    elif not examples:
        step = advice
    facts = [
        Fact(f"{n:,}", "passages"),
        Fact(f"{len(pairs):,}", "pairs of documents"),
        Fact(f"{len(np.unique([passages.queries, passages.docs])):,}", "documents with a passage"),
        Fact(f"{int(pairs.shared.sum()):,}", "characters in passages (larger side of each pair)"),
    ]
    threshold, tokens = (summary.get(name) for name in ("threshold", "min_tokens"))
    rule = "A passage is a stretch of text in two documents that may have been edited."
    if threshold is not None and tokens is not None:
        rule = (
            f"A passage is a stretch of at least {tokens:,} tokens in one of two documents with a "
            f"similarity of at least {threshold:g}. Shorter or less similar stretches are not here."
        )
    return Report("shared passages", headline, [rule], facts, sections, next_step=step)


def _names_of(passages: PassageTable, texts: Mapping[int, FoundText]) -> list[str]:
    """Return the documents' names, with files if ids are repeated."""
    ids = passages.ids.to_pylist()
    names = [shortened(each or '""') for each in ids]
    known, counts = np.unique(ids, return_counts=True)
    repeated = set(known[counts > 1].tolist())
    for number, found in texts.items():
        if ids[number] in repeated:
            names[number] += f" in {found.file}"
    return names


class _Shown(NamedTuple):
    """One side of a passage: its document, and its text if known."""

    name: str
    document: FoundText | None
    span: tuple[int, int]
    text: str | None
    place: str


def _show(
    passages: PassageTable, texts: Mapping[int, FoundText], rows: Sequence[int]
) -> list[list[_Shown]]:
    """Return both sides of some passages."""
    names, shown = _names_of(passages, texts), []
    listed = passages.table.take(pa.array(rows, pa.int64())).to_pylist()
    for row, values in zip(rows, listed, strict=True):
        sides = []
        for side, numbers in (("query", passages.queries), ("doc", passages.docs)):
            document = texts.get(int(numbers[row]))
            span = values[f"{side}_start"], values[f"{side}_end"]
            text = values.get(f"{side}_text") if document is None else document.text[slice(*span)]
            place = cite(*span, values.get(f"{side}_place"))
            sides.append(_Shown(names[numbers[row]], document, span, text, place))
        shown.append(sides)
    return shown


def _pairs(passages: PassageTable, names: Sequence[str], shares: Sequence[Floats]) -> Section:
    pairs = passages.pairs
    first, second, weights = pairs.queries, pairs.docs, pairs.shared
    columns: list[Sequence[Cell]] = [
        [names[number] for number in numbers[:_MOST_PAIRS].tolist()] for numbers in (first, second)
    ]
    figures = (pairs.n_passages, pairs.shared, pairs.best)
    columns += [each[:_MOST_PAIRS].tolist() for each in figures]
    for share in shares:
        listed = share[:_MOST_PAIRS].tolist()
        columns.append(["" if np.isnan(each) else percent(each) for each in listed])
    head = ["first", "second", "passages", "characters", "best similarity"]
    head += ["of the first", "of the second"] * bool(shares)
    rows = list(zip(*columns, strict=True))
    left = len(pairs) - len(rows)
    note = f"Pairs that share less: {left:,}, in the table." if left else ""
    tables = [Table("Pairs of documents that share most", head, rows, note)] if rows else []
    if passages.is_one:
        off = first != second
        weights = np.concatenate([weights, weights[off]])
        sides = (first, second[off]), (second, first[off])
        first, second = (np.concatenate(each) for each in sides)
    titles = ("first document", "second document")
    chart = matrix_of_pairs((first, second), weights, names, titles)
    charts = [chart] if chart else []
    nothing = "No two documents share a passage."
    return Section("pairs", "Who shares with whom", "", charts, tables, nothing=nothing)


def _list_passages(passages: PassageTable, texts: Mapping[int, FoundText]) -> Table:
    order = np.argsort(-passages.lengths, kind="stable")[:_MOST_PASSAGES].tolist()
    most = min(_MOST_OF_ONE, max(_LEAST_OF_ONE, _MOST_CHARACTERS // (2 * max(len(order), 1))))
    rows: list[Sequence[Cell]] = []
    for row, sides in zip(order, _show(passages, texts, order), strict=True):
        cells: list[Cell] = []
        for side in sides:
            text = side.text or ""
            cells += [f"{side.name}, {side.place}", text[:most] + " …" * (len(text) > most)]
        similarity = float(passages.similarities[row])
        value = None if np.isnan(similarity) else similarity
        rows.append((*cells, int(passages.lengths[row]), value))
    head = ("first", "its text", "second", "its text", "characters", "similarity")
    left = len(passages) - len(rows)
    note = f"{left:,} shorter passages are in the table." if left else ""
    return Table("Passages, the longest first", head, rows, note)


def _example(passages: PassageTable, row: int, title: str, sides: Sequence[_Shown]) -> Example:
    similarity = passages.similarities[row]
    title += "" if np.isnan(similarity) else f": similarity {similarity:.4f}"
    a, b = (
        Document(each.name, each.document and each.document.file, None, each.text) for each in sides
    )
    example = compare_documents(title, a, b)
    example = replace(example, places=(sides[0].place, sides[1].place), are_equals=True)
    whole = sides[1].document
    if "queries" not in passages.summary or whole is None:
        return example
    return with_context(example, 1, whole.text, sides[1].span)
