"""An index of documents as its readers see it, and its handle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup.documents.delta import Delta, Searchable
from neardup.documents.records import join_tables, user_columns_of
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

    denied: Delta | None = None
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
            for segment in self.segments
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
        if not any(segment.may_have_id(identifier, digest) for segment in self.segments):
            return False
        return bool(self.documents_of_ids(pa.array([identifier], pa.large_string()))[0] >= 0)

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
        schema = pa.schema([("id", self.id_type), ("text", pa.large_string())])
        tables = list(self._read_tables(documents))
        return join_tables(tables) if tables else schema.empty_table()

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield id, text and the user's columns of some documents, which ascend.

        Each value is what it was, where columns have several types in the index.
        """
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
        """See all segments, and the documents in rows of the database, as an index."""
        removed, contents, record = files.removed, files.contents, files.manifest.pending
        denied = self._denied.read(restored, contents.denied)
        index = OpenDocuments(
            files.manifest, restored, parts, removed[:-1], denied if len(denied) else None, contents
        )
        if not contents.pending:
            return index
        pending = self._pending.read(restored, contents.pending)
        if (len(pending), pending.n_gone) != (record.n_documents, record.n_gone):
            message = "pending documents are not those of the state; build the index again"
            raise IndexFormatError(message, path=str(self.database.path))
        return index.with_pending(pending, removed[-1])

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pending, self._denied = _RowsInMemory(), _RowsInMemory()


class _RowsInMemory:
    """Documents of rows of the database; only new rows are unpacked."""

    def __init__(self) -> None:
        self._rows: tuple[bytes, ...] = ()
        self._delta: Delta | None = None

    def read(self, scheme: DocumentScheme, rows: tuple[bytes, ...]) -> Delta:
        """Return the documents of some rows."""
        n = len(self._rows)
        if self._delta is None or self._delta.scheme is not scheme or rows[:n] != self._rows:
            n, self._delta = 0, Delta(scheme)
        for row in rows[n:]:
            self._delta.take_packed(row)
        self._rows = rows
        return self._delta.fixed()
