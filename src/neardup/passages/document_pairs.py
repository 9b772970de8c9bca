"""Which documents share how much: passages put together by pairs of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.passages.documents import DocumentBlock
from neardup.passages.index import OpenIndex
from neardup.passages.matches import Matches, character_places
from neardup.passages.places import character_spans
from neardup.tables import Int64s

PAIR_SCHEMA = pa.schema(
    [
        ("query_id", pa.large_string()),
        ("doc_id", pa.large_string()),
        ("passages", pa.int64()),
        ("longest", pa.int64()),
        ("query_shared", pa.int64()),
        ("doc_shared", pa.int64()),
        ("query_share", pa.float64()),
        ("doc_share", pa.float64()),
    ]
)
_PLACES = ("query_start", "query_end", "doc_start", "doc_end")


@dataclass(frozen=True)
class _Side:
    """The passages of one side of some pairs: places in characters, and the texts' lengths.

    ``lengths`` has a value for each passage: from the first token of its document to the last.
    """

    starts: Int64s
    stops: Int64s
    lengths: Int64s


def count_pairs(matches: Matches) -> int:
    """Return how many pairs of documents share a passage."""
    return len(np.unique(np.stack([matches.queries, matches.documents]), axis=1).T)


def pair_table(
    matches: Matches, passages: pa.Table, queries: DocumentBlock, index: OpenIndex
) -> pa.Table:
    """Say how much the documents of each pair share.

    ``passages`` are the matches as ``match_table`` spells them out. What two passages of a pair
    have in common counts once.
    """
    keys, firsts, pairs = np.unique(
        np.stack([matches.queries, matches.documents]),
        axis=1,
        return_index=True,
        return_inverse=True,
    )
    pairs = pairs.reshape(-1)
    n_pairs = keys.shape[1]
    columns = {name: passages[name].to_numpy() for name in _PLACES}
    of_query = _Side(
        columns["query_start"],
        columns["query_end"],
        _query_lengths(queries, matches.queries),
    )
    of_document = _Side(
        columns["doc_start"], columns["doc_end"], _document_lengths(index, matches.documents)
    )
    shared = [_union(side, pairs, n_pairs) for side in (of_query, of_document)]
    longest = np.zeros(n_pairs, np.int64)
    for side in (of_query, of_document):
        np.maximum.at(longest, pairs, side.stops - side.starts)
    rows = pa.array(firsts)
    return pa.table(
        [
            passages["query_id"].take(rows),
            passages["doc_id"].take(rows),
            np.bincount(pairs, minlength=n_pairs),
            longest,
            *shared,
            shared[0] / of_query.lengths[firsts],
            shared[1] / of_document.lengths[firsts],
        ],
        PAIR_SCHEMA,
    )


def order_pairs(table: pa.Table) -> pa.Table:
    """Put pairs first of which one has the greater part from the other; then those with more."""
    share = pc.max_element_wise(table["query_share"], table["doc_share"]).to_numpy()
    shared = pc.max_element_wise(table["query_shared"], table["doc_shared"]).to_numpy()
    # Equal ones stay in the order of the documents.
    return table.take(pa.array(np.lexsort((np.arange(len(table)), -shared, -share))))


def _query_lengths(queries: DocumentBlock, documents: Int64s) -> Int64s:
    """Return the characters from the first token to the last of some queries."""
    offsets = queries.tokens.offsets
    starts, stops = character_spans(
        queries.texts,
        documents,
        queries.spans.starts[offsets[documents]],
        queries.spans.stops[offsets[documents + 1] - 1],
    )
    lengths: Int64s = stops - starts
    return lengths


def _document_lengths(index: OpenIndex, documents: Int64s) -> Int64s:
    """Return the characters from the first token to the last of some documents of an index."""
    named, which = np.unique(documents, return_inverse=True)
    numbers = index.segments_of(named)
    sizes = np.empty_like(named)
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        sizes[rows] = np.diff(index.segments[number].offsets)[
            named[rows] - index.first_documents[number]
        ]
    starts, stops = character_places(index, named, np.zeros_like(named), sizes)
    lengths: Int64s = (stops - starts)[which]
    return lengths


def _union(side: _Side, pairs: Int64s, n_pairs: int) -> Int64s:
    """Return for each pair the characters that are in a passage of one side."""
    if not len(pairs):
        return np.zeros(n_pairs, np.int64)
    order = np.lexsort((side.starts, pairs))
    # Places of all pairs on one line, so that what a pair ends with is before the next begins.
    origins = pairs[order] * (int(side.stops.max()) + 1)
    starts, stops = origins + side.starts[order], origins + side.stops[order]
    before = np.concatenate([[0], np.maximum.accumulate(stops)[:-1]])
    fresh = np.maximum(stops - np.maximum(starts, before), 0)
    unions = np.zeros(n_pairs, np.int64)
    np.add.at(unions, pairs[order], fresh)
    return unions
