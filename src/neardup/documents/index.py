"""An index of documents as its readers see it: segments, and what was taken out of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.documents.queries import Searchable
from neardup.documents.scheme import DocumentScheme
from neardup.documents.segment import DocumentSegment
from neardup.files.ids import as_text, common_id_type
from neardup.runtime.runner import Runner
from neardup.storage.arrays import CheckedPages
from neardup.storage.ids import hash_id, hash_ids
from neardup.storage.manifest import Manifest
from neardup.tables import Bools, Int64s, Uint32s, Uint64s


@dataclass(frozen=True)
class OpenDocuments:
    """All that a reader needs of an index, as it was at one moment; for any number of threads.

    ``removed`` holds, for each segment, the rows that are no longer there. Documents are numbered
    through all segments, in the order in which they were added, removed ones included.
    """

    manifest: Manifest
    scheme: DocumentScheme
    segments: tuple[Searchable, ...]
    removed: tuple[Uint32s, ...]

    @cached_property
    def first_documents(self) -> Int64s:
        """The number of each segment's first document, and that of all documents (n + 1)."""
        sizes = [len(segment) for segment in self.segments]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def n_documents(self) -> int:
        """Documents that can be found."""
        return int(self.first_documents[-1]) - sum(map(len, self.removed))

    @cached_property
    def id_type(self) -> pa.DataType:
        """The type that the ids of all documents have together."""
        return common_id_type(segment.id_type for segment in self.segments if len(segment))

    def check_all(self, runner: Runner) -> None:
        """Check every byte that was not looked at when the index was opened, or since."""
        pages = [
            pages
            for segment in self.segments
            if isinstance(segment, DocumentSegment)
            for pages in segment.all_pages()
        ]
        for _ in runner.map(CheckedPages.check_all, pages):
            pass

    def with_tail(self, tail: Searchable) -> OpenDocuments:
        """Return the index with documents that are not written yet behind the others."""
        nothing: Uint32s = np.empty(0, np.uint32)
        return replace(self, segments=(*self.segments, tail), removed=(*self.removed, nothing))

    def are_kept(self, segment: int, rows: Int64s) -> Bools:
        """Return which of some rows of a segment are still there."""
        removed = self.removed[segment]
        if not len(removed):
            return np.ones(len(rows), np.bool_)
        places = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
        kept: Bools = removed[places] != rows
        return kept

    def live_rows(self, segment: int) -> Int64s:
        """Return the rows of a segment that are still there."""
        rows = np.arange(len(self.segments[segment]), dtype=np.int64)
        live: Int64s = np.delete(rows, self.removed[segment])
        return live

    def live(self, start: int, limit: int) -> Int64s:
        """Return the numbers of some documents that are still there, counted from ``start``."""
        parts: list[Int64s] = [np.empty(0, np.int64)]
        for number, first in enumerate(self.first_documents[:-1].tolist()):
            n_live = len(self.segments[number]) - len(self.removed[number])
            if limit > 0 and start < n_live:
                parts.append(self.live_rows(number)[start : start + limit] + first)
                limit -= len(parts[-1])
            start = max(0, start - n_live)
        return np.concatenate(parts)

    def documents_of_ids(self, ids: pa.Array) -> Int64s:
        """Return the number of the document of each id, -1 where there is none."""
        names = as_text(ids)
        hashes = hash_ids(names)
        documents: Int64s = np.full(len(ids), -1, np.int64)
        for number, segment in enumerate(self.segments):
            queries, rows = segment.rows_of_ids(names, hashes)
            kept = self.are_kept(number, rows)
            documents[queries[kept]] = rows[kept] + self.first_documents[number]
        return documents

    def has_id(self, identifier: str) -> bool:
        """Return whether there is a document of an id."""
        digest = hash_id(identifier)
        small, others = self._id_keys
        if not (
            any(digest >> 32 in keys for keys in small)
            or any(segment.may_have_id(digest) for segment in others)
        ):
            return False
        return bool(self.documents_of_ids(pa.array([identifier], pa.large_string()))[0] >= 0)

    @cached_property
    def _id_keys(self) -> tuple[list[frozenset[int]], list[Searchable]]:
        """The keys of ids that segments hold in memory, and the other segments."""
        keys = [segment.id_keys for segment in self.segments]
        others = [segment for segment in self.segments if segment.id_keys is None]
        return [each for each in keys if each is not None], others

    def place_of(self, document: int) -> tuple[int, int]:
        """Return the segment of a document, and its row there."""
        segment = int(np.searchsorted(self.first_documents, document, side="right")) - 1
        return segment, document - int(self.first_documents[segment])

    def ids_of(self, documents: Int64s) -> pa.Array:
        """Return the ids of some documents, in any order and more than once."""
        distinct, places = np.unique(documents, return_inverse=True)
        parts = [pa.array([], self.id_type)]
        parts += (
            segment.ids_of(rows).cast(self.id_type) for segment, rows in self._by_segment(distinct)
        )
        return pa.concat_arrays(parts).take(pa.array(places))

    def list_ids(self, documents: Int64s) -> list[str | int]:
        """Return the ids of a few documents; for two it takes a tenth of what ``ids_of`` takes."""
        as_id = str if pa.types.is_large_string(self.id_type) else int
        places = map(self.place_of, documents.tolist())
        return [as_id(self.segments[segment].id_of(row)) for segment, row in places]

    def digests_of(self, documents: Int64s) -> Uint64s:
        """Return the digests of some documents, which ascend, of shape (n, 2).

        Of documents that are written, which those of a reader are.
        """
        parts = [np.empty((0, 2), np.uint64)]
        for segment, rows in self._by_segment(documents):
            assert isinstance(segment, DocumentSegment)
            parts.append(segment.digests_of(rows))
        return np.concatenate(parts)

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return id, text and the user's columns of some documents, which ascend.

        A text is null where the index keeps none. Columns whose values have no type in common
        become text.
        """
        tables = [
            _read_block(block, places, self.id_type, self.scheme.columns)
            for segment, rows in self._by_segment(documents)
            for block, places in _blocks_of(segment, rows)
        ]
        schema = [("id", self.id_type), ("text", pa.large_string())]
        if not tables:
            return pa.schema(schema).empty_table()
        return blocks.join_tables(tables)

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield id, text and the user's columns of some documents, which ascend.

        Each value is what it was, where columns have several types in the index.
        """
        for segment, rows in self._by_segment(documents):
            for block, places in _blocks_of(segment, rows):
                table = _read_block(block, places, self.id_type, self.scheme.columns)
                yield from table.to_pylist()

    def _by_segment(self, documents: Int64s) -> list[tuple[Searchable, Int64s]]:
        bounds = np.searchsorted(documents, self.first_documents)
        return [
            (segment, documents[start:stop] - first)
            for segment, first, start, stop in zip(
                self.segments, self.first_documents[:-1], bounds[:-1], bounds[1:], strict=True
            )
            if stop > start
        ]


def _blocks_of(segment: Searchable, rows: Int64s) -> Iterator[tuple[Block, Int64s]]:
    """Yield the blocks of some rows, which ascend, each with its own rows' places in it."""
    start = 0
    while start < len(rows):
        block, place = segment.block_of(int(rows[start]))
        first = int(rows[start]) - place
        stop = int(np.searchsorted(rows, first + len(block)))
        yield block, rows[start:stop] - first
        start = stop


def _read_block(
    block: Block, rows: Int64s, id_type: pa.DataType, columns: Sequence[str]
) -> pa.Table:
    """Return some rows of a block as a table."""
    cells, user = block.take(rows)
    has_no_text = cells[blocks.STATES].data != blocks.OF_TEXT
    texts = cells[blocks.TEXTS].to_arrow()
    if has_no_text.any():
        texts = pc.if_else(pa.array(has_no_text), None, texts)
    table = pa.table({"id": cells[blocks.IDS].to_arrow().cast(id_type), "text": texts})
    for name in columns:
        table = table.append_column(name, pa.nulls(len(rows)) if user is None else user[name])
    return table


def describe_documents(folder: object, index: OpenDocuments) -> dict[str, Any]:
    """Return what an index holds, in plain values."""
    records = index.manifest.segments
    n_bytes = sum(file.size for record in records for file in record.files.values())
    of_texts = sum(record.files["blocks.npy"].size for record in records)
    extra = sum(file.size for file in index.manifest.files.values())
    gone = sum(
        len(segment.gone)
        for segment in index.segments
        if isinstance(segment, DocumentSegment) and segment.gone is not None
    )
    return {
        "folder": str(folder),
        "kind": "documents",
        "documents": index.n_documents,
        "removed_documents": sum(map(len, index.removed)),
        "gone_documents": gone,
        "tokens": sum(record.n_tokens for record in records),
        "segments": len(records),
        "bytes": n_bytes + extra,
        "bytes_of_texts": of_texts,
        "scheme": dict(index.manifest.scheme),
        "generation": index.manifest.generation,
        "created_with": index.manifest.created_with,
    }
