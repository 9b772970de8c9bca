"""The page of shared passages: of an alignment, or of items that a search found in a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.outputs.tables import TableRows
from neardup.passages.documents import NO_RUNS
from neardup.passages.matches import HiddenText, union_lengths
from neardup.reports.charts import bars, matrix_of_pairs, similarity_chart, size_chart
from neardup.reports.examples import Document, Example, choose_rows, compare_documents, with_context
from neardup.reports.page import Cell, Fact, Report, Section, Table, options_section
from neardup.reports.text import percent, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int64s
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer

COLUMNS = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
"""Columns of every table of passages."""

_MORE = ("similarity", "query_text", "doc_text", "query_place", "doc_place")
# Pairs of documents and passages that are listed; characters of all their texts, and of one.
_MOST_PAIRS, _MOST_PASSAGES = 1_000, 20_000
_MOST_CHARACTERS, _MOST_OF_ONE, _LEAST_OF_ONE = 5_000_000, 300, 80
# Characters at which an item begins at most, and its length: a passage from there is no book.
_ITEM_START, _ITEM_LENGTH = 40, 3_000
# Pairs whose documents have their texts read.
_MOST_WITH_TEXT = 200
_OPTIONS = (
    *("threshold", "min_tokens", "gap", "max_documents", "window_tokens", "window_threshold"),
    *("predicted_recall", "ignored_tokens", "frequent_windows", "empty_documents"),
    *("short_documents", "empty_queries", "short_queries"),
)


@dataclass(frozen=True)
class PassageTable:
    """Passages in memory, with numbers for their documents.

    Parameters
    ----------
    table
        A row for each passage.
    ids
        Ids of the documents, by their numbers; documents of the second collection follow.
    queries, docs
        Numbers of both documents of each passage.
    is_one
        Whether both sides are of one collection.
    is_search
        Whether the queries are items that a search found in a corpus.
    summary
        The summary of the job; it may be empty.
    """

    table: pa.Table
    ids: pa.Array
    queries: Int64s
    docs: Int64s
    is_one: bool
    is_search: bool
    summary: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.table)

    def places(self, side: str) -> tuple[Int64s, Int64s]:
        """Return the starts and ends of all passages on a side, ``query`` or ``doc``."""
        return self.table[f"{side}_start"].to_numpy(), self.table[f"{side}_end"].to_numpy()

    @cached_property
    def lengths(self) -> Int64s:
        """Characters of each passage in its query."""
        starts, ends = self.places("query")
        return ends - starts

    @cached_property
    def similarities(self) -> Floats:
        """The similarity of each passage, NaN if unknown."""
        if "similarity" not in self.table.column_names:
            return np.full(len(self), np.nan)
        values: Floats = self.table["similarity"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        return values

    @cached_property
    def pairs(self) -> DocumentPairs:
        """The pairs of documents, those that share most first."""
        width = max(len(self.ids), 1)
        keys, groups = np.unique(self.queries * width + self.docs, return_inverse=True)
        n, shared = len(keys), []
        for side in ("query", "doc"):
            shared.append(union_lengths(*self.places(side), groups, n))
        best = np.zeros(n)
        np.maximum.at(best, groups, np.nan_to_num(self.similarities))
        order = np.argsort(-np.maximum(*shared), kind="stable")
        counts = np.bincount(groups, minlength=n)
        numbers = np.empty(n, np.int64)
        numbers[order] = np.arange(n)
        return DocumentPairs(
            keys[order] // width,
            keys[order] % width,
            shared[0][order],
            shared[1][order],
            counts[order],
            best[order],
            numbers[groups],
        )

    def wanted(self) -> list[int]:
        """Return the documents whose texts the page shows, the most wanted first."""
        rows = list(self.examples())
        numbers = [self.queries[rows], self.docs[rows]]
        pairs = self.pairs
        numbers += [pairs.queries[:_MOST_WITH_TEXT], pairs.docs[:_MOST_WITH_TEXT]]
        return list(dict.fromkeys(np.concatenate(numbers).tolist()))

    def examples(self) -> dict[int, str]:
        """Choose passages from the least similar to equal ones, and the longest."""
        if not len(self):
            return {}
        values = np.nan_to_num(self.similarities, nan=1.0)
        chosen = choose_rows(values, [self.queries], 6 if self.is_search else 2)
        chosen.setdefault(int(np.argmax(self.lengths)), "The longest")
        return chosen


@dataclass(frozen=True)
class DocumentPairs:
    """Pairs of documents: numbers of both, characters they share, passages, best similarity.

    ``groups`` has the pair of each passage.
    """

    queries: Int64s
    docs: Int64s
    of_query: Int64s
    of_doc: Int64s
    n_passages: Int64s
    best: Floats
    groups: Int64s

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def shared(self) -> Int64s:
        """Characters in passages, of the side that has more."""
        return np.maximum(self.of_query, self.of_doc)


@dataclass(frozen=True)
class FoundDocuments:
    """The documents of a table, as far as they were read.

    Parameters
    ----------
    files
        The file of each; empty if unknown.
    texts
        Texts by number.
    counts
        Documents of each collection; empty if none was read.
    hidden
        Text that was ignored, and the tokenizer.
    """

    files: Sequence[str]
    texts: Mapping[int, str] = field(default_factory=dict)
    counts: Sequence[int] = ()
    hidden: HiddenText = field(
        default_factory=lambda: HiddenText(NO_RUNS, make_tokenizer("words", Normalisation()))
    )

    def shares(self, passages: PassageTable) -> list[Floats]:
        """Return the share of both documents of each pair that is in passages, NaN if unknown.

        Documents are measured from their first token to their last, without ignored text.
        """
        pairs, texts = passages.pairs, list(self.texts.values())
        rows = np.full(len(passages.ids), -1)
        rows[list(self.texts)] = np.arange(len(texts))
        ids = passages.ids.take(pa.array(list(self.texts), pa.int64()))
        visible = self.hidden.look_at(pa.array(texts, pa.large_string()), ids)
        found = []
        for side, numbers, of_pairs in (
            ("query", passages.queries, pairs.queries),
            ("doc", passages.docs, pairs.docs),
        ):
            known = np.flatnonzero(rows[numbers] >= 0)
            starts, stops = (places[known] for places in passages.places(side))
            extents = visible.extents(rows[numbers[known]], starts, stops)
            groups = pairs.groups[known]
            shared = union_lengths(extents[:, 0], extents[:, 1], groups, len(pairs))
            lengths = np.full(len(pairs), np.nan)
            lengths[groups] = extents[:, 2]
            found.append(np.where(rows[of_pairs] >= 0, shared / lengths, np.nan))
        return found


def read_passages(
    rows: TableRows, summary: Mapping[str, Any] | None, is_one: bool | None
) -> PassageTable:
    """Read a table of ``align`` or ``search``.

    ``is_one`` is whether both sides are of one collection; None if an id on both sides decides.
    """
    names = rows.schema.names
    if missing := [name for name in COLUMNS if name not in names]:
        message = (
            f"the table has no column {missing[0]!r}; a table of passages, as align and search "
            f"write it, has {', '.join(COLUMNS)}"
        )
        raise InvalidInputError(message)
    wanted = [*COLUMNS, *(name for name in _MORE if name in names)]
    empty = rows.schema.empty_table().select(wanted)
    table = pa.concat_tables([empty, *rows.batches(*wanted)]).combine_chunks()
    for name in COLUMNS:
        if name[-3:] != "_id" and not pa.types.is_integer(table[name].type):
            message = f"column {name!r} has values that are not whole numbers"
            raise InvalidInputError(message)
    sides = [as_text(table[name]).combine_chunks() for name in ("query_id", "doc_id")]
    sides = [pa.array(side, pa.large_string()) for side in sides]
    shares_ids = bool(pc.any(pc.is_in(sides[1].unique(), sides[0])).as_py())
    is_search = "queries" in (summary or {})
    if summary is None and not is_one and not shares_ids:
        is_search = _looks_like_search(table)
    if is_one is None or is_search:
        is_one = shares_ids and not is_search
    if is_one:
        both = pa.concat_arrays(sides).dictionary_encode()
        ids, codes = both.dictionary, both.indices.to_numpy().astype(np.int64)
        queries, docs = codes[: len(table)], codes[len(table) :]
    else:
        encoded = [side.dictionary_encode() for side in sides]
        queries, docs = (each.indices.to_numpy().astype(np.int64) for each in encoded)
        docs += len(encoded[0].dictionary)
        ids = pa.concat_arrays([each.dictionary for each in encoded])
    return PassageTable(table, ids, queries, docs, is_one, is_search, summary or {})


def _looks_like_search(table: pa.Table) -> bool:
    """Return whether each query is one short passage from its beginning, as items are.

    Tables of passages do not record which job wrote them.
    """
    kinds = [(f"query_{end}", kind) for end in ("start", "end") for kind in ("min", "max")]
    found = table.group_by("query_id", use_threads=False).aggregate(kinds)
    start, last_start, end, last_end = (found[f"{n}_{k}"].to_numpy() for n, k in kinds)
    is_whole = (start == last_start) & (end == last_end) & (start <= _ITEM_START)
    return len(found) > 0 and bool(is_whole.all() and np.median(end - start) <= _ITEM_LENGTH)


def passage_report(passages: PassageTable, found: FoundDocuments, advice: str) -> Report:
    """Make the page of shared passages.

    Parameters
    ----------
    passages
        The passages.
    found
        Their documents.
    advice
        The next step if no text is available.
    """
    names = _Names(passages, found)
    pairs, n = passages.pairs, len(passages)
    examples = [_example(names, *each) for each in passages.examples().items()]
    examples = [each for each in examples if each.differences.a]
    listed = [_list_passages(names)] if n else []
    threshold = passages.summary.get("threshold")
    charts = [
        similarity_chart(passages.similarities, threshold, "passages"),
        size_chart("lengths", "Lengths of passages", passages.lengths, ("characters", "passages")),
    ]
    first = _items(names) if passages.is_search else _pairs(names)
    sections = [
        first,
        Section(
            "examples",
            "Examples, from the least similar to certain",
            "Words that only one text has are marked.",
            examples=examples,
            nothing=advice if n else "",
        ),
        Section("passages", "All passages", tables=listed),
        Section("figures", "Similarities and lengths", charts=[each for each in charts if each]),
        options_section(passages.summary, _OPTIONS),
    ]
    if passages.is_search:
        headline, facts, step = _search_facts(passages, found)
        kind = "search"
        sentences = [
            "An item is found if a passage of the corpus is similar to the whole of it; parts of "
            "items are not searched. Read the least similar items first: items of one template, "
            "which differ in names and numbers, are the usual false alarm."
        ]
    else:
        kind, headline = "shared passages", "No shared passages"
        if n:
            of = counted(len(pairs), "pair")
            headline = f"{counted(n, 'shared passage')} in {of} of documents"
        facts = [
            Fact(f"{n:,}", "passages"),
            Fact(f"{len(pairs):,}", "pairs of documents"),
            Fact(f"{len(np.unique([passages.queries, passages.docs])):,}", "documents with one"),
            Fact(f"{int(pairs.shared.sum()):,}", "characters in passages, of the longer side"),
        ]
        sentences = [_rule(passages)]
        step = "Read the least similar examples: if they are chance, raise `--threshold`."
        if not n:
            step = "A smaller `--min-tokens` finds shorter passages, a lower `--threshold` edited "
            step += "ones."
    if n and not examples:
        step = advice
    return Report(kind, headline, sentences, facts, sections, next_step=step)


class _Names:
    """Documents and passages as the page writes them."""

    def __init__(self, passages: PassageTable, found: FoundDocuments) -> None:
        self.passages, self.found = passages, found
        names = passages.ids.to_pylist()
        repeated = {
            name for name, n in zip(*np.unique(names, return_counts=True), strict=True) if n > 1
        }
        self.names = [
            shortened(name or '""') + (f" in {file}" if file and name in repeated else "")
            for name, file in zip(names, found.files, strict=True)
        ]

    def text(self, side: str, row: int) -> str | None:
        """Return the text of a passage on a side; None if it is unknown."""
        p = self.passages
        whole = self.found.texts.get(int((p.queries if side == "query" else p.docs)[row]))
        if whole is not None:
            return whole[self.span(side, row)]
        if f"{side}_text" in p.table.column_names:
            text: str | None = p.table[f"{side}_text"][row].as_py()
            return text
        return None

    def span(self, side: str, row: int) -> slice:
        """Return the place of a passage in its document."""
        p = self.passages.table
        return slice(p[f"{side}_start"][row].as_py(), p[f"{side}_end"][row].as_py())

    def place(self, side: str, row: int) -> str:
        """Write the place of a passage, as people cite it if the table has that."""
        span = self.span(side, row)
        characters = f"characters {span.start:,} to {span.stop:,}"
        if f"{side}_place" in self.passages.table.column_names:
            cited = self.passages.table[f"{side}_place"][row].as_py()
            return f"{cited}, {characters}" if cited else characters
        return characters


def _rule(passages: PassageTable) -> str:
    threshold, tokens = (passages.summary.get(name) for name in ("threshold", "min_tokens"))
    if threshold is None or tokens is None:
        return "A passage is a stretch of text in two documents that may have been edited."
    return (
        f"A passage is a stretch of at least {tokens:,} tokens in one of two documents with a "
        f"similarity of at least {threshold:g}. Shorter or less similar stretches are not here."
    )


def _pairs(names: _Names) -> Section:
    """Draw and list the pairs of documents, those that share most first."""
    passages, pairs = names.passages, names.passages.pairs
    is_known = bool(names.found.texts)
    found = names.found.shares(passages) if is_known else []
    rows: list[Sequence[Cell]] = []
    for k in range(min(len(pairs), _MOST_PAIRS)):
        a, b = int(pairs.queries[k]), int(pairs.docs[k])
        shares = ["" if np.isnan(each[k]) else percent(float(each[k])) for each in found]
        counts = int(pairs.n_passages[k]), int(pairs.shared[k])
        rows.append((names.names[a], names.names[b], *counts, *shares))
    head = ["first", "second", "passages", "characters"]
    head += ["of the first", "of the second"] * is_known
    left = len(pairs) - len(rows)
    note = f"{left:,} pairs that share less are in the table." if left else ""
    table = Table("Pairs of documents that share most", head, rows, note)
    sides, label_of, kind = (pairs.queries, pairs.docs), names.names.__getitem__, "document"
    files = sorted({file for file in names.found.files if file})
    if len(files) > 2 and len(names.names) > 40:
        codes = {file: k for k, file in enumerate(["", *files])}
        of = np.array([codes[file] for file in names.found.files], np.int64)
        sides, kind = (of[pairs.queries], of[pairs.docs]), "file"
        label_of = ["(none)", *files].__getitem__
    if passages.is_one:
        first, second = sides
        off = first != second
        sides = np.concatenate([first, second[off]]), np.concatenate([second, first[off]])
        weights = np.concatenate([pairs.shared, pairs.shared[off]])
    else:
        weights = pairs.shared
    title = f"Characters that {kind}s share"
    titles = (f"first {kind}", f"second {kind}")
    chart = matrix_of_pairs("matrix", title, sides, weights, label_of, titles)
    nothing = "No two documents share a passage."
    tables = [table] if rows else []
    charts = [chart] if chart else []
    return Section("pairs", "Who shares with whom", "", charts, tables, nothing=nothing)


def _items(names: _Names) -> Section:
    """List the items that were found, the least similar first, and the files that have them."""
    passages, pairs = names.passages, names.passages.pairs
    best = np.full(len(passages.ids), -1.0)
    np.maximum.at(best, pairs.queries, pairs.best)
    items = np.flatnonzero(best >= 0)
    order = items[np.argsort(best[items], kind="stable")]
    by_item = np.lexsort((-pairs.best, pairs.queries))
    starts = np.searchsorted(pairs.queries[by_item], order)
    n_documents = np.bincount(pairs.queries, minlength=len(best))
    rows: list[Sequence[Cell]] = []
    for item, start in zip(order[:_MOST_PAIRS].tolist(), starts.tolist(), strict=False):
        some = pairs.docs[by_item[start : start + min(5, n_documents[item])]].tolist()
        named = ", ".join(names.names[each] for each in some)
        more = int(n_documents[item]) - len(some)
        named += f" and {more:,} more" if more else ""
        rows.append((names.names[item], float(best[item]), int(n_documents[item]), named))
    note = "" if len(order) <= len(rows) else f"{len(order) - len(rows):,} more are in the table."
    head = ("item", "best similarity", "documents", "where")
    tables = [Table("Items found, the least similar first", head, rows, note)] if rows else []
    charts, files = [], names.found.files
    if rows and any(files[doc] for doc in pairs.docs.tolist()):
        found = {
            (files[d], q) for q, d in zip(pairs.queries.tolist(), pairs.docs.tolist(), strict=True)
        }
        counts = {file: sum(each[0] == file for each in found) for file in {f for f, _ in found}}
        drawn = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:20]
        text = "Different items in documents of each file."
        bars_of = [(file or "(no file)", (n,)) for file, n in drawn]
        charts = [bars("files", "Items by file of the corpus", text, {"items": "gone"}, bars_of)]
    nothing = "No item was found."
    return Section("items", "Items and where they are", "", charts, tables, nothing=nothing)


def _search_facts(passages: PassageTable, found: FoundDocuments) -> tuple[str, list[Fact], str]:
    n = len(np.unique(passages.queries))
    n_items = found.counts[0] if found.counts else passages.summary.get("queries", n)
    headline = f"{n:,} of {counted(n_items, 'item')} found"
    facts = [
        Fact(f"{n:,}", "items found", "gone"),
        Fact(f"{max(n_items - n, 0):,}", "items not found", "kept"),
        Fact(f"{len(np.unique(passages.docs)):,}", "documents that have one"),
        Fact(f"{len(passages):,}", "places"),
    ]
    step = "`neardup drop --named-in TABLE` removes these documents from the corpus."
    if not n:
        step = "A lower `--threshold` finds edited items."
    return headline, facts, step


def _list_passages(names: _Names) -> Table:
    """List the passages, the longest first."""
    passages = names.passages
    order = np.argsort(-passages.lengths, kind="stable")[:_MOST_PASSAGES].tolist()
    most = min(_MOST_OF_ONE, max(_LEAST_OF_ONE, _MOST_CHARACTERS // (2 * max(len(order), 1))))
    rows: list[Sequence[Cell]] = []
    for row in order:
        sides = []
        for side, numbers in (("query", passages.queries), ("doc", passages.docs)):
            text = names.text(side, row)
            shown = "" if text is None else text[:most] + " …" * (len(text) > most)
            sides.append((names.names[numbers[row]], names.place(side, row), shown))
        (a, place_a, text_a), (b, place_b, text_b) = sides
        similarity = passages.similarities[row]
        value = None if np.isnan(similarity) else float(similarity)
        length = int(passages.lengths[row])
        rows.append((f"{a}, {place_a}", text_a, f"{b}, {place_b}", text_b, length, value))
    head = ("first", "its text", "second", "its text", "characters", "similarity")
    left = len(passages) - len(rows)
    note = f"{left:,} shorter passages are in the table." if left else ""
    return Table("Passages, the longest first", head, rows, note)


def _example(names: _Names, row: int, title: str) -> Example:
    p = names.passages
    numbers = int(p.queries[row]), int(p.docs[row])
    similarity = p.similarities[row]
    title += "" if np.isnan(similarity) else f": similarity {similarity:.4f}"
    documents = [
        Document(
            names.names[number], names.found.files[number] or None, None, names.text(side, row)
        )
        for number, side in zip(numbers, ("query", "doc"), strict=True)
    ]
    example = compare_documents(title, *documents)
    places = names.place("query", row), names.place("doc", row)
    example = replace(example, places=places, are_equals=not p.is_search)
    whole = names.found.texts.get(numbers[1])
    if p.is_search and whole is not None:
        span = names.span("doc", row)
        example = with_context(example, 1, whole, (span.start, span.stop))
    return example
