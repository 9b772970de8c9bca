"""An index of documents as its readers see it, and its handle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.documents.pending import Pending, Searchable
from neardup.documents.scheme import KIND, DocumentScheme, restore_document_scheme
from neardup.documents.segment import UNREAD, DocumentSegment
from neardup.errors import IndexFormatError
from neardup.files.ids import hash_id, join_ids
from neardup.index.handle import IndexHandle, OpenFiles, open_frequencies
from neardup.index.index import OpenIndex
from neardup.index.segments import Segment
from neardup.index.store import Contents
from neardup.runs.arrays import CheckedPages
from neardup.runs.runner import Runner
from neardup.tables import Int64s, Uint32s, Uint64s

_NOTHING: Uint32s = np.empty(0, np.uint32)


@dataclass(frozen=True)
class OpenDocuments(OpenIndex[DocumentScheme, Searchable]):
    """An index of documents; the last segments may be documents in memory.

    These are pending ones, and those that are not written yet. ``denied`` is what is known of
    documents that must not come back, which are not found; where a text goes for one, its number is
    behind those of all documents.
    """

    denied: DocumentSegment | None = None
    contents: Contents | None = None

    texts_in: ClassVar = "blocks.npy"

    @property
    def columns(self) -> Sequence[str]:
        """The user's columns that are kept."""
        return self.scheme.columns

    @property
    def first_denied(self) -> int:
        """The number of the first denied document, which is behind those of all others."""
        return int(self.first_documents[-1])

    def check_all(self, runner: Runner) -> None:
        """Check every byte that was not looked at when the index was opened, or since."""
        pages = [
            pages
            for segment in (*self.segments, self.denied)
            if isinstance(segment, DocumentSegment)
            for pages in segment.all_pages()
        ]
        for _ in runner.map(CheckedPages.check_all, pages):
            pass

    def with_pending(self, pending: Searchable, removed: Uint32s = _NOTHING) -> OpenDocuments:
        """Return the index with documents in memory behind the others."""
        return replace(self, segments=(*self.segments, pending), removed=(*self.removed, removed))

    def has_id(self, identifier: str) -> bool:
        """Return whether there is a document of an id."""
        digest = hash_id(identifier)
        small, others = self._id_keys
        if not (
            any(digest >> 32 in keys for keys in small)
            or any(segment.may_have_id(identifier, digest) for segment in others)
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

    def list_ids(self, documents: Int64s) -> list[str | int]:
        """Return the ids of a few documents; for two it takes a tenth of what ``ids_of`` takes."""
        as_id = str if pa.types.is_large_string(self.id_type) else int
        places = map(self.place_of, documents.tolist())
        return [as_id(self.segments[segment].id_of(row)) for segment, row in places]

    def ids_gone_for(self, documents: Int64s) -> pa.Array:
        """Return the ids of some documents, which ascend, of the index or denied."""
        n_own = int(np.searchsorted(documents, self.first_denied))
        ids = self.ids_of(documents[:n_own])
        if n_own == len(documents):
            return ids
        assert self.denied is not None
        others = self.denied.ids_of(documents[n_own:] - self.first_denied).cast(self.denied.id_type)
        return join_ids([ids, others] if n_own else [others])

    def digests_of(self, documents: Int64s) -> Uint64s:
        """Return the digests of some documents, which ascend, of shape (n, 2)."""
        parts = [np.empty((0, 2), np.uint64)]
        parts += (segment.digests_of(rows) for segment, rows in self.by_segment(documents))
        return np.concatenate(parts)

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return id, text and the user's columns of some documents, which ascend.

        A text is null where the index keeps none. Columns whose values have no type in common
        become text.
        """
        tables = [
            table
            for segment, rows in self.by_segment(documents)
            for table in self._read_blocks(segment, rows)
        ]
        schema = [("id", self.id_type), ("text", pa.large_string())]
        if not tables:
            return pa.schema(schema).empty_table()
        return blocks.join_tables(tables)

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield id, text and the user's columns of some documents, which ascend.

        Each value is what it was, where columns have several types in the index.
        """
        for segment, rows in self.by_segment(documents):
            for table in self._read_blocks(segment, rows):
                yield from table.to_pylist()

    def _read_blocks(self, segment: Searchable, rows: Int64s) -> Iterator[pa.Table]:
        """Yield some rows of a segment, which ascend, as tables, block by block."""
        start = 0
        while start < len(rows):
            block, place = segment.block_of(int(rows[start]))
            first = int(rows[start]) - place
            stop = int(np.searchsorted(rows, first + len(block)))
            own, start = rows[start:stop], stop
            ids = segment.ids_of(own).cast(self.id_type)
            yield _read_block(block, own - first, ids, self.scheme.columns)

    def counts(self) -> dict[str, Any]:
        """Return what there is of documents, for ``describe``."""
        n_tokens = sum(record.n_tokens for record in self.manifest.segments)
        return {
            "kind": KIND,
            "documents": self.n_documents,
            "removed_documents": sum(map(len, self.removed)),
            "gone_documents": sum(segment.n_gone for segment in self.segments),
            "denied_documents": 0 if self.denied is None else len(self.denied),
            "tokens": n_tokens + self.manifest.pending.n_tokens,
        }


def _read_block(block: Block, rows: Int64s, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
    """Return some rows of a block, which have these ids, as a table."""
    cells, user = block.take(rows)
    has_no_text = cells[blocks.STATES].data != blocks.OF_TEXT
    texts = cells[blocks.TEXTS].to_arrow()
    if has_no_text.any():
        texts = pc.if_else(pa.array(has_no_text), None, texts)
    table = pa.table({"id": ids, "text": texts})
    for name in columns:
        table = table.append_column(name, pa.nulls(len(rows)) if user is None else user[name])
    return table


class DocumentHandle(IndexHandle[OpenDocuments, DocumentScheme, DocumentSegment]):
    """An open index of documents."""

    kind: ClassVar = KIND
    unread: ClassVar = UNREAD

    def restore(self, files: OpenFiles) -> DocumentScheme:
        """Restore the scheme, with its frequencies."""
        scheme = restore_document_scheme(files.manifest.scheme, self.tokenizer)
        return scheme.with_frequencies(open_frequencies(files))

    def open_part(self, segment: Segment, restored: DocumentScheme) -> DocumentSegment:
        """See the files of a segment as what they are."""
        return DocumentSegment(segment, restored)

    def view_of(
        self, files: OpenFiles, restored: DocumentScheme, parts: tuple[DocumentSegment, ...]
    ) -> OpenDocuments:
        """See all segments, and pending documents, as an index."""
        denied, parts = None if files.denied is None else parts[-1], parts[: len(files.segments)]
        removed, rows, record = files.removed, files.contents.pending, files.manifest.pending
        index = OpenDocuments(files.manifest, restored, parts, removed[:-1], denied, files.contents)
        if not rows:
            self._pending = None
            return index
        scheme, known, pending = self._pending or (restored, (), Pending(restored))
        if scheme is not restored or rows[: len(known)] != known:
            known, pending = (), Pending(restored)
        # Only rows that are new are unpacked.
        for row in rows[len(known) :]:
            pending.take_packed(row)
        self._pending = restored, rows, pending
        fixed = pending.fixed()
        if (len(fixed), fixed.n_gone) != (record.n_documents, record.n_gone):
            message = "pending documents are not those of the state; build the index again"
            raise IndexFormatError(message, path=str(self.database.path))
        return index.with_pending(fixed, removed[-1])

    _pending: tuple[DocumentScheme, tuple[bytes, ...], Pending] | None = None
