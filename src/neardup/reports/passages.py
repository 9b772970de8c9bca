"""The page of shared passages of an alignment or search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.documents import as_text
from neardup.outputs.tables import TableRows
from neardup.passages.matches import union_lengths
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
    """Pairs of documents, with shared characters and best similarity.

    ``shared`` is of the side that has more; ``groups`` has the pair of each passage.
    """

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
    if missing := [name for name in COLUMNS if name not in names]:
        message = (
            f"the table has no column {missing[0]!r}; a table of passages, as align and search "
            f"write it, has {', '.join(COLUMNS)}"
        )
        raise InvalidInputError(message)
    table = rows.to_table(*COLUMNS, *(name for name in _MORE if name in names))
    for name in COLUMNS:
        if name[-3:] != "_id" and not pa.types.is_integer(table[name].type):
            message = f"column {name!r} has values that are not whole numbers"
            raise InvalidInputError(message)
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


def passage_report(
    passages: PassageTable,
    texts: Mapping[int, FoundText],
    advice: str,
) -> Report:
    """Make the page of shared passages.

    ``texts`` are available documents by number, and ``advice`` is the next step without any.
    """
    names = _Names(passages, texts)
    pairs, n, summary = passages.pairs, len(passages), passages.summary
    examples = [_example(names, *each) for each in passages.examples().items()]
    examples = [each for each in examples if each.differences.a]
    chart = similarity_chart(passages.similarities, summary.get("threshold"), "passages")
    sections = [
        _pairs(names, passages.shares(texts) if texts else []),
        Section(
            "examples",
            "Examples, from the least similar to certain",
            "Words that only one text has are marked.",
            examples=examples,
            nothing=advice if n else "",
        ),
        Section("passages", "All passages", tables=[_list_passages(names)] if n else []),
        Section("figures", "Similarities", charts=[chart] if chart else []),
        options_section(summary, _OPTIONS),
    ]
    step = "Read the least similar examples: if they are chance, raise `--threshold`."
    headline = "No shared passages"
    if n:
        of = counted(len(pairs), "pair")
        headline = f"{counted(n, 'shared passage')} in {of} of documents"
    if "queries" in summary:
        n_queries = counted(summary["queries"], "query", "queries")
        headline = f"{len(np.unique(passages.queries)):,} of {n_queries} found"
        step += " `neardup drop --named-in TABLE` removes the documents that have one."
    facts = [
        Fact(f"{n:,}", "passages"),
        Fact(f"{len(pairs):,}", "pairs of documents"),
        Fact(f"{len(np.unique([passages.queries, passages.docs])):,}", "documents with one"),
        Fact(f"{int(pairs.shared.sum()):,}", "characters in passages, of the longer side"),
    ]
    if not n:
        step = "A smaller `--min-tokens` finds shorter passages, a lower `--threshold` edited ones."
    elif not examples:
        step = advice
    return Report("shared passages", headline, [_rule(summary)], facts, sections, next_step=step)


class _Names:
    """Documents and passages as the page writes them."""

    def __init__(self, passages: PassageTable, texts: Mapping[int, FoundText]) -> None:
        self.passages, self.texts = passages, texts
        ids = passages.ids.to_pylist()
        self.names = [shortened(each or '""') for each in ids]
        known, counts = np.unique(ids, return_counts=True)
        repeated = set(known[counts > 1].tolist())
        for number, found in texts.items():
            if ids[number] in repeated:
                self.names[number] += f" in {found.file}"

    def text(self, side: str, row: int) -> str | None:
        p = self.passages
        whole = self.texts.get(int((p.queries if side == "query" else p.docs)[row]))
        if whole is not None:
            return whole.text[self.span(side, row)]
        if f"{side}_text" in p.table.column_names:
            text: str | None = p.table[f"{side}_text"][row].as_py()
            return text
        return None

    def span(self, side: str, row: int) -> slice:
        p = self.passages.table
        return slice(p[f"{side}_start"][row].as_py(), p[f"{side}_end"][row].as_py())

    def place(self, side: str, row: int) -> str:
        """Write a passage's place, with its citation if known."""
        span, name, table = self.span(side, row), f"{side}_place", self.passages.table
        cited = table[name][row].as_py() if name in table.column_names else None
        return cite(span.start, span.stop, cited)


def _rule(summary: Mapping[str, Any]) -> str:
    threshold, tokens = (summary.get(name) for name in ("threshold", "min_tokens"))
    if threshold is None or tokens is None:
        return "A passage is a stretch of text in two documents that may have been edited."
    return (
        f"A passage is a stretch of at least {tokens:,} tokens in one of two documents with a "
        f"similarity of at least {threshold:g}. Shorter or less similar stretches are not here."
    )


def _pairs(names: _Names, shares: Sequence[Floats]) -> Section:
    passages, pairs = names.passages, names.passages.pairs
    rows: list[Sequence[Cell]] = []
    for k in range(min(len(pairs), _MOST_PAIRS)):
        a, b = int(pairs.queries[k]), int(pairs.docs[k])
        figures = int(pairs.n_passages[k]), int(pairs.shared[k]), float(pairs.best[k])
        of_both = ["" if np.isnan(each[k]) else percent(float(each[k])) for each in shares]
        rows.append((names.names[a], names.names[b], *figures, *of_both))
    head = ["first", "second", "passages", "characters", "best similarity"]
    head += ["of the first", "of the second"] * bool(shares)
    left = len(pairs) - len(rows)
    note = f"{left:,} pairs that share less are in the table." if left else ""
    tables = [Table("Pairs of documents that share most", head, rows, note)] if rows else []
    first, second, weights = pairs.queries, pairs.docs, pairs.shared
    if passages.is_one:
        off = first != second
        weights = np.concatenate([weights, weights[off]])
        first, second = (
            np.concatenate([first, second[off]]),
            np.concatenate([second, first[off]]),
        )
    titles = ("first document", "second document")
    chart = matrix_of_pairs((first, second), weights, names.names, titles)
    charts = [chart] if chart else []
    nothing = "No two documents share a passage."
    return Section("pairs", "Who shares with whom", "", charts, tables, nothing=nothing)


def _list_passages(names: _Names) -> Table:
    passages = names.passages
    order = np.argsort(-passages.lengths, kind="stable")[:_MOST_PASSAGES].tolist()
    most = min(_MOST_OF_ONE, max(_LEAST_OF_ONE, _MOST_CHARACTERS // (2 * max(len(order), 1))))
    rows: list[Sequence[Cell]] = []
    for row in order:
        sides: list[Cell] = []
        for side, numbers in (("query", passages.queries), ("doc", passages.docs)):
            text = names.text(side, row)
            shown = "" if text is None else text[:most] + " …" * (len(text) > most)
            sides += [f"{names.names[numbers[row]]}, {names.place(side, row)}", shown]
        similarity = passages.similarities[row]
        value = None if np.isnan(similarity) else float(similarity)
        rows.append((*sides, int(passages.lengths[row]), value))
    head = ("first", "its text", "second", "its text", "characters", "similarity")
    left = len(passages) - len(rows)
    note = f"{left:,} shorter passages are in the table." if left else ""
    return Table("Passages, the longest first", head, rows, note)


def _example(names: _Names, row: int, title: str) -> Example:
    p = names.passages
    similarity = p.similarities[row]
    title += "" if np.isnan(similarity) else f": similarity {similarity:.4f}"
    numbers = int(p.queries[row]), int(p.docs[row])
    found = [names.texts.get(number) for number in numbers]
    documents = [
        Document(names.names[number], each and each.file, None, names.text(side, row))
        for number, each, side in zip(numbers, found, ("query", "doc"), strict=True)
    ]
    example = compare_documents(title, *documents)
    places = names.place("query", row), names.place("doc", row)
    example = replace(example, places=places, are_equals=True)
    if "queries" not in p.summary or found[1] is None:
        return example
    span = names.span("doc", row)
    return with_context(example, 1, found[1].text, (span.start, span.stop))
