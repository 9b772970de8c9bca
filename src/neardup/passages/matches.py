"""Tables of passages for users: ids, character positions, similarities, and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.files.ids import as_text
from neardup.kernels.text import tokens
from neardup.passages.documents import DocumentBlock
from neardup.passages.index import OpenPassages
from neardup.passages.places import Placer
from neardup.tables import Floats, Int64s, Rows, Texts


def character_spans(
    texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Turn spans of bytes of some documents' texts into spans of characters.

    Parameters
    ----------
    texts
        The texts of all documents.
    documents
        Document number of each span (n,).
    starts, stops
        Bytes, counted from the start of the text, at character boundaries (n,).

    Notes
    -----
    Cost: one scan of each named text up to its last span.
    """
    named, which = np.unique(documents, return_inverse=True)
    chosen = texts.take(pa.array(named))
    which = np.concatenate([which, which])
    positions = np.concatenate([starts, stops])
    order = np.lexsort((positions, which))
    offsets = np.searchsorted(which[order], np.arange(len(named) + 1)).astype(np.int64)
    counts: Int64s = np.empty(len(positions), np.int64)
    found = Texts.from_arrow(chosen)
    tokens.count_characters(found.data, found.offsets, positions[order], offsets, counts)
    characters: Int64s = np.empty(len(positions), np.int64)
    characters[order] = counts
    return characters[: len(starts)], characters[len(starts) :]


def whole_characters(
    texts: pa.Array, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Turn spans of bytes into spans of the characters that lie in them completely.

    Arguments are as of ``character_spans``, but ends may lie within a character.
    """
    found = Texts.from_arrow(texts)
    ends = found.offsets[documents] + stops
    is_within = ends < found.offsets[documents + 1]
    is_within[is_within] = (found.data[ends[is_within]] & 0xC0) == 0x80
    first, last = character_spans(texts, documents, starts, stops)
    return first, np.maximum(last - is_within, first)


def union_lengths(starts: Int64s, stops: Int64s, groups: Int64s, n_groups: int) -> Int64s:
    """Return the covered length of each group's spans; overlaps count once."""
    order = np.lexsort((starts, groups))
    # Positions of all groups on one line, so that each group ends before the next begins.
    origins = groups[order] * (int(stops.max(initial=0)) + 1)
    first, last = origins + starts[order], origins + stops[order]
    before = np.concatenate([[0], np.maximum.accumulate(last)])[: len(last)]
    unions = np.zeros(n_groups, np.int64)
    np.add.at(unions, groups[order], np.maximum(last - np.maximum(first, before), 0))
    return unions


def group_overlapping(documents: Int64s, starts: Int64s, stops: Int64s) -> Int64s:
    """Assign one number to transitively overlapping spans of a document.

    Spans of unknown documents (below 0) are never joined.
    """
    if not len(documents):
        return np.empty(0, np.int64)
    order = np.lexsort((starts, documents))
    base = documents[order] * (int(stops.max()) + 1)
    reached = np.maximum.accumulate(base + stops[order])
    is_new = np.concatenate([[True], base[1:] + starts[order][1:] >= reached[:-1]])
    is_new |= documents[order] < 0
    groups: Int64s = np.empty(len(documents), np.int64)
    groups[order] = np.cumsum(is_new) - 1
    return groups


def schema_of(*, with_text: bool, with_places: bool) -> pa.Schema:
    """Return the columns of a table of passages."""
    text = pa.large_string()
    fields = []
    for side in ("query", "doc"):
        fields += [(f"{side}_id", text), (f"{side}_start", pa.int64()), (f"{side}_end", pa.int64())]
        fields += [(f"{side}_place", text)] if with_places else []
    fields.append(("similarity", pa.float64()))
    return pa.schema(fields + ([("query_text", text), ("doc_text", text)] if with_text else []))


@dataclass(frozen=True)
class Matches(Rows):
    """Matching passages of queries and documents; arrays have a row per match.

    All starts and stops (exclusive) are tokens of the query or the document; ``documents`` are
    counted through all segments.
    """

    queries: Int64s
    query_starts: Int64s
    query_stops: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats


class Side(NamedTuple):
    """One side of passages: ids as text, and positions in characters.

    ``texts`` are the passages' texts, and ``places`` the names of their beginnings, if requested.
    """

    ids: pa.Array
    starts: Int64s
    stops: Int64s
    texts: Sequence[str] | pa.Array | None
    places: pa.Array | None


def match_table(
    matches: Matches,
    queries: DocumentBlock,
    index: OpenPassages,
    *,
    with_text: bool,
    placer: Placer | None,
) -> pa.Table:
    """Make a table of matches, with ids as text; ``queries`` are the queried documents.

    ``placer`` names the beginnings of passages, if it is given.
    """
    offsets, spans = queries.tokens.offsets, queries.spans
    first = offsets[matches.queries] + matches.query_starts
    behind = offsets[matches.queries] + matches.query_stops
    byte_starts, byte_stops = spans.starts[first], spans.stops[behind - 1]
    if index.scheme.shingles.ngram == 1:
        # A character that is shared with a token outside the passage is excluded.
        rows = np.flatnonzero(matches.query_starts > 0)
        byte_starts[rows] = np.maximum(byte_starts[rows], spans.stops[first[rows] - 1])
        rows = np.flatnonzero(behind < offsets[matches.queries + 1])
        byte_stops[rows] = np.minimum(byte_stops[rows], spans.starts[behind[rows]])
    starts, stops = whole_characters(queries.texts, matches.queries, byte_starts, byte_stops)
    texts: list[str] | None = None
    if with_text:
        texts = [""] * len(matches)
        everything = np.arange(len(matches))
        _cut(texts, everything, queries.texts, matches.queries, starts, stops)
    ids = as_text(queries.ids.take(pa.array(matches.queries)))
    places = (
        None
        if placer is None
        else placer.places(queries.texts, matches.queries, starts, queries.files)
    )
    documents = side_in(
        *(index, matches.documents, matches.starts, matches.stops),
        with_text=with_text,
        placer=placer,
    )
    return side_table(Side(ids, starts, stops, texts, places), documents, matches.similarities)


def side_in(
    index: OpenPassages,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
    *,
    with_text: bool,
    placer: Placer | None,
) -> Side:
    """Make one side from spans of tokens of an index's documents; see ``match_table``."""
    char_starts, char_stops = character_places(index, documents, starts, stops)
    ids: list[str] = [""] * len(documents)
    texts: list[str] = [""] * len(documents)
    places: list[str] = [""] * len(documents)
    numbers = index.segments_of(documents)
    for number in np.unique(numbers).tolist():
        segment = index.segments[number]
        rows = np.flatnonzero(numbers == number)
        local = documents[rows] - index.first_documents[number]
        chosen = segment.ids.take(pa.array(local)).to_pylist()
        for row, identifier in zip(rows.tolist(), chosen, strict=True):
            ids[row] = identifier
        if with_text:
            _cut(texts, rows, segment.texts, local, char_starts, char_stops)
        if placer is not None:
            found = placer.places(segment.texts, local, char_starts[rows], segment.files)
            for row, place in zip(rows.tolist(), found.to_pylist(), strict=True):
                places[row] = place
        index.leave(number)
    return Side(
        pa.array(ids, pa.large_string()),
        char_starts,
        char_stops,
        texts if with_text else None,
        None if placer is None else pa.array(places, pa.large_string()),
    )


def side_table(query: Side, document: Side, similarities: Floats) -> pa.Table:
    """Join both sides of passages to a table, with their texts and places."""
    columns: list[Any] = []
    for side in (query, document):
        columns += [*side[:3], *([] if side.places is None else [side.places])]
    columns.append(similarities)
    columns += [] if query.texts is None else [query.texts, document.texts]
    schema = schema_of(with_text=query.texts is not None, with_places=query.places is not None)
    return pa.table(columns, schema)


def character_places(
    index: OpenPassages, documents: Int64s, starts: Int64s, stops: Int64s
) -> tuple[Int64s, Int64s]:
    """Turn spans of tokens of an index's documents into spans of characters."""
    char_starts, char_stops = np.empty_like(starts), np.empty_like(stops)
    numbers = index.segments_of(documents)
    for number in np.unique(numbers).tolist():
        segment = index.segments[number]
        rows = np.flatnonzero(numbers == number)
        local = documents[rows] - index.first_documents[number]
        origins = segment.offsets[local]
        byte_starts, _ = segment.byte_places(origins + starts[rows], local)
        _, byte_stops = segment.byte_places(origins + stops[rows] - 1, local)
        if index.scheme.shingles.ngram == 1:
            # As in ``match_table``.
            at = np.flatnonzero(starts[rows] > 0)
            _, before = segment.byte_places((origins + starts[rows] - 1)[at], local[at])
            byte_starts[at] = np.maximum(byte_starts[at], before)
            at = np.flatnonzero(origins + stops[rows] < segment.offsets[local + 1])
            behind, _ = segment.byte_places((origins + stops[rows])[at], local[at])
            byte_stops[at] = np.minimum(byte_stops[at], behind)
        char_starts[rows], char_stops[rows] = whole_characters(
            segment.texts, local, byte_starts, byte_stops
        )
        index.leave(number)
    return char_starts, char_stops


def with_id_types(table: pa.Table, query_type: pa.DataType, doc_type: pa.DataType) -> pa.Table:
    """Return a table of matches or windows with ids of their input types."""
    for name, kind in (("query_id", query_type), ("doc_id", doc_type)):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table[name].cast(kind))
    return table


def _cut(
    pieces: list[str],
    rows: Int64s,
    texts: pa.Array,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
) -> None:
    """Copy the passages of some rows from their documents' texts."""
    last, text = -1, ""
    for row, document in zip(rows.tolist(), documents.tolist(), strict=True):
        if document != last:
            last, text = document, texts[document].as_py()
        pieces[row] = text[starts[row] : stops[row]]
