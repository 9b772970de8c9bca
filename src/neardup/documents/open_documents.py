"""An open index of documents, and the lookup of texts in it.

Candidates share a band key with a text, pass the filters, and are compared exactly. Documents of
sources are looked up block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.delta import Delta
from neardup.documents.document_segment import DocumentSegment
from neardup.documents.queries import Queries, join_sets, queries_of_texts
from neardup.documents.records import user_columns_of
from neardup.documents.scheme import KIND, DocumentScheme
from neardup.files.arrowcolumns import joined
from neardup.files.documents import join_ids, read_text_block
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.index.open_index import OpenIndex, SharedIndex
from neardup.index.segments import check_all, open_segment, unpack_table
from neardup.matching.buckets import join_filters, sieve_pairs
from neardup.matching.measures import Cosine, Measure, overlaps_at_threshold
from neardup.runs.progress import raise_if_cancelled
from neardup.runs.runner import Runner
from neardup.tables import Bools, Floats, IndexKeepers, Int64s, Rows, Texts, Uint32s, Uint64s

Searchable = DocumentSegment | Delta
"""Some documents that are looked up by their rows, which are numbered from 0."""

# Pairs that are compared at once, and shingles of their documents, which bound memory and time
# between two blocks.
_PAIRS_AT_ONCE = 1 << 14
_SHINGLES_AT_ONCE = 1 << 21

_FEW = 2

_NOTHING: Uint32s = np.empty(0, np.uint32)

# Far above the rounding error of similarities of weighted sets, and of cosines.
_CLOSE = 1e-12


@dataclass(frozen=True)
class Hits(Rows):
    """Pairs of queries and similar documents, in order of both.

    ``overlaps`` are the common shingles or weights, ``sizes`` the totals of the documents.
    ``are_copies`` marks pairs with the same tokens.
    """

    queries: Int64s
    documents: Int64s
    overlaps: Int64s
    sizes: Int64s
    similarities: Floats
    are_copies: Bools


@dataclass(frozen=True, eq=False)
class DeniedDocuments:
    """Removed documents that must not come back: ids and digests of tokens."""

    ids: pa.Array
    numbers: Mapping[bytes, int]

    @staticmethod
    @lru_cache(4)
    def unpack(rows: tuple[bytes, ...]) -> DeniedDocuments:
        """Return the denied documents of some rows of the database."""
        tables = [unpack_table(row) for row in rows]
        ids = join_ids([table["id"].combine_chunks() for table in tables])
        digests = (digest for table in tables for digest in table["digest"].to_pylist())
        return DeniedDocuments(ids, {digest: number for number, digest in enumerate(digests)})

    def find(self, queries: Queries) -> Int64s:
        """Return the denied copy's number per text, or -1."""
        numbers: Int64s = np.full(len(queries), -1, np.int64)
        if self.numbers:
            for text in np.flatnonzero(queries.is_filled).tolist():
                numbers[text] = self.numbers.get(queries.digests[text].tobytes(), -1)
        return numbers


@dataclass(frozen=True)
class OpenDocuments(OpenIndex[DocumentScheme, Searchable]):
    """An index of documents, with pending documents as last segments.

    Pending and unwritten documents are in memory. ``denied`` has the documents that must not come
    back. A lookup does not find them; if a text is left out for one of them, its number follows the
    numbers of all documents.
    """

    denied: DeniedDocuments

    def opener(self) -> Callable[[Path], OpenDocuments]:
        """Return a function that opens this state in another process."""
        n_stored = len(self.manifest.segments)
        return partial(_open, replace(self, segments=self.segments[n_stored:]))

    @property
    def columns(self) -> Sequence[str]:
        """The user's columns that are kept."""
        return self.scheme.columns

    @property
    def first_denied(self) -> int:
        """The number of the first denied document, after all others."""
        return int(self.first_documents[-1])

    @property
    def text_bytes(self) -> int:
        """Bytes of the compressed records in segments."""
        return sum(len(each.stored.arrays["blocks"]) for each in self._stored)

    def check_all(self, runner: Runner) -> None:
        """Verify every byte that was not read yet."""
        check_all([each.stored for each in self._stored], runner)

    @property
    def _stored(self) -> list[DocumentSegment]:
        return [each for each in self.segments if isinstance(each, DocumentSegment)]

    def lookup(self, queries: Queries, measure: Measure) -> Hits:
        """Find the similar documents that share a band with each text.

        Directed measures take the text first and the document second. Every hit is compared
        exactly; a document at the threshold of the index is found with its recall or more.
        """
        parts: list[Hits] = []
        if queries.is_filled.any():
            for number, segment in enumerate(self.segments):
                of_queries, rows = segment.find(queries)
                if len(rows) and len(self.removed[number]):
                    kept = self.are_kept(number, rows)
                    of_queries, rows = of_queries[kept], rows[kept]
                if len(rows):
                    first = int(self.first_documents[number])
                    parts += _compare(segment, queries, of_queries, rows, measure, first)
        hits = Hits.joined(parts)
        if len(parts) > 1:
            hits = hits.take(np.lexsort((hits.documents, hits.queries)))
        return hits

    def with_pending(self, pending: Searchable, removed: Uint32s = _NOTHING) -> OpenDocuments:
        """Return the index with documents in memory at the end."""
        return replace(self, segments=(*self.segments, pending), removed=(*self.removed, removed))

    def list_ids(self, documents: Int64s) -> list[str | int]:
        """Return the ids of a few documents, faster than ``ids_of``."""
        as_id = str if pa.types.is_large_string(self.id_type) else int
        segments = self.segments_of(documents)
        rows = documents - self.first_documents[segments]
        places = zip(segments.tolist(), rows.tolist(), strict=True)
        return [as_id(self.segments[segment].id_of(row)) for segment, row in places]

    def ids_gone_for(self, documents: Int64s) -> pa.Array:
        """Return the ids of ascending documents, stored or denied."""
        n_own = int(np.searchsorted(documents, self.first_denied))
        denied = pa.array(documents[n_own:] - self.first_denied)
        return join_ids([self.ids_of(documents[:n_own]), self.denied.ids.take(denied)])

    def digests_of(self, documents: Int64s) -> Uint64s:
        """Return the digests of ascending documents, with shape (n, 2)."""
        parts = [np.empty((0, 2), np.uint64)]
        parts += (segment.digests_of(rows) for segment, rows in self.by_segment(documents))
        return np.concatenate(parts)

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return id, text and the user's columns of ascending documents.

        Columns without a common type become text.
        """
        schema = pa.schema([("id", self.id_type), ("text", pa.large_string())])
        tables = list(self._read_tables(documents))
        return joined(tables) if tables else schema.empty_table()

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield the records of ascending documents, with each value's type."""
        for table in self._read_tables(documents):
            yield from table.to_pylist()

    def _read_tables(self, documents: Int64s) -> Iterator[pa.Table]:
        for segment, rows in self.by_segment(documents):
            start = 0
            for records in segment.records(rows):
                own = rows[start : start + len(records)]
                start += len(records)
                ids = segment.ids_of(own).cast(self.id_type)
                columns = user_columns_of(records, self.scheme.columns)
                yield pa.table({"id": ids, "text": records["text"], **columns})

    def counts(self) -> dict[str, Any]:
        """Return document counts for ``describe``."""
        n_tokens = sum(record.n_tokens for record in self.manifest.segments)
        return {
            "kind": KIND,
            "documents": self.n_documents,
            "removed_documents": sum(map(len, self.removed)),
            "gone_documents": self.manifest.gone.n_documents,
            "denied_documents": self.manifest.denied.n_documents,
            "tokens": n_tokens + self.manifest.pending.n_tokens,
        }


def _open(index: OpenDocuments, folder: Path) -> OpenDocuments:
    """Open the stored segments of an index that has those in memory."""
    stored = (open_segment(folder, record) for record in index.manifest.segments)
    parts = (DocumentSegment(segment, index.scheme) for segment in stored)
    return replace(index, segments=(*parts, *index.segments))


def find_keepers(index: OpenDocuments, queries: Queries, measure: Measure) -> IndexKeepers:
    """Find the keeper of each text that is left out.

    A keeper is the denied exact copy; else the first exact copy in the index; else the most similar
    document, the first on a tie. Denied documents have the last numbers.
    """
    answers = IndexKeepers.none(len(queries))
    hits = best_hits(index.lookup(queries, measure), queries, measure)
    for name in ("documents", "overlaps", "sizes", "similarities", "are_copies"):
        getattr(answers, name)[hits.queries] = getattr(hits, name)
    denied = index.denied.find(queries)
    own = np.flatnonzero(denied >= 0)
    answers.documents[own] = denied[own] + index.first_denied
    answers.similarities[own] = 1.0
    answers.are_copies[own] = True
    return answers


def best_hits(hits: Hits, queries: Queries, measure: Measure) -> Hits:
    """Return each query's first exact copy or first best match."""
    order = hits.documents, -hits.similarities, ~hits.are_copies, hits.queries
    hits = hits.take(np.lexsort(order))
    starts = np.flatnonzero(np.diff(hits.queries, prepend=-1))
    if measure.is_weighted or isinstance(measure, Cosine):
        # Rounding may have reversed the order of values this close: compare them as fractions.
        stops, is_close = np.append(starts[1:], len(hits)), np.zeros(len(hits), np.bool_)
        is_close[:-1] = (np.diff(hits.queries) == 0) & (-np.diff(hits.similarities) < _CLOSE)
        assert queries.sets is not None
        totals = queries.sets.totals[hits.queries]
        above, below = measure.fractions(hits.overlaps, totals, hits.sizes)
        for number in np.flatnonzero(is_close[starts] & ~hits.are_copies[starts]).tolist():
            exact = [
                (-Fraction(int(above[place]), int(below[place])), hits.documents[place], place)
                for place in range(starts[number], stops[number])
            ]
            starts[number] = min(exact)[-1]
    return hits.take(starts)


def _compare(
    segment: Searchable,
    queries: Queries,
    of_queries: Int64s,
    rows: Int64s,
    measure: Measure,
    first_document: int,
) -> Iterator[Hits]:
    """Yield the hits among candidate pairs: exact copies first, then similar pairs."""
    assert queries.sets is not None
    are_copies = (segment.digests_of(rows) == queries.digests[of_queries]).all(axis=1)
    if are_copies.any():
        own, copies = of_queries[are_copies], rows[are_copies] + first_document
        totals, similarities = queries.sets.totals[own], np.ones(len(own))
        yield Hits(own, copies, totals, totals, similarities, are_copies[are_copies])
        of_queries, rows = of_queries[~are_copies], rows[~are_copies]
        if not len(rows):
            return
    bounds = [0, len(rows)]
    # A few candidates are compared in the time that it takes to ask their filters.
    if len(rows) > _FEW:
        blocks: Int64s = np.arange(len(rows)) // _PAIRS_AT_ONCE
        if queries.filters is not None:
            of_queries, rows, sizes = _sieve(segment, queries, of_queries, rows, measure)
            blocks = blocks[: len(rows)] + np.cumsum(sizes) // _SHINGLES_AT_ONCE
        bounds = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), len(rows)]
    for start, stop in pairwise(bounds):
        raise_if_cancelled()
        left = of_queries[start:stop]
        distinct, places = np.unique(rows[start:stop], return_inverse=True)
        found = segment.sets_of(distinct)
        sets = join_sets(queries.sets, found)
        overlaps = overlaps_at_threshold(sets, left, len(queries) + places, measure)
        hit = np.flatnonzero(overlaps > 0)
        left, right, overlaps = left[hit], places[hit], overlaps[hit]
        sizes = sets.totals[len(queries) + right]
        similarities = measure.similarities(overlaps, sets.totals[left], sizes)
        documents, are_copies = distinct[right] + first_document, np.zeros(len(hit), np.bool_)
        yield Hits(left, documents, overlaps, sizes, similarities, are_copies)


def _sieve(
    segment: Searchable, queries: Queries, of_queries: Int64s, rows: Int64s, measure: Measure
) -> tuple[Int64s, Int64s, Int64s]:
    """Drop pairs that filters exclude, and return the remaining sizes."""
    assert queries.filters is not None
    distinct, places = np.unique(rows, return_inverse=True)
    filters = join_filters([queries.filters, segment.filters_of(distinct)])
    may_be = sieve_pairs(filters, of_queries, len(queries) + places, measure)
    return of_queries[may_be], rows[may_be], filters.sizes[len(queries) + places[may_be]]


@dataclass(frozen=True)
class LookedUp:
    """Documents of a block, with token counts and hits."""

    ids: pa.Array
    skipped: Sequence[tuple[str, int, str]]
    n_tokens: Int64s
    hits: Hits


def look_up_block(
    index: SharedIndex[OpenDocuments],
    columns: ColumnNames,
    measure: Measure,
    limit: int | None,
    skip_bad: bool,
    source: Source,
    block: RowBlock,
) -> LookedUp:
    """Look up a block's documents, with ``limit`` hits or all."""
    rows = read_text_block(source, block, columns, skip_bad=skip_bad)
    texts = Texts.from_arrow(rows.texts, block.language)
    queries = queries_of_texts(texts, index.opened.scheme)
    hits = most_similar(index.opened.lookup(queries, measure), limit)
    return LookedUp(rows.ids, rows.skipped, queries.n_tokens, hits)


def most_similar(hits: Hits, limit: int | None) -> Hits:
    """Return each query's ``limit`` most similar hits, None for all."""
    hits = in_rank_order(hits)
    if limit is None:
        return hits
    places = np.arange(len(hits)) - np.searchsorted(hits.queries, hits.queries)
    return hits.take(places < limit)


def in_rank_order(hits: Hits) -> Hits:
    """Sort hits by query, falling similarity, and order of addition."""
    return hits.take(np.lexsort((hits.documents, -hits.similarities, hits.queries)))
