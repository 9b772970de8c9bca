"""Shared amounts per pair of documents, summed over their passages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.passages.documents import DocumentBlock, IgnoredRuns
from neardup.passages.index import OpenPassages
from neardup.passages.matches import Matches, character_places, character_spans, union_lengths
from neardup.tables import Int64s, offsets_of
from neardup.text.tokenizers import Tokenizer

# Positions of ignored text, and text lengths without it.

# Rows of passages: start, stop and visible length of the query's text, and the same of the
# document's text, or of one side alone. All are in visible characters; texts extend from their
# first token to their last.
Extents = Int64s


@dataclass(frozen=True)
class Holes:
    """Spans of hidden characters, in the order of texts and positions."""

    documents: Int64s
    starts: Int64s
    stops: Int64s

    def visible_before(self, documents: Int64s, places: Int64s) -> Int64s:
        """Return the number of visible characters before positions of texts."""
        if not len(self.documents):
            return places
        # Positions of all texts on one line.
        width = 1 + max(int(self.stops.max()), int(places.max(initial=0)))
        lines = self.documents * width + self.starts
        sizes = offsets_of(self.stops - self.starts)
        first = np.searchsorted(self.documents, documents)
        before = np.searchsorted(lines, documents * width + places)
        hidden = sizes[before] - sizes[first]
        # A position within a hole follows only a part of it.
        last = np.maximum(before - 1, 0)
        inside = np.where(before > first, np.maximum(self.stops[last] - places, 0), 0)
        visible: Int64s = places - hidden + inside
        return visible


@dataclass(frozen=True)
class Visible:
    """The visible text of documents, in characters.

    ``starts`` and ``stops`` are the positions of each text's first and last visible token; both are
    0 if all are hidden. ``holes`` are hidden.
    """

    starts: Int64s
    stops: Int64s
    holes: Holes

    def extents(self, which: Int64s, starts: Int64s, stops: Int64s) -> Extents:
        """Measure passages and their texts; passage k is in text ``which[k]``."""
        before, each = self.holes.visible_before, np.arange(len(self.starts))
        # All tokens of an indexed document may be hidden.
        lengths = np.maximum(before(each, self.stops) - before(each, self.starts), 1)
        return np.stack([before(which, starts), before(which, stops), lengths[which]], axis=1)


@dataclass(frozen=True)
class HiddenText:
    """Ignored runs of tokens, if any, and the tokenizer of texts."""

    runs: IgnoredRuns
    tokenizer: Tokenizer

    def look_at(self, texts: pa.Array, ids: pa.Array) -> Visible:
        """Find the hidden spans of texts, whose documents have these ids."""
        tokens, spans = self.tokenizer.locate_tokens(self.tokenizer.texts_in_index(texts, ids))
        is_hidden = self.runs.are_ignored(tokens)
        numbers = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
        # A hole continues while the next token of the same text is hidden, too.
        goes_on = is_hidden[1:] & is_hidden[:-1] & (numbers[1:] == numbers[:-1])
        firsts = np.flatnonzero(is_hidden & ~np.concatenate([[False], goes_on])[: len(numbers)])
        lasts = np.flatnonzero(is_hidden & ~np.concatenate([goes_on, [False]])[: len(numbers)])
        documents = numbers[firsts]
        places = character_spans(texts, documents, spans.starts[firsts], spans.stops[lasts])
        holes = Holes(documents, *places)
        visible = np.flatnonzero(~is_hidden)
        filled, firsts = np.unique(numbers[visible], return_index=True)
        lasts = np.append(firsts[1:], len(visible))[: len(filled)] - 1
        ends = character_spans(
            texts, filled, spans.starts[visible[firsts]], spans.stops[visible[lasts]]
        )
        starts, stops = np.zeros((2, len(texts)), np.int64)
        starts[filled], stops[filled] = ends
        return Visible(starts, stops, holes)


_COLUMNS = [
    "query_id",
    "doc_id",
    "passages",
    "longest",
    "query_shared",
    "doc_shared",
    "query_share",
    "doc_share",
]


@dataclass(frozen=True)
class _Texts:
    """Distinct documents: texts, ids, and the characters of their first and last tokens."""

    texts: pa.Array
    ids: pa.Array
    starts: Int64s
    stops: Int64s


def extents_of(
    matches: Matches,
    passages: pa.Table,
    queries: DocumentBlock,
    index: OpenPassages,
    hidden: HiddenText | None = None,
) -> Extents:
    """Measure passages and their texts in visible characters.

    ``passages`` is the table that ``match_table`` makes of the matches.
    """
    query_starts, query_stops, starts, stops = (
        passages[name].to_numpy() for name in ("query_start", "query_end", "doc_start", "doc_end")
    )
    documents, which = np.unique(matches.queries, return_inverse=True)
    texts = _texts_of_queries(queries, documents)
    of_queries = _extents(query_starts, query_stops, which, texts, hidden)
    return np.hstack([of_queries, extents_in(index, matches.documents, starts, stops, hidden)])


def extents_in(
    index: OpenPassages,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    hidden: HiddenText | None = None,
) -> Extents:
    """Measure one side of passages: spans of characters of an index's documents (n, 3)."""
    distinct, which = np.unique(documents, return_inverse=True)
    return _extents(starts, stops, which, _texts_of_documents(index, distinct), hidden)


def pair_table(passages: pa.Table, numbers: Int64s, extents: Extents) -> pa.Table:
    """Sum the shared characters of each pair of documents.

    ``numbers`` are the pair numbers of the passages. Overlaps of a pair's passages count once, and
    hidden text does not count.
    """
    numbers, firsts, pairs = np.unique(numbers, return_index=True, return_inverse=True)
    n_pairs = len(numbers)
    longest = np.zeros(n_pairs, np.int64)
    shared, lengths = [], []
    for starts, stops, of_texts in (extents[:, :3].T, extents[:, 3:].T):
        np.maximum.at(longest, pairs, stops - starts)
        shared.append(union_lengths(starts, stops, pairs, n_pairs))
        lengths.append(of_texts[firsts])
    ids = passages.select(["query_id", "doc_id"]).take(pa.array(firsts))
    columns = [
        *ids.columns,
        np.bincount(pairs, minlength=n_pairs),
        longest,
        *shared,
        *(part / whole for part, whole in zip(shared, lengths, strict=True)),
    ]
    return order_pairs(pa.table(columns, _COLUMNS))


def order_pairs(table: pa.Table) -> pa.Table:
    """Sort pairs by the greater shared share, then by the shared length."""
    share = pc.max_element_wise(table["query_share"], table["doc_share"]).to_numpy()
    shared = pc.max_element_wise(table["query_shared"], table["doc_shared"]).to_numpy()
    # Ties stay in the order of the documents.
    return table.take(pa.array(np.lexsort((np.arange(len(table)), -shared, -share))))


def _extents(
    starts: Int64s, stops: Int64s, which: Int64s, texts: _Texts, hidden: HiddenText | None
) -> Extents:
    none = np.empty(0, np.int64)
    visible = Visible(texts.starts, texts.stops, Holes(none, none, none))
    if hidden is not None:
        visible = hidden.look_at(texts.texts, texts.ids)
    return visible.extents(which, starts, stops)


def _texts_of_queries(queries: DocumentBlock, documents: Int64s) -> _Texts:
    offsets, spans = queries.tokens.offsets, queries.spans
    first, last = offsets[documents], offsets[documents + 1] - 1
    places = character_spans(queries.texts, documents, spans.starts[first], spans.stops[last])
    rows = pa.array(documents)
    return _Texts(queries.texts.take(rows), queries.ids.take(rows), *places)


def _texts_of_documents(index: OpenPassages, documents: Int64s) -> _Texts:
    numbers = index.segments_of(documents)
    texts, sizes = [pa.array([], pa.large_string())], [np.empty(0, np.int64)]
    # Documents ascend, and so do their segments.
    for number in np.unique(numbers).tolist():
        segment = index.segments[number]
        local = documents[numbers == number] - index.first_documents[number]
        texts.append(segment.texts.take(pa.array(local)))
        sizes.append(np.diff(segment.offsets)[local])
    stops = np.concatenate(sizes)
    places = character_places(index, documents, np.zeros_like(stops), stops)
    return _Texts(pa.concat_arrays(texts), index.ids_of(documents), *places)
