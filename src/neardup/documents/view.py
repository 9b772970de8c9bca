"""An index of documents as its readers see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.delta import Delta, Searchable
from neardup.documents.records import user_columns_of
from neardup.documents.scheme import KIND, DocumentScheme
from neardup.documents.segment import DocumentSegment
from neardup.files.arrowcolumns import joined
from neardup.files.documents import hash_id, join_ids
from neardup.index.index import OpenIndex
from neardup.index.segments import check_all, open_segment
from neardup.index.store import Contents
from neardup.runs.runner import Runner
from neardup.tables import Int64s, Uint32s, Uint64s

_NOTHING: Uint32s = np.empty(0, np.uint32)


@dataclass(frozen=True)
class OpenDocuments(OpenIndex[DocumentScheme, Searchable]):
    """An index of documents, with pending documents as last segments.

    Pending and unwritten documents are in memory. ``denied`` has the documents that must not come
    back. A lookup does not find them; if a text is left out for one of them, its number follows the
    numbers of all documents.
    """

    denied: Delta | None = None

    def opener(self) -> Callable[[Path], OpenDocuments]:
        """Return a function that opens this state in another process."""
        return partial(_open, self.contents, self.scheme)

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

    def with_pending(self, pending: Searchable, removed: Uint32s = _NOTHING) -> OpenDocuments:
        """Return the index with documents in memory at the end."""
        return replace(self, segments=(*self.segments, pending), removed=(*self.removed, removed))

    def without(self, found: Sequence[tuple[Any, Int64s]]) -> OpenDocuments:
        """Return the index without some rows of its segments."""
        contents = self.contents.without(found)
        return replace(self, contents=contents, removed=contents.removed[: len(self.segments)])

    def has_id(self, identifier: str) -> bool:
        """Return whether a document has an id."""
        digest = hash_id(identifier)
        if not any(segment.may_have_id(identifier, digest) for segment in self.segments):
            return False
        return bool(self.documents_of_ids(pa.array([identifier], pa.large_string()))[0] >= 0)

    def place_of(self, document: int) -> tuple[int, int]:
        """Return the segment and row of a document."""
        segment = int(np.searchsorted(self.first_documents, document, side="right")) - 1
        return segment, document - int(self.first_documents[segment])

    def list_ids(self, documents: Int64s) -> list[str | int]:
        """Return the ids of a few documents, faster than ``ids_of``."""
        as_id = str if pa.types.is_large_string(self.id_type) else int
        places = map(self.place_of, documents.tolist())
        return [as_id(self.segments[segment].id_of(row)) for segment, row in places]

    def ids_gone_for(self, documents: Int64s) -> pa.Array:
        """Return the ids of ascending documents, stored or denied."""
        n_own = int(np.searchsorted(documents, self.first_denied))
        ids = self.ids_of(documents[:n_own])
        if n_own == len(documents):
            return ids
        assert self.denied is not None
        others = self.denied.ids_of(documents[n_own:] - self.first_denied).cast(self.denied.id_type)
        return join_ids([ids, others] if n_own else [others])

    def digests_of(self, documents: Int64s) -> Uint64s:
        """Return the digests of ascending documents, with shape (n, 2)."""
        parts = [np.empty((0, 2), np.uint64)]
        parts += (segment.digests_of(rows) for segment, rows in self.by_segment(documents))
        return np.concatenate(parts)

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return id, text and the user's columns of ascending documents.

        A text is null if the index does not keep it. Columns without a common type become text.
        """
        schema = pa.schema([("id", self.id_type), ("text", pa.large_string())])
        tables = list(self._read_tables(documents))
        return joined(tables) if tables else schema.empty_table()

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield id, text and the user's columns of ascending documents.

        Each value keeps its type, even if the index has several types in a column.
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
        """Return document counts for ``describe``."""
        n_tokens = sum(record.n_tokens for record in self.manifest.segments)
        return {
            "kind": KIND,
            "documents": self.n_documents,
            "removed_documents": sum(map(len, self.removed)),
            "gone_documents": sum(segment.n_gone for segment in self.segments),
            "denied_documents": 0 if self.denied is None else len(self.denied),
            "tokens": n_tokens + self.manifest.pending.n_tokens,
        }


def combine(
    contents: Contents,
    scheme: DocumentScheme,
    parts: tuple[DocumentSegment, ...],
    pending: Delta,
    denied: Delta,
) -> OpenDocuments:
    """Combine segments and the database's documents into an index."""
    index = OpenDocuments(
        contents, scheme, parts, contents.removed[:-1], denied if len(denied) else None
    )
    return index.with_pending(pending, contents.removed[-1]) if contents.pending else index


def _open(contents: Contents, scheme: DocumentScheme, folder: Path) -> OpenDocuments:
    """Open a known state of an index."""
    segments = (open_segment(folder, record) for record in contents.manifest.segments)
    parts = tuple(DocumentSegment(segment, scheme) for segment in segments)
    rows = (contents.pending, contents.denied)
    return combine(contents, scheme, parts, *(RowsInMemory().read(scheme, r) for r in rows))


class RowsInMemory:
    """Documents of database rows, with only new rows unpacked."""

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
